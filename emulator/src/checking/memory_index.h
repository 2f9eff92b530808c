// The memory that kernels may use at this moment, whatever the driver's calls have already said
// about it: what a call freed in a stream's order is in use until the stream comes to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>

namespace culebra_emu {

struct UsableMemory {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  // One byte for each byte of the memory: not zero if something was written there. Null if that
  // is not tracked.
  unsigned char* written = nullptr;

  bool contains(std::uint64_t first, std::uint64_t count) const {
    return first >= address && count <= bytes && first - address <= bytes - count;
  }
};

class MemoryIndex {
 public:
  void add(const UsableMemory& memory);
  void remove(std::uint64_t address);

  // The one that the address lies in.
  std::optional<UsableMemory> find(std::uint64_t address) const;

  // Another number after each change.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, UsableMemory> memory_;
  std::atomic<std::uint64_t> version_ = 1;
};

MemoryIndex& memory_index();

}  // namespace culebra_emu
