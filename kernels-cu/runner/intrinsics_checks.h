// Checks of a table of ../intrinsics: each function over special values and random ones, against
// what a host's own arithmetic says.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>

#include "checks.h"
#include "elements.h"

namespace runner {

void check_integer_intrinsics(Bench& bench);
void check_simd_intrinsics(Bench& bench);
void check_arithmetic_intrinsics(Bench& bench);
void check_conversion_intrinsics(Bench& bench);
void check_special_intrinsics(Bench& bench);
void check_narrow_intrinsics(Bench& bench);
void check_group_intrinsics(Bench& bench);
void check_memory_intrinsics(Bench& bench);

namespace intrinsics {

// 16-bit numbers as arguments and results.
using Half = Narrow<5>;
using Bfloat16 = Narrow<8>;
// Two of them in a word, the first one in the lower half.
template <class T>
struct Pair {
  T low, high;
};

using Words = std::vector<std::uint64_t>;

template <class T>
T of_word(std::uint64_t word) {
  T value;
  std::memcpy(&value, &word, sizeof(T));
  return value;
}

template <class... A, std::size_t... kIndex>
std::tuple<A...> of_words(const std::uint64_t* words, std::index_sequence<kIndex...>) {
  return {of_word<A>(words[kIndex])...};
}

template <class T>
std::uint64_t to_word(T value) {
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(T));
  return word;
}

// The same bits, or any NaN for a NaN.
template <class T>
bool same(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) && std::isnan(b)) return true;
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>) {
    if (std::isnan(a.value()) && std::isnan(b.value())) return true;
  }
  return same_bits(a, b);
}
template <class T>
bool same(const Pair<T>& a, const Pair<T>& b) {
  return same(a.low, b.low) && same(a.high, b.high);
}

// What arguments of a type are tried with.
struct Argument {
  Words specials;
  // Of 64 random bits: any bits, or a number whose exponent is near to others' of its kind.
  std::uint64_t (*random)(std::uint64_t bits);
};
template <class T>
Argument argument();
Argument integers();
Argument floats();
Argument doubles();
Argument halves(bool pairs);
Argument bfloats(bool pairs);

template <class T>
Argument argument() {
  if constexpr (std::is_same_v<T, float>) return floats();
  if constexpr (std::is_same_v<T, double>) return doubles();
  if constexpr (std::is_same_v<T, Half>) return halves(false);
  if constexpr (std::is_same_v<T, Bfloat16>) return bfloats(false);
  if constexpr (std::is_same_v<T, Pair<Half>>) return halves(true);
  if constexpr (std::is_same_v<T, Pair<Bfloat16>>) return bfloats(true);
  return integers();
}

template <class Function>
struct Signature : Signature<decltype(&Function::operator())> {};
template <class F, class R, class... A>
struct Signature<R (F::*)(A...) const> {
  using Result = R;
  using Arguments = std::tuple<A...>;
};

class Group {
 public:
  // Of the table `name`, whose rows are `functions`.
  Group(Bench& bench, std::string name, std::vector<std::string> functions)
      : bench_(bench), name_(std::move(name)), functions_(std::move(functions)) {}
  // Every function must have been checked.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // The result is expected(x, y ...), to the bit. The types of the arguments are those that the
  // function takes.
  template <class Function>
  void equals(const std::string& function, Function expected) {
    equals(function, expected, static_cast<typename Signature<Function>::Arguments*>(nullptr));
  }

  // accepts(result, x, y ...) holds.
  template <class Function>
  void accepted(const std::string& function, Function accepts) {
    accepted(function, accepts, static_cast<typename Signature<Function>::Arguments*>(nullptr));
  }

 private:
  using Holds = std::function<bool(std::uint64_t got, const std::uint64_t (&words)[3])>;

  template <class Function, class... A>
  void equals(const std::string& function, Function expected, std::tuple<A...>*) {
    using Result = typename Signature<Function>::Result;
    const auto holds = [&](std::uint64_t got, const std::uint64_t(&words)[3]) {
      const auto arguments = of_words<A...>(words, std::index_sequence_for<A...>());
      // The whole word, above a small result too.
      return (got >> 4 * sizeof(Result) >> 4 * sizeof(Result)) == 0 &&
             same(of_word<Result>(got), std::apply(expected, arguments));
    };
    run(function, {argument<A>()...}, holds);
  }

  template <class Function, class Result, class... A>
  void accepted(const std::string& function, Function accepts, std::tuple<Result, A...>*) {
    const auto holds = [&](std::uint64_t got, const std::uint64_t(&words)[3]) {
      const auto arguments = of_words<A...>(words, std::index_sequence_for<A...>());
      return std::apply(accepts, std::tuple_cat(std::tuple(of_word<Result>(got)), arguments));
    };
    run(function, {argument<A>()...}, holds);
  }

  void run(const std::string& function, const std::vector<Argument>& arguments, const Holds& holds);

  Bench& bench_;
  std::string name_;
  std::vector<std::string> functions_;
  std::set<std::string> checked_;
};

}  // namespace intrinsics
}  // namespace runner
