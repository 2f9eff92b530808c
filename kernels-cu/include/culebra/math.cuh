// The few functions that templates need for both accumulator types, under one name each.
//
// The _rn forms are never fused or reordered by the compiler: error-free transformations depend on
// it.
#pragma once

#include "culebra/platform.cuh"

namespace culebra {

// The accurate library functions, not the fast approximations: a softmax is bound by memory, not by
// these.
__device__ __forceinline__ float exp_of(float x) { return expf(x); }
__device__ __forceinline__ double exp_of(double x) { return exp(x); }
__device__ __forceinline__ float log_of(float x) { return logf(x); }
__device__ __forceinline__ double log_of(double x) { return log(x); }

// The larger of two, dropping a NaN (the IEEE maxNum of CUDA's fmax).
__device__ __forceinline__ float max_of(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double max_of(double a, double b) { return fmax(a, b); }

__device__ __forceinline__ float add_rn(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double add_rn(double a, double b) { return __dadd_rn(a, b); }

// a * b + c, rounded once.
__device__ __forceinline__ float fma_rn(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ __forceinline__ double fma_rn(double a, double b, double c) { return __fma_rn(a, b, c); }

}  // namespace culebra
