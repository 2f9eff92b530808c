#include "model/virtual_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>

#include "checking/memory_index.h"
#include "model/address_space.h"
#include "model/device.h"

namespace culebra_emu {
namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> next = 1;
  return next.fetch_add(1);
}

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

int protection(CUmemAccess_flags access) {
  switch (access) {
    case CU_MEM_ACCESS_FLAGS_PROT_NONE:
      return PROT_NONE;
    case CU_MEM_ACCESS_FLAGS_PROT_READ:
      return PROT_READ;
    case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
      return PROT_READ | PROT_WRITE;
  }
  return PROT_NONE;
}

}  // namespace

PhysicalMemory::PhysicalMemory(Device& device, std::uint64_t bytes,
                               const CUmemAllocationProp& properties)
    : device_(device),
      bytes_(bytes),
      properties_(properties),
      id_(next_id()),
      file_(memfd_create("culebra-emulator-memory", MFD_CLOEXEC)) {
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0) {
    if (file_ >= 0) close(file_);
    throw std::bad_alloc();
  }
}

PhysicalMemory::~PhysicalMemory() {
  close(file_);
  device_.give_back_bytes(bytes_);
}

std::uint64_t VirtualMemory::reserve(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t address = reserve_addresses(bytes, std::max(alignment, kGranularity));
  const std::lock_guard lock(mutex_);
  reservations_[address] = bytes;
  return address;
}

bool VirtualMemory::free(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second != bytes) return false;
  const auto mapped = mappings_.lower_bound(address);
  if (mapped != mappings_.end() && mapped->first < address + bytes) return false;
  munmap(pointer(address), bytes);
  reservations_.erase(found);
  return true;
}

CUmemGenericAllocationHandle VirtualMemory::add(std::shared_ptr<PhysicalMemory> memory) {
  const std::lock_guard lock(mutex_);
  const CUmemGenericAllocationHandle handle = memory->id();
  handles_[handle] = {std::move(memory), 1};
  return handle;
}

bool VirtualMemory::release(CUmemGenericAllocationHandle handle) {
  std::shared_ptr<PhysicalMemory> released;
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return false;
  if (--found->second.users == 0) {
    released = std::move(found->second.memory);
    handles_.erase(found);
  }
  return true;
}

std::optional<CUmemGenericAllocationHandle> VirtualMemory::retain(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto mapped = mapping_at(address);
  if (mapped == mappings_.end()) return std::nullopt;
  // The handle may have been released, and is the same when it comes back.
  Handle& handle = handles_[mapped->second.memory->id()];
  handle.memory = mapped->second.memory;
  ++handle.users;
  return mapped->second.memory->id();
}

std::shared_ptr<PhysicalMemory> VirtualMemory::find(CUmemGenericAllocationHandle handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  return found == handles_.end() ? nullptr : found->second.memory;
}

bool VirtualMemory::map(std::uint64_t address, std::uint64_t bytes,
                        const std::shared_ptr<PhysicalMemory>& memory) {
  const std::lock_guard lock(mutex_);
  const auto after = reservations_.upper_bound(address);
  if (after == reservations_.begin()) return false;
  const auto& [start, reserved] = *std::prev(after);
  if (address - start >= reserved || bytes > reserved - (address - start)) return false;
  Allocation allocation;
  allocation.address = address;
  allocation.bytes = bytes;
  allocation.kind = MemoryKind::kVirtual;
  allocation.device = &memory->device();
  allocation.physical = memory;
  allocation.access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  if (!address_space().add(std::move(allocation))) return false;
  if (mmap(pointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->file(), 0) ==
      MAP_FAILED) {
    address_space().remove(address, [](const Allocation&) { return true; });
    throw std::bad_alloc();
  }
  mappings_[address] = {bytes, memory, {}};
  return true;
}

bool VirtualMemory::unmap(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto mappings = whole_mappings(address, bytes);
  if (mappings.empty()) return false;
  for (const auto& mapping : mappings) {
    memory_index().remove(mapping->first);
    address_space().remove(mapping->first, [](const Allocation&) { return true; });
    mmap(pointer(mapping->first), mapping->second.bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    mappings_.erase(mapping);
  }
  return true;
}

bool VirtualMemory::set_access(std::uint64_t address, std::uint64_t bytes,
                               std::span<const CUmemAccessDesc> accesses) {
  const std::lock_guard lock(mutex_);
  const auto mappings = whole_mappings(address, bytes);
  if (mappings.empty()) return false;
  for (const auto& mapping : mappings) {
    Mapped& mapped = mapping->second;
    for (const CUmemAccessDesc& access : accesses) {
      mapped.access[access.location.id] = access.flags;
    }
    // The devices share one address space here, so each may do what any of them may.
    CUmemAccess_flags most = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    for (const auto& [ordinal, access] : mapped.access) most = std::max(most, access);
    mprotect(pointer(mapping->first), mapped.bytes, protection(most));
    if (most == CU_MEM_ACCESS_FLAGS_PROT_NONE) {
      memory_index().remove(mapping->first);
    } else {
      memory_index().add({mapping->first, mapped.bytes, nullptr});
    }
    address_space().update(mapping->first,
                           [&](Allocation& allocation) { allocation.access = most; });
  }
  return true;
}

std::optional<CUmemAccess_flags> VirtualMemory::access(std::uint64_t address, int ordinal) const {
  const std::lock_guard lock(mutex_);
  const auto mapped = mapping_at(address);
  if (mapped == mappings_.end()) return std::nullopt;
  const auto found = mapped->second.access.find(ordinal);
  return found == mapped->second.access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : found->second;
}

std::size_t VirtualMemory::reservations() const {
  const std::lock_guard lock(mutex_);
  return reservations_.size();
}

std::size_t VirtualMemory::handles() const {
  const std::lock_guard lock(mutex_);
  return handles_.size();
}

std::vector<VirtualMemory::Mappings::iterator> VirtualMemory::whole_mappings(std::uint64_t address,
                                                                             std::uint64_t bytes) {
  std::vector<Mappings::iterator> result;
  auto next = mappings_.find(address);
  while (bytes != 0) {
    if (next == mappings_.end() || next->first != address || next->second.bytes > bytes) return {};
    result.push_back(next);
    address += next->second.bytes;
    bytes -= next->second.bytes;
    ++next;
  }
  return result;
}

VirtualMemory::Mappings::const_iterator VirtualMemory::mapping_at(std::uint64_t address) const {
  const auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin()) return mappings_.end();
  const auto candidate = std::prev(after);
  return address - candidate->first < candidate->second.bytes ? candidate : mappings_.end();
}

VirtualMemory& virtual_memory() {
  static VirtualMemory& instance = *new VirtualMemory;
  return instance;
}

}  // namespace culebra_emu
