// CUDA's SIMD intrinsics: two 16-bit or four 8-bit numbers in a word (__v*2, __v*4), and the
// three-operand comparisons (__vi*).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace culebra_emu {

// The word whose lane i is the function of the operands' lanes i, each taken as a Lane and given
// as an int; what does not fit wraps.
template <class Lane, class Function, class... Words>
unsigned int for_each_lane(Function function, Words... words) {
  constexpr unsigned int kBits = 8 * sizeof(Lane);
  unsigned int result = 0;
  for (unsigned int shift = 0; shift < 32; shift += kBits) {
    const int value = function(static_cast<int>(static_cast<Lane>(words >> shift))...);
    const auto lane = static_cast<std::make_unsigned_t<Lane>>(value);
    result |= static_cast<unsigned int>(lane) << shift;
  }
  return result;
}

template <class Lane>
int saturated(int value) {
  return std::clamp<int>(value, std::numeric_limits<Lane>::min(), std::numeric_limits<Lane>::max());
}

inline int distance(int a, int b) { return a < b ? b - a : a - b; }

// The sum of the lanes' distances.
template <class Lane>
unsigned int sum_of_distances(unsigned int a, unsigned int b) {
  constexpr unsigned int kBits = 8 * sizeof(Lane);
  unsigned int sum = 0;
  for (unsigned int shift = 0; shift < 32; shift += kBits) {
    sum += static_cast<unsigned int>(
        distance(static_cast<Lane>(a >> shift), static_cast<Lane>(b >> shift)));
  }
  return sum;
}

}  // namespace culebra_emu

#define CULEBRA_EMU_SIMD1(name, Lane, expression)                                        \
  inline unsigned int name(unsigned int a) {                                             \
    return culebra_emu::for_each_lane<Lane>([](int x) -> int { return expression; }, a); \
  }
#define CULEBRA_EMU_SIMD2(name, Lane, expression)                                                  \
  inline unsigned int name(unsigned int a, unsigned int b) {                                       \
    return culebra_emu::for_each_lane<Lane>([](int x, int y) -> int { return expression; }, a, b); \
  }
// A comparison gives all ones or zero (__vcmp), or 1 or 0 (__vset).
#define CULEBRA_EMU_SIMD_COMPARE(name, lanes, Lane, operation)         \
  CULEBRA_EMU_SIMD2(__vcmp##name##lanes, Lane, x operation y ? -1 : 0) \
  CULEBRA_EMU_SIMD2(__vset##name##lanes, Lane, x operation y ? 1 : 0)
#define CULEBRA_EMU_SIMD_OF(lanes, Signed, Unsigned)                                         \
  CULEBRA_EMU_SIMD1(__vabs##lanes, Signed, x < 0 ? -x : x)                                   \
  CULEBRA_EMU_SIMD1(__vabsss##lanes, Signed, culebra_emu::saturated<Signed>(x < 0 ? -x : x)) \
  CULEBRA_EMU_SIMD1(__vneg##lanes, Signed, -x)                                               \
  CULEBRA_EMU_SIMD1(__vnegss##lanes, Signed, culebra_emu::saturated<Signed>(-x))             \
  CULEBRA_EMU_SIMD2(__vadd##lanes, Unsigned, x + y)                                          \
  CULEBRA_EMU_SIMD2(__vaddss##lanes, Signed, culebra_emu::saturated<Signed>(x + y))          \
  CULEBRA_EMU_SIMD2(__vaddus##lanes, Unsigned, culebra_emu::saturated<Unsigned>(x + y))      \
  CULEBRA_EMU_SIMD2(__vsub##lanes, Unsigned, x - y)                                          \
  CULEBRA_EMU_SIMD2(__vsubss##lanes, Signed, culebra_emu::saturated<Signed>(x - y))          \
  CULEBRA_EMU_SIMD2(__vsubus##lanes, Unsigned, culebra_emu::saturated<Unsigned>(x - y))      \
  CULEBRA_EMU_SIMD2(__vavgs##lanes, Signed, (x + y + (x + y >= 0 ? 1 : 0)) >> 1)             \
  CULEBRA_EMU_SIMD2(__vavgu##lanes, Unsigned, (x + y + 1) >> 1)                              \
  CULEBRA_EMU_SIMD2(__vhaddu##lanes, Unsigned, (x + y) >> 1)                                 \
  CULEBRA_EMU_SIMD2(__vabsdiffs##lanes, Signed, culebra_emu::distance(x, y))                 \
  CULEBRA_EMU_SIMD2(__vabsdiffu##lanes, Unsigned, culebra_emu::distance(x, y))               \
  CULEBRA_EMU_SIMD2(__vmaxs##lanes, Signed, x < y ? y : x)                                   \
  CULEBRA_EMU_SIMD2(__vmaxu##lanes, Unsigned, x < y ? y : x)                                 \
  CULEBRA_EMU_SIMD2(__vmins##lanes, Signed, x < y ? x : y)                                   \
  CULEBRA_EMU_SIMD2(__vminu##lanes, Unsigned, x < y ? x : y)                                 \
  CULEBRA_EMU_SIMD_COMPARE(eq, lanes, Unsigned, ==)                                          \
  CULEBRA_EMU_SIMD_COMPARE(ne, lanes, Unsigned, !=)                                          \
  CULEBRA_EMU_SIMD_COMPARE(ges, lanes, Signed, >=)                                           \
  CULEBRA_EMU_SIMD_COMPARE(geu, lanes, Unsigned, >=)                                         \
  CULEBRA_EMU_SIMD_COMPARE(gts, lanes, Signed, >)                                            \
  CULEBRA_EMU_SIMD_COMPARE(gtu, lanes, Unsigned, >)                                          \
  CULEBRA_EMU_SIMD_COMPARE(les, lanes, Signed, <=)                                           \
  CULEBRA_EMU_SIMD_COMPARE(leu, lanes, Unsigned, <=)                                         \
  CULEBRA_EMU_SIMD_COMPARE(lts, lanes, Signed, <)                                            \
  CULEBRA_EMU_SIMD_COMPARE(ltu, lanes, Unsigned, <)                                          \
  inline unsigned int __vsads##lanes(unsigned int a, unsigned int b) {                       \
    return culebra_emu::sum_of_distances<Signed>(a, b);                                      \
  }                                                                                          \
  inline unsigned int __vsadu##lanes(unsigned int a, unsigned int b) {                       \
    return culebra_emu::sum_of_distances<Unsigned>(a, b);                                    \
  }
CULEBRA_EMU_SIMD_OF(2, short, unsigned short)
CULEBRA_EMU_SIMD_OF(4, signed char, unsigned char)
#undef CULEBRA_EMU_SIMD_OF
#undef CULEBRA_EMU_SIMD_COMPARE
#undef CULEBRA_EMU_SIMD2
#undef CULEBRA_EMU_SIMD1

// The largest or smallest of two or three, or of a sum and a third; _relu: and of zero.

namespace culebra_emu {

template <class T>
T wrapped_sum(T a, T b) {
  return static_cast<T>(static_cast<unsigned int>(a) + static_cast<unsigned int>(b));
}

}  // namespace culebra_emu

#define CULEBRA_EMU_SELECT(name, select)                                                          \
  inline int __vi##name##3_s32(int a, int b, int c) { return select(select(a, b), c); }           \
  inline unsigned int __vi##name##3_u32(unsigned int a, unsigned int b, unsigned int c) {         \
    return select(select(a, b), c);                                                               \
  }                                                                                               \
  inline int __vi##name##_s32_relu(int a, int b) { return std::max(select(a, b), 0); }            \
  inline int __vi##name##3_s32_relu(int a, int b, int c) {                                        \
    return std::max(select(select(a, b), c), 0);                                                  \
  }                                                                                               \
  inline int __viadd##name##_s32(int a, int b, int c) {                                           \
    return select(culebra_emu::wrapped_sum(a, b), c);                                             \
  }                                                                                               \
  inline unsigned int __viadd##name##_u32(unsigned int a, unsigned int b, unsigned int c) {       \
    return select(a + b, c);                                                                      \
  }                                                                                               \
  inline int __viadd##name##_s32_relu(int a, int b, int c) {                                      \
    return std::max(select(culebra_emu::wrapped_sum(a, b), c), 0);                                \
  }                                                                                               \
  inline unsigned int __vi##name##_s16x2_relu(unsigned int a, unsigned int b) {                   \
    return culebra_emu::for_each_lane<short>(                                                     \
        [](int x, int y) { return std::max(select(x, y), 0); }, a, b);                            \
  }                                                                                               \
  CULEBRA_EMU_SELECT_LANES(__vi##name##3_s16x2, short, select(select(x, y), z))                   \
  CULEBRA_EMU_SELECT_LANES(__vi##name##3_u16x2, unsigned short, select(select(x, y), z))          \
  CULEBRA_EMU_SELECT_LANES(__vi##name##3_s16x2_relu, short, std::max(select(select(x, y), z), 0)) \
  CULEBRA_EMU_SELECT_LANES(__viadd##name##_s16x2, short,                                          \
                           select(static_cast<short>(x + y), static_cast<short>(z)))              \
  CULEBRA_EMU_SELECT_LANES(                                                                       \
      __viadd##name##_u16x2, unsigned short,                                                      \
      select(static_cast<unsigned short>(x + y), static_cast<unsigned short>(z)))                 \
  CULEBRA_EMU_SELECT_LANES(                                                                       \
      __viadd##name##_s16x2_relu, short,                                                          \
      std::max<int>(select(static_cast<short>(x + y), static_cast<short>(z)), 0))
#define CULEBRA_EMU_SELECT_LANES(name, Lane, expression)                                           \
  inline unsigned int name(unsigned int a, unsigned int b, unsigned int c) {                       \
    return culebra_emu::for_each_lane<Lane>([](int x, int y, int z) -> int { return expression; }, \
                                            a, b, c);                                              \
  }
CULEBRA_EMU_SELECT(max, std::max)
CULEBRA_EMU_SELECT(min, std::min)
#undef CULEBRA_EMU_SELECT_LANES
#undef CULEBRA_EMU_SELECT

// And whether it was the first one.
#define CULEBRA_EMU_SELECT_AND_TELL(name, is_first)                                         \
  inline int __vib##name##_s32(int a, int b, bool* first) {                                 \
    *first = a is_first b;                                                                  \
    return *first ? a : b;                                                                  \
  }                                                                                         \
  inline unsigned int __vib##name##_u32(unsigned int a, unsigned int b, bool* first) {      \
    *first = a is_first b;                                                                  \
    return *first ? a : b;                                                                  \
  }                                                                                         \
  inline unsigned int __vib##name##_s16x2(unsigned int a, unsigned int b, bool* first_high, \
                                          bool* first_low) {                                \
    *first_high = static_cast<short>(a >> 16) is_first static_cast<short>(b >> 16);         \
    *first_low = static_cast<short>(a) is_first static_cast<short>(b);                      \
    return ((*first_high ? a : b) & 0xFFFF0000u) | ((*first_low ? a : b) & 0xFFFFu);        \
  }                                                                                         \
  inline unsigned int __vib##name##_u16x2(unsigned int a, unsigned int b, bool* first_high, \
                                          bool* first_low) {                                \
    *first_high = a >> 16 is_first b >> 16;                                                 \
    *first_low = (a & 0xFFFFu) is_first(b & 0xFFFFu);                                       \
    return ((*first_high ? a : b) & 0xFFFF0000u) | ((*first_low ? a : b) & 0xFFFFu);        \
  }
CULEBRA_EMU_SELECT_AND_TELL(max, >=)
CULEBRA_EMU_SELECT_AND_TELL(min, <=)
#undef CULEBRA_EMU_SELECT_AND_TELL
