// The checks of single instructions (kernels-cu/ptx), a file a theme.
#pragma once

#include <vector>

#include "checks.h"

namespace runner {

// The themes, by which one can be asked for: "ptx/async".
struct PtxTheme {
  const char* name;
  void (*check)(Bench& bench);
};
extern const std::vector<PtxTheme> kPtxThemes;

void check_ptx_matrices(Bench& bench);
void check_ptx_math(Bench& bench);
void check_ptx_async(Bench& bench);
void check_ptx_attention(Bench& bench);
void check_ptx_block(Bench& bench);
void check_ptx_sync(Bench& bench);
void check_ptx_memory(Bench& bench);

}  // namespace runner
