// Every PTX instruction that our kernels use, wrapped once and named as in the PTX ISA ('.' and
// '::' become '_'; what has no alternative, as .aligned, is left out).
//
// There is no inline assembly anywhere else. Under a host compiler each wrapper is the function of
// the same name in culebra_emu, which gives it its meaning on the CPU.
//
// Shared memory has 32-bit addresses here, as __cvta_generic_to_shared gives them; global memory
// has plain pointers.
#pragma once

#include "culebra/ptx/async_copy.cuh"
#include "culebra/ptx/barrier.cuh"
#include "culebra/ptx/bulk_copy.cuh"
#include "culebra/ptx/cluster.cuh"
#include "culebra/ptx/control.cuh"
#include "culebra/ptx/fence.cuh"
#include "culebra/ptx/math.cuh"
#include "culebra/ptx/mbarrier.cuh"
#include "culebra/ptx/memory.cuh"
#include "culebra/ptx/mma.cuh"
#include "culebra/ptx/shared.cuh"
#include "culebra/ptx/special_registers.cuh"
#include "culebra/ptx/sync.cuh"
#include "culebra/ptx/warp.cuh"
