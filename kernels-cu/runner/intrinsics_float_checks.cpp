// Arithmetic and conversions with a rounding in the name, against this machine's own in that
// rounding mode, bit for bit.
#include <cfenv>

#include "intrinsics_checks.h"

namespace runner {

namespace {

using intrinsics::Group;

struct Mode {
  const char* suffix;
  int round;
};
constexpr Mode kModes[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rd", FE_DOWNWARD}, {"ru", FE_UPWARD}};

// The operands are read and the result is written while the mode holds, whatever the compiler
// thinks of arithmetic.
template <class Result, class Function, class... T>
Result rounded(int mode, Function function, T... operands) {
  std::tuple<volatile T...> at_run_time(operands...);
  std::fesetround(mode);
  volatile Result result = std::apply(function, at_run_time);
  std::fesetround(FE_TONEAREST);
  return result;
}

template <class T>
void check_arithmetic_of(Group& group, const std::string& f, const std::string& fma,
                         const Mode& mode) {
  const int round = mode.round;
  const auto name = [&](const char* operation) { return f + operation + "_" + mode.suffix; };
  const auto binary = [&](const char* operation, auto function) {
    group.equals(name(operation), [=](T x, T y) { return rounded<T>(round, function, x, y); });
  };
  binary("add", [](T x, T y) { return x + y; });
  binary("sub", [](T x, T y) { return x - y; });
  binary("mul", [](T x, T y) { return x * y; });
  binary("div", [](T x, T y) { return x / y; });
  group.equals(name("rcp"), [=](T x) {
    return rounded<T>(
        round, [](T one, T y) { return one / y; }, T{1}, x);
  });
  group.equals(name("sqrt"), [=](T x) {
    return rounded<T>(
        round, [](T y) { return std::sqrt(y); }, x);
  });
  const auto fused = [=](T x, T y, T z) {
    return rounded<T>(
        round, [](T a, T b, T c) { return std::fma(a, b, c); }, x, y, z);
  };
  group.equals(fma + mode.suffix, fused);
  if (f == "f") group.equals(fma + "ieee_" + mode.suffix, fused);
}

// What a device gives for what the integer cannot hold, and for NaN: 0 if neither type has more
// than 32 bits, else the top bit.
template <class Integer, class Float>
Integer to_integer(int mode, Float value) {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(value)) {
    const bool small = sizeof(Float) <= 4 && sizeof(Integer) <= 4;
    return small ? 0 : static_cast<Integer>(std::uint64_t{1} << (8 * sizeof(Integer) - 1));
  }
  const auto whole = rounded<long double>(
      mode, [](long double x) { return std::rint(x); }, (long double){value});
  if (whole >= static_cast<long double>(Limits::max())) return Limits::max();
  if (whole <= static_cast<long double>(Limits::min())) return Limits::min();
  return static_cast<Integer>(whole);
}

// A long double holds any integer of 64 bits.
template <class Float, class Integer>
Float from_integer(int mode, Integer value) {
  return rounded<Float>(
      mode, [](long double x) { return static_cast<Float>(x); }, static_cast<long double>(value));
}

template <class Integer>
void check_conversions_of(Group& group, const std::string& type, const Mode& mode) {
  const int round = mode.round;
  const std::string suffix = std::string("_") + mode.suffix;
  group.equals("float2" + type + suffix, [=](float x) { return to_integer<Integer>(round, x); });
  group.equals("double2" + type + suffix, [=](double x) { return to_integer<Integer>(round, x); });
  group.equals(type + "2float" + suffix, [=](Integer x) { return from_integer<float>(round, x); });
  if (sizeof(Integer) == 8) {
    group.equals(type + "2double" + suffix,
                 [=](Integer x) { return from_integer<double>(round, x); });
  }
}

}  // namespace

void check_arithmetic_intrinsics(Bench& bench) {
  Group group(bench, "arithmetic",
              {
#define CULEBRA_INTRINSIC(name, ...) #name,
#include "../intrinsics/arithmetic.inc"
#undef CULEBRA_INTRINSIC
              });
  for (const Mode& mode : kModes) {
    check_arithmetic_of<float>(group, "f", "fmaf_", mode);
    check_arithmetic_of<double>(group, "d", "fma_", mode);
  }
  group.equals("frsqrt_rn", [](float x) {
    return static_cast<float>(1 / std::sqrt(static_cast<long double>(x)));
  });
  group.equals("saturatef",
               [](float x) { return std::isnan(x) || x <= 0 ? 0 : std::min(x, 1.0f); });
}

void check_conversion_intrinsics(Bench& bench) {
  Group group(bench, "conversion",
              {
#define CULEBRA_INTRINSIC(name, ...) #name,
#include "../intrinsics/conversion.inc"
#undef CULEBRA_INTRINSIC
              });
  using intrinsics::to_word;
  for (const Mode& mode : kModes) {
    check_conversions_of<int>(group, "int", mode);
    check_conversions_of<unsigned int>(group, "uint", mode);
    check_conversions_of<std::int64_t>(group, "ll", mode);
    check_conversions_of<std::uint64_t>(group, "ull", mode);
    group.equals(std::string("double2float_") + mode.suffix, [&](double x) {
      return rounded<float>(
          mode.round, [](double y) { return static_cast<float>(y); }, x);
    });
  }
  group.equals("int2double_rn", [](int x) { return static_cast<double>(x); });
  group.equals("uint2double_rn", [](unsigned int x) { return static_cast<double>(x); });
  // (Integers, so that a NaN's bits are compared, too.)
  for (const char* name : {"float_as_int", "float_as_uint", "int_as_float", "uint_as_float"}) {
    group.equals(name, [](std::uint32_t x) { return x; });
  }
  for (const char* name : {"double_as_longlong", "longlong_as_double"}) {
    group.equals(name, [](std::uint64_t x) { return x; });
  }
  group.equals("double2hiint", [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); });
  group.equals("double2loint", [](std::uint64_t x) { return static_cast<std::uint32_t>(x); });
  group.equals("hiloint2double", [](std::uint32_t high, std::uint32_t low) {
    return std::uint64_t{high} << 32 | low;
  });
}

}  // namespace runner
