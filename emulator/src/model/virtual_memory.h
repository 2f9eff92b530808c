// Memory without an address, addresses without memory, and the one mapped to the other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "abi.h"

namespace culebra_emu {

class Device;

// What cuMemCreate makes: it lives as long as a handle or a mapping of it.
class PhysicalMemory {
 public:
  // Throws std::bad_alloc; the bytes are already counted against the device's budget.
  PhysicalMemory(Device& device, std::uint64_t bytes, const CUmemAllocationProp& properties);
  ~PhysicalMemory();
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  Device& device() const { return device_; }
  std::uint64_t bytes() const { return bytes_; }
  // The handle, too.
  std::uint64_t id() const { return id_; }
  const CUmemAllocationProp& properties() const { return properties_; }
  int file() const { return file_; }

 private:
  Device& device_;
  const std::uint64_t bytes_;
  const CUmemAllocationProp properties_;
  const std::uint64_t id_;
  int file_;
};

class VirtualMemory {
 public:
  static constexpr std::uint64_t kGranularity = 2 * 1024 * 1024;

  // 0 if there are no such addresses left.
  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment);
  // False if the range is not exactly a reservation, or something is mapped there.
  bool free(std::uint64_t address, std::uint64_t bytes);

  CUmemGenericAllocationHandle add(std::shared_ptr<PhysicalMemory> memory);
  // False if there is no such handle. A handle counts its users.
  bool release(CUmemGenericAllocationHandle handle);
  // The handle of what is mapped at an address, with one user more.
  std::optional<CUmemGenericAllocationHandle> retain(std::uint64_t address);
  std::shared_ptr<PhysicalMemory> find(CUmemGenericAllocationHandle handle) const;

  // Nobody may touch the memory yet. False if the range is not reserved, or is mapped already.
  bool map(std::uint64_t address, std::uint64_t bytes,
           const std::shared_ptr<PhysicalMemory>& memory);
  // The next two take whole mappings, side by side: false if the range is anything else.
  bool unmap(std::uint64_t address, std::uint64_t bytes);
  bool set_access(std::uint64_t address, std::uint64_t bytes,
                  std::span<const CUmemAccessDesc> accesses);
  // Nothing if nothing is mapped there.
  std::optional<CUmemAccess_flags> access(std::uint64_t address, int ordinal) const;

  std::size_t reservations() const;
  std::size_t handles() const;

 private:
  struct Handle {
    std::shared_ptr<PhysicalMemory> memory;
    unsigned users;
  };
  struct Mapped {
    std::uint64_t bytes;
    std::shared_ptr<PhysicalMemory> memory;
    // By the device's ordinal.
    std::map<int, CUmemAccess_flags> access;
  };
  using Mappings = std::map<std::uint64_t, Mapped>;

  // The mappings that make up the range exactly; none if they do not.
  std::vector<Mappings::iterator> whole_mappings(std::uint64_t address, std::uint64_t bytes);
  Mappings::const_iterator mapping_at(std::uint64_t address) const;

  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> reservations_;  // start -> bytes
  std::map<CUmemGenericAllocationHandle, Handle> handles_;
  Mappings mappings_;
};

VirtualMemory& virtual_memory();

}  // namespace culebra_emu
