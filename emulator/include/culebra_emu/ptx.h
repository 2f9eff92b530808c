// What the wrappers of culebra/ptx.cuh mean on the CPU: same names, same operands. A file a theme,
// as there.
#pragma once

#include "culebra_emu/ptx_async.h"
#include "culebra_emu/ptx_control.h"
#include "culebra_emu/ptx_math.h"
#include "culebra_emu/ptx_memory.h"
#include "culebra_emu/ptx_mma.h"
