// Time, registers, and the order of dependent grids.
#pragma once

#include "culebra/platform.cuh"
#include "culebra/ptx/arch.cuh"

namespace culebra::ptx {

// mov.u64 %globaltimer: nanoseconds of a clock common to the device. Its step is coarse
// (microseconds on some devices).
__device__ __forceinline__ uint64_t mov_u64_globaltimer() {
#ifdef CULEBRA_HOST
  return culebra_emu::mov_u64_globaltimer();
#else
  uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
  return nanoseconds;
#endif
}

// nanosleep.u32: lets the warp pause for about `nanoseconds`, at most 1 ms.
__device__ __forceinline__ void nanosleep_u32(uint32_t nanoseconds) {
#ifdef CULEBRA_HOST
  culebra_emu::nanosleep_u32(nanoseconds);
#else
  asm volatile("nanosleep.u32 %0;" : : "r"(nanoseconds) : "memory");
#endif
}

// setmaxnreg is compiled for the architectures with an 'a' only, and is a hint, so that a kernel is
// right without it.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_SPECIFIC__)
#define CULEBRA_SETMAXNREG(action) \
  asm volatile("setmaxnreg." action ".sync.aligned.u32 %0;" : : "n"(kRegisters))
#else
#define CULEBRA_SETMAXNREG(action) static_cast<void>(0)
#endif

// setmaxnreg.inc.sync.aligned.u32: from now on the thread has `kRegisters` registers, once they are
// free; all warps of a warpgroup call it together. It needs __launch_bounds__ with the second
// argument, else ptxas ignores it.
template <int kRegisters>
__device__ __forceinline__ void setmaxnreg_inc_u32() {
  static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0);
#ifndef CULEBRA_HOST
  CULEBRA_SETMAXNREG("inc");
#endif
}

// setmaxnreg.dec.sync.aligned.u32: gives registers back.
template <int kRegisters>
__device__ __forceinline__ void setmaxnreg_dec_u32() {
  static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0);
#ifndef CULEBRA_HOST
  CULEBRA_SETMAXNREG("dec");
#endif
}
#undef CULEBRA_SETMAXNREG

// griddepcontrol.wait (sm_90): waits for the grids that this one depends on, if it was launched
// early; before the first read of what they write. On the emulator and on older devices a grid
// starts when those have ended, so there is nothing to wait for.
__device__ __forceinline__ void griddepcontrol_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}

// griddepcontrol.launch_dependents (sm_90): grids that depend on this one may start. They still
// have to wait before they read.
__device__ __forceinline__ void griddepcontrol_launch_dependents() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
#endif
}

}  // namespace culebra::ptx
