// The warp's matrix instructions: mma.sync, ldmatrix, stmatrix, movmatrix.
//
// A fragment is a matrix spread over the 32 lanes of a warp. All of them are laid out alike: with
// lane = 4 * group + place, a register holds the E neighbouring elements (E = 4, 2 or 1 of 8, 16 or
// 32 bits) from E * place on, of row (of A and D) or column (of B) `group`. Odd registers of A are
// 8 rows further down, and each next pair of A, or register of B, is 4 E further along k.
//
// Numerics. Products are exact. They are added in fp32, in the order of k, each sum rounded to
// nearest even. The hardware adds several products at once and cuts the sum's low bits off, in a
// way that is not documented; so results agree to the bit where every partial sum is exact
// (integers), and else to within about 2^-22 of the sum of the magnitudes. A NaN is 0x7FFFFFFF.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "culebra_emu/fp16.h"
#include "culebra_emu/fp8.h"
#include "culebra_emu/ptx_access.h"
#include "culebra_emu/shared.h"
#include "culebra_emu/warp.h"

namespace culebra_emu {

inline constexpr unsigned kFullWarp = 0xFFFFFFFFu;

// .aligned: the whole warp, no lane missing.
template <class Operand>
void aligned_collective(const std::source_location& where, const char* operation, Operand& operand,
                        CompleteCollective complete) {
  constexpr std::uint32_t kLaunchFailed = 719;
  if (runtime->active_lanes(&this_thread()) != kFullWarp) {
    runtime->fail(&this_thread(), kLaunchFailed,
                  "a matrix instruction in a warp that has not 32 threads (any more)");
  }
  warp_collective(where, operation, kFullWarp, operand, complete);
}

// How the element types look in a register, and what they are multiplied as.

struct MmaF16 {
  using Number = float;
  static constexpr int kPerRegister = 2;
  static float decode(std::uint32_t word, int i) {
    // No branch and no table, so that the compiler can do several at a time.
    const std::uint32_t half = word >> (16 * i) & 0xFFFFu;
    float magnitude = std::bit_cast<float>((half & 0x7FFFu) << 13) * 0x1p112f;
    if (magnitude >= 65536.0f) {
      magnitude = std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | 0x7F800000u);
    }
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | (half & 0x8000u) << 16);
  }
};

struct MmaBf16 {
  using Number = float;
  static constexpr int kPerRegister = 2;
  static float decode(std::uint32_t word, int i) {
    return std::bit_cast<float>(i == 0 ? word << 16 : word & 0xFFFF0000u);
  }
};

// The hardware does not look at the low 13 bits.
struct MmaTf32 {
  using Number = float;
  static constexpr int kPerRegister = 1;
  static float decode(std::uint32_t word, int) { return std::bit_cast<float>(word & 0xFFFFE000u); }
};

template <class Format>
struct MmaF8 {
  using Number = float;
  static constexpr int kPerRegister = 4;
  static float decode(std::uint32_t word, int i) {
    static const std::array<float, 256> table = [] {
      std::array<float, 256> values{};
      for (unsigned bits = 0; bits < 256; ++bits) {
        values[bits] = Format::to_float(static_cast<std::uint8_t>(bits));
      }
      return values;
    }();
    return table[word >> (8 * i) & 0xFFu];
  }
};
using MmaE4m3 = MmaF8<E4m3Format>;
using MmaE5m2 = MmaF8<E5m2Format>;

struct MmaS8 {
  using Number = std::int32_t;
  static constexpr int kPerRegister = 4;
  static std::int32_t decode(std::uint32_t word, int i) {
    return static_cast<std::int8_t>(word >> (8 * i));
  }
};

struct MmaU8 {
  using Number = std::int32_t;
  static constexpr int kPerRegister = 4;
  static std::int32_t decode(std::uint32_t word, int i) {
    return static_cast<std::uint8_t>(word >> (8 * i));
  }
};

// Eight columns of a row. (The alignment is only the element's: kernels' stacks promise no more.)
template <class Number>
struct RowOf8 {
  typedef Number Type __attribute__((vector_size(32), aligned(16)));
};

// d (16 x 8) += a (16 x kDepth) * b (kDepth x 8). One compilation for each CPU that makes a
// difference; none of them contracts, and products are exact.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define CULEBRA_EMU_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define CULEBRA_EMU_WIDE
#endif
#define CULEBRA_EMU_MULTIPLY(Number)                                                 \
  template <int kDepth>                                                              \
  CULEBRA_EMU_WIDE void multiply_16x8(Number* d, const Number* a, const Number* b) { \
    using Row = typename RowOf8<Number>::Type;                                       \
    Row columns[kDepth];                                                             \
    std::memcpy(columns, b, sizeof columns);                                         \
    for (int row = 0; row < 16; row += 4) {                                          \
      Row sums[4];                                                                   \
      std::memcpy(sums, d + 8 * row, sizeof sums);                                   \
      const Number* const left = a + kDepth * row;                                   \
      for (int k = 0; k < kDepth; ++k) {                                             \
        for (int i = 0; i < 4; ++i) sums[i] += left[kDepth * i + k] * columns[k];    \
      }                                                                              \
      std::memcpy(d + 8 * row, sums, sizeof sums);                                   \
    }                                                                                \
  }
CULEBRA_EMU_MULTIPLY(float)
// (Unsigned: an accumulator of integers wraps around.)
CULEBRA_EMU_MULTIPLY(std::uint32_t)
#undef CULEBRA_EMU_MULTIPLY
#undef CULEBRA_EMU_WIDE

// D = A * B + C of one warp. kRegistersOfA is 4 or 2, and with it k is 8 or 4 elements a register
// deep. Half: the accumulators are f16, two a register.
template <class A, class B, int kRegistersOfA, bool kHalf>
struct Mma {
  static_assert(A::kPerRegister == B::kPerRegister);
  static constexpr int kElements = A::kPerRegister;
  static constexpr int kDepth = 2 * kRegistersOfA * kElements;
  static constexpr int kRegistersOfB = kRegistersOfA / 2;
  using Number =
      std::conditional_t<std::is_same_v<typename A::Number, float>, float, std::uint32_t>;
  static constexpr int kRegistersOfD = kHalf ? 2 : 4;

  const std::uint32_t* a;
  const std::uint32_t* b;
  const void* c;
  void* d;

  static void complete(void* const operands[kWarpSize]) {
    Number left[16 * kDepth];
    Number right[kDepth * 8];
    Number sums[16 * 8];
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const Mma& mine = *static_cast<const Mma*>(operands[lane]);
      const int group = static_cast<int>(lane / 4);
      const int place = kElements * static_cast<int>(lane % 4);
      for (int r = 0; r < kRegistersOfA; ++r) {
        Number* const to = left + kDepth * (group + 8 * (r % 2)) + 4 * kElements * (r / 2) + place;
        for (int i = 0; i < kElements; ++i) to[i] = static_cast<Number>(A::decode(mine.a[r], i));
      }
      for (int r = 0; r < kRegistersOfB; ++r) {
        Number* const to = right + 8 * (4 * kElements * r + place) + group;
        for (int i = 0; i < kElements; ++i) {
          to[8 * i] = static_cast<Number>(B::decode(mine.b[r], i));
        }
      }
      const int column = 2 * static_cast<int>(lane % 4);
      if constexpr (kHalf) {
        const auto* const c = static_cast<const std::uint32_t*>(mine.c);
        for (int r = 0; r < 2; ++r) {
          for (int i = 0; i < 2; ++i) {
            sums[8 * (group + 8 * r) + column + i] = MmaF16::decode(c[r], i);
          }
        }
      } else {
        const auto* const c = static_cast<const Number*>(mine.c);
        for (int r = 0; r < 4; ++r) sums[8 * (group + 8 * (r / 2)) + column + r % 2] = c[r];
      }
    }
    multiply_16x8<kDepth>(sums, left, right);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      Mma& mine = *static_cast<Mma*>(operands[lane]);
      const Number* const from = sums + 8 * (lane / 4) + 2 * (lane % 4);
      if constexpr (kHalf) {
        auto* const d = static_cast<std::uint32_t*>(mine.d);
        for (int r = 0; r < 2; ++r) {
          d[r] = HalfFormat::from_float(from[64 * r]) |
                 static_cast<std::uint32_t>(HalfFormat::from_float(from[64 * r + 1])) << 16;
        }
      } else {
        auto* const d = static_cast<Number*>(mine.d);
        for (int r = 0; r < 4; ++r) d[r] = canonical(from[64 * (r / 2) + r % 2]);
      }
    }
  }

  static float canonical(float value) {
    return value == value ? value : std::bit_cast<float>(0x7FFFFFFFu);
  }
  static std::uint32_t canonical(std::uint32_t value) { return value; }
};

// d may be c: everything is read before anything is written.
template <class A, class B, class Accumulator, std::size_t kD, std::size_t kA, std::size_t kB>
void mma(const std::source_location& where, Accumulator (&d)[kD], const std::uint32_t (&a)[kA],
         const std::uint32_t (&b)[kB], const Accumulator (&c)[kD]) {
  using Operand = Mma<A, B, static_cast<int>(kA), kD == 2>;
  static_assert(kD == Operand::kRegistersOfD && kB == Operand::kRegistersOfB);
  Operand operand{a, b, c, d};
  aligned_collective(where, "mma.sync", operand, &Operand::complete);
}

// The memory of a row of an 8 x 8 matrix of 16-bit elements.
inline void* matrix_row(std::uint32_t address) {
  constexpr std::uint32_t kMisalignedAddress = 716;
  if (address % 16 != 0) {
    runtime->fail(&this_thread(), kMisalignedAddress,
                  "misaligned row address of a matrix load or store");
  }
  return own_shared_pointer(address);
}

// kCount 8 x 8 matrices; lane 8 m + r has the address of row r of matrix m. Lane `4 group + place`
// gets elements 2 place and 2 place + 1 of row `group`, or with kTranspose of column `group`.
template <int kCount, bool kTranspose, bool kStore>
struct MatrixMove {
  char* row;
  char* registers;

  static void move(char* in_memory, char* in_register, std::size_t bytes) {
    std::memcpy(kStore ? in_memory : in_register, kStore ? in_register : in_memory, bytes);
  }

  static void complete(void* const operands[kWarpSize]) {
    for (int matrix = 0; matrix < kCount; ++matrix) {
      char* rows[8];
      for (int r = 0; r < 8; ++r) {
        rows[r] = static_cast<const MatrixMove*>(operands[8 * matrix + r])->row;
      }
      for (int lane = 0; lane < static_cast<int>(kWarpSize); ++lane) {
        char* const word = static_cast<MatrixMove*>(operands[lane])->registers + 4 * matrix;
        const int group = lane / 4;
        const int place = lane % 4;
        if constexpr (kTranspose) {
          move(rows[2 * place] + 2 * group, word, 2);
          move(rows[2 * place + 1] + 2 * group, word + 2, 2);
        } else {
          move(rows[group] + 4 * place, word, 4);
        }
      }
    }
  }
};

// (A store only reads the registers.)
template <bool kTranspose, bool kStore, std::size_t kCount>
void matrix_move(const std::source_location& where, const std::uint32_t (&registers)[kCount],
                 std::uint32_t row_address) {
  using Operand = MatrixMove<static_cast<int>(kCount), kTranspose, kStore>;
  // The addresses of lanes beyond the last matrix's are not looked at.
  const bool has_row = this_thread().lane < 8 * kCount;
  Operand operand{has_row ? static_cast<char*>(matrix_row(row_address)) : nullptr,
                  reinterpret_cast<char*>(const_cast<std::uint32_t*>(registers))};
  aligned_collective(where, kStore ? "stmatrix" : "ldmatrix", operand, &Operand::complete);
}

template <bool kTranspose, std::size_t kCount>
void ldmatrix(const std::source_location& where, std::uint32_t (&registers)[kCount],
              std::uint32_t row_address) {
  matrix_move<kTranspose, false>(where, registers, row_address);
}

template <bool kTranspose, std::size_t kCount>
void stmatrix(const std::source_location& where, const std::uint32_t (&registers)[kCount],
              std::uint32_t row_address) {
  matrix_move<kTranspose, true>(where, registers, row_address);
}

struct MatrixTranspose {
  std::uint32_t word;

  static void complete(void* const operands[kWarpSize]) {
    std::uint16_t matrix[8][8];
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      std::memcpy(&matrix[lane / 4][2 * (lane % 4)], operands[lane], 4);
    }
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      static_cast<MatrixTranspose*>(operands[lane])->word =
          matrix[2 * (lane % 4)][lane / 4] |
          static_cast<std::uint32_t>(matrix[2 * (lane % 4) + 1][lane / 4]) << 16;
    }
  }
};

inline std::uint32_t movmatrix_trans_b16(
    std::uint32_t word, const std::source_location& where = std::source_location::current()) {
  MatrixTranspose operand{word};
  aligned_collective(where, "movmatrix", operand, &MatrixTranspose::complete);
  return operand.word;
}

}  // namespace culebra_emu
