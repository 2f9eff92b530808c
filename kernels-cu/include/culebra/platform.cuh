// The first include of every kernel file: CUDA C++ under nvcc, the emulator's shim under a host
// compiler.
//
// nvcc:  CUDA's own headers, and below the device form of our macros.
// host:  -DCULEBRA_HOST; the shim supplies the language extensions, the intrinsics and the host
//        form of the same macros.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#ifdef CULEBRA_HOST

#include "culebra_emu/cuda.h"

// The last parameter of a wrapper that can wait or fail: the caller's place, for the emulator's
// messages. CULEBRA_AND_WHERE has a comma before it.
#define CULEBRA_WHERE     std::source_location where = std::source_location::current()
#define CULEBRA_AND_WHERE , CULEBRA_WHERE

#else

#define CULEBRA_WHERE
#define CULEBRA_AND_WHERE

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// A block's static shared array. Kernels declare shared memory only through these two macros,
// because a plain `extern __shared__` has no per-block meaning when blocks run as fibers of one
// process.
#define CULEBRA_SHARED(type, name, count) __shared__ type name[count]

// The block's dynamic shared memory seen as an array of `type`. The symbol is common to all kernels
// of a file, hence untyped, and aligned for the strictest use (a swizzled bulk copy needs 1024
// bytes).
#define CULEBRA_SHARED_DYNAMIC(type, name)                                  \
  extern __shared__ __align__(1024) unsigned char culebra_dynamic_shared[]; \
  type* const name = reinterpret_cast<type*>(culebra_dynamic_shared)

// Only the host build describes kernels and parameter structs; see
// docs/decisions/0002-kernel-root.md.
#define CULEBRA_KERNEL(symbol, max_threads, ...)
#define CULEBRA_STRUCT(type, ...)

// After CULEBRA_KERNEL: the kernel can only run in clusters of x * y * z blocks (sm_90 and up). The
// same as __cluster_dims__ at its definition.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define CULEBRA_CLUSTER(symbol, x, y, z)
#else
#define CULEBRA_CLUSTER(symbol, x, y, z) \
  extern "C" __global__ __cluster_dims__(x, y, z) decltype(symbol) symbol;
#endif

#endif
