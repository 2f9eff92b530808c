// The driver's parameter structs of nodes and what they mean.
#pragma once

#include "abi_graph.h"
#include "model/graph.h"

namespace culebra_emu {

// What the struct asks for, checked as the driver checks it.
CUresult read_params(const CUDA_KERNEL_NODE_PARAMS& params, KernelWork& work);
CUresult read_params(const CUDA_MEMCPY3D& params, CopyWork& work);
CUresult read_params(const CUDA_MEMSET_NODE_PARAMS& params, FillWork& work);
CUresult read_params(const CUDA_HOST_NODE_PARAMS& params, HostWork& work);
CUresult read_params(const CUDA_BATCH_MEM_OP_NODE_PARAMS& params, BatchMemoryWork& work);
CUresult read_params(CUevent handle, EventRecordWork& work);
CUresult read_params(CUevent handle, EventWaitWork& work);
CUresult read_params(CUgraph handle, CUgraphChildGraphNodeOwnership ownership,
                     ChildGraphWork& work);
// Makes the memory, and tells its address.
CUresult read_params(CUDA_MEM_ALLOC_NODE_PARAMS& params, MemoryAllocWork& work);
CUresult read_params(CUdeviceptr address, MemoryFreeWork& work);

// Any of them. `context` is where the node will run, null for wherever.
CUresult read_params(CUgraphNodeParams& params, Work& work, Context*& context);

// The way back; what is pointed to belongs to the node.
void write_params(GraphNode& node, const KernelWork& work, CUDA_KERNEL_NODE_PARAMS& params);
void write_params(const CopyWork& work, CUDA_MEMCPY3D& params);
void write_params(const FillWork& work, CUDA_MEMSET_NODE_PARAMS& params);
void write_params(GraphNode& node, const BatchMemoryWork& work,
                  CUDA_BATCH_MEM_OP_NODE_PARAMS& params);
void write_params(const MemoryAllocWork& work, CUDA_MEM_ALLOC_NODE_PARAMS& params);

// The context for a node that names one; the current one if it names none. CUDA_SUCCESS if it is
// alive.
CUresult node_context(CUcontext named, Context*& context);

}  // namespace culebra_emu
