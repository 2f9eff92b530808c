// The numbered barriers of a block, by their names in PTX: bar.sync and its kin. The unaligned
// forms (barrier.cta.sync ...) are the same here: lanes of a warp may come from different places,
// but all that have not exited must come.
#pragma once

#include <cstdint>

#include "culebra_emu/thread.h"

namespace culebra_emu {

inline std::uint32_t numbered_barrier(const std::source_location& where, const char* operation,
                                      std::uint32_t number, std::uint32_t threads, bool arrive_only,
                                      bool predicate) {
  const Site at = site(where, operation);
  return runtime->numbered_barrier(&this_thread(), &at, number, threads, arrive_only, predicate);
}

// For all threads of the block.
inline void bar_sync(std::uint32_t number,
                     const std::source_location& where = std::source_location::current()) {
  numbered_barrier(where, "bar.sync", number, 0, false, false);
}

// For `threads` threads, a multiple of 32: those that sync and those that arrive together.
inline void bar_sync(std::uint32_t number, std::uint32_t threads,
                     const std::source_location& where = std::source_location::current()) {
  numbered_barrier(where, "bar.sync", number, threads, false, false);
}

inline void bar_arrive(std::uint32_t number, std::uint32_t threads,
                       const std::source_location& where = std::source_location::current()) {
  numbered_barrier(where, "bar.arrive", number, threads, true, false);
}

// For how many of the threads the predicate holds, and whether for all or for any.
inline std::uint32_t bar_red_popc_u32(
    std::uint32_t number, std::uint32_t threads, bool predicate,
    const std::source_location& where = std::source_location::current()) {
  return numbered_barrier(where, "bar.red.popc", number, threads, false, predicate);
}

inline bool bar_red_and_pred(std::uint32_t number, std::uint32_t threads, bool predicate,
                             const std::source_location& where = std::source_location::current()) {
  return numbered_barrier(where, "bar.red.and", number, threads, false, !predicate) == 0;
}

inline bool bar_red_or_pred(std::uint32_t number, std::uint32_t threads, bool predicate,
                            const std::source_location& where = std::source_location::current()) {
  return numbered_barrier(where, "bar.red.or", number, threads, false, predicate) != 0;
}

}  // namespace culebra_emu
