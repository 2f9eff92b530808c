#include "ptx_checks.h"

namespace runner {

const std::vector<PtxTheme> kPtxThemes = {{"matrices", check_ptx_matrices},
                                          {"math", check_ptx_math},
                                          {"memory", check_ptx_memory},
                                          {"async", check_ptx_async},
                                          {"attention", check_ptx_attention},
                                          {"block", check_ptx_block},
                                          {"sync", check_ptx_sync}};

void check_ptx(Bench& bench) {
  for (const PtxTheme& theme : kPtxThemes) theme.check(bench);
}

}  // namespace runner
