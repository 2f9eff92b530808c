// What users have said about the use of managed memory. It moves nothing here, since all memory is
// the host's; it is kept to be asked for.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "abi.h"

namespace culebra_emu {

inline bool operator==(const CUmemLocation& a, const CUmemLocation& b) {
  return a.type == b.type && a.id == b.id;
}

struct Advice {
  bool read_mostly = false;
  CUmemLocation preferred = {};        // invalid if there is none
  CUmemLocation last_prefetched = {};  // invalid if it never was
  std::set<int> accessed_by;           // ordinals, and kDeviceIsHost
};

// Of one allocation, by ranges of offsets.
class MemoryAdvice {
 public:
  explicit MemoryAdvice(std::uint64_t bytes) : bytes_(bytes) { advice_[0]; }

  // Calls change(advice) on each part of the range.
  template <class Change>
  void change(std::uint64_t offset, std::uint64_t bytes, Change change) {
    const std::lock_guard lock(mutex_);
    const auto begin = split(offset);
    const auto end = split(offset + bytes);
    for (auto part = begin; part != end; ++part) change(part->second);
  }

  // What is true of all parts of the range.
  Advice common(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  using Parts = std::map<std::uint64_t, Advice>;

  // The part that begins at the offset, made if there is none; the end behind the last.
  Parts::iterator split(std::uint64_t offset);

  const std::uint64_t bytes_;
  mutable std::mutex mutex_;
  Parts advice_;  // by the offset at which it begins
};

}  // namespace culebra_emu
