// What images ask the emulator for copies that go on beside the kernel, and the barriers in shared
// memory that tell of their end. Part of the binary interface of image.h.
#pragma once

#include <cstdint>

#include "culebra_emu/image.h"

namespace culebra_emu {

// On an mbarrier object; `argument` is what the operation's name says, and a test answers 1 or 0.
enum class MbarrierOperation : std::uint32_t {
  kInit,            // of so many arrivals
  kInval,           //
  kArrive,          // so many times; answers the state before
  kArriveDrop,      // the same, and so many less in all later phases
  kArriveExpectTx,  // once, after so many bytes more are expected; answers the state before
  kExpectTx,        // bytes
  kCompleteTx,      // bytes
  kTestState,       // whether the phase of that state is over
  kTestParity,      // whether the phase of that parity is over
};

enum class BulkKind : std::uint32_t {
  kGlobalToShared,  // ends at the mbarrier
  kSharedToShared,  // ends at the mbarrier
  kValueToShared,   // st.async: `from` is read at once; ends at the mbarrier
  kSharedToGlobal,  // ends with the thread's bulk group
};

// What is done with the elements at the destination.
enum class BulkReduction : std::uint32_t { kNone, kAddF32, kAddF16, kAddBf16 };

struct BulkCopy {
  BulkKind kind;
  BulkReduction reduction;
  void* to;
  const void* from;
  std::uint32_t bytes;
  void* mbarrier;
};

inline constexpr std::uint32_t kWaitForAll = ~0u;

// `thread` is always the calling thread, as in Runtime.
struct AsyncFunctions {
  // cp.async: `bytes` at `to`, of which the first `source_bytes` come from `from` and the rest is
  // zero.
  void (*copy)(Thread* thread, const Site* site, void* to, const void* from, std::uint32_t bytes,
               std::uint32_t source_bytes);
  void (*commit_group)(Thread* thread);
  // Until at most so many of the thread's groups are on their way; kWaitForAll: until no copy is,
  // in a group or not.
  void (*wait_group)(Thread* thread, std::uint32_t groups);
  // cp.async.mbarrier.arrive: arrives when the thread's copies so far have landed.
  void (*copy_arrive)(Thread* thread, const Site* site, void* mbarrier, std::uint32_t no_increment);

  std::uint64_t (*mbarrier)(Thread* thread, const Site* site, MbarrierOperation operation,
                            void* object, std::uint64_t argument);

  void (*bulk_copy)(Thread* thread, const Site* site, const BulkCopy* copy);
  void (*bulk_commit_group)(Thread* thread);
  // As wait_group, for the thread's bulk groups; read_only: until their sources are read.
  void (*bulk_wait_group)(Thread* thread, std::uint32_t groups, std::uint32_t read_only);

  // fence.proxy.async: what was written to shared memory may now be read by bulk copies.
  void (*proxy_fence)(Thread* thread);
};

}  // namespace culebra_emu
