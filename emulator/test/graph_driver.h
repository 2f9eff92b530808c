// The driver's functions for graphs and capture, found when first called.
#pragma once

#include "abi_graph.h"
#include "driver.h"

template <class... Parameters>
struct DriverFunction {
  const char* symbol;
  CUresult operator()(Parameters... arguments) const {
    const auto function =
        reinterpret_cast<CUresult (*)(Parameters...)>(dlsym(driver_library(), symbol));
    if (function == nullptr) {
      std::fprintf(stderr, "no %s\n", symbol);
      std::exit(2);
    }
    return function(arguments...);
  }
};

// F(symbol, parameter types)
#define CULEBRA_TEST_GRAPH_FUNCTIONS(F)                                                          \
  F(cuStreamBeginCapture_v2, CUstream, CUstreamCaptureMode)                                      \
  F(cuStreamBeginCaptureToGraph, CUstream, CUgraph, const CUgraphNode*, const CUgraphEdgeData*,  \
    std::size_t, CUstreamCaptureMode)                                                            \
  F(cuStreamEndCapture, CUstream, CUgraph*)                                                      \
  F(cuStreamIsCapturing, CUstream, CUstreamCaptureStatus*)                                       \
  F(cuStreamGetCaptureInfo_v3, CUstream, CUstreamCaptureStatus*, std::uint64_t*, CUgraph*,       \
    const CUgraphNode**, const CUgraphEdgeData**, std::size_t*)                                  \
  F(cuStreamUpdateCaptureDependencies_v2, CUstream, CUgraphNode*, const CUgraphEdgeData*,        \
    std::size_t, unsigned)                                                                       \
  F(cuThreadExchangeStreamCaptureMode, CUstreamCaptureMode*)                                     \
  F(cuEventRecordWithFlags, CUevent, CUstream, unsigned)                                         \
  F(cuGraphCreate, CUgraph*, unsigned)                                                           \
  F(cuGraphDestroy, CUgraph)                                                                     \
  F(cuGraphClone, CUgraph*, CUgraph)                                                             \
  F(cuGraphNodeFindInClone, CUgraphNode*, CUgraphNode, CUgraph)                                  \
  F(cuGraphGetNodes, CUgraph, CUgraphNode*, std::size_t*)                                        \
  F(cuGraphGetRootNodes, CUgraph, CUgraphNode*, std::size_t*)                                    \
  F(cuGraphGetEdges_v2, CUgraph, CUgraphNode*, CUgraphNode*, CUgraphEdgeData*, std::size_t*)     \
  F(cuGraphNodeGetDependencies_v2, CUgraphNode, CUgraphNode*, CUgraphEdgeData*, std::size_t*)    \
  F(cuGraphNodeGetDependentNodes_v2, CUgraphNode, CUgraphNode*, CUgraphEdgeData*, std::size_t*)  \
  F(cuGraphAddDependencies_v2, CUgraph, const CUgraphNode*, const CUgraphNode*,                  \
    const CUgraphEdgeData*, std::size_t)                                                         \
  F(cuGraphRemoveDependencies_v2, CUgraph, const CUgraphNode*, const CUgraphNode*,               \
    const CUgraphEdgeData*, std::size_t)                                                         \
  F(cuGraphDestroyNode, CUgraphNode)                                                             \
  F(cuGraphNodeGetType, CUgraphNode, CUgraphNodeType*)                                           \
  F(cuGraphDebugDotPrint, CUgraph, const char*, unsigned)                                        \
  F(cuUserObjectCreate, CUuserObject*, void*, CUhostFn, unsigned, unsigned)                      \
  F(cuUserObjectRetain, CUuserObject, unsigned)                                                  \
  F(cuUserObjectRelease, CUuserObject, unsigned)                                                 \
  F(cuGraphRetainUserObject, CUgraph, CUuserObject, unsigned, unsigned)                          \
  F(cuGraphReleaseUserObject, CUgraph, CUuserObject, unsigned)                                   \
  F(cuGraphAddKernelNode_v2, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,             \
    const CUDA_KERNEL_NODE_PARAMS*)                                                              \
  F(cuGraphKernelNodeGetParams_v2, CUgraphNode, CUDA_KERNEL_NODE_PARAMS*)                        \
  F(cuGraphKernelNodeSetParams_v2, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*)                  \
  F(cuGraphKernelNodeGetAttribute, CUgraphNode, CUlaunchAttributeID, CUlaunchAttribute::Value*)  \
  F(cuGraphKernelNodeSetAttribute, CUgraphNode, CUlaunchAttributeID,                             \
    const CUlaunchAttribute::Value*)                                                             \
  F(cuGraphKernelNodeCopyAttributes, CUgraphNode, CUgraphNode)                                   \
  F(cuGraphAddMemcpyNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,                \
    const CUDA_MEMCPY3D*, CUcontext)                                                             \
  F(cuGraphMemcpyNodeGetParams, CUgraphNode, CUDA_MEMCPY3D*)                                     \
  F(cuGraphMemcpyNodeSetParams, CUgraphNode, const CUDA_MEMCPY3D*)                               \
  F(cuGraphAddMemsetNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,                \
    const CUDA_MEMSET_NODE_PARAMS*, CUcontext)                                                   \
  F(cuGraphMemsetNodeGetParams, CUgraphNode, CUDA_MEMSET_NODE_PARAMS*)                           \
  F(cuGraphMemsetNodeSetParams, CUgraphNode, const CUDA_MEMSET_NODE_PARAMS*)                     \
  F(cuGraphAddHostNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,                  \
    const CUDA_HOST_NODE_PARAMS*)                                                                \
  F(cuGraphHostNodeGetParams, CUgraphNode, CUDA_HOST_NODE_PARAMS*)                               \
  F(cuGraphHostNodeSetParams, CUgraphNode, const CUDA_HOST_NODE_PARAMS*)                         \
  F(cuGraphAddChildGraphNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUgraph)   \
  F(cuGraphChildGraphNodeGetGraph, CUgraphNode, CUgraph*)                                        \
  F(cuGraphAddEmptyNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t)                 \
  F(cuGraphAddEventRecordNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUevent)  \
  F(cuGraphEventRecordNodeGetEvent, CUgraphNode, CUevent*)                                       \
  F(cuGraphEventRecordNodeSetEvent, CUgraphNode, CUevent)                                        \
  F(cuGraphAddEventWaitNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUevent)    \
  F(cuGraphEventWaitNodeGetEvent, CUgraphNode, CUevent*)                                         \
  F(cuGraphEventWaitNodeSetEvent, CUgraphNode, CUevent)                                          \
  F(cuGraphAddBatchMemOpNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,            \
    const CUDA_BATCH_MEM_OP_NODE_PARAMS*)                                                        \
  F(cuGraphBatchMemOpNodeGetParams, CUgraphNode, CUDA_BATCH_MEM_OP_NODE_PARAMS*)                 \
  F(cuGraphBatchMemOpNodeSetParams, CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS*)           \
  F(cuGraphAddMemAllocNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,              \
    CUDA_MEM_ALLOC_NODE_PARAMS*)                                                                 \
  F(cuGraphMemAllocNodeGetParams, CUgraphNode, CUDA_MEM_ALLOC_NODE_PARAMS*)                      \
  F(cuGraphAddMemFreeNode, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUdeviceptr)  \
  F(cuGraphMemFreeNodeGetParams, CUgraphNode, CUdeviceptr*)                                      \
  F(cuGraphAddNode_v2, CUgraphNode*, CUgraph, const CUgraphNode*, const CUgraphEdgeData*,        \
    std::size_t, CUgraphNodeParams*)                                                             \
  F(cuGraphNodeSetParams, CUgraphNode, CUgraphNodeParams*)                                       \
  F(cuGraphInstantiateWithFlags, CUgraphExec*, CUgraph, unsigned long long)                      \
  F(cuGraphInstantiateWithParams, CUgraphExec*, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS*)         \
  F(cuGraphExecDestroy, CUgraphExec)                                                             \
  F(cuGraphExecGetFlags, CUgraphExec, std::uint64_t*)                                            \
  F(cuGraphUpload, CUgraphExec, CUstream)                                                        \
  F(cuGraphLaunch, CUgraphExec, CUstream)                                                        \
  F(cuGraphExecUpdate_v2, CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo*)                    \
  F(cuGraphNodeSetEnabled, CUgraphExec, CUgraphNode, unsigned)                                   \
  F(cuGraphNodeGetEnabled, CUgraphExec, CUgraphNode, unsigned*)                                  \
  F(cuGraphExecKernelNodeSetParams_v2, CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*) \
  F(cuGraphExecMemcpyNodeSetParams, CUgraphExec, CUgraphNode, const CUDA_MEMCPY3D*, CUcontext)   \
  F(cuGraphExecMemsetNodeSetParams, CUgraphExec, CUgraphNode, const CUDA_MEMSET_NODE_PARAMS*,    \
    CUcontext)                                                                                   \
  F(cuGraphExecHostNodeSetParams, CUgraphExec, CUgraphNode, const CUDA_HOST_NODE_PARAMS*)        \
  F(cuGraphExecChildGraphNodeSetParams, CUgraphExec, CUgraphNode, CUgraph)                       \
  F(cuGraphExecEventRecordNodeSetEvent, CUgraphExec, CUgraphNode, CUevent)                       \
  F(cuGraphExecEventWaitNodeSetEvent, CUgraphExec, CUgraphNode, CUevent)                         \
  F(cuGraphExecBatchMemOpNodeSetParams, CUgraphExec, CUgraphNode,                                \
    const CUDA_BATCH_MEM_OP_NODE_PARAMS*)                                                        \
  F(cuGraphExecNodeSetParams, CUgraphExec, CUgraphNode, CUgraphNodeParams*)                      \
  F(cuDeviceGraphMemTrim, CUdevice)                                                              \
  F(cuDeviceGetGraphMemAttribute, CUdevice, CUgraphMem_attribute, void*)                         \
  F(cuDeviceSetGraphMemAttribute, CUdevice, CUgraphMem_attribute, void*)                         \
  F(cuGraphConditionalHandleCreate, std::uint64_t*, CUgraph, CUcontext, unsigned, unsigned)

#define F(symbol, ...) inline constexpr DriverFunction<__VA_ARGS__> symbol{#symbol};
CULEBRA_TEST_GRAPH_FUNCTIONS(F)
#undef F
