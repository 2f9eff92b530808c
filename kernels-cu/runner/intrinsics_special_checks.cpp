// Functions that are only near to a true value: that of a long double, with the error that CUDA's
// documentation allows.
#include "intrinsics_checks.h"

namespace runner {

namespace {

using intrinsics::Group;
using L = long double;

constexpr L kPi = 3.14159265358979323846264338327950288L;
constexpr L kNan = std::numeric_limits<L>::quiet_NaN();

// The distance between numbers of the type near to the value.
template <class T>
L unit(L value) {
  using Limits = std::numeric_limits<T>;
  const int exponent =
      value == 0 ? Limits::min_exponent : std::max(std::ilogb(value), Limits::min_exponent - 1);
  return std::ldexp(1.0L, exponent - Limits::digits + 1);
}

// Whether the result is within so many last places, or that distance, of the truth.
template <class T>
bool near(T got, L truth, L places, L distance = 0) {
  if (std::isnan(truth)) return std::isnan(got);
  if (std::isnan(got)) return false;
  const L tolerance = places * unit<T>(truth) + distance;
  const L largest = std::numeric_limits<T>::max();
  if (std::isinf(got)) return (got > 0) == (truth > 0) && std::fabs(truth) + tolerance >= largest;
  return std::fabs(got - truth) <= tolerance;
}

// sin(pi x) for a finite x, which is reduced exactly.
L sinpi_of(L x) {
  if (std::signbit(x)) return -sinpi_of(-x);
  L turns = std::fmod(x, 2.0L);
  if (turns >= 1) return -sinpi_of(turns - 1);
  if (turns > 0.5L) turns = 1 - turns;
  return turns <= 0.25L ? std::sin(kPi * turns) : std::cos(kPi * (0.5L - turns));
}

L sinpi(L x) { return std::isfinite(x) ? sinpi_of(x) : kNan; }
L cospi(L x) { return std::isfinite(x) ? sinpi_of(std::fmod(std::fabs(x), 2.0L) + 0.5L) : kNan; }

L erfcx(L x) {
  if (x < 10) return std::exp(x * x) * std::erfc(x);
  if (std::isinf(x)) return 0;
  // A continued fraction, from its far end.
  L value = x;
  for (int k = 200; k > 0; --k) value = x + k / 2.0L / value;
  return 1 / (value * std::sqrt(kPi));
}

L bessel_i(int order, L x) {
  if (std::isnan(x)) return x;
  const L sign = order == 1 && std::signbit(x) ? -1 : 1;
  return std::fabs(x) > 1000 ? sign * INFINITY : sign * std::cyl_bessel_i(order, std::fabs(x));
}

L norm(std::initializer_list<L> values) {
  L sum = 0;
  for (const L value : values) {
    if (std::isinf(value)) return INFINITY;
    sum += value * value;
  }
  return std::sqrt(sum);
}

// y is f(x) if f, exact and monotonic, takes a value near y to x: within so many places.
template <class T, class Inverse>
bool near_inverse(T got, L argument, Inverse function, int places) {
  const auto moved = [&](T value, T towards) {
    for (int i = 0; i < places; ++i) value = std::nextafter(value, towards);
    return static_cast<L>(value);
  };
  const T infinity = std::numeric_limits<T>::infinity();
  const L below = function(moved(got, -infinity)), above = function(moved(got, infinity));
  return (below <= argument && argument <= above) || (above <= argument && argument <= below);
}

template <class T>
class Checks {
 public:
  Checks(Group& group, Group& bessel) : group_(group), bessel_(bessel) {}

  static constexpr bool kIsFloat = std::is_same_v<T, float>;
  static std::string name(const std::string& function) { return function + (kIsFloat ? "f" : ""); }

  // Under its own name and, of floats, where CUDA has one, under the name for both.
  template <class Function>
  void unary(const std::string& function, L places, Function truth, bool overloaded = true) {
    const auto accepts = [=](T got, T x) { return near(got, truth(static_cast<L>(x)), places); };
    group_.accepted(name(function), accepts);
    if (kIsFloat && overloaded) group_.accepted(function + "_of_float", accepts);
  }
  template <class Accepts>
  void unary_accepted(const std::string& function, Accepts accepts) {
    group_.accepted(name(function), accepts);
    if (kIsFloat) group_.accepted(function + "_of_float", accepts);
  }

  void check() {
    unary("sinpi", 2, sinpi);
    unary("cospi", 2, cospi);
    unary("rsqrt", 2, [](L x) { return 1 / std::sqrt(x); });
    unary("rcbrt", 2, [](L x) { return 1 / std::cbrt(x); });
    // (The C library allows itself more than CUDA does.)
    unary("cbrt", 5, [](L x) { return std::cbrt(x); });
    unary("exp10", 3, [](L x) { return std::pow(10.0L, x); });
    unary("erfcx", 5, [](L x) { return erfcx(x); });
    unary("normcdf", 8, [](L x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; });
    check_inverses();
    check_bessel();
    check_norms();
  }

 private:
  void check_inverses() {
    const auto inverse = [&](const char* function, int places, L low, L high, auto of) {
      unary_accepted(function, [=](T got, T x) {
        if (!(x >= low && x <= high)) return std::isnan(got);
        if (x == low || x == high) return std::isinf(got) && (of(got) == x);
        if (!std::isfinite(got)) return false;
        return near_inverse(got, x, of, places);
      });
    };
    inverse("erfinv", 6, -1, 1, [](L y) { return std::erf(y); });
    inverse("erfcinv", 8, 0, 2, [](L y) { return std::erfc(y); });
    inverse("normcdfinv", 10, 0, 1, [](L y) { return std::erfc(-y / std::sqrt(2.0L)) / 2; });
  }

  // Near to the zeros and far from the origin only the distance is small.
  void check_bessel() {
    const L distance = kIsFloat ? 3e-6L : 6e-12L;
    constexpr T kRecurrence = T(0.001);
    const auto bessel = [&](const char* function, bool overloaded, bool logarithmic, auto truth,
                            bool recurs = false) {
      const auto accepts = [=](T got, T x) {
        // What sine and cosine of a huge number are is not worth a promise.
        if (!(std::fabs(x) <= 1e4) || (logarithmic && x <= 0)) return true;
        // Those of higher order recur by 2 / x, which a GPU lets overflow near 0 (seen on an H200).
        if (recurs && std::fabs(x) < kRecurrence) return true;
        return near(got, truth(static_cast<L>(x)), L{32}, distance);
      };
      Group& group = name(function) == "yn" ? group_ : bessel_;
      group.accepted(name(function), accepts);
      if (kIsFloat && overloaded) bessel_.accepted(function + std::string("_of_float"), accepts);
    };
    bessel("j0", true, false, [](L x) { return ::j0l(x); });
    bessel("j1", true, false, [](L x) { return ::j1l(x); });
    bessel("y0", true, true, [](L x) { return ::y0l(x); });
    bessel("y1", true, true, [](L x) { return ::y1l(x); });
    for (const int order : {0, 1}) {
      bessel_.accepted(name("cyl_bessel_i" + std::to_string(order)), [=](T got, T x) {
        return near(got, bessel_i(order, static_cast<L>(x)), L{8});
      });
    }
    bessel(
        "jn", false, false, [](L x) { return ::jnl(3, x); }, true);
    bessel(
        "yn", false, true, [](L x) { return ::ynl(3, x); }, true);
  }

  void check_norms() {
    const L places = 4;
    group_.accepted(name("hypot"), [=](T got, T x, T y) {
      return near(got, norm({x, y}), places);
    });
    group_.accepted(name("rhypot"), [=](T got, T x, T y) {
      return near(got, 1 / norm({x, y}), places);
    });
    for (const char* function : {"norm3d", "norm"}) {
      group_.accepted(name(function), [=](T got, T x, T y, T z) {
        return near(got, norm({x, y, z}), places);
      });
    }
    for (const char* function : {"rnorm3d", "rnorm"}) {
      group_.accepted(name(function), [=](T got, T x, T y, T z) {
        return near(got, 1 / norm({x, y, z}), places);
      });
    }
    group_.accepted(name("norm4d"), [=](T got, T x, T y, T z) {
      return near(got, norm({x, y, z, x}), places);
    });
    group_.accepted(name("rnorm4d"), [=](T got, T x, T y, T z) {
      return near(got, 1 / norm({x, y, z, x}), places);
    });
  }

  Group& group_;
  Group& bessel_;
};

using Floats = intrinsics::Pair<float>;

void check_pairs(Group& group) {
  const auto pair = [&](const char* name, auto sine, auto cosine, L places) {
    group.accepted(name, [=](Floats got, float x) {
      return near(got.low, sine(x), places) && near(got.high, cosine(x), places);
    });
  };
  const auto sine = [](L x) { return std::isfinite(x) ? std::sin(x) : kNan; };
  const auto cosine = [](L x) { return std::isfinite(x) ? std::cos(x) : kNan; };
  pair("sincospif", sinpi, cospi, 2);
  pair("sincospi_of_float", sinpi, cospi, 2);
  pair("sincosf", sine, cosine, 3);
  pair("sincos_of_float", sine, cosine, 3);
  group.accepted("sincospi", [=](double got, double x, int which) {
    return near(got, which & 1 ? cospi(x) : sinpi(x), 2);
  });
}

// With the errors of the hardware, which the emulator does not have.
void check_fast(Group& group) {
  // Of an argument or result that flushes to zero, or overflows, nothing is said.
  const auto check = [&](const std::string& name, auto truth, auto places, L distance, L limit) {
    group.accepted("fast_" + name, [=](float got, float x) {
      if (!(std::fabs(x) <= limit) || (x != 0 && std::fabs(x) < 0x1p-126f)) return true;
      const L exact = truth(static_cast<L>(x));
      if (std::fabs(exact) < 0x1p-125L) return std::fabs(got) <= 0x1.001p-125f;
      return near(got, exact, places(std::fabs(static_cast<L>(x))), distance);
    });
  };
  const auto three = [](L) { return L{4}; };
  const auto none = [](L) { return L{1}; };
  check(
      "expf", [](L x) { return std::exp(x); }, [](L x) { return 4 + 1.2L * x; }, 0, 1000);
  check(
      "exp10f", [](L x) { return std::pow(10.0L, x); }, [](L x) { return 4 + 3 * x; }, 0, 1000);
  check(
      "logf", [](L x) { return std::log(x); }, three, 0x1p-21L, 1e38L);
  check(
      "log2f", [](L x) { return std::log2(x); }, three, 0x1p-21L, 1e38L);
  check(
      "log10f", [](L x) { return std::log10(x); }, three, 0x1p-23L, 1e38L);
  check(
      "sinf", [](L x) { return std::sin(x); }, none, 0x1p-21L, kPi);
  check(
      "cosf", [](L x) { return std::cos(x); }, none, 0x1p-21L, kPi);
  check(
      "tanf", [](L x) { return std::tan(x); }, three, 0x1p-19L, 1);
  check(
      "tanhf", [](L x) { return std::tanh(x); }, [](L) { return L{1 << 14}; }, 0, 1e38L);
  group.accepted("fast_sincosf", [](Floats got, float x) {
    if (!(std::fabs(x) <= kPi)) return true;
    return near(got.low, std::sin(L{x}), 1, 0x1p-21L) &&
           near(got.high, std::cos(L{x}), 1, 0x1p-21L);
  });
  group.accepted("fast_powf", [](float got, float x, float y) {
    if (!(x >= 0x1p-120f && x <= 0x1p120f && std::fabs(y) <= 100)) return true;
    const L exponent = std::log2(L{x}) * y;
    if (std::fabs(exponent) > 120) return true;
    // The logarithm's error is multiplied.
    const L error = std::fabs(y) * 0x1p-21L + std::fabs(exponent) * 0x1p-21L;
    return near(got, std::pow(L{x}, L{y}), 4 + error * 0x1p24L);
  });
  for (const char* name : {"fast_fdividef", "fdividef"}) {
    const bool fast = name[1] == 'a';
    group.accepted(name, [=](float got, float x, float y) {
      const float size = std::fabs(y);
      if (fast && !(size >= 0x1p-126f && size <= 0x1p126f)) return true;
      if (fast && !(std::fabs(x) >= 0x1p-100f && std::fabs(x) <= 0x1p100f)) return true;
      const L exact = L{x} / L{y};
      if (fast && (std::fabs(exact) < 0x1p-125L || std::fabs(exact) >= 0x1p127L)) return true;
      return near(got, exact, 2);
    });
  }
}

}  // namespace

void check_special_intrinsics(Bench& bench) {
  Group group(bench, "special",
              {
#define CULEBRA_INTRINSIC(name, ...) #name,
#include "../intrinsics/special.inc"
#undef CULEBRA_INTRINSIC
              });
  Group bessel(bench, "bessel",
               {
#define CULEBRA_INTRINSIC(name, ...) #name,
#include "../intrinsics/bessel.inc"
#undef CULEBRA_INTRINSIC
               });
  Checks<float>(group, bessel).check();
  Checks<double>(group, bessel).check();
  check_pairs(group);
  check_fast(group);
  const auto of_float = [&](const char* name, auto truth) {
    group.accepted(name, [=](float got, float x) { return near(got, truth(L{x}), 3); });
  };
  of_float("exp_of_float", [](L x) { return std::exp(x); });
  of_float("log_of_float", [](L x) { return std::log(x); });
  of_float("tanh_of_float", [](L x) { return std::tanh(x); });
}

}  // namespace runner
