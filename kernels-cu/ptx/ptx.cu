// One kernel an instruction: each does with its arguments what its wrapper says, so that a run on a
// GPU and one on the emulator can be compared, bit for bit (runner/ptx_*_checks.cpp).
//
// Not shipped: in the test roots only. A symbol is culebra_ptx_<wrapper>. Kernels of instructions
// that a device lacks trap there; the runner does not launch them.
#include "culebra/platform.cuh"

#include "culebra/ptx.cuh"

#include "async_tests.cuh"
#include "attention_test.cuh"
#include "block_tests.cuh"
#include "math_tests.cuh"
#include "matrix_tests.cuh"
#include "memory_tests.cuh"
#include "sync_tests.cuh"
