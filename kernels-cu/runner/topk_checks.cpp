// Every top-k kernel against long double arithmetic and a stable sort: lengths around each size
// that a kernel works in, ties, infinities and NaN, strides and alignment, pieces of rows; then
// that bits depend on the elements only.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "checks.h"
#include "culebra/params.h"
#include "elements.h"

namespace runner {

namespace {

constexpr double kInfinite = INFINITY;

struct Case {
  int64_t rows, length, k;
  double scale = 1;
  TopKContent content = kTopKProbabilities;
  int index_bytes = 4;
  int64_t in_gap = 0, out_gap = 0;  // elements between rows
  std::size_t in_offset = 0;        // elements before the first row
  unsigned grid = 0;                // blocks; 0: one a piece
  unsigned block = 0;               // threads; 0: as many as the kernel allows
  int64_t piece_elements = 0;       // 0: rows are not cut
};

template <class E>
class TopKChecks {
  using Storage = typename E::Storage;

  struct Result {
    std::vector<Storage> values;  // rows x k
    std::vector<int64_t> indices;
  };

 public:
  TopKChecks(Bench& bench, const char* variant, int64_t most_k)
      : bench_(bench), variant_(variant), most_k_(most_k) {}

  void run() {
    lengths();
    contents();
    orders();
    special_rows();
    extremes();
    pieces();
    placement();
  }

 private:
  std::string symbol(const char* infix = "") const {
    return std::string("culebra_topk_") + infix + variant_ + "_" + E::kName;
  }

  template <class Params>
  void launch(const std::string& symbol, int64_t blocks, const Case& c, const Params& params) {
    const unsigned threads = c.block ? c.block : bench_.root.kernel(symbol).max_threads;
    bench_.launch(symbol, c.grid ? c.grid : unsigned(blocks), threads, 0, params);
  }

  Result top(const std::vector<Storage>& rows, const Case& c) {
    const int64_t in_stride = c.length + c.in_gap;
    const int64_t out_stride = c.k + c.out_gap;
    std::vector<Storage> in = poison<Storage>(c.in_offset + (c.rows - 1) * in_stride + c.length);
    for (int64_t r = 0; r < c.rows; ++r) {
      std::memcpy(static_cast<void*>(&in[c.in_offset + r * in_stride]), &rows[r * c.length],
                  c.length * sizeof(Storage));
    }
    const std::size_t results = (c.rows - 1) * out_stride + c.k;
    const DeviceArray<Storage> device_in(bench_.driver, in);
    const DeviceArray<Storage> out(bench_.driver, poison<Storage>(results));
    const DeviceArray<char> indices(bench_.driver, poison<char>(results * c.index_bytes));
    if (c.piece_elements == 0) {
      launch(symbol(), c.rows, c,
             TopKParams{out.at(0), indices.at(0), device_in.at(c.in_offset), c.rows, c.length,
                        in_stride, out_stride, out_stride, c.scale, int32_t(c.k), c.content,
                        c.index_bytes});
    } else {
      const int64_t pieces = (c.length + c.piece_elements - 1) / c.piece_elements;
      const DeviceArray<uint64_t> keys(bench_.driver, poison<uint64_t>(c.rows * pieces * c.k));
      const DeviceArray<float> states(bench_.driver, poison<float>(2 * c.rows * pieces));
      launch(symbol("pieces_"), c.rows * pieces, c,
             TopKPiecesParams{keys.at(0), states.at(0), device_in.at(c.in_offset), c.rows, c.length,
                              in_stride, c.piece_elements, c.scale, int32_t(pieces), int32_t(c.k),
                              c.content});
      launch(symbol("merge_"), c.rows, c,
             TopKMergeParams{out.at(0), indices.at(0), keys.at(0), states.at(0),
                             device_in.at(c.in_offset), c.rows, in_stride, out_stride, out_stride,
                             c.scale, int32_t(pieces), int32_t(c.k), c.content, c.index_bytes});
    }
    return gather(c, out.read(), indices.read());
  }

  // The results without gaps, and that the gaps were not written.
  Result gather(const Case& c, const std::vector<Storage>& out, const std::vector<char>& indices) {
    const std::vector<Storage> before = poison<Storage>(1);
    const std::size_t stride = c.k + c.out_gap;
    Result result;
    std::size_t stray = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i % stride >= std::size_t(c.k)) {
        stray += !same_bits(out[i], before[0]) || indices[i * c.index_bytes] != poison<char>(1)[0];
        continue;
      }
      result.values.push_back(out[i]);
      if (c.index_bytes == 4) {
        int32_t index;
        std::memcpy(&index, &indices[i * 4], 4);
        result.indices.push_back(index);
      } else {
        int64_t index;
        std::memcpy(&index, &indices[i * 8], 8);
        result.indices.push_back(index);
      }
    }
    bench_.expect(stray == 0, "%s: wrote %zu elements between its rows", symbol().c_str(), stray);
    return result;
  }

  // Before which other element one comes: NaN first, then by size, then by index.
  static std::vector<int64_t> sorted(const Storage* row, const Case& c) {
    std::vector<double> values(c.length);
    for (int64_t i = 0; i < c.length; ++i) values[i] = (c.scale < 0 ? -1 : 1) * E::value(row[i]);
    std::vector<int64_t> order(c.length);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const bool a_nan = std::isnan(values[a]);
      const bool b_nan = std::isnan(values[b]);
      return a_nan || b_nan ? a_nan && !b_nan : values[a] > values[b];
    });
    order.resize(c.k);
    return order;
  }

  void compare(const char* what, const std::vector<Storage>& rows, const Case& c) {
    const Result got = top(rows, c);
    for (int64_t r = 0; r < c.rows; ++r) {
      compare_row(what, &rows[r * c.length], &got.values[r * c.k], &got.indices[r * c.k], c);
    }
  }

  void compare_row(const char* what, const Storage* row, const Storage* got, const int64_t* indices,
                   const Case& c) {
    const std::vector<int64_t> wanted = sorted(row, c);
    for (int64_t i = 0; i < c.k; ++i) {
      bench_.expect(indices[i] == wanted[i],
                    "%s: %s, length %ld, k %ld: number %ld has index %ld, should be %ld",
                    symbol().c_str(), what, long(c.length), long(c.k), long(i), long(indices[i]),
                    long(wanted[i]));
    }
    if (c.content == kTopKElements) {
      for (int64_t i = 0; i < c.k; ++i) {
        bench_.expect(same_bits(got[i], row[wanted[i]]), "%s: %s: element %ld is %g",
                      symbol().c_str(), what, long(wanted[i]), E::value(got[i]));
      }
      return;
    }
    long double largest = -kInfinite;
    for (int64_t i = 0; i < c.length; ++i) {
      largest = std::fmax(largest, scaled(row[i], c.scale));
    }
    long double sum = 0;
    for (int64_t i = 0; i < c.length; ++i) {
      const long double x = scaled(row[i], c.scale);
      sum += x == -kInfinite && largest != -kInfinite ? 0 : std::exp(x - largest);
    }
    const bool log = c.content == kTopKLogProbabilities;
    for (int64_t i = 0; i < c.k; ++i) {
      const long double shifted = scaled(row[wanted[i]], c.scale) - largest;
      const long double truth = log ? shifted - std::log(sum) : std::exp(shifted) / sum;
      const double value = E::value(got[i]);
      const double size = log ? std::fabs(truth) + 16 : std::fabs(truth);
      const double bound = E::kHalfUlp * std::fabs(truth) + E::kHalfSpacing +
                           (16 + (log ? 0 : 2 * std::fabs(shifted))) * kArithmetic * size;
      const bool holds = std::isnan(truth)     ? std::isnan(value)
                         : std::isinf(shifted) ? value == truth
                                               : std::fabs(value - truth) <= bound;
      bench_.expect(holds,
                    "%s: %s, length %ld, k %ld, scale %g: number %ld is %.9g, should be %.9Lg "
                    "within %.3g",
                    symbol().c_str(), what, long(c.length), long(c.k), c.scale, long(i), value,
                    truth, bound);
    }
  }

  // scale * x, and -inf for an element of no weight whatever the scale is.
  static long double scaled(Storage x, double scale) {
    const long double value = (scale < 0 ? -1 : 1) * (long double)E::value(x);
    return value == -kInfinite ? value : value * std::fabs(scale);
  }

  std::vector<Storage> logits(int64_t count) {
    std::vector<Storage> rows(count);
    for (Storage& x : rows) x = E::make(bench_.uniform(-6, 6));
    return rows;
  }

  // Around the sizes of warps and groups; what the large kernels do with a small K, they do with 5.
  std::vector<int64_t> ks(int64_t length) const {
    const bool large = most_k_ > 64;
    const std::vector<int64_t> all = large ? std::vector<int64_t>{5, 65, 200, 1024}
                                           : std::vector<int64_t>{1, 2, 5, 32, 33, 50, 64};
    std::vector<int64_t> result;
    for (const int64_t k : all) {
      if (k <= length) result.push_back(k);
    }
    if (length <= most_k_) result.push_back(length);
    return result;
  }

  void lengths() {
    for (const int64_t length : {1,   2,   3,   15,  16,  17,  31,   32,   33,   63,   64,   65,
                                 127, 128, 129, 175, 176, 177, 1023, 1024, 1025, 4097, 17000}) {
      for (const int64_t k : ks(length)) compare("random", logits(2 * length), {2, length, k});
    }
  }

  void contents() {
    const std::vector<Storage> rows = logits(3 * 300);
    for (const TopKContent content : {kTopKProbabilities, kTopKLogProbabilities, kTopKElements}) {
      for (const int index_bytes : {4, 8}) {
        for (const double scale : {1.0, 0.0, -0.375}) {
          compare("content", rows, {3, 300, 7, scale, content, index_bytes, 5, 3, 1, 2});
        }
      }
    }
  }

  void orders() {
    constexpr int64_t kLength = 9000;
    std::vector<Storage> row(kLength);
    const auto check = [&](const char* what, auto value) {
      for (int64_t i = 0; i < kLength; ++i) row[i] = E::make(value(i));
      for (const int64_t k : {5L, std::min(most_k_, 1000L)}) compare(what, row, {1, kLength, k});
    };
    check("zeros", [](int64_t) { return 0.0; });
    check("equal", [](int64_t) { return -3.5; });
    check("ascending", [](int64_t i) { return i / 1024.0 - 4; });
    check("descending", [](int64_t i) { return 4 - i / 1024.0; });
    check("seven values", [](int64_t i) { return double(i * 31 % 7); });
    check("zeros of both signs", [](int64_t i) { return i * 7 % 3 == 0 ? 0.0 : -0.0; });
    check("-0 and less", [](int64_t i) { return i % 100 == 99 ? -0.0 : -1.0; });
    check("the best last", [](int64_t i) { return i < kLength - 3 ? 1.0 : 2.0; });
    const std::vector<Storage> zeros(1024, E::make(0));
    compare("zeros", zeros, {1, 1024, 5});
  }

  void special_rows() {
    constexpr int64_t kLength = 5000;
    const auto special = [&](double everywhere, double sometimes, double scale) {
      std::vector<Storage> row(kLength, E::make(everywhere));
      for (const int64_t i : {200, 4099, 4999}) row[i] = E::make(sometimes);
      for (const TopKContent content : {kTopKProbabilities, kTopKLogProbabilities, kTopKElements}) {
        compare("special", row, {1, kLength, 5, scale, content});
        compare("special, in pieces", row, {1, kLength, 5, scale, content, 8, 0, 0, 0, 0, 0, 1024});
      }
    };
    for (const double scale : {1.0, 0.0, -2.0}) {
      special(3, -kInfinite, scale);
      special(3, kInfinite, scale);
      special(3, NAN, scale);
      special(-kInfinite, 3, scale);
      special(-kInfinite, -kInfinite, scale);
      special(-kInfinite, NAN, scale);
      special(kInfinite, kInfinite, scale);
      special(NAN, NAN, scale);
      special(NAN, 1, scale);
    }
    special(10000, 10000, 1);
    special(-10000, -10000, 1);
  }

  // Elements whose differences overflow, and the smallest ones.
  void extremes() {
    const double most = std::ldexp(1.75, E::kMaxExponent - 1);
    std::vector<Storage> row(65, E::make(-most));
    for (const int i : {1, 40, 64}) row[i] = E::make(most * ((65 - i) / 65.0));
    for (const double scale : {1.0, 0.25, std::ldexp(1.0, 3 - E::kMaxExponent)}) {
      compare("huge", row, {1, 65, 20, scale});
    }
    for (int i = 0; i < 65; ++i) row[i] = E::make(i % 2);
    compare("with the largest scale", row, {1, 65, 40, 0x1.fffffep126});
    for (int i = 0; i < 65; ++i) row[i] = E::make((i % 5 - 2) * 2 * E::kHalfSpacing);
    compare("denormal", row, {1, 65, 40});
    compare("denormal", row, {1, 65, 40, 1, kTopKElements});
  }

  void pieces() {
    for (const int64_t split : {16, 64, 1024, 8192}) {
      for (const int64_t k : ks(2500)) {
        compare("in pieces", logits(2 * 2500),
                {2, 2500, k, 1, kTopKProbabilities, 4, 3, 0, 1, 0, 64, split});
      }
    }
  }

  // Wherever the rows lie and whatever the grid is, the bits are the same.
  void placement() {
    constexpr int64_t kLength = 4500;
    const std::vector<Storage> rows = logits(3 * kLength);
    for (const int64_t split : {int64_t(0), int64_t(1024)}) {
      Case c{3, kLength, 20};
      c.piece_elements = split;
      const Result wanted = top(rows, c);
      const auto same = [&](const char* what, const Case& other) {
        const Result got = top(rows, other);
        bench_.expect(got.indices == wanted.indices &&
                          std::memcmp(got.values.data(), wanted.values.data(),
                                      wanted.values.size() * sizeof(Storage)) == 0,
                      "%s: other bits %s", symbol().c_str(), what);
      };
      same("in a second run", c);
      Case other = c;
      other.in_gap = 5;
      other.in_offset = 3;
      other.out_gap = 2;
      same("strided and unaligned", other);
      other = c;
      other.grid = 2;
      same("with fewer blocks than rows", other);
      other.grid = 50;
      same("with more blocks than rows", other);
      other.index_bytes = 8;
      same("with wide indices", other);
    }
  }

  static constexpr double kArithmetic = 0x1p-24;  // also of what 16-bit elements are computed in

  Bench& bench_;
  const char* variant_;
  int64_t most_k_;
};

template <class E>
void check_type(Bench& bench) {
  TopKChecks<E>(bench, "small", 64).run();
  TopKChecks<E>(bench, "large", 1024).run();
}

}  // namespace

void check_topk(Bench& bench) {
  for_types<F32, F16, BF16>(bench, [&](auto element) { check_type<decltype(element)>(bench); });
}

}  // namespace runner
