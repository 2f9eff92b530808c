// Stream-ordered memory in captured streams, and memory that a graph has allocated.
#pragma once

#include "abi.h"
#include "model/stream.h"

namespace culebra_emu {

// If the stream is being captured: an allocation node. Else nothing happens, and `captured` is
// false.
CUresult alloc_in_capture(const Stream& stream, std::size_t bytes, CUdeviceptr& address,
                          bool& captured);
// The same for a free node.
CUresult free_in_capture(const Stream& stream, CUdeviceptr address, bool& captured);

// Frees what a graph's launch has allocated and not freed.
CUresult free_graph_memory(CUdeviceptr address);

}  // namespace culebra_emu
