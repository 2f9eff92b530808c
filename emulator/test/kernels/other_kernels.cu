// A second image, for tests that need two, with variables of its own.
#include "culebra_emu/cuda.h"

__device__ int other_counts[4];
__constant__ int other_step = 1;

extern "C" __global__ void other_double(int* value) { *value *= 2; }
CULEBRA_KERNEL(other_double, 1, value)

extern "C" __global__ void other_count(int index) { other_counts[index] += other_step; }
CULEBRA_KERNEL(other_count, 1, index)
