#include "entry/submit.h"

#include <utility>

#include "entry/copy.h"
#include "model/device.h"

namespace culebra_emu {

CUresult submit(const char* symbol, Stream& stream, Work work, CompletionPtr* done) {
  if (auto* copy = std::get_if<CopyWork>(&work)) stage(*copy);
  Device& device = stream.context().device();
  CompletionPtr completion =
      stream.enqueue([symbol, work = std::move(work), &device] { run(work, symbol, device); });
  if (done != nullptr) *done = std::move(completion);
  return CUDA_SUCCESS;
}

}  // namespace culebra_emu
