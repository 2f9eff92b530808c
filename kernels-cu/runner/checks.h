// What all checks share: the bench they run on, arrays on the device, and the count of what held.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "driver.h"
#include "kernel_root.h"

namespace runner {

class Bench {
 public:
  Bench(const Driver& driver, KernelRoot& root) : driver(driver), root(root) {}

  const Driver& driver;
  KernelRoot& root;
  std::mt19937_64 random{20240229};

  double uniform(double low, double high) {
    return low + (high - low) * std::ldexp(static_cast<double>(random() >> 11), -53);
  }

  // Counts, and prints the first failures.
  __attribute__((format(printf, 3, 4))) void expect(bool holds, const char* format, ...) {
    if (holds) {
      ++passed_;
      return;
    }
    if (++failed_ > kPrintedFailures) return;
    std::va_list arguments;
    va_start(arguments, format);
    std::fputs("FAILED: ", stderr);
    std::vfprintf(stderr, format, arguments);
    std::fputc('\n', stderr);
    va_end(arguments);
  }

  // Of families that have kernels for several types: only those for this one, "f32"; all if empty.
  std::string only_type{};
  bool wants(const std::string& type) const { return only_type.empty() || type == only_type; }

  long passed() const { return passed_; }
  long failed() const { return failed_; }

  template <class... Arguments>
  void launch(const std::string& symbol, unsigned grid, unsigned block, unsigned shared_bytes,
              Arguments... arguments) {
    launch(symbol, LaunchShape{grid, block, 1, shared_bytes}, arguments...);
  }
  template <class... Arguments>
  void launch(const std::string& symbol, const LaunchShape& shape, Arguments... arguments) {
    void* addresses[] = {&arguments...};
    driver.launch(root.kernel(symbol).function, shape, addresses);
  }

 private:
  static constexpr long kPrintedFailures = 40;
  long passed_ = 0;
  long failed_ = 0;
};

// An array on the device. Its allocation is exact, so that a checker of memory sees an access
// beyond it.
template <class T>
class DeviceArray {
 public:
  DeviceArray(const Driver& driver, const std::vector<T>& contents)
      : driver_(driver),
        size_(contents.size()),
        address_(driver.allocate(std::max<std::size_t>(1, size_) * sizeof(T))) {
    driver_.copy_to_device(address_, contents.data(), size_ * sizeof(T));
  }
  ~DeviceArray() { driver_.free(address_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* at(std::size_t element) const { return reinterpret_cast<T*>(address_ + element * sizeof(T)); }

  std::vector<T> read() const {
    std::vector<T> contents(size_);
    driver_.copy_to_host(contents.data(), address_, size_ * sizeof(T));
    return contents;
  }

 private:
  const Driver& driver_;
  std::size_t size_;
  DevicePointer address_;
};

// `count` elements that no kernel writes by chance: a place that keeps them was not written.
template <class T>
std::vector<T> poison(std::size_t count) {
  std::vector<T> contents(count);
  if (count > 0) std::memset(static_cast<void*>(contents.data()), 0xA7, count * sizeof(T));
  return contents;
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// Calls check(E()) for each of the types that are wanted.
template <class... Elements, class Check>
void for_types(const Bench& bench, Check check) {
  (..., (bench.wants(Elements::kName) ? check(Elements()) : void()));
}

void check_softmax(Bench& bench);
void check_softmax_fused(Bench& bench);
void check_softmax_split(Bench& bench);
void check_softmax_additive(Bench& bench);
void check_softmax_backward(Bench& bench);
void check_reduce(Bench& bench);
void check_reduce_columns(Bench& bench);
void check_reduce_segments(Bench& bench);
void check_topk(Bench& bench);
void check_sampling(Bench& bench);
void check_selftest(Bench& bench);
void check_ptx(Bench& bench);
void check_intrinsics(Bench& bench);

}  // namespace runner
