#include "entry/graph_params.h"

#include <utility>

#include "entry/copy.h"
#include "entry/launch.h"
#include "model/context.h"
#include "model/device.h"
#include "model/graph_memory.h"
#include "model/objects.h"

namespace culebra_emu {
namespace {

CopyEnd read_end(CUmemorytype type, const void* host, CUdeviceptr device, std::size_t x,
                 std::size_t y, std::size_t z, std::size_t pitch, std::size_t height) {
  const std::uint64_t start =
      type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uint64_t>(host) : device;
  return {type, start + (z * height + y) * pitch + x, pitch, height};
}

CUresult read_event(CUevent handle, std::shared_ptr<Event>& event) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  event = objects().events.find(handle);
  return event == nullptr ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

bool is_valid_operation(const CUstreamBatchMemOpParams& operation) {
  std::uint64_t bytes = 4;
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return true;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      bytes = 8;
      break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      break;
    default:
      return false;
  }
  const bool waits = operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
                     operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
  const unsigned known = waits ? CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH : 1u;
  return (operation.value.flags & ~known) == 0 && operation.value.address % bytes == 0 &&
         address_space().contains(operation.value.address, bytes);
}

}  // namespace

CUresult node_context(CUcontext named, Context*& context) {
  context = named == nullptr ? current_context() : find_context(named);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return context->active() ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult read_params(const CUDA_KERNEL_NODE_PARAMS& params, KernelWork& work) {
  LaunchRequest request;
  request.function = params.func == nullptr ? params.kern : params.func;
  if (request.function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  request.grid = {params.gridDimX, params.gridDimY, params.gridDimZ};
  request.block = {params.blockDimX, params.blockDimY, params.blockDimZ};
  request.dynamic_bytes = params.sharedMemBytes;
  request.arguments = params.kernelParams;
  request.extra = params.extra;
  // Attributes are the node's, and stay.
  const std::vector<CUlaunchAttribute> attributes = work.attributes;
  request.attributes = attributes;
  return prepare_launch(request, work);
}

CUresult read_params(const CUDA_MEMCPY3D& params, CopyWork& work) {
  if (params.srcMemoryType == CU_MEMORYTYPE_ARRAY || params.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const auto is_known = [](CUmemorytype type) {
    return type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE ||
           type == CU_MEMORYTYPE_UNIFIED;
  };
  if (!is_known(params.srcMemoryType) || !is_known(params.dstMemoryType)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  CopyWork read;
  read.from = read_end(params.srcMemoryType, params.srcHost, params.srcDevice, params.srcXInBytes,
                       params.srcY, params.srcZ, params.srcPitch, params.srcHeight);
  read.to = read_end(params.dstMemoryType, params.dstHost, params.dstDevice, params.dstXInBytes,
                     params.dstY, params.dstZ, params.dstPitch, params.dstHeight);
  read.width_bytes = params.WidthInBytes;
  read.rows = params.Height;
  read.slices = params.Depth;
  if (read.empty() || !is_valid(read)) return CUDA_ERROR_INVALID_VALUE;
  work = read;
  return CUDA_SUCCESS;
}

CUresult read_params(const CUDA_MEMSET_NODE_PARAMS& params, FillWork& work) {
  const FillWork read{.to = params.dst,
                      .pitch_bytes = params.pitch,
                      .value = params.value,
                      .element_bytes = params.elementSize,
                      .width = params.width,
                      .rows = params.height};
  if (read.empty() || !is_valid(read)) return CUDA_ERROR_INVALID_VALUE;
  work = read;
  return CUDA_SUCCESS;
}

CUresult read_params(const CUDA_HOST_NODE_PARAMS& params, HostWork& work) {
  if (params.fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  work = {params.fn, params.userData};
  return CUDA_SUCCESS;
}

CUresult read_params(const CUDA_BATCH_MEM_OP_NODE_PARAMS& params, BatchMemoryWork& work) {
  constexpr unsigned kMostOperations = 256;
  if (params.flags != 0 || params.count == 0 || params.count > kMostOperations ||
      params.paramArray == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  BatchMemoryWork read;
  read.operations.assign(params.paramArray, params.paramArray + params.count);
  for (const CUstreamBatchMemOpParams& operation : read.operations) {
    if (!is_valid_operation(operation)) return CUDA_ERROR_INVALID_VALUE;
  }
  work = std::move(read);
  return CUDA_SUCCESS;
}

CUresult read_params(CUevent handle, EventRecordWork& work) {
  EventRecordWork read{handle, nullptr};
  const CUresult result = read_event(handle, read.event);
  if (result == CUDA_SUCCESS) work = std::move(read);
  return result;
}

CUresult read_params(CUevent handle, EventWaitWork& work) {
  EventWaitWork read{handle, nullptr};
  const CUresult result = read_event(handle, read.event);
  if (result == CUDA_SUCCESS) work = std::move(read);
  return result;
}

CUresult read_params(CUgraph handle, CUgraphChildGraphNodeOwnership ownership,
                     ChildGraphWork& work) {
  const std::shared_ptr<Graph> graph = Graph::find(handle);
  if (graph == nullptr || graph->capturing()) return CUDA_ERROR_INVALID_VALUE;
  if (ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
    if (graph->is_child() || graph->executables != 0) return CUDA_ERROR_INVALID_VALUE;
    work.graph = graph;
  } else if (ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE) {
    return CUDA_ERROR_INVALID_VALUE;
  } else if (graph->has_memory_nodes()) {
    return CUDA_ERROR_NOT_SUPPORTED;
  } else {
    work.graph = graph->clone(Graph::Copy::kUsers);
  }
  work.graph->set_child();
  return CUDA_SUCCESS;
}

CUresult read_params(CUDA_MEM_ALLOC_NODE_PARAMS& params, MemoryAllocWork& work) {
  const CUmemPoolProps& pool = params.poolProps;
  Device* device =
      pool.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? find_device(pool.location.id) : nullptr;
  if (pool.allocType != CU_MEM_ALLOCATION_TYPE_PINNED || pool.handleTypes != 0 ||
      device == nullptr || params.bytesize == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // Access for peers is not modelled; each device has it to its own memory anyway.
  for (std::size_t i = 0; i < params.accessDescCount; ++i) {
    if (params.accessDescs[i].location.id != device->ordinal()) return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (!device->primary().active()) return CUDA_ERROR_INVALID_CONTEXT;
  work.memory = GraphMemory::create(device->primary(), params.bytesize);
  if (work.memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  params.dptr = work.memory->address();
  return CUDA_SUCCESS;
}

CUresult read_params(CUdeviceptr address, MemoryFreeWork& work) {
  const std::shared_ptr<GraphMemory> memory = GraphMemory::find(address);
  if (memory == nullptr || memory->has_free_node()) return CUDA_ERROR_INVALID_VALUE;
  work.memory = memory;
  return CUDA_SUCCESS;
}

CUresult read_params(CUgraphNodeParams& params, Work& work, Context*& context) {
  context = nullptr;
  const auto read = [&](auto kind, auto&&... arguments) {
    const CUresult result = read_params(arguments..., kind);
    if (result == CUDA_SUCCESS) work = std::move(kind);
    return result;
  };
  const auto in_context = [&](CUcontext named, auto kind, const auto& argument) {
    const CUresult result = node_context(named, context);
    return result == CUDA_SUCCESS ? read(std::move(kind), argument) : result;
  };
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      if (params.kernel.func == nullptr) {
        const CUresult result = node_context(params.kernel.ctx, context);
        if (result != CUDA_SUCCESS) return result;
      }
      return read(KernelWork{}, params.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      if (params.memcpy.flags != 0 || params.memcpy.reserved != 0) return CUDA_ERROR_INVALID_VALUE;
      return in_context(params.memcpy.copyCtx, CopyWork{}, params.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return in_context(params.memset.ctx, FillWork{}, params.memset.fill);
    case CU_GRAPH_NODE_TYPE_HOST:
      return read(HostWork{}, params.host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return read(ChildGraphWork{}, params.graph.graph, params.graph.ownership);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      work = EmptyWork{};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return read(EventWaitWork{}, params.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return read(EventRecordWork{}, params.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return read(MemoryAllocWork{}, params.alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return read(MemoryFreeWork{}, params.free);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return in_context(params.memOp.ctx, BatchMemoryWork{}, params.memOp);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

void write_params(GraphNode& node, const KernelWork& work, CUDA_KERNEL_NODE_PARAMS& params) {
  const Launch& launch = *work.launch;
  node.argument_pointers.clear();
  for (std::uint32_t i = 0; i < launch.kernel->parameter_count; ++i) {
    const std::byte* argument = launch.parameters.data() + launch.kernel->parameters[i].offset;
    node.argument_pointers.push_back(const_cast<std::byte*>(argument));
  }
  params = {};
  // A library's kernel is no function of a context.
  (work.function->context() == nullptr ? params.kern : params.func) = work.function.get();
  params.gridDimX = launch.grid.x;
  params.gridDimY = launch.grid.y;
  params.gridDimZ = launch.grid.z;
  params.blockDimX = launch.block.x;
  params.blockDimY = launch.block.y;
  params.blockDimZ = launch.block.z;
  params.sharedMemBytes = launch.dynamic_shared_bytes;
  params.kernelParams = node.argument_pointers.data();
  params.ctx = work.function->context();
}

void write_params(const CopyWork& work, CUDA_MEMCPY3D& params) {
  params = {};
  params.srcMemoryType = work.from.type;
  params.dstMemoryType = work.to.type;
  if (work.from.type == CU_MEMORYTYPE_HOST) {
    params.srcHost = reinterpret_cast<const void*>(work.from.address);
  } else {
    params.srcDevice = work.from.address;
  }
  if (work.to.type == CU_MEMORYTYPE_HOST) {
    params.dstHost = reinterpret_cast<void*>(work.to.address);
  } else {
    params.dstDevice = work.to.address;
  }
  params.srcPitch = work.from.pitch_bytes;
  params.srcHeight = work.from.slice_rows;
  params.dstPitch = work.to.pitch_bytes;
  params.dstHeight = work.to.slice_rows;
  params.WidthInBytes = work.width_bytes;
  params.Height = work.rows;
  params.Depth = work.slices;
}

void write_params(const FillWork& work, CUDA_MEMSET_NODE_PARAMS& params) {
  params = {work.to, work.pitch_bytes, work.value, work.element_bytes, work.width, work.rows};
}

void write_params(GraphNode& node, const BatchMemoryWork& work,
                  CUDA_BATCH_MEM_OP_NODE_PARAMS& params) {
  node.shown_operations = work.operations;
  params = {node.context(), static_cast<unsigned>(node.shown_operations.size()),
            node.shown_operations.data(), work.flags};
}

void write_params(const MemoryAllocWork& work, CUDA_MEM_ALLOC_NODE_PARAMS& params) {
  params = {};
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, work.memory->device_ordinal()};
  params.bytesize = work.memory->bytes();
  params.dptr = work.memory->address();
}

}  // namespace culebra_emu
