#include "entry/submit.h"

#include <utility>

#include "entry/copy.h"
#include "model/capture.h"
#include "model/device.h"

namespace culebra_emu {

CUresult submit(const char* symbol, Stream& stream, Work work, CompletionPtr* done) {
  if (any_capture()) {
    const std::lock_guard lock(graphs_mutex());
    std::shared_ptr<Capture> capture;
    if (const CUresult result = find_target(stream, capture); result != CUDA_SUCCESS) return result;
    if (capture != nullptr) return capture->add(stream, std::move(work));
  }
  if (auto* copy = std::get_if<CopyWork>(&work)) stage(*copy);
  Device& device = stream.context().device();
  CompletionPtr completion =
      stream.enqueue([symbol, work = std::move(work), &device] { run(work, symbol, device); });
  if (done != nullptr) *done = std::move(completion);
  return CUDA_SUCCESS;
}

}  // namespace culebra_emu
