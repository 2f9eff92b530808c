// The binary interface between an emulator image (kernels compiled for the CPU) and the emulator.
//
// An image is a shared object that exports one function, culebra_emu_image. The emulator hands it a
// table of functions and gets back the image's kernels. Neither side needs a symbol of the other at
// link time. Everything here is plain data, so both may be built by different compilers.
#pragma once

#include <cstdint>

namespace culebra_emu {

// Raised with every change of a type in this file; the emulator refuses an image with another
// number.
inline constexpr std::uint32_t kAbiVersion = 10;

inline constexpr std::uint32_t kWarpSize = 32;

// The most blocks of a cluster: 8 anywhere, 16 where the function allows it.
inline constexpr std::uint32_t kMaxBlocksPerCluster = 16;

// A shared-memory address of 32 bits, as PTX has it, is the block's rank in its cluster above this
// bit and an offset into that block's window below it.
inline constexpr std::uint32_t kSharedWindowBits = 24;

struct Index3 {
  unsigned int x, y, z;
};

// What all threads of a block share. Filled in by the emulator.
struct Block {
  Index3 index;
  Index3 dim;
  Index3 grid_dim;
  void* dynamic_shared;
  std::uint32_t dynamic_shared_bytes;

  // The cluster: one block without one. A window is where all of a block's shared memory lies; the
  // same variable has the same offset in every window of a cluster.
  Index3 cluster_dim;
  Index3 index_in_cluster;
  std::uint32_t cluster_rank;
  std::uint32_t cluster_blocks;
  std::uint32_t is_explicit_cluster;
  std::uint32_t shared_window_bytes;
  char* const* shared_windows;  // by rank

  // The number of the multiprocessor that the block stands for.
  std::uint32_t multiprocessor;
};

// One CUDA thread, running on a fiber. Filled in by the emulator, which derives its own type from
// this.
struct Thread {
  Index3 index;
  std::uint32_t lane;
  std::uint32_t warp;
  const Block* block;
};

// The barriers of a block have these numbers; 0 is the one of __syncthreads.
inline constexpr std::uint32_t kBarriersPerBlock = 16;

// A place in a kernel's source, for diagnoses.
struct Site {
  const char* file;
  std::uint32_t line;
  const char* operation;
};

// Called once, by the last lane to arrive, when all lanes of a warp collective wait. operands[i] is
// what lane i passed, and null for a lane that does not take part.
using CompleteCollective = void (*)(void* const operands[kWarpSize]);

// Copies that go on beside the kernel; async_abi.h.
struct AsyncFunctions;

// The emulator's functions for an image. `thread` is always the calling thread.
struct Runtime {
  std::uint32_t abi_version;

  // Waits for all threads of the block that have not exited; returns for how many `predicate` was
  // not zero.
  std::uint32_t (*block_barrier)(Thread* thread, const Site* site, std::uint32_t predicate);

  // Waits for the lanes of `mask`, then runs `complete` once over their operands (which stay valid
  // meanwhile: a waiting lane does not leave its frame). Lanes that arrive with another mask or
  // operation are an error.
  void (*warp_collective)(Thread* thread, const Site* site, std::uint32_t mask, void* operand,
                          CompleteCollective complete);

  // The lanes of the thread's warp that have not exited.
  std::uint32_t (*active_lanes)(const Thread* thread);

  // The lanes of the thread's warp that run together with it: those that come to the same place
  // before each of the warp's others has exited, or waits or polls elsewhere.
  std::uint32_t (*converged_lanes)(Thread* thread, const Site* site);

  // The block's static shared array of one call site. `key` is an address that is unique to the
  // site.
  void* (*static_shared)(Thread* thread, const void* key, std::uint64_t bytes, std::uint64_t align);

  // Lets the other threads of the block run: needed where a kernel polls. `sleeps`: it says nothing
  // of what the thread looks at.
  void (*yield)(Thread* thread, std::uint32_t sleeps);

  // Ends the launch with a CUresult. Does not return.
  void (*fail)(Thread* thread, std::uint32_t result, const char* message);

  // The cluster's barrier in its two halves: a thread arrives, then waits for the arrival of all
  // threads of the cluster that have not exited. A relaxed arrival orders no accesses.
  void (*cluster_arrive)(Thread* thread, const Site* site, std::uint32_t relaxed);
  void (*cluster_wait)(Thread* thread, const Site* site);

  // One of the block's numbered barriers, for `threads` threads (0: for all of the block), which
  // come as whole warps. Returns for how many `predicate` was not zero; one that only arrives does
  // not wait for the others, and gets 0.
  std::uint32_t (*numbered_barrier)(Thread* thread, const Site* site, std::uint32_t number,
                                    std::uint32_t threads, std::uint32_t arrive_only,
                                    std::uint32_t predicate);

  // A checked image only: told before each access to memory. `kind` has bits of access.h, `code` is
  // where the access returns to.
  void (*access)(Thread* thread, const void* address, std::uint64_t bytes, std::uint32_t kind,
                 const void* code);

  // A checked image only: an index leaves its array, in the call that returns to `code`. `what`
  // names both.
  void (*out_of_bounds)(Thread* thread, const char* what, const void* code);

  // Waits for all threads of all blocks of a cooperative launch.
  void (*grid_barrier)(Thread* thread, const Site* site);

  const AsyncFunctions* async;

  // A checked image only: the thread has passed a fence for the device or the system.
  void (*fence)(Thread* thread);
};

struct Parameter {
  const char* name;
  const char* type;
  std::uint32_t offset;
  std::uint32_t size;
  std::uint32_t align;
};

struct Field {
  const char* struct_name;
  const char* name;
  const char* type;
  std::uint32_t offset;
  std::uint32_t size;
};

struct Kernel {
  const char* symbol;
  const char* family;
  std::uint32_t max_threads;
  std::uint32_t parameter_count;
  const Parameter* parameters;
  // Runs the kernel's body for the current thread; the arguments lie at the parameters' offsets.
  void (*invoke)(const void* parameter_block);
  // What the kernel was compiled for (CULEBRA_CLUSTER); all zero if the launch decides.
  Index3 required_cluster;
};

struct Image {
  std::uint32_t abi_version;
  std::uint32_t kernel_count;
  std::uint32_t field_count;
  const Kernel* const* kernels;
  const Field* const* fields;
  // The calling OS thread's variable that holds the current Thread; the emulator stores to it at
  // each switch.
  Thread** (*current_thread)();
  // Whether the kernels tell about their accesses.
  std::uint32_t checked;
};

using ImageEntry = const Image* (*)(const Runtime*);

inline constexpr const char* kImageEntryName = "culebra_emu_image";

}  // namespace culebra_emu
