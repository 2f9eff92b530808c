#include "model/slab.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include "model/mapping.h"
#include "model/pattern.h"

namespace culebra_emu {
namespace {

constexpr std::uint64_t kSlabBytes = 1 << 20;
// A larger one gets a slab of its own, whose pages go when it is freed.
constexpr std::uint64_t kLargestShared = kSlabBytes / 16;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// What an allocation takes, with the zone behind it.
std::uint64_t room_for(std::uint64_t bytes) {
  return round_up(bytes, kAllocationAlign) + Slab::kZoneBytes;
}

std::uint64_t slab_bytes_for(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes <= kLargestShared ? kSlabBytes : round_up(Slab::kZoneBytes + room_for(bytes), page);
}

}  // namespace

struct Slab::All {
  std::mutex mutex;
  // Where small allocations go; has room for more, or did when it was last looked at.
  std::shared_ptr<Slab> current;
  // All that more than one allocation may be in.
  std::set<Slab*> shared;
};

Slab::All& Slab::all() {
  // Never destroyed: a detached thread may still be using it at the process's end.
  static All& instance = *new All;
  return instance;
}

// Without guard pages neighbours become one mapping for the operating system.
Slab::Slab(std::uint64_t bytes)
    : start_(reserve_addresses(bytes, static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)))),
      length_(bytes),
      next_(start_ + kZoneBytes) {
  if (mprotect(reinterpret_cast<void*>(start_), length_, PROT_READ | PROT_WRITE) != 0) {
    munmap(reinterpret_cast<void*>(start_), length_);
    throw std::bad_alloc();
  }
  // What give_back() needs must not be what is missing then.
  freed_.reserve(kSlabBytes / room_for(1));
  fill_with_pattern(start_, next_);
}

Slab::~Slab() {
  forget_pattern(start_, start_ + length_);
  munmap(reinterpret_cast<void*>(start_), length_);
}

bool Slab::has_room(std::uint64_t bytes) const {
  return room_for(bytes) <= start_ + length_ - next_;
}

Slab::Place Slab::take(std::uint64_t bytes) {
  All& slabs = all();
  std::shared_ptr<Slab> former;
  const std::lock_guard lock(slabs.mutex);
  const bool is_shared = bytes <= kLargestShared;
  std::shared_ptr<Slab> slab = is_shared ? slabs.current : nullptr;
  if (slab == nullptr || !slab->has_room(bytes)) {
    slab = std::make_shared<Slab>(slab_bytes_for(bytes));
    if (is_shared) {
      slabs.shared.insert(slab.get());
      former = std::exchange(slabs.current, slab);
      if (former != nullptr && former->live_ == 0) slabs.shared.erase(former.get());
    }
  }
  const std::uint64_t address = slab->next_;
  slab->next_ += room_for(bytes);
  ++slab->live_;
  const std::uint64_t zone_end = slab->next_;
  fill_with_pattern(address + bytes, zone_end);
  return {std::move(slab), address, zone_end};
}

void Slab::give_back(std::uint64_t address, std::uint64_t bytes) {
  All& slabs = all();
  const std::lock_guard lock(slabs.mutex);
  if (--live_ == 0 && slabs.current.get() != this) {
    // The last allocation's reference goes next, and the pages with it.
    slabs.shared.erase(this);
    return;
  }
  fill_with_pattern(address, address + bytes);
  freed_.push_back({address, address + room_for(bytes)});
}

std::optional<std::uint64_t> Slab::find_damage() {
  All& slabs = all();
  const std::lock_guard lock(slabs.mutex);
  for (const Slab* slab : slabs.shared) {
    for (const Range& range : slab->freed_) {
      const std::uint64_t end = end_of_pattern(range.begin, range.end);
      if (end != range.end) return end;
    }
  }
  return std::nullopt;
}

}  // namespace culebra_emu
