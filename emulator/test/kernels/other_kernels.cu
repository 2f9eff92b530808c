// A second image, for tests that need two.
#include "culebra_emu/cuda.h"

extern "C" __global__ void other_double(int* value) { *value *= 2; }
CULEBRA_KERNEL(other_double, 1, value)
