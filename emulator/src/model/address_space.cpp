#include "model/address_space.h"

#include <algorithm>
#include <cstdio>

#include "model/slab.h"
#include "words.h"

namespace culebra_emu {

namespace {

// "64 bytes at 0x200000001f00"
std::string at(std::uint64_t address, std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, " at 0x%llx", static_cast<unsigned long long>(address));
  return bytes_text(bytes) + text;
}

std::string name(std::uint64_t address, std::uint64_t bytes, const Origin& origin) {
  return at(address, bytes) + " (" + to_string(origin) + ")";
}

}  // namespace

bool AddressSpace::add(Allocation allocation) {
  std::uint64_t end = 0;
  if (__builtin_add_overflow(allocation.address, allocation.bytes, &end)) return false;
  const std::unique_lock lock(mutex_);
  const auto after = allocations_.lower_bound(allocation.address);
  if (after != allocations_.end() && after->first < end) return false;
  if (after != allocations_.begin()) {
    const Allocation& before = std::prev(after)->second;
    if (before.address + before.bytes > allocation.address) return false;
  }
  allocation.id = next_id_++;
  allocation.origin = current_origin();
  allocations_.emplace(allocation.address, std::move(allocation));
  return true;
}

std::vector<Allocation> AddressSpace::remove_all_of(const Context* context) {
  std::vector<Allocation> removed;
  const std::unique_lock lock(mutex_);
  std::erase_if(allocations_, [&](auto& entry) {
    if (entry.second.context != context) return false;
    remember(entry.second);
    removed.push_back(std::move(entry.second));
    return true;
  });
  return removed;
}

std::optional<Allocation> AddressSpace::find(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return std::nullopt;
  const Allocation& candidate = std::prev(after)->second;
  if (address - candidate.address >= candidate.bytes) return std::nullopt;
  return candidate;
}

bool AddressSpace::contains(std::uint64_t address, std::uint64_t bytes) const {
  for (;;) {
    const std::optional<Allocation> allocation = find(address);
    if (!allocation || allocation->access == CU_MEM_ACCESS_FLAGS_PROT_NONE) return false;
    const std::uint64_t here = allocation->bytes - (address - allocation->address);
    if (bytes <= here) return true;
    if (allocation->kind != MemoryKind::kVirtual) return false;
    address += here;
    bytes -= here;
    // What lies behind a mapping may be another mapping, but not the start of something else.
    const std::optional<Allocation> next = find(address);
    if (!next || next->kind != MemoryKind::kVirtual) return false;
  }
}

bool AddressSpace::is_device_address(std::uint64_t address) {
  return is_reservable_address(address);
}

std::optional<std::string> AddressSpace::find_damage() const {
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [address, allocation] : allocations_) {
      if (allocation.mapping != nullptr && !allocation.mapping->intact()) {
        return "outside of the allocation of " + at(address, allocation.bytes);
      }
    }
  }
  const std::optional<std::uint64_t> written = Slab::find_damage();
  if (!written) return std::nullopt;
  const std::string where = describe(*written, 1);
  return "to freed memory" + (where.empty() ? "" : ", " + where);
}

std::size_t AddressSpace::count(MemoryKind kind) const {
  const std::shared_lock lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(allocations_.begin(), allocations_.end(),
                    [&](const auto& entry) { return entry.second.kind == kind; }));
}

void AddressSpace::remember(const Allocation& allocation) {
  constexpr std::size_t kRemembered = 4096;
  if (freed_.size() == kRemembered) freed_.pop_front();
  freed_.push_back({allocation.address, allocation.bytes, allocation.origin, current_origin()});
}

std::string AddressSpace::describe(std::uint64_t address, std::uint64_t bytes) const {
  // Farther away, an address has nothing to do with an allocation.
  constexpr std::uint64_t kNear = 1 << 20;
  const std::shared_lock lock(mutex_);
  const auto after = allocations_.upper_bound(address);
  std::uint64_t behind = kNear;
  const Allocation* before = after == allocations_.begin() ? nullptr : &std::prev(after)->second;
  if (before != nullptr) {
    const std::uint64_t end = before->address + before->bytes;
    const std::string which = name(before->address, before->bytes, before->origin);
    if (address < end && bytes <= end - address) {
      return "at byte " + std::to_string(address - before->address) + " of the allocation of " +
             which;
    }
    if (address < end) {
      return "reaching " + bytes_text(address + bytes - end) + " beyond the allocation of " + which;
    }
    behind = address - end;
  }
  // The latest that was there.
  const auto freed = std::find_if(freed_.rbegin(), freed_.rend(), [&](const Freed& memory) {
    return address >= memory.address && address - memory.address < memory.bytes;
  });
  if (freed != freed_.rend()) {
    return "at byte " + std::to_string(address - freed->address) + " of the former allocation of " +
           name(freed->address, freed->bytes, freed->origin) + ", freed by " +
           to_string(freed->freed_by);
  }
  const std::uint64_t ahead = after == allocations_.end() ? kNear : after->second.address - address;
  if (ahead < kNear && ahead <= behind) {
    return bytes_text(ahead) + " before the allocation of " +
           name(after->second.address, after->second.bytes, after->second.origin);
  }
  if (behind >= kNear) return {};
  return (behind == 0 ? "right" : bytes_text(behind)) + " behind the allocation of " +
         name(before->address, before->bytes, before->origin);
}

std::vector<std::string> AddressSpace::describe_each(MemoryKind kind) const {
  std::vector<std::string> lines;
  const std::shared_lock lock(mutex_);
  for (const auto& [address, allocation] : allocations_) {
    if (allocation.kind == kind)
      lines.push_back(name(address, allocation.bytes, allocation.origin));
  }
  return lines;
}

AddressSpace& address_space() {
  static AddressSpace& instance = *new AddressSpace;
  return instance;
}

}  // namespace culebra_emu
