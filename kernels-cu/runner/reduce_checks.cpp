// Reductions of rows against long double arithmetic, in one launch over rows and in two launches
// over all elements: what is particular of sums, maxima and minima of floats, and every operation
// and type by reductions.h.
#include <algorithm>
#include <cmath>

#include "checks.h"
#include "culebra/params.h"
#include "elements.h"
#include "reductions.h"

namespace runner {

namespace {

constexpr double kInfinite = INFINITY;

template <class E>
class ReduceChecks {
  using Storage = typename E::Storage;
  using Result = typename E::Result;

 public:
  ReduceChecks(Bench& bench, Op op) : bench_(bench), op_(op), symbol_(symbol<E>()) {}

  void run() {
    // rows, length, stride, offset, grid
    compare_rows(1, 1, 1, 0, 1);
    compare_rows(3, 7, 7, 0, 3);
    compare_rows(4, 1000, 1003, 1, 2);
    compare_rows(2, 4096, 4096, 0, 5);
    empty_rows();
    special_rows();
    all_elements(5 * 1024 + 77, 1024);
    all_elements(1024, 1024);
    short_blocks();
    if (op_ == Op::kSum) {
      cancellation();
      cancellation_between_chunks();
    }
  }

 private:
  template <class Of>
  std::string symbol() const {
    return std::string("culebra_reduce_") + name_of(op_) + "_" + Of::kName;
  }

  std::vector<Result> reduce(const std::vector<Storage>& in, std::size_t offset, int64_t rows,
                             int64_t length, int64_t stride, double divisor, unsigned grid,
                             unsigned block = 0) {
    const DeviceArray<Storage> device_in(bench_.driver, in);
    const DeviceArray<Result> out(bench_.driver, poison<Result>(rows));
    const ReduceParams params{out.at(0), device_in.at(offset), rows, length, stride, length, 1,
                              divisor};
    bench_.launch(symbol_, grid, block ? block : bench_.root.kernel(symbol_).max_threads, 0,
                  params);
    return out.read();
  }

  std::vector<Storage> elements(std::size_t count) {
    std::vector<Storage> result(count);
    for (Storage& x : result) x = E::make(bench_.uniform(-3, 5));
    return result;
  }

  void compare(const Storage* row, int64_t length, double divisor, Result got) {
    long double wanted = op_ == Op::kSum ? 0.0L : op_ == Op::kMax ? -kInfinite : kInfinite;
    long double sizes = 0;
    for (int64_t i = 0; i < length; ++i) {
      const long double x = E::value(row[i]);
      wanted = op_ == Op::kSum   ? wanted + x
               : op_ == Op::kMax ? std::fmax(wanted, x)
                                 : std::fmin(wanted, x);
      sizes += std::fabs(x);
    }
    // Two roundings of the result, and a term of second order for the compensation.
    const double eps = E::kArithmetic;
    const long double bound =
        op_ == Op::kSum ? (2 * eps * std::fabs(wanted) + length * eps * eps * sizes * 4) / divisor
                        : 0.0L;
    if (op_ == Op::kSum) wanted /= divisor;
    bench_.expect(std::fabs(got - wanted) <= bound, "%s: length %ld: %.17g, should be %.17Lg",
                  symbol_.c_str(), long(length), double(got), wanted);
  }

  void compare_rows(int64_t rows, int64_t length, int64_t stride, std::size_t offset,
                    unsigned grid) {
    const std::vector<Storage> in = elements(offset + (rows - 1) * stride + length);
    const double divisor = op_ == Op::kSum ? double(length) : 1.0;
    const std::vector<Result> got = reduce(in, offset, rows, length, stride, divisor, grid);
    for (int64_t r = 0; r < rows; ++r) {
      compare(&in[offset + r * stride], length, divisor, got[r]);
    }
  }

  void empty_rows() {
    const double wanted = op_ == Op::kSum ? 0.0 : op_ == Op::kMax ? -kInfinite : kInfinite;
    for (const Result got : reduce({}, 0, 3, 0, 0, 1.0, 3)) {
      bench_.expect(got == wanted, "%s: an empty row gives %g", symbol_.c_str(), double(got));
    }
    if (op_ == Op::kSum) {
      bench_.expect(std::isnan(reduce({}, 0, 1, 0, 0, 0.0, 1)[0]),
                    "%s: the mean of nothing is not NaN", symbol_.c_str());
    }
  }

  void special_rows() {
    const auto with = [&](double x) {
      std::vector<Storage> row(300, E::make(1));
      row[250] = E::make(x);
      return static_cast<double>(reduce(row, 0, 1, 300, 300, 1.0, 1)[0]);
    };
    bench_.expect(std::isnan(with(NAN)), "%s: drops a NaN", symbol_.c_str());
    bench_.expect(with(kInfinite) == (op_ == Op::kMin ? 1.0 : kInfinite),
                  "%s: +inf among ones gives %g", symbol_.c_str(), with(kInfinite));
    bench_.expect(with(-kInfinite) == (op_ == Op::kMax ? 1.0 : -kInfinite),
                  "%s: -inf among ones gives %g", symbol_.c_str(), with(-kInfinite));
  }

  // The host gives a short row the whole warps that it fills.
  void short_blocks() {
    constexpr int64_t kPerWarp = 32 * 16 / sizeof(Storage);
    for (const unsigned warps : {1u, 2u, 3u}) {
      for (const int64_t length : {int64_t(1), kPerWarp - 1, warps * kPerWarp}) {
        const std::vector<Storage> in = elements(2 * length);
        const std::vector<Result> wanted = reduce(in, 0, 2, length, length, 1.0, 2);
        const std::vector<Result> got = reduce(in, 0, 2, length, length, 1.0, 2, 32 * warps);
        bench_.expect(same_bits(got[0], wanted[0]) && same_bits(got[1], wanted[1]),
                      "%s: other bits with %u warps, length %ld", symbol_.c_str(), warps,
                      long(length));
      }
    }
  }

  // Chunks of a fixed length, the last one short, then their results as one row. What lies between
  // is a value, or for a sum the two parts of a state.
  Result reduce_all(const std::vector<Storage>& in, int64_t chunk, double divisor) {
    const bool has_states = op_ == Op::kSum;
    const int64_t count = static_cast<int64_t>(in.size());
    const int64_t chunks = (count + chunk - 1) / chunk;
    const DeviceArray<Storage> device_in(bench_.driver, in);
    const DeviceArray<Result> partials(bench_.driver,
                                       poison<Result>(chunks * (has_states ? 2 : 1)));
    const DeviceArray<Result> out(bench_.driver, poison<Result>(1));
    const std::string type = E::kName;
    const std::string result_type = sizeof(Result) == 8 ? F64::kName : F32::kName;
    const std::string op = std::string("culebra_reduce_") + name_of(op_) + "_";
    const std::string first = op + (has_states ? "states_" : "") + type;
    const std::string second = op + (has_states ? "merge_" : "") + result_type;
    bench_.launch(
        first, 2, bench_.root.kernel(first).max_threads, 0,
        ReduceParams{partials.at(0), device_in.at(0), 1, count, count, chunk, chunks, 1.0});
    bench_.launch(second, 1, bench_.root.kernel(second).max_threads, 0,
                  ReduceParams{out.at(0), partials.at(0), 1, chunks, chunks, chunks, 1, divisor});
    return out.read()[0];
  }

  void all_elements(int64_t count, int64_t chunk) {
    const std::vector<Storage> in = elements(count);
    const double divisor = op_ == Op::kSum ? double(count) : 1.0;
    compare(in.data(), count, divisor, reduce_all(in, chunk, divisor));
  }

  // A little beside a large number that another chunk takes away again.
  void cancellation_between_chunks() {
    const double large = sizeof(Storage) == 2 ? 0x1p15 : E::kArithmetic < 0x1p-30 ? 0x1p55 : 0x1p25;
    const double little = 0.125;
    std::vector<Storage> in(4 * 64, E::make(0));
    for (int i = 0; i < 64; ++i) in[i] = E::make(large);
    in[64] = E::make(little);
    for (int i = 0; i < 64; ++i) in[128 + i] = E::make(-large);
    in[1] = E::make(little);
    in[128] = E::make(0);
    const double got = reduce_all(in, 64, 1.0);
    bench_.expect(got == 2 * little, "%s: chunks that cancel give %.17g", symbol_.c_str(), got);
  }

  // What an ordinary sum loses: ones between a large number and its negative.
  void cancellation() {
    std::vector<Storage> row(2050, E::make(1));
    row[0] = E::make(0x1p15);
    row[1] = E::make(E::kArithmetic < 0x1p-30 ? 0x1p60 : sizeof(Storage) == 4 ? 0x1p40 : 0x1p15);
    row[2049] = E::make(-E::value(row[1]));
    const double got = reduce(row, 0, 1, 2050, 2050, 1.0, 1)[0];
    bench_.expect(got == 0x1p15 + 2047, "%s: a sum with cancellation gives %.17g", symbol_.c_str(),
                  got);
  }

  Bench& bench_;
  Op op_;
  std::string symbol_;
};

template <class E>
void check_type(Bench& bench) {
  for (const Op op : {Op::kSum, Op::kMax, Op::kMin}) ReduceChecks<E>(bench, op).run();
}

// Rows, and chunks whose states are merged.
struct CheckRows {
  template <class E>
  void check(Reductions<E>& reductions) const {
    Bench& bench = reductions.bench;
    for (const HardValues values : kHardValues) {
      for (const int64_t length : {0, 1, 7, 131, 5000}) {
        constexpr int64_t kRowsOfTest = 3;
        const int64_t stride = length + 5;
        const std::size_t offset = length % 2;
        const auto in = reductions.elements(offset + kRowsOfTest * stride, values);
        const DeviceArray<typename E::Storage> device_in(bench.driver, in);
        const auto out = reductions.results(kRowsOfTest);
        const std::string symbol = reductions.symbol("reduce_", "");
        const unsigned threads = bench.root.kernel(symbol).max_threads;
        bench.launch(symbol, 2, length > 1000 ? threads : 64, 0,
                     ReduceParams{out.at(0), device_in.at(offset), kRowsOfTest, length, stride,
                                  length, 1, reductions.divisor(length)});
        const auto got = out.read();
        for (int64_t r = 0; r < kRowsOfTest; ++r) {
          reductions.compare("a row", &in[offset + r * stride], length, 1, got, r);
        }
      }
      all(reductions, values, 1024);
    }
    // More states than threads merge them.
    all(reductions, HardValues::kOrdinary, 64);
  }

 private:
  // Two rows in pieces, the last one of each short.
  template <class E>
  void all(Reductions<E>& reductions, HardValues values, int64_t piece) const {
    Bench& bench = reductions.bench;
    constexpr int64_t kRowsOfTest = 2;
    constexpr int64_t kLength = 5 * 1024 + 77;
    const int64_t pieces = (kLength - 1) / piece + 1;
    constexpr int64_t kStride = kLength + 3;
    const auto in = reductions.elements(kRowsOfTest * kStride, values);
    const DeviceArray<typename E::Storage> device_in(bench.driver, in);
    const auto states = reductions.states(kRowsOfTest * pieces);
    const auto out = reductions.results(kRowsOfTest);
    const std::string first =
        reductions.symbol("reduce_", reductions.states_are_results() ? "" : "states_");
    const std::string second = reductions.merge_symbol("reduce_");
    bench.launch(first, 4, 128, 0,
                 ReduceParams{states.at(0), device_in.at(0), kRowsOfTest, kLength, kStride, piece,
                              pieces, 1.0});
    bench.launch(second, 1, 64, 0,
                 ReduceParams{out.at(0), states.at(0), kRowsOfTest, pieces, pieces, pieces, 1,
                              reductions.divisor(kLength)});
    const auto got = out.read();
    for (int64_t r = 0; r < kRowsOfTest; ++r) {
      reductions.compare("pieces of row", &in[r * kStride], kLength, 1, got, r);
    }
  }
};

}  // namespace

void check_reduce(Bench& bench) {
  for_types<F32, F16, BF16, F64>(bench,
                                 [&](auto element) { check_type<decltype(element)>(bench); });
  check_reductions(bench, CheckRows());
}

}  // namespace runner
