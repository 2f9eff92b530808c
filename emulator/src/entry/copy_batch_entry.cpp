// Copies between contexts, and many copies in one call.
#include <vector>

#include "entry/call.h"
#include "entry/copy.h"
#include "entry/submit.h"
#include "model/context.h"

using namespace culebra_emu;

namespace {

bool is_live(CUcontext handle) {
  const Context* context = find_context(handle);
  return context != nullptr && context->active();
}

CopyWork between_devices(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return {.to = {.address = to}, .from = {.address = from}, .width_bytes = bytes};
}

// Memory that may be anybody's.
CopyEnd unified(std::uint64_t address) {
  return {.type = CU_MEMORYTYPE_UNIFIED, .address = address};
}

CUresult check_order(CUmemcpySrcAccessOrder order, unsigned flags) {
  constexpr unsigned kPreferOverlap = 1;
  const bool is_known = order == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
                        order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ||
                        order == CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
  return is_known && (flags & ~kPreferOverlap) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

struct OrderedCopy {
  CopyWork work;
  CUmemcpySrcAccessOrder order;
};

// All of them or none are valid. Sources that may be read only during the call are waited for: the
// order of the stream is kept, which the driver leaves open.
CUresult submit_all(const char* symbol, Stream& stream, const std::vector<OrderedCopy>& copies) {
  for (const OrderedCopy& copy : copies) {
    if (copy.work.empty() || !is_valid(copy.work)) return CUDA_ERROR_INVALID_VALUE;
  }
  CompletionPtr last_waited_for;
  for (const OrderedCopy& copy : copies) {
    CompletionPtr done;
    const CUresult result = submit(symbol, stream, copy.work, &done);
    if (result != CUDA_SUCCESS) return result;
    if (copy.order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL) last_waited_for = done;
  }
  if (last_waited_for == nullptr) return CUDA_SUCCESS;
  last_waited_for->wait();
  return stream.context().device().failure();
}

// Batches do not go to the legacy default stream.
template <class Body>
CUresult with_batch_stream(const char* symbol, CUstream handle, Body body) {
  return call(symbol, kNeedsInit, [&] {
    constexpr std::uintptr_t kLegacy = 1;
    if (reinterpret_cast<std::uintptr_t>(handle) <= kLegacy) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream(symbol, handle, result);
    return stream == nullptr ? result : body(*stream);
  });
}

// One end of a copy of a 3D batch; false if it is none.
bool describe(const CUmemcpy3DOperand& operand, std::size_t width, std::size_t height,
              CopyEnd& end) {
  const auto& place = operand.op.ptr;
  if (place.rowLength != 0 && place.rowLength < width) return false;
  if (place.layerHeight != 0 && place.layerHeight < height) return false;
  end = unified(place.ptr);
  end.pitch_bytes = place.rowLength == 0 ? width : place.rowLength;
  end.slice_rows = place.layerHeight == 0 ? height : place.layerHeight;
  return true;
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                         CUcontext from_context, std::size_t bytes) {
  if (!is_live(to_context) || !is_live(from_context)) {
    return call("cuMemcpyPeer", kNeedsContext, [] { return CUDA_ERROR_INVALID_CONTEXT; });
  }
  return copy_now("cuMemcpyPeer", between_devices(to, from, bytes));
}

CULEBRA_EMU_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context,
                                              CUdeviceptr from, CUcontext from_context,
                                              std::size_t bytes, CUstream stream) {
  if (!is_live(to_context) || !is_live(from_context)) {
    return call("cuMemcpyPeerAsync", kNeedsInit, [] { return CUDA_ERROR_INVALID_CONTEXT; });
  }
  return copy_async("cuMemcpyPeerAsync", between_devices(to, from, bytes), stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from,
                                                  std::size_t* sizes, std::size_t count,
                                                  CUmemcpyAttributes* attributes,
                                                  std::size_t* first_copies,
                                                  std::size_t attribute_count, CUstream handle) {
  constexpr const char* kSymbol = "cuMemcpyBatchAsync_v2";
  return with_batch_stream(kSymbol, handle, [&](Stream& stream) {
    if (to == nullptr || from == nullptr || sizes == nullptr || count == 0 ||
        attributes == nullptr || first_copies == nullptr || attribute_count == 0 ||
        attribute_count > count || first_copies[0] != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    for (std::size_t i = 0; i < attribute_count; ++i) {
      const bool is_ordered = i == 0 || first_copies[i] > first_copies[i - 1];
      if (!is_ordered || first_copies[i] >= count) return CUDA_ERROR_INVALID_VALUE;
      const CUresult result = check_order(attributes[i].srcAccessOrder, attributes[i].flags);
      if (result != CUDA_SUCCESS) return result;
    }
    std::vector<OrderedCopy> copies;
    std::size_t attribute = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (attribute + 1 < attribute_count && first_copies[attribute + 1] == i) ++attribute;
      copies.push_back({{.to = unified(to[i]), .from = unified(from[i]), .width_bytes = sizes[i]},
                        attributes[attribute].srcAccessOrder});
    }
    return submit_all(kSymbol, stream, copies);
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemcpy3DBatchAsync_v2(std::size_t count,
                                                    CUDA_MEMCPY3D_BATCH_OP* operations,
                                                    unsigned long long flags, CUstream handle) {
  constexpr const char* kSymbol = "cuMemcpy3DBatchAsync_v2";
  return with_batch_stream(kSymbol, handle, [&](Stream& stream) {
    if (count == 0 || operations == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    std::vector<OrderedCopy> copies;
    for (std::size_t i = 0; i < count; ++i) {
      const CUDA_MEMCPY3D_BATCH_OP& operation = operations[i];
      for (const CUmemcpy3DOperand* operand : {&operation.src, &operation.dst}) {
        if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) return CUDA_ERROR_NOT_SUPPORTED;
        if (operand->type != CU_MEMCPY_OPERAND_TYPE_POINTER) return CUDA_ERROR_INVALID_VALUE;
      }
      const CUresult result = check_order(operation.srcAccessOrder, operation.flags);
      if (result != CUDA_SUCCESS) return result;
      const auto& [width, height, depth] = operation.extent;
      OrderedCopy copy;
      copy.order = operation.srcAccessOrder;
      copy.work.width_bytes = width;
      copy.work.rows = height;
      copy.work.slices = depth;
      if (!describe(operation.dst, width, height, copy.work.to) ||
          !describe(operation.src, width, height, copy.work.from)) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      copies.push_back(std::move(copy));
    }
    return submit_all(kSymbol, stream, copies);
  });
}
