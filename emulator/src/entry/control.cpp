// What include/culebra_emu/control.h offers to tests.
#include "culebra_emu/control.h"

#include <cstring>

#include "abi.h"
#include "checking/findings.h"
#include "entry/call_count.h"
#include "faults/faults.h"
#include "model/live_objects.h"
#include "model/origin.h"

using namespace culebra_emu;

CULEBRA_EMU_EXPORT int culebraEmuSetFault(const char* spec) {
  std::string complaint;
  auto rules = parse_faults(spec == nullptr ? "" : spec, complaint);
  if (!rules) return CUDA_ERROR_INVALID_VALUE;
  faults().set(std::move(*rules));
  return CUDA_SUCCESS;
}

CULEBRA_EMU_EXPORT void culebraEmuSetLabel(const char* label) { set_label(label); }

CULEBRA_EMU_EXPORT int64_t culebraEmuLiveCount(const char* kind) {
  for (const LiveKind& live : live_kinds()) {
    if (kind != nullptr && std::strcmp(kind, live.word) == 0) {
      return static_cast<int64_t>(live.count());
    }
  }
  return -1;
}

CULEBRA_EMU_EXPORT int64_t culebraEmuFindingCount(void) {
  return static_cast<int64_t>(finding_count());
}

CULEBRA_EMU_EXPORT int64_t culebraEmuCallCount(const char* symbol) {
  return symbol == nullptr ? -1 : calls_of(symbol);
}
