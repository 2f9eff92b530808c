// The part of the CUDA driver that the runner needs, bound at run time: no CUDA header or library
// at build time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace runner {

using DevicePointer = std::uint64_t;

// How many blocks of how many threads; `cluster` blocks side by side share their memory.
struct LaunchShape {
  unsigned grid;
  unsigned block_x;
  unsigned block_y = 1;
  unsigned shared_bytes = 0;
  unsigned cluster = 1;
};

// Opened once; every failure is a std::runtime_error that names the function and the driver's code.
class Driver {
 public:
  explicit Driver(const std::string& path);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  std::string device_name() const { return device_name_; }
  // 90 for compute capability 9.0
  int compute_capability() const { return compute_capability_; }

  void* load_module(const std::vector<char>& image) const;
  void* function(void* module, const std::string& symbol) const;
  // Launches on the default stream and waits: a fault is reported by the launch that caused it.
  void launch(void* function, const LaunchShape& shape, void** arguments) const;

  DevicePointer allocate(std::size_t bytes) const;
  void free(DevicePointer address) const noexcept;
  void copy_to_device(DevicePointer to, const void* from, std::size_t bytes) const;
  void copy_to_host(void* to, DevicePointer from, std::size_t bytes) const;

 private:
  void check(int result, const char* function) const;

  struct Functions;
  void* library_;
  Functions* functions_;
  int device_ = 0;
  std::string device_name_;
  int compute_capability_ = 0;
};

}  // namespace runner
