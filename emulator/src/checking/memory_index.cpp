#include "checking/memory_index.h"

#include <iterator>
#include <mutex>

namespace culebra_emu {

void MemoryIndex::add(const UsableMemory& memory) {
  const std::unique_lock lock(mutex_);
  memory_[memory.address] = memory;
  version_.fetch_add(1, std::memory_order_release);
}

void MemoryIndex::remove(std::uint64_t address) {
  const std::unique_lock lock(mutex_);
  if (memory_.erase(address) != 0) version_.fetch_add(1, std::memory_order_release);
}

std::optional<UsableMemory> MemoryIndex::find(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto after = memory_.upper_bound(address);
  if (after == memory_.begin()) return std::nullopt;
  const UsableMemory& candidate = std::prev(after)->second;
  if (!candidate.contains(address, 1)) return std::nullopt;
  return candidate;
}

MemoryIndex& memory_index() {
  static MemoryIndex& instance = *new MemoryIndex;
  return instance;
}

}  // namespace culebra_emu
