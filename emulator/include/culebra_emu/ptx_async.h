// Copies that go on beside the kernel, mbarriers, and the fences between the two: checks of the
// operands; async_abi.h has the rest.
#pragma once

#include <cstdint>
#include <source_location>

#include "culebra_emu/async_abi.h"
#include "culebra_emu/ptx_access.h"

namespace culebra_emu {

using Where = std::source_location;

// --- cp.async

inline void cp_async(const Where& where, const char* operation, std::uint32_t to, const void* from,
                     std::uint32_t bytes, std::uint32_t source_bytes) {
  constexpr std::uint32_t kLaunchFailed = 719;
  void* const destination = own_shared_pointer(to);
  require_aligned(destination, bytes, "misaligned destination of cp.async");
  require_aligned(from, bytes, "misaligned source of cp.async");
  if (source_bytes > bytes) {
    runtime->fail(&this_thread(), kLaunchFailed, "cp.async: src-size is larger than cp-size");
  }
  const Site at = site(where, operation);
  runtime->async->copy(&this_thread(), &at, destination, from, bytes, source_bytes);
}

inline void cp_async_commit_group() { runtime->async->commit_group(&this_thread()); }
inline void cp_async_wait_group(std::uint32_t groups) {
  runtime->async->wait_group(&this_thread(), groups);
}
inline void cp_async_wait_all() { runtime->async->wait_group(&this_thread(), kWaitForAll); }

// --- mbarrier

inline void* mbarrier_object(std::uint32_t address, bool of_own_block) {
  void* const object = of_own_block ? own_shared_pointer(address) : shared_pointer(address);
  require_aligned(object, 8, "misaligned mbarrier object");
  return object;
}

inline std::uint64_t mbarrier(const Where& where, const char* name, MbarrierOperation operation,
                              std::uint32_t address, std::uint64_t argument,
                              bool of_own_block = true) {
  const Site at = site(where, name);
  return runtime->async->mbarrier(&this_thread(), &at, operation,
                                  mbarrier_object(address, of_own_block), argument);
}

inline void cp_async_mbarrier_arrive(const Where& where, std::uint32_t barrier, bool noinc) {
  const Site at = site(where, "cp.async.mbarrier.arrive");
  runtime->async->copy_arrive(&this_thread(), &at, mbarrier_object(barrier, true), noinc);
}

// --- bulk copies

// Addresses and sizes are multiples of 16 bytes.
inline void require_bulk(const void* to, const void* from, std::uint32_t bytes) {
  constexpr std::uint32_t kLaunchFailed = 719;
  require_aligned(to, 16, "misaligned destination of a bulk copy");
  require_aligned(from, 16, "misaligned source of a bulk copy");
  if (bytes % 16 != 0) {
    runtime->fail(&this_thread(), kLaunchFailed,
                  "the size of a bulk copy is not a multiple of 16 bytes");
  }
}

inline void bulk(const Where& where, const char* name, const BulkCopy& copy) {
  const Site at = site(where, name);
  runtime->async->bulk_copy(&this_thread(), &at, &copy);
}

inline void cp_async_bulk_shared_cluster_global(std::uint32_t to, const void* from,
                                                std::uint32_t bytes, std::uint32_t barrier,
                                                const Where& where) {
  void* const destination = shared_pointer(to);
  require_bulk(destination, from, bytes);
  require_global(from);
  bulk(where, "cp.async.bulk",
       {BulkKind::kGlobalToShared, BulkReduction::kNone, destination, from, bytes,
        mbarrier_object(barrier, false)});
}

// To the same place in each block of the mask, telling the mbarrier at the same place there.
inline void cp_async_bulk_multicast(std::uint32_t to, const void* from, std::uint32_t bytes,
                                    std::uint32_t barrier, std::uint16_t blocks,
                                    const Where& where) {
  constexpr std::uint32_t kLaunchFailed = 719;
  const std::uint32_t count = this_thread().block->cluster_blocks;
  if (blocks == 0 || blocks >> count != 0) {
    runtime->fail(&this_thread(), kLaunchFailed,
                  "multicast: the mask names no block, or one that the cluster has not");
  }
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    if ((blocks >> rank & 1) == 0) continue;
    const std::uint32_t window = rank << kSharedWindowBits;
    cp_async_bulk_shared_cluster_global((to & kSharedOffsetMask) | window, from, bytes,
                                        (barrier & kSharedOffsetMask) | window, where);
  }
}

inline void cp_async_bulk_shared_cluster_shared_cta(std::uint32_t to, std::uint32_t from,
                                                    std::uint32_t bytes, std::uint32_t barrier,
                                                    const Where& where) {
  void* const destination = shared_pointer(to);
  const void* const source = own_shared_pointer(from);
  require_bulk(destination, source, bytes);
  bulk(where, "cp.async.bulk",
       {BulkKind::kSharedToShared, BulkReduction::kNone, destination, source, bytes,
        mbarrier_object(barrier, false)});
}

inline void cp_async_bulk_global_shared_cta(void* to, std::uint32_t from, std::uint32_t bytes,
                                            BulkReduction reduction, const Where& where) {
  const void* const source = own_shared_pointer(from);
  require_bulk(to, source, bytes);
  require_global(to);
  bulk(where, "cp.async.bulk", {BulkKind::kSharedToGlobal, reduction, to, source, bytes, nullptr});
}

inline void cp_async_bulk_commit_group() { runtime->async->bulk_commit_group(&this_thread()); }
inline void cp_async_bulk_wait_group(std::uint32_t groups, bool read_only) {
  runtime->async->bulk_wait_group(&this_thread(), groups, read_only);
}

inline void cp_async_bulk_prefetch_L2(const void* from, std::uint32_t bytes) {
  require_bulk(nullptr, from, bytes);
}

template <class Value>
void st_async(std::uint32_t to, const Value& value, std::uint32_t barrier, const Where& where) {
  void* const destination = shared_pointer(to);
  require_aligned(destination, sizeof(Value), "misaligned destination of st.async");
  bulk(where, "st.async",
       {BulkKind::kValueToShared, BulkReduction::kNone, destination, &value, sizeof(Value),
        mbarrier_object(barrier, false)});
}

inline void fence_proxy_async() { runtime->async->proxy_fence(&this_thread()); }

}  // namespace culebra_emu
