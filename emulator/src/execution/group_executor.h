// Runs a group of blocks at a time: the threads of all of them are fibers on the calling OS thread.
// A group is a cluster, or the whole grid of a cooperative launch; docs/decisions/0007.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "checking/kernel_checks.h"
#include "execution/async_unit.h"
#include "execution/emulated_block.h"
#include "execution/fault.h"
#include "execution/launch.h"
#include "execution/shuffle.h"

namespace culebra_emu {

// The emulator's functions for images; they reach the executor through the thread they are given.
extern const Runtime kRuntime;

class GroupExecutor {
 public:
  GroupExecutor();
  ~GroupExecutor();
  GroupExecutor(const GroupExecutor&) = delete;
  GroupExecutor& operator=(const GroupExecutor&) = delete;

  // Runs `count` clusters of the launch, from `first` on, to their end or to the first fault.
  // `races` is the launch's, null if its blocks are not compared.
  Outcome run(const Launch& launch, std::uint64_t first, std::uint64_t count, GlobalRaces* races);

  // The static shared memory of the last launch's kernel, as far as it was seen.
  std::uint32_t static_shared_bytes() const { return layout_.used_bytes(); }

  static GroupExecutor& of(const Thread* thread);

  KernelChecks& checks() { return checks_; }
  const FiberStacks& stacks() const { return stacks_; }
  std::string describe(const EmulatedThread& thread) const;
  std::string describe_running() const { return describe(running()); }

  // What the threads ask for (barriers.cpp, collectives.cpp); each may run others meanwhile.
  std::uint32_t block_barrier(EmulatedThread& thread, const Site& site, std::uint32_t predicate);
  // The same barrier, for one that does not wait there.
  void arrive_at_block_barrier(EmulatedThread& thread, const Site& site);
  void collective(EmulatedThread& thread, const Site& site, std::uint32_t mask, void* operand,
                  CompleteCollective complete);
  std::uint32_t numbered_barrier(EmulatedThread& thread, const Site& site, std::uint32_t number,
                                 std::uint32_t threads, bool arrive_only, std::uint32_t predicate);
  void cluster_arrive(EmulatedThread& thread, const Site& site, bool relaxed);
  void cluster_wait(EmulatedThread& thread, const Site& site);
  void grid_barrier(EmulatedThread& thread, const Site& site);
  std::uint32_t converged_lanes(EmulatedThread& thread, const Site& site);
  void yield(EmulatedThread& thread);
  // A thread that sleeps between two looks at an mbarrier does nothing but look.
  void sleep(EmulatedThread& thread);
  // For a thread that will only look at an mbarrier again: that is no activity.
  void yield_idly(EmulatedThread& thread);
  void* static_shared(EmulatedThread& thread, const void* key, std::uint64_t bytes,
                      std::uint64_t align);
  [[noreturn]] void fail(CUresult result, const std::string& message);

  // What images call runs in a fiber, which no exception may leave: where memory is missing, the
  // launch ends.
  template <class Body>
  static auto or_fail(const Thread* thread, const Body& body) -> decltype(body()) {
    try {
      return body();
    } catch (const std::bad_alloc&) {
    }
    // (Not in the handler, which would never be left.)
    of(thread).fail(CUDA_ERROR_OUT_OF_MEMORY, kNoMemory);
  }

  // What ends a launch that the machine's memory does not suffice for.
  static constexpr const char* kNoMemory = "out of memory for its threads and blocks";

  AsyncUnit& async() { return async_; }
  // Among the threads of the group.
  std::uint32_t number_of(const EmulatedThread& thread) const {
    return static_cast<std::uint32_t>(&thread - threads_.data());
  }
  // Grows whenever a thread becomes ready, starts or exits.
  std::uint64_t activity() const { return activity_; }

 private:
  // How many blocks' and threads' memory is kept for the next group.
  static constexpr std::size_t kKeptBlocks = kMaxBlocksPerCluster;
  static constexpr std::size_t kKeptFibers = 4 * kMaxThreadsPerBlock;
  // Guard pages cost mappings, of which a process may have some 65 thousand.
  static constexpr std::size_t kGuardedBlocks = 256;

  // Setting up and tearing down.
  void prepare(const Launch& launch, std::uint64_t clusters);
  void begin_block(EmulatedBlock& block, Index3 cluster_index, std::uint32_t rank);
  void prepare_order(std::uint64_t first);
  void drop_fibers();
  void trim();

  // Scheduling (scheduler part of group_executor.cpp). A thread runs until it waits; then whoever
  // is ready, else a thread that has not started yet.
  static void run_fiber(void* fiber);
  void start_threads(Fiber& fiber);
  void wait_here(EmulatedThread& thread);
  void make_ready(EmulatedThread& thread);
  bool someone_is_ready() const;
  void settle(EmulatedThread& thread);
  void let_go_on(EmulatedThread& thread);
  EmulatedThread* take_ready();
  void go_on(FiberContext& from, Fiber* idle);
  void look_at_clock();
  static bool may_be_left(void* executor, const void* code);
  // Throws std::bad_alloc.
  Fiber& idle_fiber();
  // The same for one who is in a fiber.
  Fiber& another_fiber();
  void resume(FiberContext& from, EmulatedThread& thread);
  void on_exit(EmulatedThread& thread);

  void check_barrier_0(EmulatedThread& thread, const Site& site);
  void release_barrier(EmulatedBlock& block);
  void order_at_barrier(EmulatedBlock& block);
  void arrive_as_warp(EmulatedBlock& block, std::uint32_t warp);
  void release_if_complete(EmulatedBlock& block, std::uint32_t number);
  void on_exit_at_barriers(EmulatedThread& thread);
  void check_others(const EmulatedThread& thread, const Warp& warp);
  bool try_complete(Warp& warp, std::uint32_t mask);
  void on_exit_of_lane(Warp& warp, std::uint32_t lane);
  void release_cluster(Cluster& cluster);
  void on_exit_in_cluster(EmulatedThread& thread);
  void on_exit_of_block(EmulatedBlock& block);
  void release_grid_if_complete();
  void release_converged();

  // Diagnoses (describe.cpp).
  EmulatedThread& running() const { return *static_cast<EmulatedThread*>(*current_); }
  std::string describe_block(const EmulatedBlock& block) const;
  std::string describe_waiting(const EmulatedBlock& block) const;
  std::string describe_all_waiting() const;
  static std::string describe_timeout();
  Outcome describe_fault(const Fault& fault) const;

  SharedLayout layout_;
  FiberStacks stacks_;
  std::deque<Fiber> fibers_;
  std::vector<Fiber*> idle_fibers_;
  std::size_t fibers_used_ = 0;

  // Sized for the largest group so far; the group in work takes the first ones.
  std::vector<std::unique_ptr<EmulatedBlock>> block_storage_;
  std::vector<EmulatedBlock*> blocks_;
  std::vector<EmulatedThread> threads_;
  std::vector<Warp> warps_;
  std::vector<Cluster> clusters_;

  const Launch* launch_ = nullptr;
  // Whose static arrays `layout_` holds. (A kernel's address alone may come back in another image.)
  const Kernel* layout_kernel_ = nullptr;
  std::uint64_t layout_image_ = 0;
  // What the storage is arranged for.
  Index3 arranged_block_ = {};
  std::size_t arranged_blocks_ = 0;
  std::uint32_t arranged_cluster_ = 0;

  Thread** current_ = nullptr;
  FiberContext scheduler_;
  Outcome outcome_;
  KernelChecks checks_{*this};

  std::uint32_t thread_count_ = 0;
  std::uint32_t next_thread_ = 0;
  std::uint32_t live_threads_ = 0;
  EmulatedThread* ready_first_ = nullptr;
  EmulatedThread* ready_last_ = nullptr;
  bool start_one_ = false;
  // Of the threads of a cooperative launch: those at its barrier, and how often it was passed.
  std::uint32_t grid_arrived_ = 0;
  std::uint32_t grid_phase_ = 0;
  std::uint32_t exited_blocks_ = 0;
  // What the arrivals of a phase hand over to its waits, for the checks.
  std::array<char, 2> grid_hand_overs_ = {};
  // The warps that have lanes which ask who runs with them.
  std::vector<Warp*> converging_;
  std::uint64_t activity_ = 0;
  AsyncUnit async_{*this};

  // With a drawn order: of the threads' starts, and whoever is ready.
  std::optional<Shuffle> shuffle_;
  std::vector<std::uint32_t> start_order_;
  std::vector<EmulatedThread*> ready_pool_;

  // When the group must be done, if there is a limit, and how often somebody looked at the clock.
  std::chrono::steady_clock::time_point deadline_;
  std::uint32_t until_look_ = 0;
  bool has_deadline_ = false;
};

// "(1,0,0)"
std::string to_string(Index3 index);
// "thread (1,0,0)"
std::string name_of(const EmulatedThread& thread);
// "__syncthreads in softmax.cu:120"
std::string describe_site(const Site& site);

}  // namespace culebra_emu
