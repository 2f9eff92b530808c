// Who a thread is, and how it waits for its block.
#pragma once

#include <chrono>
#include <cstdint>
#include <source_location>
#include <string>

#include "culebra_emu/image.h"
#include "culebra_emu/vector_types.h"

namespace culebra_emu {

inline constinit const Runtime* runtime = nullptr;

inline constinit thread_local Thread* current_thread = nullptr;

// "const" lets the compiler ask once a function instead of once a use. That is sound: a fiber stays
// on its OS thread, and nothing that runs on one fiber sees another's answer.
__attribute__((noinline, const)) inline Thread& this_thread() { return *current_thread; }

inline Site site(const std::source_location& where, const char* operation) {
  return {where.file_name(), where.line(), operation};
}

inline std::uint32_t block_barrier(const std::source_location& where, const char* operation,
                                   std::uint32_t predicate) {
  const Site at = site(where, operation);
  return runtime->block_barrier(&this_thread(), &at, predicate);
}

// For whom an access is atomic or a fence orders, by the names of the PTX ISA. All have the
// strength of `sys` here; a checked image tells them apart.
enum class Scope { cta, cluster, gpu, sys };
constexpr bool reaches_other_blocks(Scope scope) {
  return scope == Scope::gpu || scope == Scope::sys;
}

template <Scope kScope>
__attribute__((always_inline)) inline void fence() {
#ifdef CULEBRA_EMU_CHECKED
  // (The checks' own function stands for either, and only the first one is told of.)
  if constexpr (!reaches_other_blocks(kScope)) return __atomic_signal_fence(__ATOMIC_SEQ_CST);
#endif
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

}  // namespace culebra_emu

#define threadIdx (::culebra_emu::this_thread().index)
#define blockIdx  (::culebra_emu::this_thread().block->index)
#define blockDim  (::culebra_emu::this_thread().block->dim)
#define gridDim   (::culebra_emu::this_thread().block->grid_dim)

inline constexpr int warpSize = static_cast<int>(culebra_emu::kWarpSize);

inline void __syncthreads(std::source_location where = std::source_location::current()) {
  culebra_emu::block_barrier(where, "__syncthreads", 0);
}

inline int __syncthreads_count(int predicate,
                               std::source_location where = std::source_location::current()) {
  return static_cast<int>(culebra_emu::block_barrier(where, "__syncthreads_count", predicate != 0));
}

inline int __syncthreads_or(int predicate,
                            std::source_location where = std::source_location::current()) {
  return culebra_emu::block_barrier(where, "__syncthreads_or", predicate != 0) != 0;
}

inline int __syncthreads_and(int predicate,
                             std::source_location where = std::source_location::current()) {
  return culebra_emu::block_barrier(where, "__syncthreads_and", predicate == 0) == 0;
}

inline void __threadfence_block() { culebra_emu::fence<culebra_emu::Scope::cta>(); }
inline void __threadfence_cluster() { culebra_emu::fence<culebra_emu::Scope::cluster>(); }
inline void __threadfence() { culebra_emu::fence<culebra_emu::Scope::gpu>(); }
inline void __threadfence_system() { culebra_emu::fence<culebra_emu::Scope::sys>(); }

// A mark for a profiler, of which there is none.
inline void __prof_trigger(int) {}

// One tick is a nanosecond here, whatever the device's clock rate attribute says.
inline long long int clock64() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A thread that polls must let the others run: they share its OS thread.
inline void __nanosleep(unsigned int) {
  culebra_emu::runtime->yield(&culebra_emu::this_thread(), 1);
}

namespace culebra_emu {

[[noreturn]] inline void trap(const char* function) {
  constexpr std::uint32_t kLaunchFailed = 719;
  runtime->fail(&this_thread(), kLaunchFailed, (std::string(function) + " was called").c_str());
  __builtin_unreachable();
}

}  // namespace culebra_emu

[[noreturn]] inline void __trap() { culebra_emu::trap("__trap()"); }
