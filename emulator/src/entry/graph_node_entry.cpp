// The nodes of graphs, a kind at a time: adding them, their parameters, their attributes.
#include <algorithm>
#include <cstring>

#include "entry/graph_call.h"
#include "entry/graph_params.h"
#include "entry/launch.h"
#include "model/context.h"
#include "model/device.h"
#include "model/graph_memory.h"

using namespace culebra_emu;

namespace {

CUresult add_node(Graph& graph, CUgraphNode* out, const std::vector<Edge>& dependencies, Work work,
                  Context* context) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  GraphNode* node = graph.add(std::move(work), context, dependencies);
  if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const auto* free = std::get_if<MemoryFreeWork>(&node->work())) {
    free->memory->set_has_free_node();
  }
  *out = node;
  return CUDA_SUCCESS;
}

// read(work, context) fills in what the node will do and where.
template <class Kind, class Read>
CUresult add_node(const char* symbol, CUgraphNode* out, CUgraph handle, const CUgraphNode* nodes,
                  std::size_t count, Read read) {
  return with_graph(symbol, handle, [&](const std::shared_ptr<Graph>& graph) {
    std::vector<Edge> dependencies;
    if (!gather_edges(nodes, nullptr, count, dependencies)) return CUDA_ERROR_INVALID_VALUE;
    Kind work;
    Context* context = nullptr;
    const CUresult result = read(work, context);
    if (result != CUDA_SUCCESS) return result;
    return add_node(*graph, out, dependencies, std::move(work), context);
  });
}

template <class Kind, class Params>
CUresult add_simple_node(const char* symbol, CUgraphNode* out, CUgraph graph,
                         const CUgraphNode* nodes, std::size_t count, const Params* params) {
  return add_node<Kind>(symbol, out, graph, nodes, count, [&](Kind& work, Context*&) {
    return params == nullptr ? CUDA_ERROR_INVALID_VALUE : read_params(*params, work);
  });
}

template <class Kind, class Params>
CUresult add_node_in(const char* symbol, CUgraphNode* out, CUgraph graph, const CUgraphNode* nodes,
                     std::size_t count, const Params* params, CUcontext named) {
  return add_node<Kind>(symbol, out, graph, nodes, count, [&](Kind& work, Context*& context) {
    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = node_context(named, context);
    return result == CUDA_SUCCESS ? read_params(*params, work) : result;
  });
}

template <class Kind>
CUresult add_event_node(const char* symbol, CUgraphNode* out, CUgraph graph,
                        const CUgraphNode* nodes, std::size_t count, CUevent event) {
  return add_node<Kind>(symbol, out, graph, nodes, count,
                        [&](Kind& work, Context*&) { return read_params(event, work); });
}

template <class Kind>
CUresult get_event(const char* symbol, CUgraphNode node, CUevent* event) {
  return with_node_of<Kind>(symbol, node, [&](GraphNode&, const Kind& work) {
    if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *event = work.handle;
    return CUDA_SUCCESS;
  });
}

template <class Kind>
CUresult set_event(const char* symbol, CUgraphNode node, CUevent event) {
  return change_node_of<Kind>(symbol, node,
                              [&](GraphNode&, Kind& work) { return read_params(event, work); });
}

template <class Kind, class Params>
CUresult set_params(const char* symbol, CUgraphNode node, const Params* params) {
  return change_node_of<Kind>(symbol, node, [&](GraphNode&, Kind& work) {
    return params == nullptr ? CUDA_ERROR_INVALID_VALUE : read_params(*params, work);
  });
}

bool is_node_attribute(CUlaunchAttributeID id) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return true;
    default:
      return false;
  }
}

// The same launch with other attributes, checked as a new one.
CUresult with_attributes(const KernelWork& work, std::vector<CUlaunchAttribute> attributes,
                         KernelWork& result) {
  std::size_t bytes = work.launch->parameters.size();
  void* extra[] = {reinterpret_cast<void*>(kLaunchParamBufferPointer),
                   const_cast<std::byte*>(work.launch->parameters.data()),
                   reinterpret_cast<void*>(kLaunchParamBufferSize), &bytes,
                   reinterpret_cast<void*>(kLaunchParamEnd)};
  return prepare_launch({.function = work.function.get(),
                         .grid = work.launch->grid,
                         .block = work.launch->block,
                         .dynamic_bytes = work.launch->dynamic_shared_bytes,
                         .extra = bytes == 0 ? nullptr : extra,
                         .attributes = attributes},
                        result);
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph,
                                                    const CUgraphNode* dependencies,
                                                    std::size_t count,
                                                    const CUDA_KERNEL_NODE_PARAMS* params) {
  return add_node<KernelWork>("cuGraphAddKernelNode_v2", node, graph, dependencies, count,
                              [&](KernelWork& work, Context*& context) {
                                if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
                                if (params->func == nullptr && params->kern != nullptr) {
                                  const CUresult result = node_context(params->ctx, context);
                                  if (result != CUDA_SUCCESS) return result;
                                }
                                return read_params(*params, work);
                              });
}

CULEBRA_EMU_EXPORT CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node,
                                                          CUDA_KERNEL_NODE_PARAMS* params) {
  return with_node_of<KernelWork>("cuGraphKernelNodeGetParams_v2", node,
                                  [&](GraphNode& found, const KernelWork& work) {
                                    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
                                    write_params(found, work, *params);
                                    return CUDA_SUCCESS;
                                  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node,
                                                          const CUDA_KERNEL_NODE_PARAMS* params) {
  return set_params<KernelWork>("cuGraphKernelNodeSetParams_v2", node, params);
}

CULEBRA_EMU_EXPORT CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUlaunchAttributeID id,
                                                          CUlaunchAttribute::Value* value) {
  return with_node_of<KernelWork>("cuGraphKernelNodeGetAttribute", node,
                                  [&](GraphNode&, const KernelWork& work) {
                                    if (value == nullptr || !is_node_attribute(id))
                                      return CUDA_ERROR_INVALID_VALUE;
                                    *value = {};
                                    for (const CUlaunchAttribute& attribute : work.attributes) {
                                      if (attribute.id == id) *value = attribute.value;
                                    }
                                    return CUDA_SUCCESS;
                                  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID id,
                                                          const CUlaunchAttribute::Value* value) {
  return change_node_of<KernelWork>(
      "cuGraphKernelNodeSetAttribute", node, [&](GraphNode&, KernelWork& work) {
        if (value == nullptr || !is_node_attribute(id)) return CUDA_ERROR_INVALID_VALUE;
        std::vector<CUlaunchAttribute> attributes = work.attributes;
        std::erase_if(attributes, [&](const auto& attribute) { return attribute.id == id; });
        CUlaunchAttribute changed = {};
        changed.id = id;
        changed.value = *value;
        attributes.push_back(changed);
        return with_attributes(work, std::move(attributes), work);
      });
}

CULEBRA_EMU_EXPORT CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return with_node_of<KernelWork>(
      "cuGraphKernelNodeCopyAttributes", to, [&](GraphNode& node, const KernelWork& work) {
        const auto source = find_node(from);
        const auto* other = source == nullptr ? nullptr : std::get_if<KernelWork>(&source->work());
        if (other == nullptr) return CUDA_ERROR_INVALID_VALUE;
        KernelWork changed;
        const CUresult result = with_attributes(work, other->attributes, changed);
        if (result == CUDA_SUCCESS) node.set_work(std::move(changed));
        return result;
      });
}

CULEBRA_EMU_EXPORT CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph,
                                                 const CUgraphNode* dependencies, std::size_t count,
                                                 const CUDA_MEMCPY3D* params, CUcontext context) {
  return add_node_in<CopyWork>("cuGraphAddMemcpyNode", node, graph, dependencies, count, params,
                               context);
}

CULEBRA_EMU_EXPORT CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* params) {
  return with_node_of<CopyWork>("cuGraphMemcpyNodeGetParams", node,
                                [&](GraphNode&, const CopyWork& work) {
                                  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
                                  write_params(work, *params);
                                  return CUDA_SUCCESS;
                                });
}

CULEBRA_EMU_EXPORT CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node,
                                                       const CUDA_MEMCPY3D* params) {
  return set_params<CopyWork>("cuGraphMemcpyNodeSetParams", node, params);
}

CULEBRA_EMU_EXPORT CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph,
                                                 const CUgraphNode* dependencies, std::size_t count,
                                                 const CUDA_MEMSET_NODE_PARAMS* params,
                                                 CUcontext context) {
  return add_node_in<FillWork>("cuGraphAddMemsetNode", node, graph, dependencies, count, params,
                               context);
}

CULEBRA_EMU_EXPORT CUresult cuGraphMemsetNodeGetParams(CUgraphNode node,
                                                       CUDA_MEMSET_NODE_PARAMS* params) {
  return with_node_of<FillWork>("cuGraphMemsetNodeGetParams", node,
                                [&](GraphNode&, const FillWork& work) {
                                  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
                                  write_params(work, *params);
                                  return CUDA_SUCCESS;
                                });
}

CULEBRA_EMU_EXPORT CUresult cuGraphMemsetNodeSetParams(CUgraphNode node,
                                                       const CUDA_MEMSET_NODE_PARAMS* params) {
  return set_params<FillWork>("cuGraphMemsetNodeSetParams", node, params);
}

CULEBRA_EMU_EXPORT CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph,
                                               const CUgraphNode* dependencies, std::size_t count,
                                               const CUDA_HOST_NODE_PARAMS* params) {
  return add_simple_node<HostWork>("cuGraphAddHostNode", node, graph, dependencies, count, params);
}

CULEBRA_EMU_EXPORT CUresult cuGraphHostNodeGetParams(CUgraphNode node,
                                                     CUDA_HOST_NODE_PARAMS* params) {
  return with_node_of<HostWork>("cuGraphHostNodeGetParams", node,
                                [&](GraphNode&, const HostWork& work) {
                                  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
                                  *params = {work.function, work.user_data};
                                  return CUDA_SUCCESS;
                                });
}

CULEBRA_EMU_EXPORT CUresult cuGraphHostNodeSetParams(CUgraphNode node,
                                                     const CUDA_HOST_NODE_PARAMS* params) {
  return set_params<HostWork>("cuGraphHostNodeSetParams", node, params);
}

CULEBRA_EMU_EXPORT CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph,
                                                     const CUgraphNode* dependencies,
                                                     std::size_t count, CUgraph child) {
  return add_node<ChildGraphWork>("cuGraphAddChildGraphNode", node, graph, dependencies, count,
                                  [&](ChildGraphWork& work, Context*&) {
                                    return read_params(child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE,
                                                       work);
                                  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* child) {
  return with_node_of<ChildGraphWork>("cuGraphChildGraphNodeGetGraph", node,
                                      [&](GraphNode&, const ChildGraphWork& work) {
                                        if (child == nullptr) return CUDA_ERROR_INVALID_VALUE;
                                        *child = work.graph.get();
                                        return CUDA_SUCCESS;
                                      });
}

CULEBRA_EMU_EXPORT CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph,
                                                const CUgraphNode* dependencies,
                                                std::size_t count) {
  return add_node<EmptyWork>("cuGraphAddEmptyNode", node, graph, dependencies, count,
                             [](EmptyWork&, Context*&) { return CUDA_SUCCESS; });
}

CULEBRA_EMU_EXPORT CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph,
                                                      const CUgraphNode* dependencies,
                                                      std::size_t count, CUevent event) {
  return add_event_node<EventRecordWork>("cuGraphAddEventRecordNode", node, graph, dependencies,
                                         count, event);
}

CULEBRA_EMU_EXPORT CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return get_event<EventRecordWork>("cuGraphEventRecordNodeGetEvent", node, event);
}

CULEBRA_EMU_EXPORT CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return set_event<EventRecordWork>("cuGraphEventRecordNodeSetEvent", node, event);
}

CULEBRA_EMU_EXPORT CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph,
                                                    const CUgraphNode* dependencies,
                                                    std::size_t count, CUevent event) {
  return add_event_node<EventWaitWork>("cuGraphAddEventWaitNode", node, graph, dependencies, count,
                                       event);
}

CULEBRA_EMU_EXPORT CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return get_event<EventWaitWork>("cuGraphEventWaitNodeGetEvent", node, event);
}

CULEBRA_EMU_EXPORT CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return set_event<EventWaitWork>("cuGraphEventWaitNodeSetEvent", node, event);
}

CULEBRA_EMU_EXPORT CUresult cuGraphAddBatchMemOpNode(CUgraphNode* node, CUgraph graph,
                                                     const CUgraphNode* dependencies,
                                                     std::size_t count,
                                                     const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return add_node_in<BatchMemoryWork>("cuGraphAddBatchMemOpNode", node, graph, dependencies, count,
                                      params, params == nullptr ? nullptr : params->ctx);
}

CULEBRA_EMU_EXPORT CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node,
                                                           CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return with_node_of<BatchMemoryWork>("cuGraphBatchMemOpNodeGetParams", node,
                                       [&](GraphNode& found, const BatchMemoryWork& work) {
                                         if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
                                         write_params(found, work, *params);
                                         return CUDA_SUCCESS;
                                       });
}

CULEBRA_EMU_EXPORT CUresult
cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return set_params<BatchMemoryWork>("cuGraphBatchMemOpNodeSetParams", node, params);
}

CULEBRA_EMU_EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph,
                                                   const CUgraphNode* dependencies,
                                                   std::size_t count,
                                                   CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return add_node<MemoryAllocWork>("cuGraphAddMemAllocNode", node, graph, dependencies, count,
                                   [&](MemoryAllocWork& work, Context*&) {
                                     return params == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                              : read_params(*params, work);
                                   });
}

CULEBRA_EMU_EXPORT CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node,
                                                         CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return with_node_of<MemoryAllocWork>("cuGraphMemAllocNodeGetParams", node,
                                       [&](GraphNode&, const MemoryAllocWork& work) {
                                         if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
                                         write_params(work, *params);
                                         return CUDA_SUCCESS;
                                       });
}

CULEBRA_EMU_EXPORT CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph,
                                                  const CUgraphNode* dependencies,
                                                  std::size_t count, CUdeviceptr address) {
  return add_node<MemoryFreeWork>(
      "cuGraphAddMemFreeNode", node, graph, dependencies, count,
      [&](MemoryFreeWork& work, Context*&) { return read_params(address, work); });
}

CULEBRA_EMU_EXPORT CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* address) {
  return with_node_of<MemoryFreeWork>("cuGraphMemFreeNodeGetParams", node,
                                      [&](GraphNode&, const MemoryFreeWork& work) {
                                        if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
                                        *address = work.memory->address();
                                        return CUDA_SUCCESS;
                                      });
}

CULEBRA_EMU_EXPORT CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph handle,
                                              const CUgraphNode* dependencies,
                                              const CUgraphEdgeData* data, std::size_t count,
                                              CUgraphNodeParams* params) {
  return with_graph("cuGraphAddNode_v2", handle, [&](const std::shared_ptr<Graph>& graph) {
    std::vector<Edge> edges;
    if (params == nullptr || !gather_edges(dependencies, data, count, edges)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    Work work;
    Context* context = nullptr;
    const CUresult result = read_params(*params, work, context);
    return result == CUDA_SUCCESS ? add_node(*graph, node, edges, std::move(work), context)
                                  : result;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams* params) {
  return with_node("cuGraphNodeSetParams", handle, [&](GraphNode& node) {
    if (params == nullptr || params->type != node.type()) return CUDA_ERROR_INVALID_VALUE;
    const bool is_memory =
        params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || params->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
    if (is_memory || params->type == CU_GRAPH_NODE_TYPE_GRAPH) return CUDA_ERROR_NOT_SUPPORTED;
    Work work;
    Context* context = nullptr;
    const CUresult result = read_params(*params, work, context);
    if (result != CUDA_SUCCESS) return result;
    node.set_work(std::move(work));
    node.set_context(context);
    return CUDA_SUCCESS;
  });
}
