// Every softmax kernel against long double arithmetic: odd lengths, rows at any alignment, strides,
// in place, a grid smaller than the rows; then the contracts for infinities and NaN; then that bits
// depend on the elements only.
#include <cmath>

#include "checks.h"
#include "culebra/params.h"
#include "elements.h"

namespace runner {

namespace {

constexpr double kInfinite = INFINITY;

struct Shape {
  int64_t rows, length, in_stride, out_stride;
  std::size_t in_offset, out_offset;  // elements before the first row
  unsigned grid;
  unsigned block = 0;  // threads; 0: as many as the kernel allows
};

const Shape kShapes[] = {
    {1, 1, 1, 1, 0, 0, 1},           // the shortest row
    {3, 7, 7, 7, 0, 0, 3},           // shorter than a warp, no row but the first aligned
    {2, 1024, 1024, 1024, 0, 0, 2},  // aligned
    {5, 1000, 1003, 1001, 1, 3, 2},  // unaligned and strided, rows beyond the grid
    {2, 2049, 2049, 2064, 5, 0, 7},  // a tail, and blocks without a row
};

template <class E>
class SoftmaxChecks {
  using Storage = typename E::Storage;

 public:
  SoftmaxChecks(Bench& bench, const char* variant, bool log)
      : bench_(bench),
        symbol_(std::string("culebra_softmax_") + variant + (log ? "_log_" : "_") + E::kName),
        log_(log),
        shifts_(std::strcmp(variant, "naive") != 0) {}

  void run() {
    for (const Shape& shape : kShapes) {
      for (const double scale : {1.0, -0.375}) compare(shape, scale);
    }
    if (shifts_) {
      compare_special();
      compare_huge();
    }
    placement();
    short_blocks();
  }

 private:
  // The bits of the rows, and that nothing but the rows was written.
  std::vector<Storage> softmax(const std::vector<Storage>& rows, const Shape& shape, double scale,
                               bool in_place) {
    std::vector<Storage> in = poison<Storage>(shape.in_offset + shape.rows * shape.in_stride);
    for (int64_t r = 0; r < shape.rows; ++r) {
      std::memcpy(static_cast<void*>(&in[shape.in_offset + r * shape.in_stride]),
                  &rows[r * shape.length], shape.length * sizeof(Storage));
    }
    const std::vector<Storage> before =
        in_place ? in : poison<Storage>(shape.out_offset + shape.rows * shape.out_stride);
    const std::size_t offset = in_place ? shape.in_offset : shape.out_offset;
    const int64_t stride = in_place ? shape.in_stride : shape.out_stride;

    const DeviceArray<Storage> device_in(bench_.driver, in);
    const DeviceArray<Storage> device_out(bench_.driver, before);
    const DeviceArray<Storage>& out = in_place ? device_in : device_out;
    const SoftmaxParams params{out.at(offset), device_in.at(shape.in_offset),
                               shape.rows,     shape.length,
                               stride,         shape.in_stride,
                               scale};
    const unsigned block = shape.block ? shape.block : bench_.root.kernel(symbol_).max_threads;
    bench_.launch(symbol_, shape.grid, block, 0, params);

    const std::vector<Storage> after = out.read();
    std::vector<Storage> result;
    std::size_t stray = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const bool inside = i >= offset && (i - offset) % stride < std::size_t(shape.length);
      if (inside) result.push_back(after[i]);
      stray += !inside && !same_bits(after[i], before[i]);
    }
    bench_.expect(stray == 0, "%s: wrote %zu elements outside of its rows (length %ld)",
                  symbol_.c_str(), stray, long(shape.length));
    return result;
  }

  std::vector<Storage> logits(int64_t count) {
    std::vector<Storage> rows(count);
    for (Storage& x : rows) x = E::make(bench_.uniform(-6, 6));
    return rows;
  }

  void compare(const Shape& shape, double scale) {
    const std::vector<Storage> rows = logits(shape.rows * shape.length);
    const std::vector<Storage> got = softmax(rows, shape, scale, false);
    for (int64_t r = 0; r < shape.rows; ++r) {
      compare_row(&rows[r * shape.length], &got[r * shape.length], shape.length, scale);
    }
  }

  void compare_row(const Storage* row, const Storage* got, int64_t length, double scale) {
    long double largest = -kInfinite;
    for (int64_t i = 0; i < length; ++i) {
      largest = std::fmax(largest, (long double)(scale)*E::value(row[i]));
    }
    long double sum = 0;
    for (int64_t i = 0; i < length; ++i) sum += std::exp(scale * E::value(row[i]) - largest);
    for (int64_t i = 0; i < length; ++i) {
      const long double shifted = scale * E::value(row[i]) - largest;
      const long double wanted = log_ ? shifted - std::log(sum) : std::exp(shifted) / sum;
      // A logarithm has an absolute error, of its largest term.
      const double size = log_ ? std::fabs(wanted) + 16 : std::fabs(wanted);
      const double bound = E::kHalfUlp * std::fabs(wanted) + E::kHalfSpacing +
                           (16 + (log_ ? 0 : 2 * std::fabs(shifted))) * E::kArithmetic * size;
      bench_.expect(std::fabs(E::value(got[i]) - wanted) <= bound,
                    "%s: length %ld, scale %g, element %ld is %.9g, should be %.9Lg within %.3g",
                    symbol_.c_str(), long(length), scale, long(i), E::value(got[i]), wanted, bound);
    }
  }

  enum class Expected { kNaN, kMasked, kUniform };

  void compare_special() {
    constexpr int64_t kLength = 301;
    const auto special = [&](double everywhere, double at_200, Expected expected) {
      std::vector<Storage> row(kLength, E::make(everywhere));
      row[200] = E::make(at_200);
      const std::vector<Storage> got =
          softmax(row, {1, kLength, kLength, kLength, 0, 0, 1}, 1.0, false);
      for (int64_t i = 0; i < kLength; ++i) {
        const double value = E::value(got[i]);
        const double count = expected == Expected::kMasked ? kLength - 1 : kLength;
        const double share = log_ ? -std::log(count) : 1 / count;
        const double masked = log_ ? -kInfinite : 0.0;
        const bool holds = expected == Expected::kNaN ? std::isnan(value)
                           : expected == Expected::kMasked && i == 200
                               ? value == masked
                               : std::fabs(value - share) <= 2 * E::kHalfUlp * std::fabs(share) +
                                                                 (log_ ? 8 * E::kArithmetic : 0);
        bench_.expect(holds, "%s: a row of %g with one %g: element %ld is %.9g", symbol_.c_str(),
                      everywhere, at_200, long(i), value);
      }
    };
    special(3, 3, Expected::kUniform);
    special(3, -kInfinite, Expected::kMasked);
    special(3, kInfinite, Expected::kNaN);
    special(3, NAN, Expected::kNaN);
    special(-kInfinite, -kInfinite, Expected::kNaN);
    special(-kInfinite, NAN, Expected::kNaN);
    special(kInfinite, kInfinite, Expected::kNaN);
    special(10000, 10000, Expected::kUniform);
    special(-10000, -10000, Expected::kUniform);
  }

  // Elements whose differences overflow, brought back into range by the scale.
  void compare_huge() {
    const double most = std::ldexp(1.75, E::kMaxExponent - 1);
    std::vector<Storage> row(65, E::make(-most));
    for (const int i : {1, 40, 64}) row[i] = E::make(most * ((65 - i) / 65.0));
    const Shape shape{1, 65, 65, 65, 0, 0, 1};
    for (const double scale : {1.0, 0.25, std::ldexp(1.0, 3 - E::kMaxExponent)}) {
      if (log_ && scale == 1.0) continue;  // the result itself would overflow
      compare_row(row.data(), softmax(row, shape, scale, false).data(), 65, scale);
    }
  }

  // Wherever the rows lie and whatever the grid is, the bits are the same.
  void placement() {
    constexpr int64_t kLength = 777;
    const std::vector<Storage> rows = logits(3 * kLength);
    const Shape plain{3, kLength, kLength, kLength, 0, 0, 3};
    const Shape shifted{3, kLength, kLength + 5, kLength + 2, 3, 1, 2};
    const Shape aligned{3, kLength, 1024, 1024, 0, 0, 1};
    const std::vector<Storage> wanted = softmax(rows, plain, 1.0, false);
    const auto same = [&](const char* what, const std::vector<Storage>& got) {
      bench_.expect(std::memcmp(got.data(), wanted.data(), wanted.size() * sizeof(Storage)) == 0,
                    "%s: other bits %s", symbol_.c_str(), what);
    };
    same("in a second run", softmax(rows, plain, 1.0, false));
    same("in place", softmax(rows, plain, 1.0, true));
    same("in place, strided and unaligned", softmax(rows, shifted, 1.0, true));
    same("strided and unaligned", softmax(rows, shifted, 1.0, false));
    same("aligned, one block for all rows", softmax(rows, aligned, 1.0, false));
  }

  // The host gives a short row the whole warps that it fills.
  void short_blocks() {
    constexpr int64_t kPerWarp = 32 * 16 / sizeof(Storage);
    for (const unsigned warps : {1u, 2u, 3u, 5u}) {
      for (const int64_t length : {int64_t(1), kPerWarp - 1, warps * kPerWarp}) {
        const std::vector<Storage> rows = logits(2 * length);
        Shape shape{2, length, length, length, 0, 0, 2};
        const std::vector<Storage> wanted = softmax(rows, shape, 1.0, false);
        shape.block = 32 * warps;
        const std::vector<Storage> got = softmax(rows, shape, 1.0, false);
        bench_.expect(std::memcmp(got.data(), wanted.data(), wanted.size() * sizeof(Storage)) == 0,
                      "%s: other bits with %u warps, length %ld", symbol_.c_str(), warps,
                      long(length));
      }
    }
  }

  Bench& bench_;
  std::string symbol_;
  bool log_;
  bool shifts_;  // subtracts the maximum: the contracts for extreme values hold
};

template <class E>
void check_type(Bench& bench) {
  for (const char* variant : {"naive", "safe", "online"}) {
    for (const bool log : {false, true}) SoftmaxChecks<E>(bench, variant, log).run();
  }
}

}  // namespace

void check_softmax(Bench& bench) {
  for_types<F32, F16, BF16, F64>(bench,
                                 [&](auto element) { check_type<decltype(element)>(bench); });
}

}  // namespace runner
