// Every reduction of every type as a host program sees it: what it is called, how large its states
// and results are, and what it should give, in long double arithmetic.
#pragma once

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "checks.h"
#include "elements.h"

namespace runner {

enum class Op { kSum, kMax, kMin, kMean, kArgmax, kArgmin, kLogsumexp, kL2Norm };

inline constexpr Op kAllOps[] = {Op::kSum,    Op::kMax,    Op::kMin,       Op::kMean,
                                 Op::kArgmax, Op::kArgmin, Op::kLogsumexp, Op::kL2Norm};

inline const char* name_of(Op op) {
  switch (op) {
    case Op::kSum:
      return "sum";
    case Op::kMax:
      return "max";
    case Op::kMin:
      return "min";
    case Op::kMean:
      return "mean";
    case Op::kArgmax:
      return "argmax";
    case Op::kArgmin:
      return "argmin";
    case Op::kLogsumexp:
      return "logsumexp";
    default:
      return "l2_norm";
  }
}

// What the elements are: ordinary ones, few different ones, so that there are ties, and what breaks
// implementations.
enum class HardValues { kOrdinary, kTies, kHuge, kTiny, kLeast, kWithNan, kWithInfinity };

inline constexpr HardValues kHardValues[] = {
    HardValues::kOrdinary, HardValues::kTies,    HardValues::kHuge,        HardValues::kTiny,
    HardValues::kLeast,    HardValues::kWithNan, HardValues::kWithInfinity};

template <class E>
class Reductions {
 public:
  using Storage = typename E::Storage;
  static constexpr bool kIntegers = std::is_integral_v<Storage>;

  Reductions(Bench& bench, Op op) : bench(bench), op(op) {}

  Bench& bench;
  const Op op;

  bool exists() const { return !kIntegers || (op != Op::kLogsumexp && op != Op::kL2Norm); }
  bool adds() const { return op == Op::kSum || op == Op::kMean; }
  bool is_index() const { return op == Op::kArgmax || op == Op::kArgmin; }

  // The mean of floats is a sum with a divisor.
  bool divides() const { return op == Op::kMean && !kIntegers; }
  std::string kernel() const { return divides() ? "sum" : name_of(op); }
  double divisor(int64_t count) const { return op == Op::kMean ? double(count) : 1.0; }

  std::string symbol(const std::string& family, const std::string& infix) const {
    return "culebra_" + family + kernel() + "_" + infix + E::kName;
  }

  // Of the family reduce.
  std::string merge_symbol(const std::string& family) const {
    return "culebra_" + family + kernel() + "_merge_" + merged();
  }

  // The type that the kernel is named by which merges states.
  std::string merged() const {
    if (is_index()) return kIntegers ? "i64" : "f64";
    if (kIntegers) return adds() ? "i64" : E::kName;
    return kDouble ? "f64" : "f32";
  }

  bool states_are_results() const {
    return op == Op::kMax || op == Op::kMin || (op == Op::kSum && kIntegers);
  }

  std::size_t result_bytes() const {
    if (is_index() || (kIntegers && adds())) return 8;
    return kIntegers ? sizeof(Storage) : kDouble ? 8 : 4;
  }

  std::size_t state_bytes() const {
    if (states_are_results()) return result_bytes();
    return is_index() || kIntegers || kDouble ? 16 : 8;
  }

  DeviceArray<unsigned char> results(std::size_t count) const {
    return DeviceArray<unsigned char>(bench.driver, poison<unsigned char>(count * result_bytes()));
  }
  DeviceArray<unsigned char> states(std::size_t count) const {
    return DeviceArray<unsigned char>(bench.driver, poison<unsigned char>(count * state_bytes()));
  }

  std::vector<Storage> elements(std::size_t count, HardValues values) {
    std::vector<Storage> made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = element(values, i);
    return made;
  }

  // Compares result `r` of `out` with the truth of `count` elements, `stride` apart.
  void compare(const char* what, const Storage* first, int64_t count, int64_t stride,
               const std::vector<unsigned char>& out, int64_t r) {
    std::vector<long double> row(count);
    for (int64_t i = 0; i < count; ++i) row[i] = E::value(first[i * stride]);
    const long double wanted = truth(row);
    const long double got = decode(out.data() + r * result_bytes());
    const bool same = std::isnan(wanted)
                          ? std::isnan(got)
                          : got == wanted || std::fabs(got - wanted) <= bound(row, wanted);
    bench.expect(same, "%s %s: %s %ld, length %ld: %.17Lg, should be %.17Lg", name_of(op), E::kName,
                 what, long(r), long(count), got, wanted);
  }

 private:
  static constexpr bool kDouble = std::is_same_v<Storage, double>;

  Storage element(HardValues values, std::size_t i) {
    const double x = bench.uniform(-3, 5);
    if constexpr (kIntegers) {
      switch (values) {
        case HardValues::kTies:
          return static_cast<Storage>(i * 7 % 3);
        case HardValues::kHuge:
          // No sum of as many as tests have leaves 64 bits.
          return static_cast<Storage>(x * 1e8);
        case HardValues::kLeast:
          return op == Op::kMin || op == Op::kArgmin ? std::numeric_limits<Storage>::max()
                                                     : std::numeric_limits<Storage>::min();
        default:
          return static_cast<Storage>(x * 1000);
      }
    } else {
      switch (values) {
        case HardValues::kTies:
          return E::make(i % 2 == 0 ? -0.0 : 0.0);
        case HardValues::kHuge:
          // No sum on the way is infinite, for which there is no truth.
          return E::make(x * std::ldexp(1.0, E::kMaxExponent - (adds() ? 20 : 4)));
        case HardValues::kTiny:
          return E::make(x * std::ldexp(1.0, 4 - E::kMaxExponent));
        case HardValues::kLeast:
          return E::make(op == Op::kMin || op == Op::kArgmin ? INFINITY : -INFINITY);
        case HardValues::kWithNan:
          return E::make(i % 100 == 57 ? NAN : x);
        case HardValues::kWithInfinity:
          return E::make(i % 100 == 57 ? INFINITY : x);
        default:
          return E::make(x);
      }
    }
  }

  template <class T>
  static long double read(const unsigned char* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return static_cast<long double>(value);
  }

  long double decode(const unsigned char* at) const {
    const bool integer = is_index() || (kIntegers && op != Op::kMean);
    if (result_bytes() == 4) return integer ? read<int32_t>(at) : read<float>(at);
    return integer ? read<int64_t>(at) : read<double>(at);
  }

  long double truth(const std::vector<long double>& row) const {
    switch (op) {
      case Op::kSum:
        return sum(row);
      case Op::kMean:
        return row.empty() ? NAN : sum(row) / row.size();
      case Op::kMax:
        return extremum(row, 1);
      case Op::kMin:
        return extremum(row, -1);
      case Op::kArgmax:
        return place(row, 1);
      case Op::kArgmin:
        return place(row, -1);
      case Op::kLogsumexp:
        return log_sum_exp(row);
      default:
        return norm(row);
    }
  }

  // Of integers as they wrap around.
  long double sum(const std::vector<long double>& row) const {
    if constexpr (kIntegers) {
      if (op == Op::kSum) {
        uint64_t total = 0;
        for (const long double x : row) total += static_cast<uint64_t>(static_cast<int64_t>(x));
        return static_cast<int64_t>(total);
      }
    }
    long double total = 0;
    for (const long double x : row) total += x;
    return total;
  }

  static long double greatest() {
    return kDouble ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  }

  static long double extremum(const std::vector<long double>& row, int sign) {
    long double best =
        kIntegers ? static_cast<long double>(sign > 0 ? std::numeric_limits<IntegerOr64>::min()
                                                      : std::numeric_limits<IntegerOr64>::max())
                  : -sign * INFINITY;
    for (const long double x : row) {
      if (std::isnan(x)) return x;
      if (sign * x > sign * best) best = x;
    }
    return best;
  }
  using IntegerOr64 = std::conditional_t<kIntegers, Storage, int64_t>;

  static long double place(const std::vector<long double>& row, int sign) {
    int64_t best = row.empty() ? -1 : 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (std::isnan(row[i])) return i;
      if (sign * row[i] > sign * row[best]) best = i;
    }
    return best;
  }

  static long double log_sum_exp(const std::vector<long double>& row) {
    const long double m = extremum(row, 1);
    if (!std::isfinite(m)) return m;
    long double total = 0;
    for (const long double x : row) total += std::exp(x - m);
    return m + std::log(total);
  }

  static long double norm(const std::vector<long double>& row) {
    long double total = 0;
    for (const long double x : row) total += x * x;
    const long double root = std::sqrt(total);
    return root > greatest() ? INFINITY : root;
  }

  long double bound(const std::vector<long double>& row, long double wanted) const {
    const long double eps = kIntegers ? 0x1p-53 : E::kArithmetic;
    const long double spacing = kDouble ? 0x1p-1074L : 0x1p-149L;  // of the smallest results
    long double sizes = 0;
    for (const long double x : row) sizes += std::fabs(x);
    switch (op) {
      case Op::kSum:
      case Op::kMean:
        if (kIntegers && op == Op::kSum) return 0;
        return 2 * eps * std::fabs(wanted) +
               row.size() * eps * eps * sizes * 4 / divisor(row.size()) + spacing;
      case Op::kLogsumexp:
        return 16 * eps * (1 + std::fabs(wanted));
      case Op::kL2Norm:
        return 8 * eps * wanted + spacing;
      default:
        return 0;
    }
  }
};

// check.check(reductions) for every operation of every type that is wanted.
template <class Check>
void check_reductions(Bench& bench, Check check) {
  for_types<F32, F16, BF16, F64, I32, I64>(bench, [&](auto element) {
    using E = decltype(element);
    for (const Op op : kAllOps) {
      Reductions<E> reductions(bench, op);
      if (reductions.exists()) check.check(reductions);
    }
  });
}

}  // namespace runner
