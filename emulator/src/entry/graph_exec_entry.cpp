// Executable graphs: making, launching and changing them.
#include "entry/graph_call.h"
#include "entry/graph_params.h"
#include "model/capture.h"
#include "model/device.h"

using namespace culebra_emu;

namespace {

// Why a graph cannot be made executable; CUDA_SUCCESS if it can.
CUresult check_structure(const Graph& graph, CUDA_GRAPH_INSTANTIATE_PARAMS& params) {
  if (const GraphNode* node = graph.find_cycle()) {
    params.result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    params.hErrNode_out = const_cast<GraphNode*>(node);
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (const auto& node : graph.nodes()) {
    const auto* child = std::get_if<ChildGraphWork>(&node->work());
    if (child == nullptr) continue;
    const CUresult result = check_structure(*child->graph, params);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult instantiate(CUgraphExec* out, const std::shared_ptr<Graph>& graph,
                     CUDA_GRAPH_INSTANTIATE_PARAMS& params) {
  constexpr std::uint64_t kKnownFlags = 15;
  constexpr std::uint64_t kDeviceLaunch = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  constexpr std::uint64_t kAutoFree = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  params.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  params.hErrNode_out = nullptr;
  if (out == nullptr || (params.flags & ~kKnownFlags) != 0 || graph->capturing() ||
      (params.flags & (kDeviceLaunch | kAutoFree)) == (kDeviceLaunch | kAutoFree)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // No kernel can launch a graph here.
  if ((params.flags & kDeviceLaunch) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = check_structure(*graph, params);
  if (result != CUDA_SUCCESS) return result;
  if (graph->has_memory_nodes() && graph->executables != 0) return CUDA_ERROR_NOT_SUPPORTED;
  params.result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  *out = ExecutableGraph::add(std::make_shared<ExecutableGraph>(
      graph, params.flags & ~std::uint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD}));
  return CUDA_SUCCESS;
}

// Gives a node of an executable graph other work: read(work) changes a copy.
template <class Kind, class Read>
CUresult change(const char* symbol, CUgraphExec handle, CUgraphNode original, Read read) {
  return with_executable(symbol, handle, [&](ExecutableGraph& executable) {
    const auto node = find_node(original);
    const GraphNode* current = node == nullptr ? nullptr : executable.find_copy_of(*node);
    const Kind* work = current == nullptr ? nullptr : std::get_if<Kind>(&current->work());
    if (work == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Kind changed = *work;
    const CUresult result = read(changed);
    if (result != CUDA_SUCCESS) return result;
    if (check_update(*current, changed) != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    executable.edit_copy_of(*node)->set_work(std::move(changed));
    return CUDA_SUCCESS;
  });
}

template <class Kind, class Params>
CUresult change_params(const char* symbol, CUgraphExec handle, CUgraphNode node,
                       const Params* params) {
  return change<Kind>(symbol, handle, node, [&](Kind& work) {
    return params == nullptr ? CUDA_ERROR_INVALID_VALUE : read_params(*params, work);
  });
}

// A copy or fill of an executable graph: body as above, in a context that must be alive.
template <class Kind, class Params>
CUresult change_params_in(const char* symbol, CUgraphExec handle, CUgraphNode node,
                          const Params* params, CUcontext named) {
  return change<Kind>(symbol, handle, node, [&](Kind& work) {
    Context* context = nullptr;
    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = node_context(named, context);
    return result == CUDA_SUCCESS ? read_params(*params, work) : result;
  });
}

CUresult change_child(const char* symbol, CUgraphExec handle, CUgraphNode original,
                      CUgraph child_handle) {
  return with_executable(symbol, handle, [&](ExecutableGraph& executable) {
    const auto node = find_node(original);
    const auto child = Graph::find(child_handle);
    if (node == nullptr || child == nullptr || !executable.updates_child(*node, *child)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  });
}

// Calls body(stream) on the handle's stream, under the lock of graphs.
template <class Body>
CUresult with_executable_on(const char* symbol, CUgraphExec handle, CUstream stream_handle,
                            Body body) {
  return with_executable(symbol, handle, [&](ExecutableGraph& executable) {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream(symbol, stream_handle, result);
    return stream == nullptr ? result : body(executable, *stream);
  });
}

bool can_be_disabled(const GraphNode& node) {
  return node.type() == CU_GRAPH_NODE_TYPE_KERNEL || node.type() == CU_GRAPH_NODE_TYPE_MEMCPY ||
         node.type() == CU_GRAPH_NODE_TYPE_MEMSET;
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph handle,
                                                        unsigned long long flags) {
  return with_graph("cuGraphInstantiateWithFlags", handle,
                    [&](const std::shared_ptr<Graph>& graph) {
                      // There is no stream to upload in.
                      if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0)
                        return CUDA_ERROR_INVALID_VALUE;
                      CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
                      params.flags = flags;
                      return instantiate(executable, graph, params);
                    });
}

CULEBRA_EMU_EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph handle,
                                                         CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  return with_graph("cuGraphInstantiateWithParams", handle,
                    [&](const std::shared_ptr<Graph>& graph) {
                      if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
                      return instantiate(executable, graph, *params);
                    });
}

CULEBRA_EMU_EXPORT CUresult cuGraphExecDestroy(CUgraphExec handle) {
  return graph_call("cuGraphExecDestroy", [&] {
    return ExecutableGraph::remove(handle) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphExecGetFlags(CUgraphExec handle, std::uint64_t* flags) {
  return with_executable("cuGraphExecGetFlags", handle, [&](const ExecutableGraph& executable) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = executable.flags();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphUpload(CUgraphExec handle, CUstream stream) {
  // There is nothing to bring anywhere; but the stream must be one, and not be captured.
  return with_executable_on(
      "cuGraphUpload", handle, stream,
      [](ExecutableGraph&, const Stream& target) { return refuse_in_capture(target); });
}

CULEBRA_EMU_EXPORT CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream) {
  return with_executable_on("cuGraphLaunch", handle, stream,
                            [](ExecutableGraph& executable, Stream& target) {
                              std::shared_ptr<Capture> capture;
                              const CUresult result = find_target(target, capture);
                              if (result != CUDA_SUCCESS) return result;
                              if (capture == nullptr) return executable.launch(target);
                              if (executable.body()->has_memory_nodes()) {
                                capture->invalidate();
                                return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
                              }
                              ChildGraphWork child{executable.body()->clone(Graph::Copy::kUsers)};
                              child.graph->set_child();
                              return capture->add(target, std::move(child));
                            });
}

CULEBRA_EMU_EXPORT CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph source,
                                                 CUgraphExecUpdateResultInfo* info) {
  return with_executable("cuGraphExecUpdate_v2", handle, [&](ExecutableGraph& executable) {
    const std::shared_ptr<Graph> graph = Graph::find(source);
    if (info == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *info = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
    if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *info = executable.update(*graph);
    return info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS
                                                        : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode original,
                                                  unsigned enabled) {
  return with_executable("cuGraphNodeSetEnabled", handle, [&](ExecutableGraph& executable) {
    const auto node = find_node(original);
    if (node == nullptr || !can_be_disabled(*node)) return CUDA_ERROR_INVALID_VALUE;
    GraphNode* copy = executable.edit_copy_of(*node);
    if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
    copy->set_enabled(enabled != 0);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode original,
                                                  unsigned* enabled) {
  return with_executable("cuGraphNodeGetEnabled", handle, [&](const ExecutableGraph& executable) {
    const auto node = find_node(original);
    const GraphNode* copy = node == nullptr ? nullptr : executable.find_copy_of(*node);
    if (copy == nullptr || enabled == nullptr || !can_be_disabled(*node)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *enabled = copy->enabled() ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(
    CUgraphExec executable, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
  return change_params<KernelWork>("cuGraphExecKernelNodeSetParams_v2", executable, node, params);
}

CULEBRA_EMU_EXPORT CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                           const CUDA_MEMCPY3D* params,
                                                           CUcontext context) {
  return change_params_in<CopyWork>("cuGraphExecMemcpyNodeSetParams", executable, node, params,
                                    context);
}

CULEBRA_EMU_EXPORT CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                           const CUDA_MEMSET_NODE_PARAMS* params,
                                                           CUcontext context) {
  return change_params_in<FillWork>("cuGraphExecMemsetNodeSetParams", executable, node, params,
                                    context);
}

CULEBRA_EMU_EXPORT CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                         const CUDA_HOST_NODE_PARAMS* params) {
  return change_params<HostWork>("cuGraphExecHostNodeSetParams", executable, node, params);
}

CULEBRA_EMU_EXPORT CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable,
                                                               CUgraphNode node, CUgraph child) {
  return change_child("cuGraphExecChildGraphNodeSetParams", executable, node, child);
}

CULEBRA_EMU_EXPORT CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable,
                                                               CUgraphNode node, CUevent event) {
  return change<EventRecordWork>("cuGraphExecEventRecordNodeSetEvent", executable, node,
                                 [&](EventRecordWork& work) { return read_params(event, work); });
}

CULEBRA_EMU_EXPORT CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable,
                                                             CUgraphNode node, CUevent event) {
  return change<EventWaitWork>("cuGraphExecEventWaitNodeSetEvent", executable, node,
                               [&](EventWaitWork& work) { return read_params(event, work); });
}

CULEBRA_EMU_EXPORT CUresult cuGraphExecBatchMemOpNodeSetParams(
    CUgraphExec executable, CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return change_params<BatchMemoryWork>("cuGraphExecBatchMemOpNodeSetParams", executable, node,
                                        params);
}

CULEBRA_EMU_EXPORT CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                                     CUgraphNodeParams* params) {
  constexpr const char* kSymbol = "cuGraphExecNodeSetParams";
  if (params == nullptr) {
    return graph_call(kSymbol, [] { return CUDA_ERROR_INVALID_VALUE; });
  }
  switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return change_params<KernelWork>(kSymbol, executable, node, &params->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return change_params_in<CopyWork>(kSymbol, executable, node, &params->memcpy.copyParams,
                                        params->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return change_params_in<FillWork>(kSymbol, executable, node, &params->memset.fill,
                                        params->memset.ctx);
    case CU_GRAPH_NODE_TYPE_HOST:
      return change_params<HostWork>(kSymbol, executable, node, &params->host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return change_child(kSymbol, executable, node, params->graph.graph);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return change<EventRecordWork>(kSymbol, executable, node, [&](EventRecordWork& work) {
        return read_params(params->event, work);
      });
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return change<EventWaitWork>(kSymbol, executable, node, [&](EventWaitWork& work) {
        return read_params(params->event, work);
      });
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return change_params<BatchMemoryWork>(kSymbol, executable, node, &params->memOp);
    default:
      return graph_call(kSymbol, [] { return CUDA_ERROR_NOT_SUPPORTED; });
  }
}
