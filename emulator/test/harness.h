// A small test harness: each case runs in a process of its own, since a failed device stays failed.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace culebra_test {

struct Case {
  const char* name;
  void (*body)();
  // What the child's environment has besides the parent's: "NAME=value".
  std::vector<std::string> environment = {};
  // What the child must write to its standard error; empty for nothing in particular.
  std::string expected_error_text = {};
  // The signal that must end the child; 0 for an ordinary end.
  int expected_signal = 0;
  int expected_exit = 0;
};

struct Registration {
  explicit Registration(Case test);
};

// One line of a failed check; the case goes on, so that one run shows all that is wrong.
void check(bool ok, const char* file, int line, const std::string& text);

// Ends the case, which cannot run here: it is counted, with the reason, as neither passed nor
// failed.
[[noreturn]] void skip(const char* reason);

template <class T>
std::string show(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<long long>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_pointer_v<T>) {
    return std::to_string(reinterpret_cast<std::uintptr_t>(value));
  } else {
    return std::string(value);
  }
}

template <class A, class B>
void check_equal(const A& actual, const B& expected, const char* text, const char* file, int line) {
  const bool ok = actual == static_cast<A>(expected);
  check(ok, file, line,
        ok ? "" : std::string(text) + " is " + show(actual) + ", expected " + show(expected));
}

}  // namespace culebra_test

#define TEST(name, ...)                                        \
  static void test_##name();                                   \
  static const culebra_test::Registration registration_##name( \
      {#name, &test_##name __VA_OPT__(, ) __VA_ARGS__});       \
  static void test_##name()

#define CHECK(condition) culebra_test::check(condition, __FILE__, __LINE__, #condition)
#define CHECK_EQ(actual, expected) \
  culebra_test::check_equal(actual, expected, #actual, __FILE__, __LINE__)
// A driver call and its code.
#define RETURNS(code, call) \
  culebra_test::check_equal(static_cast<int>(call), code, #call, __FILE__, __LINE__)
