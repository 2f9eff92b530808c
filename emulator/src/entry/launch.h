// A kernel launch before anybody says when: a stream runs it, or a graph keeps it.
#pragma once

#include <span>

#include "abi.h"
#include "execution/launch.h"
#include "model/work.h"

namespace culebra_emu {

struct LaunchRequest {
  CUfunction function = nullptr;
  Index3 grid = {};
  Index3 block = {};
  unsigned dynamic_bytes = 0;
  // One of both: a pointer to each argument, or the caller's own block of all.
  void** arguments = nullptr;
  void** extra = nullptr;
  std::span<const CUlaunchAttribute> attributes = {};
};

// Checks the request as the driver does and copies its arguments.
CUresult prepare_launch(const LaunchRequest& request, KernelWork& work);

}  // namespace culebra_emu
