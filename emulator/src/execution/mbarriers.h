// The barriers in shared memory (mbarrier): what their 64 bits stand for.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "culebra_emu/async_abi.h"

namespace culebra_emu {

struct EmulatedBlock;

// Something that arrives at an mbarrier, or takes bytes off it, when it is done. It is done when a
// thread looks at the barrier a second time: a kernel that looks once, or not at all, sees poison.
struct Landing {
  bool looked_at = false;
  // Of cp.async: the thread, and how many copies it had issued.
  std::uint32_t thread = 0;
  std::uint64_t copies = 0;
  // Of a bulk copy, if its `to` is not null; with the blocks of source and destination, and the
  // number of proxy fences when it was issued.
  BulkCopy bulk = {};
  EmulatedBlock* source = nullptr;
  EmulatedBlock* destination = nullptr;
  std::uint64_t fences = 0;
  unsigned char value[16] = {};
};

struct Mbarrier {
  static constexpr std::int64_t kMaxCount = (1 << 20) - 1;

  void* object = nullptr;
  bool alive = false;
  std::int64_t expected = 0;
  std::int64_t pending = 0;
  std::int64_t bytes = 0;
  std::uint64_t phase = 0;
  std::deque<Landing> landings;

  // Opaque to a kernel, but for the count that mbarrier.pending_count takes out of it.
  std::uint64_t state() const { return phase << 32 | static_cast<std::uint64_t>(pending); }
  static std::uint64_t phase_of(std::uint64_t state) { return state >> 32; }
  std::string describe() const;
};

// Every operation answers with what was wrong, or null; then nothing has changed.
class Mbarriers {
 public:
  // The barrier at that place, or null and why not.
  Mbarrier* find(void* object, const char** wrong);

  const char* init(void* object, std::uint64_t count);
  const char* inval(void* object);
  static const char* arrive(Mbarrier& barrier, std::uint64_t count, bool drop);
  static const char* expect(Mbarrier& barrier, std::uint64_t bytes);
  static const char* complete(Mbarrier& barrier, std::uint64_t bytes);

  // A barrier whose landings are not over, or null.
  const Mbarrier* find_unfinished(const EmulatedBlock& block) const;

  void clear();

 private:
  static void end_phase_if_due(Mbarrier& barrier);
  std::uint64_t mark(std::size_t index) const;

  // What the 64 bits hold: the barrier's number here, and a mark that no kernel writes by chance.
  std::deque<Mbarrier> barriers_;
  std::unordered_map<void*, std::size_t> by_object_;
  std::uint64_t group_ = 0;
};

}  // namespace culebra_emu
