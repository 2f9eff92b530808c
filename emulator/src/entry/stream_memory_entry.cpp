// Streams that wait for words of memory, and write them.
#include "entry/call.h"
#include "entry/graph_params.h"
#include "entry/submit.h"

using namespace culebra_emu;

namespace {

CUresult submit_operations(const char* symbol, CUstream handle, unsigned count,
                           CUstreamBatchMemOpParams* operations, unsigned flags) {
  return call(symbol, kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream(symbol, handle, result);
    if (stream == nullptr) return result;
    BatchMemoryWork work;
    result = read_params(
        {.ctx = &stream->context(), .count = count, .paramArray = operations, .flags = flags},
        work);
    return result == CUDA_SUCCESS ? submit(symbol, *stream, std::move(work)) : result;
  });
}

CUresult submit_one(const char* symbol, CUstream stream, CUstreamBatchMemOpType type,
                    CUdeviceptr address, std::uint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams operation = {};
  operation.value = {type, address, value, flags, 0};
  return submit_operations(symbol, stream, 1, &operation, 0);
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address,
                                                   std::uint32_t value, unsigned flags) {
  return submit_one("cuStreamWaitValue32_v2", stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address,
                    value, flags);
}

CULEBRA_EMU_EXPORT CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address,
                                                   std::uint64_t value, unsigned flags) {
  return submit_one("cuStreamWaitValue64_v2", stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address,
                    value, flags);
}

CULEBRA_EMU_EXPORT CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address,
                                                    std::uint32_t value, unsigned flags) {
  return submit_one("cuStreamWriteValue32_v2", stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address,
                    value, flags);
}

CULEBRA_EMU_EXPORT CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address,
                                                    std::uint64_t value, unsigned flags) {
  return submit_one("cuStreamWriteValue64_v2", stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address,
                    value, flags);
}

CULEBRA_EMU_EXPORT CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count,
                                                  CUstreamBatchMemOpParams* operations,
                                                  unsigned flags) {
  return submit_operations("cuStreamBatchMemOp_v2", stream, count, operations, flags);
}
