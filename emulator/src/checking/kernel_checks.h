// CULEBRA_EMU_CHECK: looks at each access of the kernels of a checked image.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "checking/global_races.h"
#include "checking/memory_index.h"
#include "execution/emulated_block.h"

namespace culebra_emu {

class DataLayout;
class GroupExecutor;
struct Launch;

// The checks of what one executor runs. Each call costs one comparison if nothing is checked.
class KernelChecks {
 public:
  explicit KernelChecks(GroupExecutor& executor);

  // `races` compares the blocks of the launch; null if nobody asked for that.
  void begin_group(const Launch& launch, Thread** current_thread,
                   const std::vector<EmulatedThread>& threads, GlobalRaces* races) {
    races_ = races;
    if (enabled_) learn_ranges(launch, current_thread, threads);
  }
  // The block knows its place in the grid, and the first one of a cluster begins before the others.
  void begin_block(EmulatedBlock& block) {
    if (enabled_) prepare(block);
  }
  // All threads of the block that have not exited are there.
  void on_barrier(EmulatedBlock& block) {
    if (enabled_) order_all(block);
  }
  // The thread arrives at a barrier of some threads, or has been let go by it.
  void on_arrival(EmulatedThread& thread, const void* barrier) {
    if (enabled_) release(thread, barrier);
  }
  void on_departure(EmulatedThread& thread, const void* barrier) {
    if (enabled_) acquire(thread, barrier);
  }
  // A fence for the device.
  void on_fence(EmulatedThread& thread) {
    if (races_ != nullptr) races_->fence(*thread.home->cluster->party);
  }
  // All threads of these clusters, which are the grid, are there.
  void on_grid_barrier(std::span<const Cluster> clusters);
  void on_proxy_fence(EmulatedThread& thread) {
    if (enabled_) fence_proxy(thread);
  }
  // A copy of the asynchronous proxy is issued that reads the block's shared memory.
  void on_proxy_read(EmulatedThread& thread, const void* address, std::uint64_t bytes,
                     const void* code) {
    if (enabled_) check_fenced({thread, static_cast<const char*>(address), bytes, 0, code});
  }
  // Around what a collective does for its lanes.
  void begin_collective(EmulatedBlock& block, std::uint32_t warp, std::uint32_t lanes,
                        const char* operation) {
    if (enabled_) meet(block, warp, lanes, operation);
  }
  void end_collective() {
    if (enabled_) part();
  }

  void on_access(EmulatedThread& thread, const void* address, std::uint64_t bytes,
                 std::uint32_t kind, const void* code);
  // Wherever the array lies, also in the thread's own stack.
  void on_out_of_bounds(const EmulatedThread& thread, const char* what, const void* code);

 private:
  struct Access {
    EmulatedThread& thread;
    const char* address;
    std::uint64_t bytes;
    std::uint32_t kind;
    const void* code;

    bool reads() const;
    bool writes() const;
    std::string describe() const;
  };
  struct Range {
    const char* begin;
    const char* end;
  };
  struct Collective {
    EmulatedBlock* block = nullptr;
    std::uint32_t warp = 0;
    std::uint32_t lanes = 0;
    bool met = false;
  };

  void learn_ranges(const Launch& launch, Thread** current_thread,
                    const std::vector<EmulatedThread>& threads);
  void add_thread_locals(std::uintptr_t code);
  void prepare(EmulatedBlock& block);
  void order_all(EmulatedBlock& block);
  void release(EmulatedThread& thread, const void* object);
  void acquire(EmulatedThread& thread, const void* object);
  void meet(EmulatedBlock& block, std::uint32_t warp, std::uint32_t lanes, const char* operation);
  void meet_now();
  void part();

  bool is_own(const Access& access) const;
  void check_shared(const Access& access, EmulatedBlock& owner);
  void check_race(const Access& access, EmulatedBlock& owner);
  void check_race_between_blocks(const Access& access);
  void acquire_and_release(const Access& access);
  static void fence_proxy(EmulatedThread& thread);
  void check_fenced(const Access& access);
  void check_image(const Access& access);
  void check_global(const Access& access);
  const UsableMemory* usable(const Access& access);
  void check_written(const Access& access, unsigned char* written, unsigned char mark,
                     const EmulatedBlock* owner);

  // A wrong access ends the launch; a finding does unless it is only to be reported.
  [[noreturn]] void fail(const EmulatedThread& thread, const std::string& what, const void* code);
  void report(const Access& access, const std::string& key, const std::string& what);

  GroupExecutor& executor_;
  const bool enabled_;
  GlobalRaces* races_ = nullptr;
  // What a kernel touches besides its memory: its arguments, the emulator's variables.
  std::vector<Range> ranges_;
  // Of the running kernel's image: null if it could not be read.
  const DataLayout* image_ = nullptr;
  Collective collective_;

  // Where blocks hand over to one another: which of them has released the object, null if several.
  bool spans_blocks_ = false;
  std::unordered_map<const void*, const EmulatedBlock*> releasing_blocks_;

  std::array<UsableMemory, 8> recent_ = {};
  std::size_t next_recent_ = 0;
  std::uint64_t recent_version_ = 0;
};

}  // namespace culebra_emu
