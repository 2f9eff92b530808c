// The checks of softmax kernels that take MaskedSoftmaxParams, whatever launches they need: against
// long double arithmetic, at any length, alignment, stride and mask; the contracts for infinities,
// NaN and rows without elements; and that bits depend on the elements only. Of kernels with an
// additive mask all of that with nothing added, and what addends do.
#pragma once

#include <cmath>
#include <functional>

#include "checks.h"
#include "culebra/params.h"
#include "elements.h"

namespace runner {

// Launches so many blocks at most; 0: as many as there is work for. Only kernels with an additive
// mask take the addends.
using SoftmaxLaunch = std::function<void(const MaskedSoftmaxParams& params,
                                         const SoftmaxAddends& addends, unsigned grid)>;

template <class E>
class SoftmaxRows {
  using Storage = typename E::Storage;
  static constexpr double kInfinite = INFINITY;

 public:
  struct Case {
    int64_t rows = 1;
    int64_t length = 1;
    int64_t in_gap = 0;  // elements between rows
    int64_t out_gap = 0;
    std::size_t in_offset = 0;  // elements before the first row
    std::size_t out_offset = 0;
    double scale = 1;
    bool log = false;
    bool in_place = false;
    bool empty_is_zero = false;
    unsigned grid = 0;
    std::vector<int32_t> lengths{};    // empty: none
    std::vector<std::uint8_t> mask{};  // empty: none; else rows * length
    int64_t mask_stride = -1;          // -1: length; 0: one row of it for all
    std::vector<double> addends{};     // empty: 0; else rows * length, or length for all rows
    bool addends_are_f32 = false;
    std::size_t addend_offset = 0;  // elements before the first
  };

  // adds: whether the kernels take addends.
  SoftmaxRows(Bench& bench, std::string name, SoftmaxLaunch launch, bool adds = false)
      : bench_(bench), name_(std::move(name)), launch_(std::move(launch)), adds_(adds) {}

  void length(int64_t length) {
    for (const bool log : {false, true}) {
      compare(plain(3, length, log));
      Case odd = plain(2, length, log);
      odd.in_gap = 3;
      odd.out_gap = 2;
      odd.in_offset = 1;
      odd.out_offset = 3;
      odd.scale = -0.375;
      compare(odd);
    }
    placement(length);
  }

  // What does not hang on the length.
  void contracts(int64_t length) {
    masks(length);
    special(length);
    if (adds_) added(length);
  }

  // More rows than the grid has teams.
  void many(int64_t rows, int64_t length) {
    Case many = plain(rows, length, false);
    const std::vector<Storage> wanted = run(many, logits(rows * length, 77));
    for (const unsigned grid : {1u, 2u, 3u}) {
      many.grid = grid;
      same("with a small grid", wanted, run(many, logits(rows * length, 77)), length);
    }
  }

 private:
  static Case plain(int64_t rows, int64_t length, bool log) {
    Case c;
    c.rows = rows;
    c.length = length;
    c.log = log;
    return c;
  }

  std::vector<Storage> logits(int64_t count, unsigned seed) {
    std::mt19937_64 random(seed + static_cast<unsigned>(count));
    std::uniform_real_distribution<double> uniform(-6, 6);
    std::vector<Storage> elements(count);
    for (Storage& x : elements) x = E::make(uniform(random));
    return elements;
  }

  std::vector<Storage> run(const Case& c, const std::vector<Storage>& rows) {
    const int64_t in_stride = c.length + c.in_gap;
    const int64_t out_stride = c.in_place ? in_stride : c.length + c.out_gap;
    const std::size_t out_offset = c.in_place ? c.in_offset : c.out_offset;
    std::vector<Storage> in = poison<Storage>(c.in_offset + c.rows * in_stride);
    for (int64_t r = 0; r < c.rows; ++r) {
      std::memcpy(static_cast<void*>(&in[c.in_offset + r * in_stride]), &rows[r * c.length],
                  c.length * sizeof(Storage));
    }
    const std::vector<Storage> before =
        c.in_place ? in : poison<Storage>(out_offset + c.rows * out_stride);
    const DeviceArray<Storage> device_in(bench_.driver, in);
    const DeviceArray<Storage> device_out(bench_.driver, before);
    const DeviceArray<int32_t> device_lengths(bench_.driver, c.lengths);
    const DeviceArray<std::uint8_t> device_mask(bench_.driver, c.mask);
    const DeviceArray<Storage>& out = c.in_place ? device_in : device_out;
    MaskedSoftmaxParams params{};
    params.out = out.at(out_offset);
    params.in = device_in.at(c.in_offset);
    params.rows = c.rows;
    params.row_length = c.length;
    params.out_row_stride = out_stride;
    params.in_row_stride = in_stride;
    params.scale = c.scale;
    params.lengths = c.lengths.empty() ? nullptr : device_lengths.at(0);
    params.mask = c.mask.empty() ? nullptr : device_mask.at(0);
    params.mask_inner_rows = 1;
    params.mask_middle_rows = c.rows;
    params.mask_middle_stride = c.mask_stride < 0 ? c.length : c.mask_stride;
    params.log = c.log;
    params.empty_is_zero = c.empty_is_zero;
    const std::vector<double> added = c.addends.empty() ? std::vector<double>(c.length) : c.addends;
    std::vector<Storage> own = poison<Storage>(c.addend_offset);
    std::vector<float> single = poison<float>(c.addend_offset);
    for (const double addend : added) {
      own.push_back(E::make(addend));
      single.push_back(static_cast<float>(addend));
    }
    const DeviceArray<Storage> device_own(bench_.driver, own);
    const DeviceArray<float> device_single(bench_.driver, single);
    SoftmaxAddends addends{};
    addends.addends = c.addends_are_f32
                          ? static_cast<const void*>(device_single.at(c.addend_offset))
                          : device_own.at(c.addend_offset);
    addends.addends_are_f32 = c.addends_are_f32;
    addends.addend_inner_rows = c.rows;
    addends.addend_inner_stride = int64_t(added.size()) == c.length ? 0 : c.length;
    addends.addend_middle_rows = 1;
    launch_(params, addends, c.grid);

    const std::vector<Storage> after = out.read();
    std::vector<Storage> result;
    std::size_t stray = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const bool inside = i >= out_offset && (i - out_offset) % out_stride < std::size_t(c.length);
      if (inside) result.push_back(after[i]);
      stray += !inside && !same_bits(after[i], before[i]);
    }
    bench_.expect(stray == 0, "%s: wrote %zu elements outside of its rows (length %ld)",
                  name_.c_str(), stray, long(c.length));
    return result;
  }

  bool counts(const Case& c, int64_t r, int64_t i) const {
    if (!c.lengths.empty() && i >= c.lengths[r]) return false;
    const int64_t stride = c.mask_stride < 0 ? c.length : c.mask_stride;
    if (!c.mask.empty() && c.mask[r * stride + i] == 0) return false;
    return addend(c, r, i) != -kInfinite;
  }

  double addend(const Case& c, int64_t r, int64_t i) const {
    if (c.addends.empty()) return 0;
    const double added = c.addends[int64_t(c.addends.size()) == c.length ? i : r * c.length + i];
    return c.addends_are_f32 ? static_cast<float>(added) : E::value(E::make(added));
  }

  long double logit(const Case& c, int64_t r, int64_t i, const Storage* row) const {
    return (long double)(c.scale) * E::value(row[i]) + addend(c, r, i);
  }

  void compare(const Case& c) {
    const std::vector<Storage> rows = logits(c.rows * c.length, 5);
    const std::vector<Storage> got = run(c, rows);
    for (int64_t r = 0; r < c.rows; ++r) compare_row(c, r, &rows[r * c.length], &got[r * c.length]);
  }

  void compare_row(const Case& c, int64_t r, const Storage* row, const Storage* got) {
    long double largest = -kInfinite;
    for (int64_t i = 0; i < c.length; ++i) {
      if (counts(c, r, i)) largest = std::fmax(largest, logit(c, r, i, row));
    }
    long double sum = 0;
    for (int64_t i = 0; i < c.length; ++i) {
      if (counts(c, r, i)) sum += std::exp(logit(c, r, i, row) - largest);
    }
    for (int64_t i = 0; i < c.length; ++i) {
      const double value = E::value(got[i]);
      if (sum == 0 && !c.empty_is_zero) {
        bench_.expect(std::isnan(value),
                      "%s: length %ld, row %ld has no elements: element %ld is %g", name_.c_str(),
                      long(c.length), long(r), long(i), value);
        continue;
      }
      if (!counts(c, r, i)) {
        bench_.expect(value == (c.log ? -kInfinite : 0.0),
                      "%s: length %ld, row %ld, masked element %ld is %g", name_.c_str(),
                      long(c.length), long(r), long(i), value);
        continue;
      }
      const long double shifted = logit(c, r, i, row) - largest;
      const long double wanted = c.log ? shifted - std::log(sum) : std::exp(shifted) / sum;
      const double size = c.log ? std::fabs(double(wanted)) + 16 : std::fabs(double(wanted));
      // The approximate exponential of 16-bit results has an error of some 2^-20.
      const double exponential = sizeof(Storage) == 2 ? 0x1p-19 * size : 0;
      // What a logit is rounded by counts in the exponent.
      const double rounded = adds_ ? double(std::fabs(largest) + std::fabs(shifted)) : 0;
      const double bound =
          E::kHalfUlp * std::fabs(double(wanted)) + E::kHalfSpacing + exponential +
          (16 + 4 * rounded + (c.log ? 0 : 2 * std::fabs(double(shifted)))) * E::kArithmetic * size;
      bench_.expect(
          std::fabs(value - double(wanted)) <= bound,
          "%s: length %ld, scale %g, log %d, row %ld element %ld is %.9g, should be %.9Lg "
          "within %.3g",
          name_.c_str(), long(c.length), c.scale, int(c.log), long(r), long(i), value, wanted,
          bound);
    }
  }

  void same(const char* what, const std::vector<Storage>& wanted, const std::vector<Storage>& got,
            int64_t length) {
    bench_.expect(wanted.size() == got.size() &&
                      std::memcmp(got.data(), wanted.data(), wanted.size() * sizeof(Storage)) == 0,
                  "%s: length %ld has other bits %s", name_.c_str(), long(length), what);
  }

  // Wherever the rows lie and whatever the grid is, the bits are the same.
  void placement(int64_t length) {
    const std::vector<Storage> rows = logits(2 * length, 6);
    Case c = plain(2, length, false);
    const std::vector<Storage> wanted = run(c, rows);
    same("in a second run", wanted, run(c, rows), length);
    c.in_place = true;
    same("in place", wanted, run(c, rows), length);
    c.in_offset = 1;
    c.in_gap = 1;
    same("in place, strided and unaligned", wanted, run(c, rows), length);
    c.in_place = false;
    c.out_offset = 8;
    c.out_gap = 8;
    same("from unaligned to aligned", wanted, run(c, rows), length);
    c.in_offset = 8;
    c.in_gap = 8;
    c.out_offset = 5;
    same("from aligned to unaligned", wanted, run(c, rows), length);
  }

  void masks(int64_t length) {
    Case c = plain(3, length, false);
    c.lengths = {static_cast<int32_t>(length / 2 + 1), static_cast<int32_t>(length) + 5, 1};
    compare(c);
    c.log = true;
    c.in_offset = 1;
    compare(c);
    c.lengths = {0, static_cast<int32_t>(length), -3};
    compare(c);
    c.empty_is_zero = true;
    compare(c);
    c.log = false;
    compare(c);

    Case m = plain(3, length, false);
    m.scale = -2;
    m.mask.assign(3 * length, 0);
    for (int64_t i = 0; i < 2 * length; ++i) m.mask[i] = i % 3 != 1 ? 4 : 0;  // row 2 has none
    compare(m);
    m.empty_is_zero = true;
    m.out_offset = 1;
    compare(m);
    m.mask.resize(length);
    m.mask_stride = 0;
    m.mask[0] = 1;
    compare(m);
    m.lengths = {static_cast<int32_t>(length), static_cast<int32_t>(length + 1) / 2, 1};
    compare(m);
  }

  // Exact in every type; of row r and place i.
  static std::vector<double> some_addends(int64_t rows, int64_t length) {
    std::vector<double> addends(rows * length);
    for (std::size_t i = 0; i < addends.size(); ++i) addends[i] = double(i * 7 % 33) / 4 - 4;
    return addends;
  }

  void added(int64_t length) {
    Case c = plain(3, length, false);
    c.scale = -0.375;
    c.addends = some_addends(3, length);
    for (const bool log : {false, true}) {
      c.log = log;
      c.addends_are_f32 = log;
      c.addend_offset = log ? 1 : 8;
      compare(c);
    }
    const std::vector<Storage> rows = logits(3 * length, 8);
    std::vector<Storage> wanted = run(c, rows);
    c.addends_are_f32 = false;
    same("with addends of its own type", wanted, run(c, rows), length);
    c.addend_offset = 3;
    c.in_offset = 1;
    c.out_offset = 5;
    same("with other alignments", wanted, run(c, rows), length);
    c.out_offset = c.in_offset;
    c.in_place = true;
    same("in place", wanted, run(c, rows), length);

    // One row of them for all rows, some of -inf, and together with what else masks.
    c = plain(3, length, false);
    c.addends = some_addends(1, length);
    compare(c);
    for (int64_t i = 0; i + 1 < length; i += 3) c.addends[i] = -kInfinite;
    compare(c);
    c.scale = 0;
    compare(c);
    c.scale = 2;
    c.mask.assign(3 * length, 1);
    for (int64_t i = 0; i < length; ++i) c.mask[length + i] = i % 2;
    c.lengths = {static_cast<int32_t>(length), static_cast<int32_t>(length), 2};
    c.empty_is_zero = true;
    compare(c);
    c.log = true;
    compare(c);

    // Rows of which nothing is left.
    c = plain(2, length, false);
    c.addends.assign(length, -kInfinite);
    compare(c);
    c.empty_is_zero = true;
    compare(c);

    // What stands behind an addend of -inf is not looked at.
    c = plain(1, length, false);
    c.addends = some_addends(1, length);
    c.addends[0] = -kInfinite;
    std::vector<Storage> row = logits(length, 9);
    wanted = run(c, row);
    for (const double hidden : {double(NAN), kInfinite, -kInfinite}) {
      row[0] = E::make(hidden);
      same("for what is masked", wanted, run(c, row), length);
    }
    if (length < 2) return;
    for (const double poisoned : {double(NAN), kInfinite}) {
      c.addends[length - 1] = poisoned;
      for (const Storage& y : run(c, row)) {
        bench_.expect(std::isnan(E::value(y)), "%s: length %ld, an addend of %g: an element is %g",
                      name_.c_str(), long(length), poisoned, E::value(y));
      }
    }
  }

  void special(int64_t length) {
    if (length < 2) return;
    enum class Expected { kNaN, kMasked, kUniform };
    const int64_t place = length * 2 / 3;
    const auto check = [&](double everywhere, double there, double scale, Expected expected) {
      std::vector<Storage> row(length, E::make(everywhere));
      row[place] = E::make(there);
      for (const bool log : {false, true}) {
        Case c = plain(1, length, log);
        c.scale = scale;
        const std::vector<Storage> got = run(c, row);
        for (int64_t i = 0; i < length; ++i) {
          const double value = E::value(got[i]);
          const double count = expected == Expected::kMasked ? length - 1 : length;
          const double share = log ? -std::log(count) : 1 / count;
          const bool holds = expected == Expected::kNaN ? std::isnan(value)
                             : expected == Expected::kMasked && i == place
                                 ? value == (log ? -kInfinite : 0.0)
                                 : std::fabs(value - share) <= 2 * E::kHalfUlp * std::fabs(share) +
                                                                   E::kHalfSpacing +
                                                                   (log ? 16 * E::kArithmetic : 0);
          bench_.expect(holds,
                        "%s: length %ld, scale %g: a row of %g with one %g: element %ld is %.9g",
                        name_.c_str(), long(length), scale, everywhere, there, long(i), value);
        }
      }
    };
    check(3, 3, 1, Expected::kUniform);
    check(10000, 10000, 1, Expected::kUniform);
    check(-10000, -10000, 1, Expected::kUniform);
    check(0, -0.0, 1, Expected::kUniform);
    check(3, -kInfinite, 1, Expected::kMasked);
    check(3, kInfinite, -1, Expected::kMasked);
    check(3, -kInfinite, 0, Expected::kMasked);
    check(3, 4, 0, Expected::kUniform);
    check(3, kInfinite, 1, Expected::kNaN);
    check(3, kInfinite, 0, Expected::kNaN);
    check(3, -kInfinite, -1, Expected::kNaN);
    check(3, NAN, 1, Expected::kNaN);
    check(3, NAN, 0, Expected::kNaN);
    check(-kInfinite, -kInfinite, 1, Expected::kNaN);
    check(-kInfinite, NAN, 1, Expected::kNaN);
    check(kInfinite, kInfinite, 1, Expected::kNaN);
  }

  Bench& bench_;
  std::string name_;
  SoftmaxLaunch launch_;
  bool adds_;
};

}  // namespace runner
