// Stream-ordered memory: what is freed stays reserved until somebody synchronizes and finds it
// above the threshold.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "model/address_space.h"

namespace culebra_emu {

class Device;

class MemoryPool {
 public:
  explicit MemoryPool(Device& device) : device_(device) {}

  Device& device() const { return device_; }

  // Null if the device has not enough memory.
  std::shared_ptr<Mapping> take(std::uint64_t bytes);

  // Two steps, because the pool counts a block as free from the call on but may hand it out only
  // when the stream has come to it.
  void count_free(std::uint64_t bytes);
  void give_back(std::shared_ptr<Mapping> mapping);

  // Unmaps free blocks until no more than `keep` bytes are reserved.
  void trim(std::uint64_t keep);
  // What every synchronization does.
  void trim_to_threshold();

  std::uint64_t get(CUmemPool_attribute attribute) const;
  // False if the attribute cannot be set, or not to this value.
  bool set(CUmemPool_attribute attribute, std::uint64_t value);

 private:
  Device& device_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Mapping>> free_;
  std::uint64_t threshold_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t reserved_high_ = 0;
  std::uint64_t used_ = 0;
  std::uint64_t used_high_ = 0;
  std::uint64_t reuse_[3] = {1, 1, 1};
};

}  // namespace culebra_emu
