// CUDA's device functions, called by what they are named in a table, so that a run on a GPU and one
// on the emulator can be compared (runner/intrinsics_*_checks.cpp).
//
// Not shipped: in the test roots only. A table NAME.inc has a row for each function; its kernel is
// culebra_intrinsics_NAME, and the row's number says which function it calls.
#include "culebra/platform.cuh"

#include "groups.cuh"
#include "memory.cuh"

namespace {

// Everything travels in the lower bits of 64-bit words.
template <class T>
__device__ T as(uint64_t word) {
  T value;
  memcpy(&value, &word, sizeof(T));
  return value;
}
__device__ int i(uint64_t word) { return as<int>(word); }
__device__ unsigned int u(uint64_t word) { return as<unsigned int>(word); }
__device__ long long int l(uint64_t word) { return as<long long int>(word); }
__device__ unsigned long long int ul(uint64_t word) { return as<unsigned long long int>(word); }
__device__ float f(uint64_t word) { return as<float>(word); }
__device__ double d(uint64_t word) { return as<double>(word); }
__device__ short s(uint64_t word) { return as<short>(word); }
__device__ unsigned short us(uint64_t word) { return as<unsigned short>(word); }

template <class T>
__device__ uint64_t word_of(T value) {
  uint64_t word = 0;
  memcpy(&word, &value, sizeof(T));
  return word;
}

// What gives two results by pointers: the first one in the lower half.
template <class T, class Function>
__device__ uint64_t both(Function function) {
  T first, second;
  function(&first, &second);
  return word_of(first) | word_of(second) << 32;
}

}  // namespace

#define CULEBRA_GROUP      integer
#define CULEBRA_GROUP_FILE "integer.inc"
#include "group.cuh"

#define CULEBRA_GROUP      simd
#define CULEBRA_GROUP_FILE "simd.inc"
#include "group.cuh"

#define CULEBRA_GROUP      arithmetic
#define CULEBRA_GROUP_FILE "arithmetic.inc"
#include "group.cuh"

#define CULEBRA_GROUP      conversion
#define CULEBRA_GROUP_FILE "conversion.inc"
#include "group.cuh"

#define CULEBRA_GROUP      special
#define CULEBRA_GROUP_FILE "special.inc"
#include "group.cuh"

#define CULEBRA_GROUP      bessel
#define CULEBRA_GROUP_FILE "bessel.inc"
#include "group.cuh"

#define CULEBRA_GROUP           half
#define CULEBRA_GROUP_FILE      "narrow.inc"
#define CULEBRA_NUMBER          __half
#define CULEBRA_PAIR            __half2
#define CULEBRA_NAME(a, b)      a##half##b
#define CULEBRA_PAIR_NAME(a, b) a##half2##b
#include "group.cuh"
#undef CULEBRA_NUMBER
#undef CULEBRA_PAIR
#undef CULEBRA_NAME
#undef CULEBRA_PAIR_NAME

#define CULEBRA_GROUP           bfloat16
#define CULEBRA_GROUP_FILE      "narrow.inc"
#define CULEBRA_NUMBER          __nv_bfloat16
#define CULEBRA_PAIR            __nv_bfloat162
#define CULEBRA_NAME(a, b)      a##bfloat16##b
#define CULEBRA_PAIR_NAME(a, b) a##bfloat162##b
#include "group.cuh"
#undef CULEBRA_NUMBER
#undef CULEBRA_PAIR
#undef CULEBRA_NAME
#undef CULEBRA_PAIR_NAME
