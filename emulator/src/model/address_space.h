// All memory that the driver knows: device memory, managed, pinned and registered memory.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "abi.h"
#include "model/mapping.h"
#include "model/origin.h"

namespace culebra_emu {

class Device;
class MemoryAdvice;
class PhysicalMemory;

enum class MemoryKind {
  kDevice,      // cuMemAlloc
  kPool,        // cuMemAllocAsync
  kManaged,     // cuMemAllocManaged
  kVirtual,     // cuMemMap
  kGraph,       // an allocation node of a graph
  kModule,      // a variable of a module
  kPinned,      // cuMemHostAlloc
  kRegistered,  // cuMemHostRegister
};

struct Allocation {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  MemoryKind kind = MemoryKind::kDevice;
  // Null for memory that belongs to no context: mapped physical memory.
  Context* context = nullptr;
  // Where the memory is, or which device it was allocated from.
  Device* device = nullptr;
  std::uint64_t id = 0;
  Origin origin;
  std::shared_ptr<Mapping> mapping = nullptr;          // null if the memory is somebody else's
  std::shared_ptr<MemoryPool> pool = nullptr;          // kPool
  std::shared_ptr<MemoryAdvice> advice = nullptr;      // kManaged
  std::shared_ptr<PhysicalMemory> physical = nullptr;  // kVirtual
  // What pinned or managed memory was asked for with.
  unsigned flags = 0;
  bool synchronizes = false;
  // Whether it may be touched from its own device; only mapped physical memory can say no.
  CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

  // Memory that a host pointer does not name.
  bool on_device() const {
    return kind < MemoryKind::kManaged || kind == MemoryKind::kVirtual ||
           kind == MemoryKind::kGraph || kind == MemoryKind::kModule;
  }
  // What cuMemFree takes back.
  bool is_freed_by_address() const { return kind <= MemoryKind::kManaged; }
};

class AddressSpace {
 public:
  // False if it overlaps with one that is there, or its end wraps.
  bool add(Allocation allocation);

  // The one that begins at the address, removed if `accept` says so.
  template <class Predicate>
  std::optional<Allocation> remove(std::uint64_t address, Predicate accept) {
    const std::unique_lock lock(mutex_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end() || !accept(found->second)) return std::nullopt;
    Allocation allocation = std::move(found->second);
    allocations_.erase(found);
    remember(allocation);
    return allocation;
  }

  std::vector<Allocation> remove_all_of(const Context* context);

  // The one that the address lies in.
  std::optional<Allocation> find(std::uint64_t address) const;

  // Calls change(allocation) on the one that begins at the address; false if there is none.
  template <class Change>
  bool update(std::uint64_t address, Change change) {
    const std::unique_lock lock(mutex_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end()) return false;
    change(found->second);
    return true;
  }

  // Whether the whole range lies in one allocation, or in mappings side by side, and may be
  // touched.
  bool contains(std::uint64_t address, std::uint64_t bytes) const;

  // Whether the address belongs to the emulated device, allocated or not.
  static bool is_device_address(std::uint64_t address);

  // What something wrote that must not be, if it did: "outside of the allocation of 100 bytes at
  // 0x...", or to freed memory.
  std::optional<std::string> find_damage() const;

  std::size_t count(MemoryKind kind) const;

  // Where a range lies, for a message: "12 bytes behind the allocation of 4096 bytes at 0x...
  // (cuMemAlloc_v2 #3)", or in what freed memory; empty if nothing is near.
  std::string describe(std::uint64_t address, std::uint64_t bytes) const;
  // A line for each allocation of a kind: "64 bytes at 0x... (cuMemAlloc_v2 #1)".
  std::vector<std::string> describe_each(MemoryKind kind) const;

 private:
  // One that is gone, and the call that freed it.
  struct Freed {
    std::uint64_t address;
    std::uint64_t bytes;
    Origin origin;
    Origin freed_by;
  };
  void remember(const Allocation& allocation);

  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, Allocation> allocations_;
  std::deque<Freed> freed_;
  std::uint64_t next_id_ = 1;
};

AddressSpace& address_space();

}  // namespace culebra_emu
