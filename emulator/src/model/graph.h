// Graphs: work with an order that is only as strict as its edges. A graph is a template; what runs
// is an executable copy of it.
//
// Everything here is under graphs_mutex(), which every entry about graphs and capture holds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "abi_graph.h"
#include "model/completion.h"
#include "model/registry.h"
#include "model/user_object.h"
#include "model/work.h"

namespace culebra_emu {

std::recursive_mutex& graphs_mutex();

// To what a node is tied: what it depends on, or what depends on it.
struct Edge {
  GraphNode* node = nullptr;
  CUgraphEdgeData data = {};

  bool operator==(const Edge& other) const;
};

// Whether the data says nothing beyond "after".
bool is_plain(const CUgraphEdgeData& data);

class GraphNode {
 public:
  GraphNode(Graph& graph, Work work, Context* context, std::uint64_t id)
      : graph_(graph), work_(std::move(work)), context_(context), id_(id) {}
  GraphNode(const GraphNode&) = delete;
  GraphNode& operator=(const GraphNode&) = delete;

  Graph& graph() const { return graph_; }
  CUgraphNodeType type() const { return node_type(work_); }
  // Unique in the process, unlike the handle.
  std::uint64_t id() const { return id_; }
  // The node that this one was copied from.
  std::uint64_t original_id() const { return original_id_; }
  void set_original_id(std::uint64_t id) { original_id_ = id; }

  const Work& work() const { return work_; }
  void set_work(Work work) { work_ = std::move(work); }
  // Where it runs; null for wherever the graph is launched.
  Context* context() const { return context_; }
  void set_context(Context* context) { context_ = context; }

  // In the order in which they were made.
  const std::vector<Edge>& dependencies() const { return dependencies_; }
  const std::vector<Edge>& dependents() const { return dependents_; }

  // Only in an executable graph: a disabled node does nothing when its turn comes.
  bool enabled() const { return enabled_; }
  void set_enabled(bool enabled) { enabled_ = enabled; }

  // What the getters of parameters point to, valid until the node is gone or asked again.
  std::vector<void*> argument_pointers;
  std::vector<CUstreamBatchMemOpParams> shown_operations;

 private:
  friend class Graph;

  Graph& graph_;
  Work work_;
  Context* context_;
  const std::uint64_t id_;
  std::uint64_t original_id_ = 0;
  bool enabled_ = true;
  std::vector<Edge> dependencies_;
  std::vector<Edge> dependents_;
};

class Graph {
 public:
  static std::shared_ptr<Graph> create();
  // The live one of a handle; null if there is none.
  static std::shared_ptr<Graph> find(CUgraph handle);
  // Those with a handle that are no node's child.
  static std::size_t count();
  static std::vector<std::string> describe_each();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // The handle is dead from now on; the graph lives as long as somebody holds it.
  void forget();

  enum class Copy {
    kUsers,       // has handles; each node knows the one that it was copied from
    kExecutable,  // as kUsers, but nobody gets a handle
    kRevision,    // of an executable graph: each node keeps what it knows
  };
  // Its own nodes, children and all.
  std::shared_ptr<Graph> clone(Copy copy) const;

  const std::vector<std::shared_ptr<GraphNode>>& nodes() const { return nodes_; }
  bool has(const GraphNode* node) const;
  // Null if no node, here or in a child, was copied from that one.
  GraphNode* find_copy_of(const GraphNode& original) const;

  // Null if a dependency is no node of this graph or is named twice, or its data makes no sense.
  GraphNode* add(Work work, Context* context, const std::vector<Edge>& dependencies);
  // False as above, or if the edge is there already.
  bool add_edge(GraphNode* from, GraphNode* to, const CUgraphEdgeData& data);
  // False if it is not there.
  bool remove_edge(GraphNode* from, GraphNode* to, const CUgraphEdgeData& data);
  void remove(GraphNode* node);

  // A node that cannot be put in any order, since it waits for itself; null if there is none.
  const GraphNode* find_cycle() const;
  // Nodes that a graph may not be copied with.
  bool has_memory_nodes() const;

  // A graph that is a node's child belongs to that node.
  bool is_child() const { return is_child_; }
  void set_child();
  // A stream is being captured into it.
  bool capturing() const { return capturing_; }
  void set_capturing(bool capturing) { capturing_ = capturing; }
  // How many executable graphs there are of it.
  int executables = 0;

  void retain(const std::shared_ptr<UserObject>& object, std::uint64_t count);
  // False if the graph has not as many references.
  bool release(const UserObject& object, std::uint64_t count);

 private:
  explicit Graph(bool has_handle) : has_handle_(has_handle) {}

  const bool has_handle_;
  bool is_child_ = false;
  bool capturing_ = false;
  std::vector<std::shared_ptr<GraphNode>> nodes_;
  std::map<const UserObject*, std::pair<std::shared_ptr<UserObject>, std::uint64_t>> user_objects_;
};

// The live node of a handle; null if there is none.
std::shared_ptr<GraphNode> find_node(CUgraphNode handle);

// Whether an edge may join the two.
bool is_valid_edge(const GraphNode& from, const Work& to, const CUgraphEdgeData& data);

// cuGraphDebugDotPrint.
std::string to_dot(const Graph& graph, bool verbose);

}  // namespace culebra_emu
