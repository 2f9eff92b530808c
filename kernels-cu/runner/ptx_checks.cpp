#include "ptx_checks.h"

namespace runner {

void check_ptx(Bench& bench) {
  check_ptx_matrices(bench);
  check_ptx_math(bench);
  check_ptx_memory(bench);
  check_ptx_async(bench);
  check_ptx_attention(bench);
  check_ptx_block(bench);
  check_ptx_sync(bench);
}

}  // namespace runner
