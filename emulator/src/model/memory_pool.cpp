#include "model/memory_pool.h"

#include <algorithm>
#include <iterator>

#include "model/device.h"

namespace culebra_emu {

std::shared_ptr<Mapping> MemoryPool::take(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Mapping> mapping;
  const auto same_size = free_.find(bytes);
  if (same_size != free_.end()) {
    mapping = std::move(same_size->second);
    free_.erase(same_size);
    mapping->begin_use();
  } else {
    const auto fits = [&] { return max_bytes_ == 0 || bytes <= max_bytes_ - reserved_; };
    if (fits()) mapping = device_.map(bytes);
    if (mapping == nullptr) {
      // Blocks of other sizes may be in the way.
      unmap_free_blocks_above(0);
      if (fits()) mapping = device_.map(bytes);
    }
    if (mapping == nullptr) return nullptr;
    reserved_ += bytes;
    reserved_high_ = std::max(reserved_high_, reserved_);
  }
  used_ += bytes;
  used_high_ = std::max(used_high_, used_);
  return mapping;
}

void MemoryPool::count_free(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
}

void MemoryPool::give_back(std::shared_ptr<Mapping> mapping) {
  const std::lock_guard lock(mutex_);
  mapping->end_use();
  const std::uint64_t bytes = mapping->bytes();
  free_.emplace(bytes, std::move(mapping));
}

void MemoryPool::unmap_free_blocks_above(std::uint64_t keep) {
  while (reserved_ > keep && !free_.empty()) {
    const auto largest = std::prev(free_.end());
    reserved_ -= largest->first;
    free_.erase(largest);
  }
}

void MemoryPool::trim(std::uint64_t keep) {
  const std::lock_guard lock(mutex_);
  unmap_free_blocks_above(keep);
}

CUmemAccess_flags MemoryPool::access_of(const Device& device) const {
  if (&device == &device_) return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const std::lock_guard lock(mutex_);
  const auto found = access_.find(&device);
  return found == access_.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : found->second;
}

void MemoryPool::set_access_of(const Device& device, CUmemAccess_flags access) {
  const std::lock_guard lock(mutex_);
  access_[&device] = access;
}

void MemoryPool::trim_to_threshold() {
  std::uint64_t threshold;
  {
    const std::lock_guard lock(mutex_);
    threshold = threshold_;
  }
  trim(threshold);
}

std::uint64_t MemoryPool::get(CUmemPool_attribute attribute) const {
  const std::lock_guard lock(mutex_);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return threshold_;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      return reserved_;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return reserved_high_;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return used_;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return used_high_;
    default:
      return reuse_[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
  }
}

bool MemoryPool::set(CUmemPool_attribute attribute, std::uint64_t value) {
  const std::lock_guard lock(mutex_);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      threshold_ = value;
      return true;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      // A high-water mark can only be set back.
      if (value != 0) return false;
      (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH ? reserved_high_ : used_high_) =
          attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH ? reserved_ : used_;
      return true;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return false;
    default:
      reuse_[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = value;
      return true;
  }
}

}  // namespace culebra_emu
