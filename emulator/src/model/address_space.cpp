#include "model/address_space.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "checking/memory_index.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace culebra_emu {
namespace {

// Addresses that nothing else on a 47-bit machine uses, and that are not used twice: a stale
// pointer faults.
#if defined(__SANITIZE_THREAD__)
// The only large range that this sanitizer leaves free.
constexpr std::uint64_t kFirstAddress = 0x0010'0000'0000;
constexpr std::uint64_t kLastAddress = 0x0070'0000'0000;
#else
constexpr std::uint64_t kFirstAddress = 0x2000'0000'0000;
constexpr std::uint64_t kLastAddress = 0x5000'0000'0000;
#endif

// What cuMemAlloc promises.
constexpr std::uint64_t kAlign = 256;
constexpr std::uint64_t kPattern = 0xC5;
// How many bytes before the data are looked at; after it, all up to the guard page.
constexpr std::uint64_t kCheckedBefore = 64;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

char* pointer(std::uint64_t address) { return reinterpret_cast<char*>(address); }

[[maybe_unused]] bool has_pattern(std::uint64_t begin, std::uint64_t end) {
  return std::all_of(pointer(begin), pointer(end),
                     [](char byte) { return static_cast<unsigned char>(byte) == kPattern; });
}

}  // namespace

std::uint64_t reserve_addresses(std::uint64_t bytes, std::uint64_t alignment) {
  static std::atomic<std::uint64_t> next = kFirstAddress;
  if (bytes > kLastAddress - kFirstAddress || alignment > kLastAddress - kFirstAddress) {
    throw std::bad_alloc();
  }
  for (;;) {
    const std::uint64_t taken = next.fetch_add(bytes + alignment);
    const std::uint64_t start = round_up(taken, alignment);
    if (start + bytes > kLastAddress) {
      // All used once: begin again, and skip what is still in use.
      next.store(kFirstAddress);
      continue;
    }
    void* memory = mmap(pointer(start), bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != MAP_FAILED) return start;
    if (errno != EEXIST) throw std::bad_alloc();
  }
}

Mapping::Mapping(std::uint64_t bytes) : bytes_(bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t data = round_up(round_up(bytes, kAlign), page);
  length_ = data + 2 * page;
  if (length_ < bytes) throw std::bad_alloc();
  start_ = reserve_addresses(length_, page);
  if (mprotect(pointer(start_ + page), data, PROT_READ | PROT_WRITE) != 0) {
    munmap(pointer(start_), length_);
    throw std::bad_alloc();
  }
  address_ = start_ + page + data - round_up(bytes, kAlign);
  const std::uint64_t before = std::min(kCheckedBefore, address_ - (start_ + page));
  std::memset(pointer(address_ - before), static_cast<int>(kPattern), before);
  std::memset(pointer(address_ + bytes_), static_cast<int>(kPattern),
              round_up(bytes, kAlign) - bytes);
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(pointer(address_ - before), before);
  ASAN_POISON_MEMORY_REGION(pointer(address_ + bytes_), round_up(bytes, kAlign) - bytes);
#endif
  begin_use();
}

Mapping::~Mapping() {
  end_use();
  if (written_ != nullptr) munmap(written_, bytes_);
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(pointer(start_), length_);
#endif
  munmap(pointer(start_), length_);
}

void Mapping::track_writes() {
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  written_ = static_cast<unsigned char*>(memory);
  begin_use();
}

void Mapping::begin_use() {
  // Pages that are given up read as zeros, which stands for nothing written.
  if (written_ != nullptr) madvise(written_, bytes_, MADV_DONTNEED);
  memory_index().add({address_, bytes_, written_});
}

void Mapping::end_use() { memory_index().remove(address_); }

bool Mapping::intact() const {
#if defined(__SANITIZE_ADDRESS__)
  return true;  // The sanitizer has seen the write itself.
#else
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t before = std::min(kCheckedBefore, address_ - (start_ + page));
  return has_pattern(address_ - before, address_) &&
         has_pattern(address_ + bytes_, address_ + round_up(bytes_, kAlign));
#endif
}

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
  return address >= kFirstAddress && address < kLastAddress;
}

std::optional<std::string> AddressSpace::find_damage() const {
  const std::shared_lock lock(mutex_);
  for (const auto& [address, allocation] : allocations_) {
    if (allocation.mapping != nullptr && !allocation.mapping->intact()) {
      char text[96];
      std::snprintf(text, sizeof text, "the allocation of %llu bytes at 0x%llx",
                    static_cast<unsigned long long>(allocation.bytes),
                    static_cast<unsigned long long>(address));
      return text;
    }
  }
  return std::nullopt;
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

namespace {

std::string name(std::uint64_t address, std::uint64_t bytes, const Origin& origin) {
  char text[64];
  std::snprintf(text, sizeof text, "%llu bytes at 0x%llx (", static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(address));
  return text + to_string(origin) + ")";
}

}  // namespace

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
      return "reaching " + std::to_string(address + bytes - end) +
             " bytes beyond the allocation of " + which;
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
    return std::to_string(ahead) + " bytes before the allocation of " +
           name(after->second.address, after->second.bytes, after->second.origin);
  }
  if (behind >= kNear) return {};
  return (behind == 0 ? "right" : std::to_string(behind) + " bytes") +
         " behind the allocation of " + name(before->address, before->bytes, before->origin);
}

std::vector<std::string> AddressSpace::describe_each() const {
  std::vector<std::string> lines;
  const std::shared_lock lock(mutex_);
  for (const auto& [address, allocation] : allocations_) {
    lines.push_back(name(address, allocation.bytes, allocation.origin));
  }
  return lines;
}

AddressSpace& address_space() {
  static AddressSpace& instance = *new AddressSpace;
  return instance;
}

}  // namespace culebra_emu
