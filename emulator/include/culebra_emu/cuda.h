// The part of CUDA C++ that kernels may use, for a plain C++20 compiler on a CPU.
// Kernels get it through culebra/platform.cuh; docs/decisions/0002 lists what belongs here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "culebra_emu/qualifiers.h"

#include "culebra_emu/vector_types.h"

#include "culebra_emu/address_spaces.h"
#include "culebra_emu/assertion.h"
#include "culebra_emu/atomic.h"
#include "culebra_emu/barrier.h"
#include "culebra_emu/bf16.h"
#include "culebra_emu/cache_hints.h"
#include "culebra_emu/cluster.h"
#include "culebra_emu/fp16.h"
#include "culebra_emu/math.h"
#ifdef CULEBRA_EMU_NO_TRAP
#include "culebra_emu/misaligned.h"
#endif
#include "culebra_emu/narrow_arithmetic.h"
#include "culebra_emu/ptx.h"
#include "culebra_emu/registration.h"
#include "culebra_emu/shared.h"
#include "culebra_emu/special_registers.h"
#include "culebra_emu/thread.h"
#include "culebra_emu/warp.h"
