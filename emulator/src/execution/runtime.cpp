// The table of functions that images call.
#include "execution/async_unit.h"
#include "execution/group_executor.h"

namespace culebra_emu {

namespace {

struct RuntimeFunctions {
  static EmulatedThread& of(Thread* thread) { return *static_cast<EmulatedThread*>(thread); }
  static std::uint32_t block_barrier(Thread* thread, const Site* site, std::uint32_t predicate) {
    return GroupExecutor::or_fail(thread, [&] {
      return GroupExecutor::of(thread).block_barrier(of(thread), *site, predicate);
    });
  }
  static void warp_collective(Thread* thread, const Site* site, std::uint32_t mask, void* operand,
                              CompleteCollective complete) {
    GroupExecutor::or_fail(thread, [&] {
      GroupExecutor::of(thread).collective(of(thread), *site, mask, operand, complete);
    });
  }
  static std::uint32_t active_lanes(const Thread* thread) {
    const auto& self = *static_cast<const EmulatedThread*>(thread);
    return self.home->warp_of(self).live;
  }
  static std::uint32_t converged_lanes(Thread* thread, const Site* site) {
    return GroupExecutor::or_fail(
        thread, [&] { return GroupExecutor::of(thread).converged_lanes(of(thread), *site); });
  }
  static void* static_shared(Thread* thread, const void* key, std::uint64_t bytes,
                             std::uint64_t align) {
    return GroupExecutor::or_fail(thread, [&] {
      return GroupExecutor::of(thread).static_shared(of(thread), key, bytes, align);
    });
  }
  static void yield(Thread* thread, std::uint32_t sleeps) {
    GroupExecutor::or_fail(thread, [&] {
      GroupExecutor& executor = GroupExecutor::of(thread);
      if (sleeps != 0) {
        executor.sleep(of(thread));
      } else {
        executor.yield(of(thread));
      }
    });
  }
  static void fail(Thread* thread, std::uint32_t result, const char* message) {
    GroupExecutor::of(thread).fail(static_cast<CUresult>(result),
                                   name_of(of(thread)) + ": " + message);
  }
  static std::uint32_t numbered_barrier(Thread* thread, const Site* site, std::uint32_t number,
                                        std::uint32_t threads, std::uint32_t arrive_only,
                                        std::uint32_t predicate) {
    return GroupExecutor::or_fail(thread, [&] {
      return GroupExecutor::of(thread).numbered_barrier(of(thread), *site, number, threads,
                                                        arrive_only != 0, predicate);
    });
  }
  static void cluster_arrive(Thread* thread, const Site* site, std::uint32_t relaxed) {
    GroupExecutor::or_fail(
        thread, [&] { GroupExecutor::of(thread).cluster_arrive(of(thread), *site, relaxed != 0); });
  }
  static void cluster_wait(Thread* thread, const Site* site) {
    GroupExecutor::or_fail(thread,
                           [&] { GroupExecutor::of(thread).cluster_wait(of(thread), *site); });
  }
  static void grid_barrier(Thread* thread, const Site* site) {
    GroupExecutor::or_fail(thread,
                           [&] { GroupExecutor::of(thread).grid_barrier(of(thread), *site); });
  }
  static void access(Thread* thread, const void* address, std::uint64_t bytes, std::uint32_t kind,
                     const void* code) {
    GroupExecutor::or_fail(thread, [&] {
      GroupExecutor::of(thread).checks().on_access(of(thread), address, bytes, kind, code);
    });
  }
  static void fence(Thread* thread) {
    GroupExecutor::or_fail(thread,
                           [&] { GroupExecutor::of(thread).checks().on_fence(of(thread)); });
  }
  static void out_of_bounds(Thread* thread, const char* what, const void* code) {
    GroupExecutor::of(thread).checks().on_out_of_bounds(of(thread), what, code);
  }
};

}  // namespace

const Runtime kRuntime = {
    kAbiVersion,
    &RuntimeFunctions::block_barrier,
    &RuntimeFunctions::warp_collective,
    &RuntimeFunctions::active_lanes,
    &RuntimeFunctions::converged_lanes,
    &RuntimeFunctions::static_shared,
    &RuntimeFunctions::yield,
    &RuntimeFunctions::fail,
    &RuntimeFunctions::cluster_arrive,
    &RuntimeFunctions::cluster_wait,
    &RuntimeFunctions::numbered_barrier,
    &RuntimeFunctions::access,
    &RuntimeFunctions::out_of_bounds,
    &RuntimeFunctions::grid_barrier,
    &kAsyncFunctions,
    &RuntimeFunctions::fence,
};

}  // namespace culebra_emu
