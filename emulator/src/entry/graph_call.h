// What every entry about graphs does: one at a time, on live objects.
#pragma once

#include <mutex>
#include <utility>

#include "abi_graph.h"
#include "entry/call.h"
#include "model/executable_graph.h"
#include "model/graph.h"

namespace culebra_emu {

template <class Body>
CUresult graph_call(const char* symbol, Body body) {
  return call(symbol, kNeedsInit, [&] {
    const std::lock_guard lock(graphs_mutex());
    return body();
  });
}

template <class Body>
CUresult with_graph(const char* symbol, CUgraph handle, Body body) {
  return graph_call(symbol, [&] {
    const std::shared_ptr<Graph> graph = Graph::find(handle);
    return graph == nullptr ? CUDA_ERROR_INVALID_VALUE : body(graph);
  });
}

template <class Body>
CUresult with_node(const char* symbol, CUgraphNode handle, Body body) {
  return graph_call(symbol, [&] {
    const std::shared_ptr<GraphNode> node = find_node(handle);
    return node == nullptr ? CUDA_ERROR_INVALID_VALUE : body(*node);
  });
}

// A node whose work is of the kind asked for: body(node, work).
template <class Kind, class Body>
CUresult with_node_of(const char* symbol, CUgraphNode handle, Body body) {
  return with_node(symbol, handle, [&](GraphNode& node) {
    const auto* work = std::get_if<Kind>(&node.work());
    return work == nullptr ? CUDA_ERROR_INVALID_VALUE : body(node, *work);
  });
}

// The same for a node that is to get other parameters: body(node, work) changes a copy.
template <class Kind, class Body>
CUresult change_node_of(const char* symbol, CUgraphNode handle, Body body) {
  return with_node_of<Kind>(symbol, handle, [&](GraphNode& node, Kind work) {
    const CUresult result = body(node, work);
    if (result == CUDA_SUCCESS) node.set_work(std::move(work));
    return result;
  });
}

template <class Body>
CUresult with_executable(const char* symbol, CUgraphExec handle, Body body) {
  return graph_call(symbol, [&] {
    const std::shared_ptr<ExecutableGraph> executable = ExecutableGraph::find(handle);
    return executable == nullptr ? CUDA_ERROR_INVALID_VALUE : body(*executable);
  });
}

// The edges of arrays as callers pass them; false if an array is missing.
bool gather_edges(const CUgraphNode* nodes, const CUgraphEdgeData* data, std::size_t count,
                  std::vector<Edge>& edges);

}  // namespace culebra_emu
