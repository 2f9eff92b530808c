// What include/culebra_emu/control.h offers to tests.
#include "culebra_emu/control.h"

#include <cstring>

#include "abi.h"
#include "checking/findings.h"
#include "entry/call_count.h"
#include "faults/faults.h"
#include "model/address_space.h"
#include "model/objects.h"
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
  const auto is = [&](const char* name) { return kind != nullptr && std::strcmp(kind, name) == 0; };
  const auto memory = [](MemoryKind which) {
    return static_cast<int64_t>(address_space().count(which));
  };
  if (is("stream")) return static_cast<int64_t>(objects().streams.size());
  if (is("event")) return static_cast<int64_t>(objects().events.size());
  if (is("module")) return static_cast<int64_t>(objects().modules.size());
  if (is("library")) return static_cast<int64_t>(objects().libraries.size());
  if (is("device memory")) return memory(MemoryKind::kDevice);
  if (is("pool memory")) return memory(MemoryKind::kPool);
  if (is("pinned memory")) return memory(MemoryKind::kPinned);
  if (is("registered memory")) return memory(MemoryKind::kRegistered);
  return -1;
}

CULEBRA_EMU_EXPORT int64_t culebraEmuFindingCount(void) {
  return static_cast<int64_t>(finding_count());
}

CULEBRA_EMU_EXPORT int64_t culebraEmuCallCount(const char* symbol) {
  return symbol == nullptr ? -1 : calls_of(symbol);
}
