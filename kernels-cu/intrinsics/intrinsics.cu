// CUDA's device functions, called by what they are named in a table, so that a run on a GPU and one
// on the emulator can be compared (runner/intrinsics_*_checks.cpp).
//
// Not shipped: in the test roots only. A table NAME.inc has a row for each function; its kernel is
// culebra_intrinsics_NAME, and the row's number says which function it calls.
#include "culebra/platform.cuh"

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
