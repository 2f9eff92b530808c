// Arithmetic of 16-bit numbers. What rounds is compared bit for bit with the neighbour, among all
// numbers of the format, that the exact result rounds to.
#include "intrinsics_checks.h"

namespace runner {

namespace {

using intrinsics::Bfloat16;
using intrinsics::Group;
using intrinsics::Half;
using intrinsics::Pair;
using L = long double;

enum class Mode { kNearest, kZero, kDown, kUp };
constexpr std::pair<const char*, Mode> kModes[] = {
    {"rn", Mode::kNearest}, {"rz", Mode::kZero}, {"rd", Mode::kDown}, {"ru", Mode::kUp}};

// A result that is `value` and, if that is not exact, a little more or less.
struct Exact {
  L value;
  int rest = 0;

  // The order of it and of a number that a long double holds.
  int compare(L other) const {
    if (value != other) return value < other ? -1 : 1;
    return rest;
  }
};

int sign_of(L x) { return (x > 0) - (x < 0); }

Exact sum(L a, L b) {
  const L value = a + b;
  if (!std::isfinite(value)) return {value};
  const L in_b = value - a;
  return {value, sign_of((a - (value - in_b)) + (b - in_b))};
}
Exact quotient(L a, L b) {
  const L value = a / b;
  if (!std::isfinite(value) || value == 0) return {value};
  return {value, sign_of(std::fma(-value, b, a)) * sign_of(b)};
}
Exact root(L a) {
  const L value = std::sqrt(a);
  if (!std::isfinite(value)) return {value};
  return {value, sign_of(std::fma(-value, value, a))};
}

template <class T>
class Format {
 public:
  static constexpr std::uint16_t kInfinity = (T::kBias * 2 + 1) << T::kFractionBits;
  static constexpr T kNan{0x7FFF};

  // Of the number with these bits; infinity stands for the next power of two.
  static L magnitude(std::uint16_t bits) {
    return bits == kInfinity ? std::ldexp(1.0L, T::kBias + 1) : static_cast<L>(T{bits}.value());
  }

  static T rounded(Exact exact, Mode mode = Mode::kNearest) {
    if (std::isnan(exact.value)) return kNan;
    const bool negative = std::signbit(exact.value);
    const Exact size{std::fabs(exact.value), negative ? -exact.rest : exact.rest};
    const auto with_sign = [&](unsigned bits) {
      return T{static_cast<std::uint16_t>(bits | (negative ? 0x8000 : 0))};
    };
    if (std::isinf(size.value)) return with_sign(kInfinity);
    // The largest number that is not above.
    unsigned low = 0, high = kInfinity;
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      (size.compare(magnitude(static_cast<std::uint16_t>(middle))) >= 0 ? low : high) = middle;
    }
    const L below = magnitude(static_cast<std::uint16_t>(low));
    const L above = magnitude(static_cast<std::uint16_t>(low + 1));
    if (size.compare(below) == 0) return with_sign(low);
    switch (mode) {
      case Mode::kZero:
        return with_sign(low);
      case Mode::kDown:
        return with_sign(negative ? low + 1 : low);
      case Mode::kUp:
        return with_sign(negative ? low : low + 1);
      case Mode::kNearest:
        break;
    }
    const int half = size.compare((below + above) / 2);
    return with_sign(half > 0 || (half == 0 && low % 2 != 0) ? low + 1 : low);
  }
};

template <class T>
class NarrowChecks {
 public:
  explicit NarrowChecks(Group& group) : group_(group) {}

  void check() {
    check_arithmetic();
    check_extremes();
    check_comparisons();
    check_signs();
    check_functions();
    check_conversions();
    check_pairs();
  }

 private:
  using F = Format<T>;
  using P = Pair<T>;

  static L value(T x) { return x.value(); }
  static bool is_nan(T x) { return std::isnan(x.value()); }
  static T bits(unsigned bits) { return T{static_cast<std::uint16_t>(bits)}; }
  static T rounded(Exact exact) { return F::rounded(exact); }

  static T saturated(T x) {
    if (!(value(x) > 0)) return bits(0);
    return value(x) > 1 ? rounded({1}) : x;
  }
  static T rectified(T x) { return is_nan(x) ? F::kNan : value(x) > 0 ? x : bits(0); }
  static T negated(T x) { return bits(x.bits ^ 0x8000u); }

  template <class Function>
  void unary2(const std::string& name, Function function) {
    group_.equals(name, [=](P x) { return P{function(x.low), function(x.high)}; });
  }
  template <class Function>
  void binary(const std::string& name, Function function) {
    group_.equals(name, [=](T x, T y) { return function(x, y); });
  }
  template <class Function>
  void binary2(const std::string& name, Function function) {
    group_.equals(name, [=](P x, P y) {
      return P{function(x.low, y.low), function(x.high, y.high)};
    });
  }

  static T added(T x, T y) { return rounded(sum(value(x), value(y))); }
  static T subtracted(T x, T y) { return rounded(sum(value(x), -value(y))); }
  static T multiplied(T x, T y) { return rounded({value(x) * value(y)}); }
  static T divided(T x, T y) { return rounded(quotient(value(x), value(y))); }
  static T fused(T x, T y, T z) { return rounded(sum(value(x) * value(y), value(z))); }

  void check_arithmetic() {
    const auto operation = [&](const std::string& name, const std::string& word, auto function) {
      for (const char* suffix : {"", "_rn"}) {
        binary("h" + name + suffix, function);
        binary2("h" + name + "2" + suffix, function);
      }
      const auto clamped = [=](T x, T y) { return saturated(function(x, y)); };
      binary("h" + name + "_sat", clamped);
      binary2("h" + name + "2_sat", clamped);
      binary(word, function);
      binary2(word + "2", function);
    };
    operation("add", "plus", added);
    operation("sub", "minus", subtracted);
    operation("mul", "times", multiplied);
    for (const char* name : {"hdiv", "over"}) binary(name, divided);
    for (const char* name : {"h2div", "over2"}) binary2(name, divided);
    const auto fma = [&](const std::string& suffix, auto after) {
      group_.equals("hfma" + suffix, [=](T x, T y, T z) { return after(fused(x, y, z)); });
      group_.equals("hfma2" + suffix, [=](P x, P y, P z) {
        return P{after(fused(x.low, y.low, z.low)), after(fused(x.high, y.high, z.high))};
      });
    };
    fma("", [](T x) { return x; });
    fma("_sat", saturated);
    fma("_relu", rectified);
    group_.equals("hcmadd", [](P x, P y, P z) {
      return P{fused(negated(x.high), y.high, fused(x.low, y.low, z.low)),
               fused(x.high, y.low, fused(x.low, y.high, z.high))};
    });
    group_.equals("assigned",
                  [](T x, T y) { return multiplied(added(added(x, y), rounded({1})), y); });
  }

  void check_extremes() {
    for (const bool is_max : {true, false}) {
      for (const bool keeps_nan : {false, true}) {
        const auto function = [=](T x, T y) {
          if (is_nan(x) || is_nan(y)) {
            return keeps_nan || (is_nan(x) && is_nan(y)) ? F::kNan : is_nan(x) ? y : x;
          }
          // -0 is below +0.
          const auto rank = [](T number) { return std::pair(value(number), number.bits < 0x8000); };
          return (rank(x) < rank(y)) == is_max ? y : x;
        };
        const std::string name = is_max ? "hmax" : "hmin", suffix = keeps_nan ? "_nan" : "";
        binary(name + suffix, function);
        binary2(name + "2" + suffix, function);
      }
    }
  }

  void check_comparisons() {
    const auto comparison = [&](const std::string& name, const char* word, bool word_of_nan,
                                auto operation) {
      for (const bool of_nan : {false, true}) {
        const auto function = [=](T x, T y) {
          return is_nan(x) || is_nan(y) ? of_nan : operation(value(x), value(y));
        };
        const auto both = [=](P x, P y) {
          return function(x.low, y.low) && function(x.high, y.high);
        };
        const std::string full = "h" + name + (of_nan ? "u" : "");
        binary(full, function);
        binary2(full + "2", [=](T x, T y) { return rounded({function(x, y) ? 1.0L : 0.0L}); });
        group_.equals(full + "2_mask", [=](P x, P y) {
          return (function(x.low, y.low) ? 0xFFFFu : 0) |
                 (function(x.high, y.high) ? 0xFFFF0000u : 0);
        });
        group_.equals("hb" + full.substr(1) + "2", both);
        if (of_nan != word_of_nan) continue;
        binary(word, function);
        group_.equals(word + std::string("2"), both);
      }
    };
    comparison("eq", "is", false, [](L x, L y) { return x == y; });
    comparison("ne", "isnt", true, [](L x, L y) { return x != y; });
    comparison("lt", "below", false, [](L x, L y) { return x < y; });
    comparison("le", "at_most", false, [](L x, L y) { return x <= y; });
    comparison("gt", "above", false, [](L x, L y) { return x > y; });
    comparison("ge", "at_least", false, [](L x, L y) { return x >= y; });
  }

  void check_signs() {
    const auto unary = [&](const std::string& name, auto function) {
      group_.equals(name, [=](T x) { return function(x); });
    };
    const auto absolute = [](T x) { return bits(x.bits & 0x7FFFu); };
    for (const char* name : {"hneg", "minus_itself"}) unary(name, negated);
    unary("habs", absolute);
    unary2("hneg2", negated);
    unary2("habs2", absolute);
    unary("hisnan", is_nan);
    unary2("hisnan2", [](T x) { return rounded({is_nan(x) ? 1.0L : 0.0L}); });
    unary("hisinf", [](T x) { return std::isinf(value(x)) ? sign_of(value(x)) : 0; });
  }

  void check_functions() {
    const auto exact = [&](const std::string& name, auto function) {
      const auto of_bits = [=](T x) { return rounded(function(value(x))); };
      group_.equals("h" + name, [=](T x) { return of_bits(x); });
      unary2("h2" + name, of_bits);
    };
    exact("ceil", [](L x) { return Exact{std::ceil(x)}; });
    exact("floor", [](L x) { return Exact{std::floor(x)}; });
    exact("trunc", [](L x) { return Exact{std::trunc(x)}; });
    exact("rint", [](L x) { return Exact{std::nearbyint(x)}; });
    exact("sqrt", root);
    // Within two last places and a distance; of what a device may flush to zero nothing is said.
    const auto close = [&](const std::string& name, auto function, L distance = 0,
                           L limit = 1e39L) {
      const auto accepts = [=](T got, T x) {
        const L argument = value(x);
        if (std::fabs(argument) > limit) return true;
        const L truth = function(argument);
        if (std::isnan(truth)) return is_nan(got);
        if (is_nan(got)) return false;
        const auto tiny = [](L number) { return number != 0 && std::fabs(number) < 0x1p-125L; };
        if (tiny(argument) || tiny(truth)) return true;
        const T nearest = rounded({truth});
        const int steps = std::abs((got.bits & 0x7FFF) - (nearest.bits & 0x7FFF));
        const bool same_sign = (got.bits ^ nearest.bits) < 0x8000;
        return (steps <= 2 && same_sign) || std::fabs(value(got) - truth) <= distance;
      };
      group_.accepted("h" + name, accepts);
      group_.accepted("h2" + name, [=](P got, P x) {
        return accepts(got.low, x.low) && accepts(got.high, x.high);
      });
    };
    const L fraction = std::ldexp(1.0L, -T::kFractionBits);
    close("rsqrt", [](L x) { return 1 / std::sqrt(x); });
    close("rcp", [](L x) { return 1 / x; });
    close("exp", [](L x) { return std::exp(x); });
    close("exp2", [](L x) { return std::exp2(x); });
    close("exp10", [](L x) { return std::pow(10.0L, x); });
    close(
        "log", [](L x) { return std::log(x); }, fraction / 4);
    close(
        "log2", [](L x) { return std::log2(x); }, fraction / 4);
    close(
        "log10", [](L x) { return std::log10(x); }, fraction / 4);
    const auto wave = [](auto function) {
      return [=](L x) { return std::isfinite(x) ? function(x) : NAN; };
    };
    close("sin", wave([](L x) { return std::sin(x); }), fraction, 1e4L);
    close("cos", wave([](L x) { return std::cos(x); }), fraction, 1e4L);
    close(
        "tanh", [](L x) { return std::tanh(x); }, fraction);
    close(
        "tanh_approx", [](L x) { return std::tanh(x); }, 2 * fraction);
  }

  // A NaN gives 0, or of 64 bits the top one.
  template <class Integer>
  static Integer to_integer(T x, Mode mode) {
    using Limits = std::numeric_limits<Integer>;
    if (is_nan(x)) return sizeof(Integer) < 8 ? 0 : static_cast<Integer>(std::uint64_t{1} << 63);
    const L exact = value(x);
    const L whole = mode == Mode::kNearest ? std::nearbyint(exact)
                    : mode == Mode::kZero  ? std::trunc(exact)
                    : mode == Mode::kDown  ? std::floor(exact)
                                           : std::ceil(exact);
    if (whole >= static_cast<L>(Limits::max())) return Limits::max();
    if (whole <= static_cast<L>(Limits::min())) return Limits::min();
    return static_cast<Integer>(whole);
  }

  template <class Integer>
  void check_conversions_of(const std::string& type) {
    for (const auto& [suffix, mode] : kModes) {
      group_.equals("to_" + type + "_" + suffix,
                    [mode = mode](T x) { return to_integer<Integer>(x, mode); });
      group_.equals("from_" + type + "_" + suffix,
                    [mode = mode](Integer x) { return F::rounded({static_cast<L>(x)}, mode); });
    }
  }

  void check_conversions() {
    check_conversions_of<std::int16_t>("short");
    check_conversions_of<std::uint16_t>("ushort");
    check_conversions_of<std::int32_t>("int");
    check_conversions_of<std::uint32_t>("uint");
    check_conversions_of<std::int64_t>("ll");
    check_conversions_of<std::uint64_t>("ull");
    group_.equals("to_char_rz", [](T x) { return to_integer<std::int8_t>(x, Mode::kZero); });
    group_.equals("to_uchar_rz", [](T x) { return to_integer<std::uint8_t>(x, Mode::kZero); });
    for (const auto& [suffix, mode] : kModes) {
      group_.equals(std::string("from_float_") + suffix,
                    [mode = mode](float x) { return F::rounded({x}, mode); });
    }
    group_.equals("from_double", [](double x) { return rounded({x}); });
    group_.equals("to_float", [](T x) { return static_cast<float>(x.value()); });
    group_.equals("of_int", [](std::int32_t x) { return rounded({static_cast<L>(x)}); });
    group_.equals("of_ull", [](std::uint64_t x) { return rounded({static_cast<L>(x)}); });
    group_.equals("cast_to_int", [](T x) { return to_integer<std::int32_t>(x, Mode::kZero); });
    group_.equals("cast_to_bool", [](T x) { return value(x) != 0; });
  }

  void check_pairs() {
    group_.equals("low_to_pair", [](P x) { return P{x.low, x.low}; });
    group_.equals("high_to_pair", [](P x) { return P{x.high, x.high}; });
    group_.equals("lows", [](P x, P y) { return P{x.low, y.low}; });
    group_.equals("highs", [](P x, P y) { return P{x.high, y.high}; });
    group_.equals("halves", [](T x, T y) { return P{x, y}; });
    group_.equals("swap", [](P x) { return P{x.high, x.low}; });
  }

  Group& group_;
};

}  // namespace

void check_narrow_intrinsics(Bench& bench) {
  const std::vector<std::string> functions{
#define CULEBRA_INTRINSIC(name, ...) #name,
#include "../intrinsics/narrow.inc"
#undef CULEBRA_INTRINSIC
  };
  Group half(bench, "half", functions);
  NarrowChecks<Half>(half).check();
  Group bfloat16(bench, "bfloat16", functions);
  NarrowChecks<Bfloat16>(bfloat16).check();
}

}  // namespace runner
