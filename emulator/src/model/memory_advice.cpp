#include "model/memory_advice.h"

#include <iterator>

namespace culebra_emu {

MemoryAdvice::Parts::iterator MemoryAdvice::split(std::uint64_t offset) {
  if (offset >= bytes_) return advice_.end();
  const auto after = advice_.upper_bound(offset);
  const auto part = std::prev(after);
  return part->first == offset ? part : advice_.emplace_hint(after, offset, part->second);
}

Advice MemoryAdvice::common(std::uint64_t offset, std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  auto part = std::prev(advice_.upper_bound(offset));
  Advice result = part->second;
  for (++part; part != advice_.end() && part->first < offset + bytes; ++part) {
    const Advice& other = part->second;
    result.read_mostly = result.read_mostly && other.read_mostly;
    if (!(result.preferred == other.preferred)) result.preferred = {};
    if (!(result.last_prefetched == other.last_prefetched)) result.last_prefetched = {};
    std::erase_if(result.accessed_by,
                  [&](int place) { return !other.accessed_by.contains(place); });
  }
  return result;
}

}  // namespace culebra_emu
