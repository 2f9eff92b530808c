// mma.sync, ldmatrix, stmatrix, movmatrix: whole matrices of small integers, of which every sum is
// exact, are cut into fragments as the PTX ISA lays them out, and put together again.
#include <cstdint>

#include "elements.h"
#include "ptx_checks.h"

namespace runner {

namespace {

// How many bits an element has, and its bits for a small integer.
struct OperandType {
  const char* name;
  int bits;
  int largest;
  bool is_signed;
};

std::uint32_t tiny_float(int value, int mantissa_bits, int bias) {
  if (value == 0) return 0;
  const unsigned magnitude = static_cast<unsigned>(std::abs(value));
  int exponent = 31 - __builtin_clz(magnitude);
  const unsigned fraction = (magnitude << mantissa_bits >> exponent) & ((1u << mantissa_bits) - 1);
  return (value < 0 ? 0x80u : 0u) | static_cast<unsigned>(exponent + bias) << mantissa_bits |
         fraction;
}

std::uint32_t bits_of(const OperandType& type, int value) {
  const std::string name = type.name;
  if (name == "f16") return F16::make(value).bits;
  if (name == "bf16") return BF16::make(value).bits;
  if (name == "e4m3") return tiny_float(value, 3, 7);
  if (name == "e5m2") return tiny_float(value, 2, 15);
  if (name == "tf32") {
    const float number = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
  }
  return static_cast<std::uint32_t>(value) & 0xFFu;
}

// d = a b + c with f32, s32 or f16 accumulators.
struct MmaShape {
  int k;
  OperandType type;
  const char* accumulator;
  int needs;

  std::string symbol() const {
    const std::string a = type.name, d = accumulator;
    return "culebra_ptx_mma_sync_m16n8k" + std::to_string(k) + "_" + d + "_" + a + "_" + a + "_" +
           d;
  }
};

constexpr OperandType kF16{"f16", 16, 8, true};
constexpr OperandType kBf16{"bf16", 16, 255, true};
constexpr OperandType kTf32{"tf32", 32, 1000, true};
constexpr OperandType kS8{"s8", 8, 127, true};
constexpr OperandType kU8{"u8", 8, 255, false};
constexpr OperandType kE4m3{"e4m3", 8, 16, true};
constexpr OperandType kE5m2{"e5m2", 8, 8, true};

constexpr MmaShape kShapes[] = {
    {16, kF16, "f32", 80},  {8, kF16, "f32", 80},  {16, kBf16, "f32", 80}, {8, kBf16, "f32", 80},
    {8, kTf32, "f32", 80},  {4, kTf32, "f32", 80}, {16, kF16, "f16", 80},  {8, kF16, "f16", 80},
    {32, kS8, "s32", 80},   {16, kS8, "s32", 80},  {32, kU8, "s32", 80},   {32, kE4m3, "f32", 89},
    {32, kE5m2, "f32", 89},
};

// Where element i of register r of a lane lies: (row, column) of A, (k, column) of B.
struct Place {
  int row;
  int column;
};
Place place_in_a(int lane, int r, int i, int elements) {
  return {lane / 4 + 8 * (r % 2), 4 * elements * (r / 2) + elements * (lane % 4) + i};
}
Place place_in_b(int lane, int r, int i, int elements) {
  return {4 * elements * r + elements * (lane % 4) + i, lane / 4};
}

void check_mma(Bench& bench, const MmaShape& shape) {
  const int elements = 32 / shape.type.bits;
  const int registers_of_a = shape.k / (2 * elements);
  const int registers_of_b = registers_of_a / 2;
  const bool half = std::string(shape.accumulator) == "f16";
  const bool integer = std::string(shape.accumulator) == "s32";
  const int registers_of_d = half ? 2 : 4;
  const auto random = [&](int low, int high) {
    return static_cast<int>(std::floor(bench.uniform(low, high + 1)));
  };
  for (int round = 0; round < 4; ++round) {
    std::vector<int> a(16 * shape.k), b(shape.k * 8), c(16 * 8), d(16 * 8);
    const int low = shape.type.is_signed ? -shape.type.largest : 0;
    for (int& x : a) x = random(low, shape.type.largest);
    for (int& x : b) x = random(low, shape.type.largest);
    // (f16 has all integers up to 2048.)
    for (int& x : c) x = half ? random(-900, 900) : random(-100'000, 100'000);
    for (int row = 0; row < 16; ++row) {
      for (int column = 0; column < 8; ++column) {
        int sum = c[8 * row + column];
        for (int k = 0; k < shape.k; ++k) sum += a[shape.k * row + k] * b[8 * k + column];
        d[8 * row + column] = sum;
      }
    }
    std::vector<std::uint32_t> fragment_a(32 * registers_of_a), fragment_b(32 * registers_of_b);
    std::vector<std::uint32_t> fragment_c(32 * registers_of_d), expected(32 * registers_of_d);
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < elements; ++i) {
        for (int r = 0; r < registers_of_a; ++r) {
          const Place at = place_in_a(lane, r, i, elements);
          fragment_a[registers_of_a * lane + r] |=
              bits_of(shape.type, a[shape.k * at.row + at.column]) << (shape.type.bits * i);
        }
        for (int r = 0; r < registers_of_b; ++r) {
          const Place at = place_in_b(lane, r, i, elements);
          fragment_b[registers_of_b * lane + r] |= bits_of(shape.type, b[8 * at.row + at.column])
                                                   << (shape.type.bits * i);
        }
      }
      for (int i = 0; i < 4; ++i) {
        const int from = 8 * (lane / 4 + 8 * (i / 2)) + 2 * (lane % 4) + i % 2;
        const auto put = [&](std::vector<std::uint32_t>& fragment, int value) {
          if (half) {
            fragment[2 * lane + i / 2] |= static_cast<std::uint32_t>(F16::make(value).bits)
                                          << (16 * (i % 2));
          } else {
            fragment[4 * lane + i] =
                integer ? static_cast<std::uint32_t>(value) : bits_of(kTf32, value);
          }
        };
        put(fragment_c, c[from]);
        put(expected, d[from]);
      }
    }
    const DeviceArray<std::uint32_t> in_a(bench.driver, fragment_a), in_b(bench.driver, fragment_b);
    const DeviceArray<std::uint32_t> in_c(bench.driver, fragment_c);
    const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(expected.size()));
    bench.launch(shape.symbol(), 1, 32, 0, out.at(0), in_a.at(0), in_b.at(0), in_c.at(0));
    bench.expect(out.read() == expected, "%s, round %d", shape.symbol().c_str(), round);
  }
}

// Sums that are not exact: within what the hardware's way of adding may lose.
void check_mma_rounding(Bench& bench) {
  std::vector<std::uint32_t> a(32 * 4), b(32 * 2);
  std::vector<float> c(32 * 4);
  double matrix_a[16][16], matrix_b[16][8];
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 2; ++i) {
      const auto put = [&](std::uint32_t& word, double& value) {
        const BF16::Storage x = BF16::make(bench.uniform(-3, 3));
        value = x.value();
        word |= static_cast<std::uint32_t>(x.bits) << (16 * i);
      };
      for (int r = 0; r < 4; ++r) {
        const Place at = place_in_a(lane, r, i, 2);
        put(a[4 * lane + r], matrix_a[at.row][at.column]);
      }
      for (int r = 0; r < 2; ++r) {
        const Place at = place_in_b(lane, r, i, 2);
        put(b[2 * lane + r], matrix_b[at.row][at.column]);
      }
    }
    for (int i = 0; i < 4; ++i) c[4 * lane + i] = static_cast<float>(bench.uniform(-3, 3));
  }
  const DeviceArray<std::uint32_t> in_a(bench.driver, a), in_b(bench.driver, b);
  const DeviceArray<float> in_c(bench.driver, c), out(bench.driver, poison<float>(c.size()));
  bench.launch("culebra_ptx_mma_sync_m16n8k16_f32_bf16_bf16_f32", 1, 32, 0, out.at(0), in_a.at(0),
               in_b.at(0), in_c.at(0));
  const std::vector<float> got = out.read();
  double worst = 0;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + 8 * (i / 2);
      const int column = 2 * (lane % 4) + i % 2;
      double sum = c[4 * lane + i];
      double magnitude = std::fabs(sum);
      for (int k = 0; k < 16; ++k) {
        sum += matrix_a[row][k] * matrix_b[k][column];
        magnitude += std::fabs(matrix_a[row][k] * matrix_b[k][column]);
      }
      worst = std::max(worst, std::fabs(got[4 * lane + i] - sum) / magnitude);
    }
  }
  bench.expect(worst <= 0x1p-21, "mma.sync loses 2^%.1f of the sum of the magnitudes",
               std::log2(worst));
}

std::vector<std::uint32_t> numbered(std::size_t words) {
  std::vector<std::uint32_t> result(words);
  for (std::size_t i = 0; i < words; ++i) {
    result[i] = static_cast<std::uint32_t>(2 * i | (2 * i + 1) << 16);
  }
  return result;
}

void check_matrix_moves(Bench& bench) {
  // Each row of each matrix lies somewhere else.
  std::vector<std::uint32_t> rows(32);
  for (std::uint32_t i = 0; i < 32; ++i) rows[i] = (7 * i + 3) % 32;
  const auto half = [](const std::vector<std::uint32_t>& words, std::size_t i) {
    return words[i / 2] >> (16 * (i % 2)) & 0xFFFFu;
  };
  const DeviceArray<std::uint32_t> device_rows(bench.driver, rows);
  for (const unsigned count : {1u, 2u, 4u}) {
    for (const bool transpose : {false, true}) {
      const std::string suffix = "x" + std::to_string(count) + (transpose ? "_trans" : "");
      const std::vector<std::uint32_t> tile = numbered(128);
      const std::vector<std::uint32_t> registers = numbered(32 * count);
      std::vector<std::uint32_t> loaded(32 * count), stored(128, 0xFFFFFFFFu);
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned m = 0; m < count; ++m) {
          for (unsigned i = 0; i < 2; ++i) {
            const unsigned along = 2 * (lane % 4) + i;
            const unsigned row = transpose ? along : lane / 4;
            const unsigned column = transpose ? lane / 4 : along;
            const std::size_t element = 8 * rows[8 * m + row] + column;
            const unsigned shift = 16 * i;
            loaded[count * lane + m] |= half(tile, element) << shift;
            std::uint32_t& word = stored[element / 2];
            const unsigned to = 16 * (element % 2);
            word = (word & ~(0xFFFFu << to)) | (registers[count * lane + m] >> shift & 0xFFFFu)
                                                   << to;
          }
        }
      }
      const DeviceArray<std::uint32_t> in(bench.driver, tile);
      const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(32 * count));
      bench.launch("culebra_ptx_ldmatrix_" + suffix, 1, 32, 0, out.at(0), in.at(0),
                   device_rows.at(0));
      bench.expect(out.read() == loaded, "ldmatrix %s", suffix.c_str());
      if (bench.driver.compute_capability() < 90) continue;
      const DeviceArray<std::uint32_t> fragments(bench.driver, registers);
      const DeviceArray<std::uint32_t> memory(bench.driver, poison<std::uint32_t>(128));
      bench.launch("culebra_ptx_stmatrix_" + suffix, 1, 32, 0, memory.at(0), fragments.at(0),
                   device_rows.at(0));
      bench.expect(memory.read() == stored, "stmatrix %s", suffix.c_str());
    }
  }

  const std::vector<std::uint32_t> matrix = numbered(32);
  std::vector<std::uint32_t> expected(32);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 2; ++i) {
      expected[lane] |= half(matrix, 8 * (2 * (lane % 4) + i) + lane / 4) << (16 * i);
    }
  }
  const DeviceArray<std::uint32_t> in(bench.driver, matrix);
  const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(32));
  bench.launch("culebra_ptx_movmatrix_trans_b16", 1, 32, 0, out.at(0), in.at(0));
  bench.expect(out.read() == expected, "movmatrix.trans");
}

// The kernel that is measured elsewhere.
void check_mma_repeated(Bench& bench) {
  constexpr unsigned kThreads = 64, kRepeats = 5;
  std::vector<std::uint32_t> in(32 * 6);
  int a[16][16], b[16][8];
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 2; ++i) {
      const auto put = [&](int r, int& element) {
        element = static_cast<int>(std::floor(bench.uniform(-8, 9)));
        in[6 * lane + r] |= bits_of(kBf16, element) << (16 * i);
      };
      for (int r = 0; r < 4; ++r) {
        const Place at = place_in_a(lane, r, i, 2);
        put(r, a[at.row][at.column]);
      }
      for (int r = 0; r < 2; ++r) {
        const Place at = place_in_b(lane, r, i, 2);
        put(4 + r, b[at.row][at.column]);
      }
    }
  }
  std::vector<float> expected(4 * kThreads);
  for (unsigned i = 0; i < expected.size(); ++i) {
    const unsigned lane = i / 4 % 32;
    const unsigned row = lane / 4 + 8 * (i % 4 / 2), column = 2 * (lane % 4) + i % 2;
    int sum = 0;
    for (unsigned k = 0; k < 16; ++k) sum += a[row][k] * b[k][column];
    expected[i] = static_cast<float>(int{kRepeats} * sum);
  }
  const DeviceArray<std::uint32_t> device_in(bench.driver, in);
  const DeviceArray<float> out(bench.driver, poison<float>(expected.size()));
  bench.launch("culebra_ptx_mma_repeated", 1, kThreads, 0, out.at(0), device_in.at(0),
               std::uint32_t{kRepeats});
  bench.expect(out.read() == expected, "mma.sync, %u times the same", kRepeats);
}

}  // namespace

void check_ptx_matrices(Bench& bench) {
  for (const MmaShape& shape : kShapes) {
    if (bench.driver.compute_capability() >= shape.needs) check_mma(bench, shape);
  }
  check_mma_rounding(bench);
  check_matrix_moves(bench);
  check_mma_repeated(bench);
}

}  // namespace runner
