// What the executor keeps of the threads, warps, blocks and clusters that it runs.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "execution/fiber.h"
#include "execution/shared_memory.h"

namespace culebra_emu {

class GroupExecutor;
struct BlockChecks;
struct RaceParty;
struct EmulatedBlock;

// Runs one thread after the other, all on one stack, as long as they do not wait.
struct Fiber {
  GroupExecutor* executor = nullptr;
  FiberContext context;
};

// (The same file may have several names in an image.)
inline bool is_same_place(const Site& a, const Site& b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

// Where a thread waits, and for whom.
struct Waiting {
  enum class For {
    kNothing,
    kBlock,
    kLanes,
    kCluster,
    kGrid,
    kWarp,
    kNumbered,
    kConverged,
    kMemory
  };
  For what = For::kNothing;
  const Site* site = nullptr;  // in the waiting thread's frame
  std::uint32_t mask = 0;      // kLanes
  std::uint32_t number = 0;    // kWarp (for its other lanes, to go to a barrier) and kNumbered
  // kLanes
  CompleteCollective complete = nullptr;
  // kWarp, kNumbered and kConverged: where the result goes
  std::uint32_t* result = nullptr;
};

struct EmulatedThread : Thread {
  GroupExecutor* executor = nullptr;
  EmulatedBlock* home = nullptr;
  Fiber* fiber = nullptr;
  EmulatedThread* next_ready = nullptr;
  Waiting waiting;
  bool started = false;
  bool exited = false;
  // At an mbarrier, and has not slept since.
  bool looked_in_vain = false;
  // Has arrived at the block's barrier without waiting, and not all others have come.
  bool arrived_at_block = false;
  // Has arrived at the cluster's barrier, in that phase, and not yet waited.
  bool arrived_at_cluster = false;
  std::uint32_t cluster_phase = 0;
};

struct Warp {
  EmulatedThread* lanes = nullptr;
  std::uint32_t live = 0;

  // The lanes that wait in a collective, and what they passed. Nearly always all of them wait with
  // one mask in one collective: then these are it.
  std::uint32_t waiting = 0;
  bool uniform = true;
  std::uint32_t mask = 0;
  CompleteCollective complete = nullptr;
  void* operands[kWarpSize] = {};

  // Those that have come to a numbered barrier, while the others have not: what they ask for.
  std::uint32_t at_barrier = 0;
  std::uint32_t barrier_threads = 0;
  bool barrier_arrive_only = false;
  std::uint32_t barrier_predicates = 0;
};

// One of a block's numbered barriers, while some warps have arrived.
struct NumberedBarrier {
  std::uint32_t threads = 0;  // expected
  std::uint32_t arrived = 0;  // in threads, by whole warps
  std::uint32_t warps = 0;    // which
  std::uint32_t predicates = 0;
  bool whole_block = false;  // it was asked for without a count
  Site first = {};
};

// Blocks that share a barrier and each other's shared memory.
struct Cluster {
  EmulatedBlock* const* blocks = nullptr;
  std::uint32_t count = 0;
  std::uint32_t live_threads = 0;
  std::uint32_t arrived = 0;
  std::uint32_t phase = 0;
  std::vector<char*> windows;

  // What the arrivals of a phase hand over to its waits, for the checks. Two take turns: a thread
  // may arrive in the next phase before another has looked at the end of this one.
  const void* hand_over(std::uint32_t in_phase) const { return &hand_overs[in_phase % 2]; }
  std::array<char, 2> hand_overs = {};
  // What it did and knows; null if blocks are not compared (checking/global_races.h).
  std::shared_ptr<RaceParty> party;
};

struct EmulatedBlock {
  EmulatedBlock(const SharedLayout& layout, bool guarded);
  ~EmulatedBlock();

  Block block = {};
  SharedMemory shared;
  // Null if nothing is checked (checking/kernel_checks.h).
  std::unique_ptr<BlockChecks> checks;
  EmulatedThread* threads = nullptr;
  Warp* warps = nullptr;
  Cluster* cluster = nullptr;
  std::uint32_t thread_count = 0;
  std::uint32_t live_threads = 0;

  std::uint32_t barrier_arrived = 0;
  std::uint32_t barrier_predicates = 0;
  std::uint32_t barrier_result = 0;
  EmulatedThread* barrier_first = nullptr;  // of those that wait
  std::uint32_t barrier_arrived_only = 0;   // how many do not, also if they have exited since

  std::array<NumberedBarrier, kBarriersPerBlock> barriers = {};
  bool barriers_used = false;

  Warp& warp_of(const EmulatedThread& thread) { return warps[thread.warp]; }
};

}  // namespace culebra_emu
