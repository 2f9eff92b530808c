#include "intrinsics_checks.h"

#include <exception>

namespace runner {

namespace intrinsics {

namespace {

constexpr int kRandomArguments = 3000;
// Of each of three arguments, as all combinations are tried.
constexpr std::size_t kSpecialsOfThree = 15;

std::uint64_t any_bits(std::uint64_t bits) { return bits; }

std::uint64_t near_float(std::uint64_t bits) {
  if ((bits >> 63 & 1) == 0) return bits & 0xFFFFFFFF;
  return (bits & 0x807FFFFF) | (120 + (bits >> 32) % 16) << 23;
}

std::uint64_t near_double(std::uint64_t bits) {
  if ((bits >> 52 & 1) == 0) return bits;
  return (bits & 0x800FFFFFFFFFFFFF) | (1016 + (bits >> 56) % 16) << 52;
}

template <class T>
Words words_of_both_signs(std::initializer_list<T> values) {
  Words result;
  for (const T value : values) {
    result.push_back(to_word(value));
    result.push_back(to_word(-value));
  }
  return result;
}

// Spread over all of them.
Words some(const Words& words) {
  if (words.size() <= kSpecialsOfThree) return words;
  Words result;
  for (std::size_t i = 0; i < kSpecialsOfThree; ++i) {
    result.push_back(words[i * words.size() / kSpecialsOfThree]);
  }
  return result;
}

Words narrow_specials(std::uint64_t one, std::uint64_t infinity, std::uint64_t smallest,
                      bool pairs) {
  Words result;
  for (const std::uint64_t x :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, one - 1, one,
        one + 1, one + 2, one + one / 20, smallest - 1, smallest, smallest + 1, infinity - 2,
        infinity - 1, infinity, std::uint64_t{0x7FFF}}) {
    for (const std::uint64_t sign : {0, 0x8000}) {
      result.push_back(x | sign);
      if (pairs) result.back() |= (x ^ 0x8003) << 16;
    }
  }
  return result;
}

}  // namespace

Argument integers() {
  Words words{0,          1,          2,          31,         32,         33,         0x7F,
              0x80,       0xFF,       0x7FFF,     0x8000,     0xFFFF,     0xFFFFFF,   0x800000,
              0x01020304, 0x80808080, 0x7F7F7F7F, 0x80008000, 0x7FFF7FFF, 0x7654FEDC, 0x7FFFFFFF,
              0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFF7F, 0x1000001,  0x1000003};
  for (const std::uint64_t high : {0x7FFFFFFFull, 0x80000000ull, 0xFFFFFFFFull, 0x00200000ull}) {
    words.push_back(high << 32);
    words.push_back(high << 32 | 1);
    words.push_back(high << 32 | 0x800);
    words.push_back(high << 32 | 0xFFFFFFFF);
  }
  return {words, any_bits};
}

Argument floats() {
  return {words_of_both_signs<float>({0.0f,
                                      1.0f,
                                      0x1.000002p0f,
                                      0x1.fffffep-1f,
                                      0.5f,
                                      1.5f,
                                      2.0f,
                                      2.5f,
                                      3.0f,
                                      0.1f,
                                      10.0f,
                                      0.25f,
                                      0x1p-24f,
                                      0x1p-25f,
                                      0x1.8p-24f,
                                      0x1p23f,
                                      0x1.000002p23f,
                                      0x1p24f,
                                      0x1p31f,
                                      0x1.fffffep30f,
                                      0x1p32f,
                                      0x1.fffffep31f,
                                      0x1p63f,
                                      0x1p64f,
                                      0x1p126f,
                                      0x1p127f,
                                      0x1.fffffep127f,
                                      0x1p-126f,
                                      0x1.fffffcp-127f,
                                      0x1p-149f,
                                      0x1.8p-148f,
                                      0x1p-75f,
                                      INFINITY,
                                      NAN}),
          near_float};
}

Argument doubles() {
  return {words_of_both_signs<double>({0.0,
                                       1.0,
                                       0x1.0000000000001p0,
                                       0x1.fffffffffffffp-1,
                                       0.5,
                                       1.5,
                                       2.0,
                                       2.5,
                                       3.0,
                                       0.1,
                                       10.0,
                                       0.25,
                                       0x1p-53,
                                       0x1p-54,
                                       0x1.000001p0,
                                       0x1.000003p0,
                                       0x1.0000010000001p0,
                                       0x1p31,
                                       2147483647.5,
                                       0x1p32,
                                       4294967295.5,
                                       0x1p52,
                                       0x1.8p52,
                                       0x1p53,
                                       0x1p63,
                                       0x1.fffffffffffffp62,
                                       0x1p64,
                                       0x1p127,
                                       0x1.ffffffp127,
                                       0x1.fffffefp127,
                                       0x1p-149,
                                       0x1p-150,
                                       0x1.8p-150,
                                       0x1p-126,
                                       0x1p1022,
                                       0x1p1023,
                                       0x1.fffffffffffffp1023,
                                       0x1p-1022,
                                       0x0.fffffffffffffp-1022,
                                       0x1p-1074,
                                       0x1p-538,
                                       0x1.5p-512,
                                       INFINITY,
                                       NAN}),
          near_double};
}

Argument halves(bool pairs) { return {narrow_specials(0x3C00, 0x7C00, 0x0400, pairs), any_bits}; }
Argument bfloats(bool pairs) { return {narrow_specials(0x3F80, 0x7F80, 0x0080, pairs), any_bits}; }

Group::~Group() {
  if (std::uncaught_exceptions() != 0) return;
  for (const std::string& function : functions_) {
    bench_.expect(checked_.count(function) != 0, "intrinsics: %s of %s has no check",
                  function.c_str(), name_.c_str());
  }
}

void Group::run(const std::string& function, const std::vector<Argument>& arguments,
                const Holds& holds) {
  const auto row = std::find(functions_.begin(), functions_.end(), function);
  bench_.expect(row != functions_.end(), "intrinsics: %s has no %s", name_.c_str(),
                function.c_str());
  if (row == functions_.end()) return;
  checked_.insert(function);

  Words words[3];
  std::vector<Words> specials;
  for (const Argument& argument : arguments) {
    specials.push_back(arguments.size() == 3 ? some(argument.specials) : argument.specials);
  }
  specials.resize(3, Words{0});
  for (const std::uint64_t x : specials[0]) {
    for (const std::uint64_t y : specials[1]) {
      for (const std::uint64_t z : specials[2]) {
        words[0].push_back(x);
        words[1].push_back(y);
        words[2].push_back(z);
      }
    }
  }
  for (int i = 0; i < kRandomArguments; ++i) {
    for (std::size_t a = 0; a < 3; ++a) {
      words[a].push_back(a < arguments.size() ? arguments[a].random(bench_.random()) : 0);
    }
  }

  const DeviceArray<std::uint64_t> x(bench_.driver, words[0]), y(bench_.driver, words[1]);
  const DeviceArray<std::uint64_t> z(bench_.driver, words[2]);
  const auto count = static_cast<std::uint32_t>(words[0].size());
  const DeviceArray<std::uint64_t> out(bench_.driver, poison<std::uint64_t>(count));
  const auto number = static_cast<std::uint32_t>(row - functions_.begin());
  bench_.launch("culebra_intrinsics_" + name_, (count + 255) / 256, 256, 0, out.at(0), x.at(0),
                y.at(0), z.at(0), count, number);
  const Words got = out.read();

  std::uint32_t wrong = 0, first = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (holds(got[i], {words[0][i], words[1][i], words[2][i]})) continue;
    if (wrong++ == 0) first = i;
  }
  const auto wide = [](std::uint64_t word) { return static_cast<unsigned long long>(word); };
  bench_.expect(wrong == 0, "%s: %u of %u differ; of (%llx, %llx, %llx) it is %llx",
                function.c_str(), wrong, count, wide(words[0][first]), wide(words[1][first]),
                wide(words[2][first]), wide(got[first]));
}

}  // namespace intrinsics

void check_intrinsics(Bench& bench) {
  check_integer_intrinsics(bench);
  check_simd_intrinsics(bench);
  check_arithmetic_intrinsics(bench);
  check_conversion_intrinsics(bench);
  check_special_intrinsics(bench);
  check_narrow_intrinsics(bench);
  check_group_intrinsics(bench);
  check_memory_intrinsics(bench);
}

}  // namespace runner
