// CUDA's name for it, so that a kernel may include it.
#pragma once

#include "culebra_emu/cooperative_groups.h"
