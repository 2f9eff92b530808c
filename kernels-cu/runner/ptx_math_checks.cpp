// Arithmetic instructions, over special values and random ones. What rounds to nearest is compared
// bit for bit with a result made of whole numbers and long doubles; an approximation must keep the
// error that the PTX ISA gives it.
#include <cstdint>
#include <functional>

#include "elements.h"
#include "ptx_checks.h"

namespace runner {

namespace {

using Words = std::vector<std::uint32_t>;

std::uint32_t bits(float value) {
  std::uint32_t result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}
float number(std::uint32_t word) {
  float result;
  std::memcpy(&result, &word, sizeof result);
  return result;
}

// A format with `exponent` and `fraction` bits, rounded to from a value that is exact or beyond
// doubt.
struct Format {
  int exponent_bits;
  int fraction_bits;
  std::uint32_t nan;
  // The largest finite number's bits; if `saturates`, it stands for all that is larger.
  std::uint32_t largest;
  bool saturates;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  std::uint32_t sign() const { return 1u << (exponent_bits + fraction_bits); }

  std::uint32_t nearest(long double value) const {
    if (std::isnan(value)) return nan;
    const std::uint32_t negative = std::signbit(value) ? sign() : 0;
    const long double magnitude = std::fabs(value);
    if (magnitude == 0) return negative;
    const std::uint32_t overflow = saturates ? largest : largest + 1;
    if (std::isinf(magnitude)) return negative | overflow;
    const int smallest = 1 - bias();
    const int exponent = std::max(std::ilogb(magnitude), smallest);
    const long double units = std::ldexp(magnitude, fraction_bits - exponent);
    long double whole = std::floor(units);
    const long double rest = units - whole;
    if (rest > 0.5L || (rest == 0.5L && std::fmod(whole, 2) != 0)) whole += 1;
    const std::uint64_t result =
        (static_cast<std::uint64_t>(exponent - smallest) << fraction_bits) +
        static_cast<std::uint64_t>(whole);
    return negative | (result > largest ? overflow : static_cast<std::uint32_t>(result));
  }

  double value(std::uint32_t word) const {
    const std::uint32_t magnitude = word & (sign() - 1);
    const double direction = (word & sign()) != 0 ? -1 : 1;
    if (magnitude > largest) {
      return magnitude == largest + 1 && largest + 1 != nan ? direction * INFINITY : NAN;
    }
    const int exponent = static_cast<int>(magnitude >> fraction_bits);
    const std::uint32_t fraction = magnitude & ((1u << fraction_bits) - 1);
    const std::uint32_t implicit = exponent != 0 ? 1u << fraction_bits : 0;
    return direction *
           std::ldexp(implicit + fraction, std::max(exponent, 1) - bias() - fraction_bits);
  }
};

constexpr Format kF16{5, 10, 0x7FFF, 0x7BFF, false};
constexpr Format kBf16{8, 7, 0x7FFF, 0x7F7F, false};
constexpr Format kE4m3{4, 3, 0x7F, 0x7E, true};
constexpr Format kE5m2{5, 2, 0x7F, 0x7B, true};

Words special_floats() {
  Words result;
  for (const float x :
       {0.0f,       1.0f,      1.5f,      2.0f,      0.5f,       3.7f,       10.0f,      100.25f,
        255.0f,     256.5f,    448.0f,    464.0f,    464.5f,     480.0f,     57344.0f,   61440.0f,
        61441.0f,   65504.0f,  65519.0f,  65520.0f,  1e30f,      3.4e38f,    INFINITY,   NAN,
        0x1p-126f,  0x1p-127f, 0x1p-149f, 0x1p-24f,  0x1.8p-25f, 0x1p-25f,   0x1p-10f,   0x1.8p-10f,
        0x1p-17f,   0x1p-16f,  0x1.8p-8f, 0x1.01p0f, 0x1.03p0f,  0x1.002p0f, 0x1.006p0f, 0x1.001p0f,
        0x1.003p0f, 0x1.1p0f,  0x1.3p0f,  0x1.2p0f,  0x1.6p0f}) {
    result.push_back(bits(x));
    result.push_back(bits(-x));
  }
  return result;
}

// All pairs of special 16-bit numbers in both halves, then random bits.
Words special_halves(const Format& format) {
  Words result;
  const std::uint32_t one = format.nearest(1);
  for (const std::uint32_t x :
       {0u, 1u, 2u, 3u, one, one + 1, one + 2, one - 1, format.nearest(1.5), format.nearest(-2),
        format.nearest(0.001), format.largest, format.largest + 1, format.largest + 2, format.nan,
        (1u << format.fraction_bits), (1u << format.fraction_bits) - 1}) {
    result.push_back(x);
    result.push_back(x | format.sign());
  }
  return result;
}

struct Case {
  const char* name;
  int needs;
  // The arguments are all combinations of these, or where empty random words alone.
  Words specials;
  int arguments;
  // Whether the result holds.
  std::function<bool(std::uint32_t got, std::uint32_t x, std::uint32_t y, std::uint32_t z)> holds;
};

template <class Function>
auto equals(Function expected) {
  return [expected](std::uint32_t got, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return got == expected(x, y, z);
  };
}

// Each half of a result by itself.
template <class Function>
auto halves_equal(const Format& format, Function expected) {
  return equals([format, expected](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    const auto half = [&](int shift) {
      const auto value = [&](std::uint32_t w) -> long double {
        return format.value(w >> shift & 0xFFFF);
      };
      return format.nearest(expected(value(x), value(y), value(z)));
    };
    return half(0) | half(16) << 16;
  });
}

// A sum of which, where it is not exact, the last bit says on which side the rest lies: then a
// second rounding goes the right way.
long double sum(long double a, long double b) {
  const long double total = a + b;
  if (!std::isfinite(total)) return total;
  const long double in_b = total - a;
  const long double lost = (a - (total - in_b)) + (b - in_b);
  if (lost == 0) return total;
  return std::nextafter(total, lost > 0 ? INFINITY : -INFINITY);
}

long double larger(long double a, long double b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}
long double smaller(long double a, long double b) { return -larger(-a, -b); }

float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

bool close(double got, double exact, double relative, double absolute) {
  if (std::isnan(exact)) return std::isnan(got);
  if (std::isinf(exact) || exact == 0) return got == exact;
  return std::fabs(got - exact) <= relative * std::fabs(exact) + absolute;
}

// What a function that may flush subnormal numbers gives.
template <class Function>
auto approximates(bool flushes, double relative, double absolute, Function function) {
  return [=](std::uint32_t got, std::uint32_t x, std::uint32_t, std::uint32_t) {
    const float argument = flushes ? flushed(number(x)) : number(x);
    const double exact = function(static_cast<double>(argument));
    const float result = number(got);
    if (std::isnan(exact)) return got == 0x7FFFFFFFu;
    if (std::fabs(exact) > 0x1.ffffffp127) return std::fabs(result) > 3.4e38f;
    // Without .ftz a subnormal result may be rounded once more, and near 2^-126 flushing may go
    // either way.
    if (flushes && std::fabs(exact) < 0x1.000002p-126) {
      return result == 0 || close(result, exact, relative, absolute);
    }
    return close(result, exact, relative, absolute + 0x1p-149);
  };
}

template <class Function>
auto halves_approximate(const Format& format, double relative, double absolute, Function function) {
  return [=](std::uint32_t got, std::uint32_t x, std::uint32_t, std::uint32_t) {
    for (const int shift : {0, 16}) {
      const std::uint32_t half = got >> shift & 0xFFFF;
      const double argument = format.value(x >> shift & 0xFFFF);
      const double exact = function(argument);
      if (std::isnan(exact)) {
        if (half != format.nan) return false;
        continue;
      }
      const double limit = format.value(format.largest);
      const double value = format.value(half);
      if (std::fabs(exact) > limit) {
        if (std::fabs(value) < limit) return false;
        continue;
      }
      const double least = format.exponent_bits == 8 ? 0x1p-126 : 0x1p-24;
      if (!close(value, exact, relative, absolute + least)) return false;
    }
    return true;
  };
}

void run(Bench& bench, const Case& test) {
  if (bench.driver.compute_capability() < test.needs) return;
  Words arguments[3];
  const auto add = [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    arguments[0].push_back(x);
    arguments[1].push_back(y);
    arguments[2].push_back(z);
  };
  const Words& s = test.specials;
  for (const std::uint32_t x : s) {
    if (test.arguments == 1) add(x | x << 16, 0, 0);
    if (test.arguments == 1) add(x, 0, 0);
    for (const std::uint32_t y : test.arguments > 1 ? s : Words{}) {
      if (test.arguments == 2) {
        add(x, y, 0);
        add(x | y << 16, y | x << 16, 0);
      }
      for (const std::uint32_t z : test.arguments > 2 ? s : Words{})
        add(x, y | z << 16, z | x << 16);
    }
  }
  for (int i = 0; i < 4000; ++i) {
    const auto word = [&] { return static_cast<std::uint32_t>(bench.random() >> 11); };
    add(word(), word(), word());
  }
  const DeviceArray<std::uint32_t> a(bench.driver, arguments[0]), b(bench.driver, arguments[1]);
  const DeviceArray<std::uint32_t> c(bench.driver, arguments[2]);
  const auto count = static_cast<std::uint32_t>(arguments[0].size());
  const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(count));
  bench.launch(std::string("culebra_ptx_") + test.name, (count + 255) / 256, 256, 0, out.at(0),
               a.at(0), b.at(0), c.at(0), count);
  const Words got = out.read();
  std::uint32_t wrong = 0, first = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (test.holds(got[i], arguments[0][i], arguments[1][i], arguments[2][i])) continue;
    if (wrong++ == 0) first = i;
  }
  bench.expect(wrong == 0, "%s: %u of %u differ; of (%08x, %08x, %08x) it is %08x", test.name,
               wrong, count, arguments[0][first], arguments[1][first], arguments[2][first],
               got[first]);
}

std::uint32_t permuted(std::uint32_t x, std::uint32_t y, std::uint32_t selector) {
  std::uint8_t bytes[8];
  std::memcpy(bytes, &x, 4);
  std::memcpy(bytes + 4, &y, 4);
  std::uint8_t result[4];
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t nibble = selector >> (4 * i) & 15;
    const std::uint8_t byte = bytes[nibble & 7];
    result[i] = nibble < 8 ? byte : (byte & 0x80) != 0 ? 0xFF : 0x00;
  }
  std::memcpy(&x, result, 4);
  return x;
}

std::uint32_t field(std::uint32_t x, unsigned first, unsigned count, bool is_signed) {
  std::uint32_t result = 0;
  const std::uint32_t last = std::min(first + count - 1, 31u);
  const bool top = is_signed && count != 0 && (x >> last & 1) != 0;
  for (unsigned i = 0; i < 32; ++i) {
    const bool bit = i < count && first + i <= 31 ? (x >> (first + i) & 1) != 0 : top;
    result |= static_cast<std::uint32_t>(bit) << i;
  }
  return result;
}

// A pair of narrow numbers, the first argument above.
std::uint32_t narrowed(const Format& format, long double high, long double low) {
  const int width = 1 + format.exponent_bits + format.fraction_bits;
  return format.nearest(high) << width | format.nearest(low);
}

void check_approximations(Bench& bench) {
  const Words floats = special_floats();
  for (const bool flushes : {false, true}) {
    const auto name = [&](const char* function) {
      return std::string(function) + (flushes ? "_approx_ftz_f32" : "_approx_f32");
    };
    const auto check = [&](const char* function, double relative, double absolute, auto exact) {
      run(bench, {name(function).c_str(), 80, floats, 1,
                  approximates(flushes, relative, absolute, exact)});
    };
    check("ex2", 0x1p-22, 0, [](double x) { return std::exp2(x); });
    check("lg2", 0x1p-22, 0x1p-22, [](double x) { return std::log2(x); });
    check("rcp", 0x1p-23, 0, [](double x) { return 1 / x; });
    check("rsqrt", 0x1p-22, 0, [](double x) { return 1 / std::sqrt(x); });
    check("sqrt", 0x1p-22, 0, [](double x) { return std::sqrt(x); });
  }
  const auto tanh = [](double x) { return std::tanh(x); };
  const auto exp2 = [](double x) { return std::exp2(x); };
  run(bench, {"tanh_approx_f32", 80, floats, 1, approximates(false, 0x1p-10, 0, tanh)});
  run(bench, {"tanh_approx_f16x2", 80, special_halves(kF16), 1,
              halves_approximate(kF16, 0x1p-10, 0x1p-10, tanh)});
  run(bench, {"tanh_approx_bf16x2", 90, special_halves(kBf16), 1,
              halves_approximate(kBf16, 0x1p-7, 0x1p-8, tanh)});
  run(bench,
      {"ex2_approx_f16x2", 80, special_halves(kF16), 1, halves_approximate(kF16, 0x1p-9, 0, exp2)});
  run(bench, {"ex2_approx_ftz_bf16x2", 90, special_halves(kBf16), 1,
              halves_approximate(kBf16, 0x1p-6, 0, exp2)});
}

void check_halves(Bench& bench, const Format& format, const char* suffix, int needs_of_sums) {
  using L = long double;
  const Words specials = special_halves(format);
  const auto check = [&](const char* operation, int needs, int arguments, auto function) {
    const std::string name = std::string(operation) + "_" + suffix;
    run(bench, {name.c_str(), needs, specials, arguments, halves_equal(format, function)});
  };
  check("fma_rn", 80, 3, [](L x, L y, L z) { return sum(x * y, z); });
  check("add_rn", needs_of_sums, 2, [](L x, L y, L) { return sum(x, y); });
  check("mul_rn", needs_of_sums, 2, [](L x, L y, L) { return x * y; });
  check("max_NaN", 80, 2, [](L x, L y, L) { return larger(x, y); });
  check("min_NaN", 80, 2, [](L x, L y, L) { return smaller(x, y); });
}

void check_conversions(Bench& bench) {
  using W = std::uint32_t;
  const Words floats = special_floats();
  const auto of_floats = [](const Format& format) {
    return equals([format](W x, W y, W) { return narrowed(format, number(x), number(y)); });
  };
  const auto of_halves = [](const Format& format) {
    return equals([format](W x, W, W) {
      return narrowed(format, kF16.value(x >> 16), kF16.value(x & 0xFFFF));
    });
  };
  const auto to_halves = [](const Format& format) {
    return equals([format](W x, W, W) {
      return narrowed(kF16, format.value(x >> 8 & 0xFF), format.value(x & 0xFF));
    });
  };
  // e5m2 has infinities and more than one NaN: to read one is not to saturate.
  Format read_e5m2 = kE5m2;
  read_e5m2.nan = 0x7E;
  Words all;
  for (std::uint32_t i = 0; i < 0x10000; i += 0x0101) all.push_back(i);
  run(bench, {"cvt_rn_f16x2_f32", 80, floats, 2, of_floats(kF16)});
  run(bench, {"cvt_rn_bf16x2_f32", 80, floats, 2, of_floats(kBf16)});
  run(bench, {"cvt_rn_satfinite_e4m3x2_f32", 89, floats, 2, of_floats(kE4m3)});
  run(bench, {"cvt_rn_satfinite_e5m2x2_f32", 89, floats, 2, of_floats(kE5m2)});
  Words halves;
  for (std::uint32_t i = 0; i < 0x10000; i += 3) halves.push_back(i);
  run(bench, {"cvt_rn_satfinite_e4m3x2_f16x2", 89, halves, 1, of_halves(kE4m3)});
  run(bench, {"cvt_rn_satfinite_e5m2x2_f16x2", 89, halves, 1, of_halves(kE5m2)});
  run(bench, {"cvt_rn_f16x2_e4m3x2", 89, all, 1, to_halves(kE4m3)});
  run(bench, {"cvt_rn_f16x2_e5m2x2", 89, all, 1, to_halves(read_e5m2)});
  // The NaN is whichever: an H200 keeps some of the payload, the emulator gives the canonical one.
  run(bench, {"cvt_rna_tf32_f32", 80, floats, 1, [](W got, W x, W, W) {
                const float value = number(x);
                if (std::isnan(value)) return std::isnan(number(got));
                if (std::isinf(value)) return got == x;
                return got == ((x + 0x1000u) & 0xFFFFE000u);
              }});
}

}  // namespace

void check_ptx_math(Bench& bench) {
  using W = std::uint32_t;
  const Words floats = special_floats();
  run(bench, {"max_NaN_f32", 80, floats, 2, equals([](W x, W y, W) -> W {
                const long double result = larger(number(x), number(y));
                return std::isnan(result) ? 0x7FFFFFFFu : bits(static_cast<float>(result));
              })});
  run(bench, {"min_NaN_f32", 80, floats, 2, equals([](W x, W y, W) -> W {
                const long double result = smaller(number(x), number(y));
                return std::isnan(result) ? 0x7FFFFFFFu : bits(static_cast<float>(result));
              })});
  check_approximations(bench);
  check_halves(bench, kF16, "f16x2", 80);
  check_halves(bench, kBf16, "bf16x2", 90);
  check_conversions(bench);

  const Words positions{0, 1, 7, 8, 15, 16, 24, 30, 31, 32, 33, 63, 100, 255};
  run(bench, {"prmt_b32", 80, {}, 3, equals(permuted)});
  run(bench, {"lop3_b32", 80, {}, 3, equals([](W x, W y, W z) -> W {
                return ((x & y) | (~x & z)) + 3 * (x ^ y ^ z);
              })});
  for (const bool is_signed : {false, true}) {
    run(bench,
        {is_signed ? "bfe_s32" : "bfe_u32", 80, positions, 3,
         equals([is_signed](W x, W y, W z) { return field(x, y & 0xFF, z & 0xFF, is_signed); })});
  }
}

}  // namespace runner
