// Runs the blocks of a launch on the machine's cores.
#pragma once

#include "execution/launch.h"

namespace culebra_emu {

struct GridOutcome {
  Outcome outcome;
  std::uint32_t static_shared_bytes = 0;
};

// Runs all blocks and returns; after a fault no further block starts. The caller's OS thread takes
// part.
GridOutcome run_grid(const Launch& launch);

}  // namespace culebra_emu
