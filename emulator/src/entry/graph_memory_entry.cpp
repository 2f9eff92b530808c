// The memory that graphs allocate.
#include "entry/call.h"
#include "entry/graph_memory.h"
#include "model/capture.h"
#include "model/diagnosis.h"
#include "model/graph_memory.h"

using namespace culebra_emu;

namespace culebra_emu {

CUresult alloc_in_capture(const Stream& stream, std::size_t bytes, CUdeviceptr& address,
                          bool& captured) {
  if (!any_capture()) return CUDA_SUCCESS;
  const std::lock_guard lock(graphs_mutex());
  std::shared_ptr<Capture> capture;
  const CUresult result = find_target(stream, capture);
  captured = capture != nullptr;
  if (result != CUDA_SUCCESS || !captured) return result;
  MemoryAllocWork work{GraphMemory::create(stream.context(), bytes)};
  if (work.memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  address = work.memory->address();
  return capture->add(stream, std::move(work));
}

CUresult free_in_capture(const Stream& stream, CUdeviceptr address, bool& captured) {
  if (!any_capture()) return CUDA_SUCCESS;
  const std::lock_guard lock(graphs_mutex());
  std::shared_ptr<Capture> capture;
  CUresult result = find_target(stream, capture);
  captured = capture != nullptr;
  if (result != CUDA_SUCCESS || !captured) return result;
  const std::shared_ptr<GraphMemory> memory = GraphMemory::find(address);
  if (memory == nullptr || memory->has_free_node()) return CUDA_ERROR_INVALID_VALUE;
  result = capture->add(stream, MemoryFreeWork{memory});
  if (result == CUDA_SUCCESS) memory->set_has_free_node();
  return result;
}

CUresult free_graph_memory(CUdeviceptr address) {
  const std::lock_guard lock(graphs_mutex());
  const std::shared_ptr<GraphMemory> memory = GraphMemory::find(address);
  if (memory == nullptr || !memory->allocated()) {
    diagnose_address(address, 1);
    return CUDA_ERROR_INVALID_VALUE;
  }
  memory->set_allocated(false);
  return CUDA_SUCCESS;
}

}  // namespace culebra_emu

namespace {

template <class Body>
CUresult with_device(const char* symbol, CUdevice ordinal, Body body) {
  return call(symbol, kNeedsInit, [&] {
    const Device* device = find_device(ordinal);
    return device == nullptr ? CUDA_ERROR_INVALID_DEVICE : body(*device);
  });
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuDeviceGraphMemTrim(CUdevice ordinal) {
  // A graph's memory is there as long as the graph, so there is never any to give back.
  return with_device("cuDeviceGraphMemTrim", ordinal, [](const Device&) { return CUDA_SUCCESS; });
}

CULEBRA_EMU_EXPORT CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal,
                                                         CUgraphMem_attribute attribute,
                                                         void* value) {
  return with_device("cuDeviceGetGraphMemAttribute", ordinal, [&](const Device& device) {
    if (value == nullptr || attribute < CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT ||
        attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *static_cast<std::uint64_t*>(value) = graph_memory_attribute(device, attribute);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal,
                                                         CUgraphMem_attribute attribute,
                                                         void* value) {
  return with_device("cuDeviceSetGraphMemAttribute", ordinal, [&](const Device& device) {
    const bool is_high = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ||
                         attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    // A high-water mark can only be set back.
    if (value == nullptr || !is_high || *static_cast<const std::uint64_t*>(value) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    reset_graph_memory_high(device, attribute);
    return CUDA_SUCCESS;
  });
}
