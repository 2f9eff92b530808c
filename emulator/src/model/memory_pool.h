// Stream-ordered memory: what is freed stays reserved until somebody synchronizes and finds it
// above the threshold.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "model/address_space.h"
#include "model/origin.h"

namespace culebra_emu {

class Device;

class MemoryPool {
 public:
  // At most `max_bytes` are reserved; 0 means as many as the device has.
  explicit MemoryPool(Device& device, std::uint64_t max_bytes = 0)
      : device_(device), max_bytes_(max_bytes) {}

  Device& device() const { return device_; }
  // The call that made it.
  const Origin& origin() const { return origin_; }

  // What a device may do with the pool's memory; its own device may always do everything.
  CUmemAccess_flags access_of(const Device& device) const;
  void set_access_of(const Device& device, CUmemAccess_flags access);

  // Null if the device, or the pool, has not enough memory.
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
  void unmap_free_blocks_above(std::uint64_t keep);

  Device& device_;
  const std::uint64_t max_bytes_;
  const Origin origin_ = current_origin();
  mutable std::mutex mutex_;
  // By size.
  std::multimap<std::uint64_t, std::shared_ptr<Mapping>> free_;
  std::map<const Device*, CUmemAccess_flags> access_;
  std::uint64_t threshold_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t reserved_high_ = 0;
  std::uint64_t used_ = 0;
  std::uint64_t used_high_ = 0;
  std::uint64_t reuse_[3] = {1, 1, 1};
};

}  // namespace culebra_emu
