// Graphs as a whole: their nodes, their edges, their copies.
#include <algorithm>
#include <cstdio>
#include <span>

#include "entry/graph_call.h"

using namespace culebra_emu;

namespace {

// Fills the caller's arrays as far as they reach, and says how many there are. A caller without
// arrays only wants to know that.
CUresult show_edges(const std::vector<Edge>& edges, CUgraphNode* nodes, CUgraphEdgeData* data,
                    std::size_t* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (nodes == nullptr) {
    if (data != nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = edges.size();
    return CUDA_SUCCESS;
  }
  const std::size_t room = *count;
  for (std::size_t i = 0; i < room; ++i) {
    const Edge edge = i < edges.size() ? edges[i] : Edge{};
    if (data == nullptr && !is_plain(edge.data)) return CUDA_ERROR_LOSSY_QUERY;
    nodes[i] = edge.node;
    if (data != nullptr) data[i] = edge.data;
  }
  *count = std::min(room, edges.size());
  return CUDA_SUCCESS;
}

CUresult show_nodes(const std::vector<CUgraphNode>& found, CUgraphNode* nodes, std::size_t* count) {
  std::vector<Edge> edges;
  for (CUgraphNode node : found) edges.push_back({node, {}});
  return show_edges(edges, nodes, nullptr, count);
}

bool is_edge_data_missing(const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  return count != 0 && (from == nullptr || to == nullptr);
}

}  // namespace

namespace culebra_emu {

bool gather_edges(const CUgraphNode* nodes, const CUgraphEdgeData* data, std::size_t count,
                  std::vector<Edge>& edges) {
  if (count != 0 && nodes == nullptr) return false;
  for (std::size_t i = 0; i < count; ++i) {
    edges.push_back({nodes[i], data == nullptr ? CUgraphEdgeData{} : data[i]});
  }
  return true;
}

}  // namespace culebra_emu

CULEBRA_EMU_EXPORT CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return graph_call("cuGraphCreate", [&] {
    if (graph == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *graph = Graph::create().get();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphDestroy(CUgraph handle) {
  return with_graph("cuGraphDestroy", handle, [](const std::shared_ptr<Graph>& graph) {
    // A child is its node's, and a graph under capture the capture's.
    if (graph->is_child() || graph->capturing()) return CUDA_ERROR_INVALID_VALUE;
    graph->forget();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphClone(CUgraph* copy, CUgraph handle) {
  return with_graph("cuGraphClone", handle, [&](const std::shared_ptr<Graph>& graph) {
    if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (graph->has_memory_nodes()) return CUDA_ERROR_NOT_SUPPORTED;
    *copy = graph->clone(Graph::Copy::kUsers).get();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode original,
                                                   CUgraph clone) {
  return with_graph("cuGraphNodeFindInClone", clone, [&](const std::shared_ptr<Graph>& graph) {
    const std::shared_ptr<GraphNode> node = find_node(original);
    if (found == nullptr || node == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *found = graph->find_copy_of(*node);
    return *found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes,
                                            std::size_t* count) {
  return with_graph("cuGraphGetNodes", handle, [&](const std::shared_ptr<Graph>& graph) {
    std::vector<CUgraphNode> found;
    for (const auto& node : graph->nodes()) found.push_back(node.get());
    return show_nodes(found, nodes, count);
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes,
                                                std::size_t* count) {
  return with_graph("cuGraphGetRootNodes", handle, [&](const std::shared_ptr<Graph>& graph) {
    std::vector<CUgraphNode> found;
    for (const auto& node : graph->nodes()) {
      if (node->dependencies().empty()) found.push_back(node.get());
    }
    return show_nodes(found, nodes, count);
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode* from, CUgraphNode* to,
                                               CUgraphEdgeData* data, std::size_t* count) {
  return with_graph("cuGraphGetEdges_v2", handle, [&](const std::shared_ptr<Graph>& graph) {
    if (count == nullptr || (from == nullptr) != (to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    std::vector<Edge> ends;
    std::vector<CUgraphNode> starts;
    for (const auto& node : graph->nodes()) {
      for (const Edge& edge : node->dependents()) {
        starts.push_back(node.get());
        ends.push_back(edge);
      }
    }
    const std::size_t room = *count;
    const CUresult result = show_edges(ends, to, data, count);
    if (result != CUDA_SUCCESS || from == nullptr) return result;
    for (std::size_t i = 0; i < room; ++i) from[i] = i < starts.size() ? starts[i] : nullptr;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode* nodes,
                                                          CUgraphEdgeData* data,
                                                          std::size_t* count) {
  return with_node("cuGraphNodeGetDependencies_v2", handle, [&](const GraphNode& node) {
    return show_edges(node.dependencies(), nodes, data, count);
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode* nodes,
                                                            CUgraphEdgeData* data,
                                                            std::size_t* count) {
  return with_node("cuGraphNodeGetDependentNodes_v2", handle, [&](const GraphNode& node) {
    return show_edges(node.dependents(), nodes, data, count);
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphAddDependencies_v2(CUgraph handle, const CUgraphNode* from,
                                                      const CUgraphNode* to,
                                                      const CUgraphEdgeData* data,
                                                      std::size_t count) {
  return with_graph("cuGraphAddDependencies_v2", handle, [&](const std::shared_ptr<Graph>& graph) {
    if (is_edge_data_missing(from, to, count)) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i) {
      if (graph->add_edge(from[i], to[i], data == nullptr ? CUgraphEdgeData{} : data[i])) continue;
      // All or none.
      while (i-- > 0) {
        graph->remove_edge(from[i], to[i], data == nullptr ? CUgraphEdgeData{} : data[i]);
      }
      return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphRemoveDependencies_v2(CUgraph handle, const CUgraphNode* from,
                                                         const CUgraphNode* to,
                                                         const CUgraphEdgeData* data,
                                                         std::size_t count) {
  return with_graph(
      "cuGraphRemoveDependencies_v2", handle, [&](const std::shared_ptr<Graph>& graph) {
        if (is_edge_data_missing(from, to, count)) return CUDA_ERROR_INVALID_VALUE;
        if (graph->has_memory_nodes()) return CUDA_ERROR_NOT_SUPPORTED;
        for (std::size_t i = 0; i < count; ++i) {
          if (!graph->remove_edge(from[i], to[i], data == nullptr ? CUgraphEdgeData{} : data[i])) {
            return CUDA_ERROR_INVALID_VALUE;
          }
        }
        return CUDA_SUCCESS;
      });
}

CULEBRA_EMU_EXPORT CUresult cuGraphDestroyNode(CUgraphNode handle) {
  return with_node("cuGraphDestroyNode", handle, [](GraphNode& node) {
    Graph& graph = node.graph();
    if (graph.has_memory_nodes()) return CUDA_ERROR_NOT_SUPPORTED;
    if (graph.capturing()) return CUDA_ERROR_INVALID_VALUE;
    graph.remove(&node);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  return with_node("cuGraphNodeGetType", handle, [&](const GraphNode& node) {
    if (type == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *type = node.type();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphDebugDotPrint(CUgraph handle, const char* path, unsigned flags) {
  return with_graph("cuGraphDebugDotPrint", handle, [&](const std::shared_ptr<Graph>& graph) {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::FILE* file = std::fopen(path, "w");
    if (file == nullptr) return CUDA_ERROR_OPERATING_SYSTEM;
    const std::string text = to_dot(*graph, flags != 0);
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && written ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
  });
}

CULEBRA_EMU_EXPORT CUresult cuUserObjectCreate(CUuserObject* object, void* pointer,
                                               CUhostFn destroy, unsigned references,
                                               unsigned flags) {
  return graph_call("cuUserObjectCreate", [&] {
    if (object == nullptr || destroy == nullptr || references == 0 || references > INT32_MAX ||
        flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *object = UserObject::create(pointer, destroy, references);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuUserObjectRetain(CUuserObject handle, unsigned count) {
  return graph_call("cuUserObjectRetain", [&] {
    const auto object = UserObject::find(handle);
    if (object == nullptr || count == 0 || count > INT32_MAX) return CUDA_ERROR_INVALID_VALUE;
    object->retain(count);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuUserObjectRelease(CUuserObject handle, unsigned count) {
  return graph_call("cuUserObjectRelease", [&] {
    const auto object = UserObject::find(handle);
    if (object == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    return object->release(count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphRetainUserObject(CUgraph handle, CUuserObject object_handle,
                                                    unsigned count, unsigned flags) {
  return with_graph("cuGraphRetainUserObject", handle, [&](const std::shared_ptr<Graph>& graph) {
    const auto object = UserObject::find(object_handle);
    if (object == nullptr || count == 0 || flags > CU_GRAPH_USER_OBJECT_MOVE) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    graph->retain(object, count);
    // Moved: the caller's references become the graph's.
    if (flags == CU_GRAPH_USER_OBJECT_MOVE && !object->release(count)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGraphReleaseUserObject(CUgraph handle, CUuserObject object_handle,
                                                     unsigned count) {
  return with_graph("cuGraphReleaseUserObject", handle, [&](const std::shared_ptr<Graph>& graph) {
    const auto object = UserObject::find(object_handle);
    if (object == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    return graph->release(*object, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}
