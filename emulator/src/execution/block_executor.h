// Runs one block at a time: its threads are fibers on the calling OS thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "abi.h"
#include "culebra_emu/image.h"
#include "execution/fault.h"
#include "execution/fiber.h"

namespace culebra_emu {

inline constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
inline constexpr std::uint32_t kMaxStaticSharedBytes = 48 * 1024;
inline constexpr std::uint32_t kMaxDynamicSharedBytes = 227 * 1024;

// What is the same for all blocks of a launch.
struct Launch {
  const Kernel* kernel;
  Thread** (*current_thread)();
  Index3 grid;
  Index3 block;
  std::uint32_t dynamic_shared_bytes;
  std::vector<std::byte> parameters;
};

// How a launch ended: `message` says what, where, which thread.
struct Outcome {
  CUresult result = CUDA_SUCCESS;
  std::string message;
};

// The emulator's functions for images; they reach the executor through the thread they are given.
extern const Runtime kRuntime;

class BlockExecutor {
 public:
  BlockExecutor();
  ~BlockExecutor();
  BlockExecutor(const BlockExecutor&) = delete;
  BlockExecutor& operator=(const BlockExecutor&) = delete;

  // Runs a block to its end or to its first fault.
  Outcome run(const Launch& launch, Index3 block_index);

  // The most static shared memory that a block of the last launch took.
  std::uint32_t static_shared_bytes() const { return static_shared_used_; }

 private:
  struct Fiber;
  struct Waiting;
  struct Warp;
  struct EmulatedThread;
  class SharedMemory;
  friend struct RuntimeFunctions;

  static BlockExecutor& of(const Thread* thread);
  static void run_fiber(void* fiber);

  // Scheduling. A thread runs until it waits; then whoever is ready, else a thread that has not
  // started yet.
  void start_threads(Fiber& fiber);
  void wait_here(EmulatedThread& thread);
  void make_ready(EmulatedThread& thread);
  EmulatedThread* take_ready();
  void go_on(FiberContext& from, Fiber* idle);
  Fiber& idle_fiber();
  void resume(FiberContext& from, EmulatedThread& thread);
  void on_exit(EmulatedThread& thread);

  std::uint32_t barrier(EmulatedThread& thread, const Site& site, std::uint32_t predicate);
  void release_barrier();
  void collective(EmulatedThread& thread, const Site& site, std::uint32_t mask, void* operand,
                  CompleteCollective complete);
  bool try_complete(Warp& warp, std::uint32_t mask);
  void yield(EmulatedThread& thread);
  void* static_shared(const void* key, std::uint64_t bytes, std::uint64_t align);
  [[noreturn]] void fail(CUresult result, const std::string& message);

  std::uint32_t thread_count() const;
  std::string describe_block() const;
  std::string describe_waiting() const;
  Outcome describe_fault(const Fault& fault) const;
  static std::string name(const EmulatedThread& thread);

  FiberStacks stacks_;
  std::vector<Fiber> fibers_;
  std::vector<Fiber*> idle_fibers_;
  std::size_t fibers_used_ = 0;
  std::vector<EmulatedThread> threads_;
  std::vector<Warp> warps_;
  std::unique_ptr<SharedMemory> shared_;
  std::uint32_t static_shared_used_ = 0;

  const Launch* launch_ = nullptr;
  Block block_ = {};
  Thread** current_ = nullptr;
  FiberContext scheduler_;
  Outcome outcome_;

  std::uint32_t next_thread_ = 0;
  std::uint32_t live_threads_ = 0;
  EmulatedThread* ready_first_ = nullptr;
  EmulatedThread* ready_last_ = nullptr;
  bool start_one_ = false;

  std::uint32_t barrier_arrived_ = 0;
  std::uint32_t barrier_predicates_ = 0;
  std::uint32_t barrier_result_ = 0;
  EmulatedThread* barrier_first_ = nullptr;
};

}  // namespace culebra_emu
