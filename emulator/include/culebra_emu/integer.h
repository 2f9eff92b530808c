// CUDA's integer intrinsics on whole words: bits, bytes, products, dot products.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "culebra_emu/vector_types.h"

inline int __popc(unsigned int a) { return std::popcount(a); }
inline int __popcll(unsigned long long int a) { return std::popcount(a); }
inline int __clz(int a) { return std::countl_zero(static_cast<unsigned int>(a)); }
inline int __clzll(long long int a) {
  return std::countl_zero(static_cast<unsigned long long int>(a));
}
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __ffsll(long long int a) { return __builtin_ffsll(a); }

inline unsigned int __brev(unsigned int a) {
  a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
  a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
  a = (a >> 4 & 0x0F0F0F0Fu) | (a & 0x0F0F0F0Fu) << 4;
  return __builtin_bswap32(a);
}
inline unsigned long long int __brevll(unsigned long long int a) {
  return static_cast<unsigned long long int>(__brev(static_cast<unsigned int>(a))) << 32 |
         __brev(static_cast<unsigned int>(a >> 32));
}

// The place of the offset-th set bit of the mask, counted from bit `base` upwards (offset > 0) or
// downwards (offset < 0), or whether `base` itself is one (offset 0); all ones if there is none.
inline unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
  constexpr unsigned int kNone = 0xFFFFFFFFu;
  const int step = offset < 0 ? -1 : 1;
  int wanted = offset == 0 ? 1 : std::abs(offset);
  int place = static_cast<int>(base);
  if (offset == 0) return place >= 0 && place < 32 && (mask >> place & 1) != 0 ? base : kNone;
  for (; place >= 0 && place < 32; place += step) {
    if ((mask >> place & 1) != 0 && --wanted == 0) return static_cast<unsigned int>(place);
  }
  return kNone;
}

// Each nibble of the selector picks one of the eight bytes of y:x; its top bit does not count.
inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(y) << 32 | x;
  unsigned int result = 0;
  for (unsigned int i = 0; i < 4; ++i) {
    const unsigned int chosen = selector >> (4 * i) & 7;
    result |= static_cast<unsigned int>(bytes >> (8 * chosen) & 0xFF) << (8 * i);
  }
  return result;
}

// high:low shifted to the left (the upper word of it) or to the right (the lower one): by the shift
// modulo 32, or by at most 32.
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<unsigned int>(both << (shift & 31) >> 32);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<unsigned int>(both >> (shift & 31));
}
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<unsigned int>(both << std::min(shift, 32u) >> 32);
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<unsigned int>(both >> std::min(shift, 32u));
}

// The lower word of the product of the lower 24 bits.
inline unsigned int __umul24(unsigned int a, unsigned int b) {
  return (a & 0xFFFFFFu) * (b & 0xFFFFFFu);
}
inline int __mul24(int a, int b) {
  const auto extended = [](int x) {
    return static_cast<int>(static_cast<unsigned int>(x) << 8) >> 8;
  };
  return static_cast<int>(static_cast<unsigned int>(extended(a)) *
                          static_cast<unsigned int>(extended(b)));
}

// The upper word of the product.
inline int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<std::int64_t>(a) * b >> 32);
}
inline unsigned int __umulhi(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>(static_cast<std::uint64_t>(a) * b >> 32);
}
inline long long int __mul64hi(long long int a, long long int b) {
  return static_cast<long long int>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long int __umul64hi(unsigned long long int a, unsigned long long int b) {
  return static_cast<unsigned long long int>(static_cast<unsigned __int128>(a) * b >> 64);
}

// |a - b| + sum
inline unsigned int __sad(int a, int b, unsigned int sum) {
  const std::int64_t difference = static_cast<std::int64_t>(a) - b;
  return static_cast<unsigned int>(difference < 0 ? -difference : difference) + sum;
}
inline unsigned int __usad(unsigned int a, unsigned int b, unsigned int sum) {
  return (a < b ? b - a : a - b) + sum;
}

// The mean, rounded down, or up.
inline int __hadd(int a, int b) {
  return static_cast<int>((static_cast<std::int64_t>(a) + b) >> 1);
}
inline int __rhadd(int a, int b) {
  return static_cast<int>((static_cast<std::int64_t>(a) + b + 1) >> 1);
}
inline unsigned int __uhadd(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>((static_cast<std::uint64_t>(a) + b) >> 1);
}
inline unsigned int __urhadd(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>((static_cast<std::uint64_t>(a) + b + 1) >> 1);
}

inline unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
inline unsigned int umax(unsigned int a, unsigned int b) { return a < b ? b : a; }
inline long long int llmin(long long int a, long long int b) { return a < b ? a : b; }
inline long long int llmax(long long int a, long long int b) { return a < b ? b : a; }
inline unsigned long long int ullmin(unsigned long long int a, unsigned long long int b) {
  return a < b ? a : b;
}
inline unsigned long long int ullmax(unsigned long long int a, unsigned long long int b) {
  return a < b ? b : a;
}

namespace culebra_emu {

// The sum of c and of products: of a's parts with b's bytes from `first_byte` on. Wraps as the
// device's does. Part and Byte say whether they have a sign.
template <class Part, class Byte, class Sum>
Sum dot_product(unsigned int a, unsigned int b, unsigned int first_byte, Sum c) {
  unsigned int sum = static_cast<unsigned int>(c);
  constexpr unsigned int kPartBits = 8 * sizeof(Part);
  for (unsigned int i = 0; i < 32 / kPartBits; ++i) {
    const auto x = static_cast<Part>(a >> (kPartBits * i));
    const auto y = static_cast<Byte>(b >> (8 * (first_byte + i)));
    sum += static_cast<unsigned int>(static_cast<int>(x) * static_cast<int>(y));
  }
  return static_cast<Sum>(sum);
}

inline unsigned int word_of(char4 v) { return std::bit_cast<unsigned int>(v); }
inline unsigned int word_of(uchar4 v) { return std::bit_cast<unsigned int>(v); }
inline unsigned int word_of(short2 v) { return std::bit_cast<unsigned int>(v); }
inline unsigned int word_of(ushort2 v) { return std::bit_cast<unsigned int>(v); }

}  // namespace culebra_emu

inline int __dp4a(int a, int b, int c) {
  return culebra_emu::dot_product<signed char, signed char>(static_cast<unsigned int>(a),
                                                            static_cast<unsigned int>(b), 0, c);
}
inline unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  return culebra_emu::dot_product<unsigned char, unsigned char>(a, b, 0, c);
}
inline int __dp4a(char4 a, char4 b, int c) {
  return culebra_emu::dot_product<signed char, signed char>(culebra_emu::word_of(a),
                                                            culebra_emu::word_of(b), 0, c);
}
inline unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
  return __dp4a(culebra_emu::word_of(a), culebra_emu::word_of(b), c);
}

// Two 16-bit numbers of a with the two lower or upper bytes of b.
#define CULEBRA_EMU_DP2A(suffix, first_byte)                                                     \
  inline int __dp2a_##suffix(int a, int b, int c) {                                              \
    return culebra_emu::dot_product<short, signed char>(                                         \
        static_cast<unsigned int>(a), static_cast<unsigned int>(b), first_byte, c);              \
  }                                                                                              \
  inline unsigned int __dp2a_##suffix(unsigned int a, unsigned int b, unsigned int c) {          \
    return culebra_emu::dot_product<unsigned short, unsigned char>(a, b, first_byte, c);         \
  }                                                                                              \
  inline int __dp2a_##suffix(short2 a, char4 b, int c) {                                         \
    return culebra_emu::dot_product<short, signed char>(culebra_emu::word_of(a),                 \
                                                        culebra_emu::word_of(b), first_byte, c); \
  }                                                                                              \
  inline unsigned int __dp2a_##suffix(ushort2 a, uchar4 b, unsigned int c) {                     \
    return __dp2a_##suffix(culebra_emu::word_of(a), culebra_emu::word_of(b), c);                 \
  }
CULEBRA_EMU_DP2A(lo, 0)
CULEBRA_EMU_DP2A(hi, 2)
#undef CULEBRA_EMU_DP2A

inline unsigned short __nv_bswap16(unsigned short a) { return __builtin_bswap16(a); }
inline unsigned int __nv_bswap32(unsigned int a) { return __builtin_bswap32(a); }
inline unsigned long long int __nv_bswap64(unsigned long long int a) {
  return __builtin_bswap64(a);
}
