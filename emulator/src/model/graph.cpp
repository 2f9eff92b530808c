#include "model/graph.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "model/graph_memory.h"
#include "model/objects.h"

namespace culebra_emu {
namespace {

// Never destroyed: a detached thread may still hold a graph at the process's end.
struct Handles {
  Registry<Graph> graphs{"graph"};
  Registry<GraphNode> nodes{"graph node"};
  std::atomic<std::size_t> children = 0;
};

Handles& handles() {
  static Handles& instance = *new Handles;
  return instance;
}

std::uint64_t next_node_id() {
  static std::atomic<std::uint64_t> next = 1;
  return next.fetch_add(1);
}

void erase_edge(std::vector<Edge>& edges, const GraphNode* node) {
  std::erase_if(edges, [&](const Edge& edge) { return edge.node == node; });
}

}  // namespace

std::recursive_mutex& graphs_mutex() {
  static std::recursive_mutex& mutex = *new std::recursive_mutex;
  return mutex;
}

bool Edge::operator==(const Edge& other) const {
  return node == other.node && std::memcmp(&data, &other.data, sizeof data) == 0;
}

bool is_plain(const CUgraphEdgeData& data) {
  const CUgraphEdgeData plain = {};
  return std::memcmp(&data, &plain, sizeof data) == 0;
}

bool is_valid_edge(const GraphNode& from, const Work& to, const CUgraphEdgeData& data) {
  const CUgraphEdgeData plain = {};
  if (std::memcmp(data.reserved, plain.reserved, sizeof data.reserved) != 0 || data.to_port != 0) {
    return false;
  }
  if (data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT) return data.from_port == 0;
  return data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC &&
         (data.from_port == kPortProgrammatic || data.from_port == kPortLaunchOrder) &&
         from.type() == CU_GRAPH_NODE_TYPE_KERNEL && node_type(to) == CU_GRAPH_NODE_TYPE_KERNEL;
}

std::shared_ptr<GraphNode> find_node(CUgraphNode handle) { return handles().nodes.find(handle); }

std::shared_ptr<Graph> Graph::create() {
  std::shared_ptr<Graph> graph(new Graph(true));
  handles().graphs.add(graph);
  return graph;
}

std::shared_ptr<Graph> Graph::find(CUgraph handle) { return handles().graphs.find(handle); }

std::size_t Graph::count() {
  const std::lock_guard lock(graphs_mutex());
  return handles().graphs.size() - handles().children;
}

std::vector<std::string> Graph::describe_each() {
  const std::lock_guard lock(graphs_mutex());
  return handles().graphs.describe_each([](const Graph& graph) { return !graph.is_child(); });
}

void Graph::set_child() {
  if (has_handle_ && !is_child_) ++handles().children;
  is_child_ = true;
}

Graph::~Graph() {
  for (auto& [object, held] : user_objects_) held.first->release(held.second);
}

void Graph::forget() {
  for (const auto& node : nodes_) {
    handles().nodes.remove(node.get());
    if (const auto* child = std::get_if<ChildGraphWork>(&node->work())) child->graph->forget();
  }
  if (handles().graphs.remove(this) != nullptr && is_child_) --handles().children;
}

std::shared_ptr<Graph> Graph::clone(Copy copy) const {
  const bool has_handles = copy == Copy::kUsers;
  std::shared_ptr<Graph> result = has_handles ? create() : std::shared_ptr<Graph>(new Graph(false));
  std::unordered_map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : nodes_) {
    Work work = node->work();
    if (auto* child = std::get_if<ChildGraphWork>(&work)) {
      child->graph = child->graph->clone(copy);
      child->graph->set_child();
    }
    auto new_node =
        std::make_shared<GraphNode>(*result, std::move(work), node->context(), next_node_id());
    new_node->set_original_id(copy == Copy::kRevision ? node->original_id() : node->id());
    new_node->set_enabled(node->enabled());
    copies.emplace(node.get(), new_node.get());
    if (has_handles) handles().nodes.add(new_node);
    result->nodes_.push_back(std::move(new_node));
  }
  for (const auto& node : nodes_) {
    const auto translate = [&](const std::vector<Edge>& edges, std::vector<Edge>& out) {
      for (const Edge& edge : edges) out.push_back({copies.at(edge.node), edge.data});
    };
    translate(node->dependencies_, copies.at(node.get())->dependencies_);
    translate(node->dependents_, copies.at(node.get())->dependents_);
  }
  for (const auto& [object, held] : user_objects_) result->retain(held.first, held.second);
  return result;
}

bool Graph::has(const GraphNode* node) const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [&](const auto& candidate) { return candidate.get() == node; });
}

GraphNode* Graph::find_copy_of(const GraphNode& original) const {
  for (const auto& node : nodes_) {
    if (node->original_id() == original.id()) return node.get();
    if (const auto* child = std::get_if<ChildGraphWork>(&node->work())) {
      if (GraphNode* found = child->graph->find_copy_of(original)) return found;
    }
  }
  return nullptr;
}

GraphNode* Graph::add(Work work, Context* context, const std::vector<Edge>& dependencies) {
  for (auto edge = dependencies.begin(); edge != dependencies.end(); ++edge) {
    const bool again = std::any_of(dependencies.begin(), edge,
                                   [&](const Edge& other) { return other.node == edge->node; });
    if (again || !has(edge->node) || !is_valid_edge(*edge->node, work, edge->data)) return nullptr;
  }
  auto node = std::make_shared<GraphNode>(*this, std::move(work), context, next_node_id());
  node->dependencies_ = dependencies;
  for (const Edge& edge : dependencies) {
    edge.node->dependents_.push_back({node.get(), edge.data});
  }
  handles().nodes.add(node);
  nodes_.push_back(node);
  return node.get();
}

bool Graph::add_edge(GraphNode* from, GraphNode* to, const CUgraphEdgeData& data) {
  if (from == to || !has(from) || !has(to) || !is_valid_edge(*from, to->work(), data)) return false;
  for (const Edge& edge : to->dependencies_) {
    if (edge.node == from) return false;
  }
  to->dependencies_.push_back({from, data});
  from->dependents_.push_back({to, data});
  return true;
}

bool Graph::remove_edge(GraphNode* from, GraphNode* to, const CUgraphEdgeData& data) {
  if (!has(from) || !has(to)) return false;
  const auto found =
      std::find(to->dependencies_.begin(), to->dependencies_.end(), Edge{from, data});
  if (found == to->dependencies_.end()) return false;
  to->dependencies_.erase(found);
  erase_edge(from->dependents_, to);
  return true;
}

void Graph::remove(GraphNode* node) {
  for (const Edge& edge : node->dependencies_) erase_edge(edge.node->dependents_, node);
  for (const Edge& edge : node->dependents_) erase_edge(edge.node->dependencies_, node);
  if (const auto* child = std::get_if<ChildGraphWork>(&node->work())) child->graph->forget();
  handles().nodes.remove(node);
  std::erase_if(nodes_, [&](const auto& candidate) { return candidate.get() == node; });
}

const GraphNode* Graph::find_cycle() const {
  std::unordered_map<const GraphNode*, std::size_t> waiting;
  std::vector<const GraphNode*> ready;
  for (const auto& node : nodes_) {
    waiting[node.get()] = node->dependencies().size();
    if (node->dependencies().empty()) ready.push_back(node.get());
  }
  while (!ready.empty()) {
    const GraphNode* node = ready.back();
    ready.pop_back();
    waiting.erase(node);
    for (const Edge& edge : node->dependents()) {
      if (--waiting.at(edge.node) == 0) ready.push_back(edge.node);
    }
  }
  return waiting.empty() ? nullptr : waiting.begin()->first;
}

bool Graph::has_memory_nodes() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
    const auto* child = std::get_if<ChildGraphWork>(&node->work());
    return std::holds_alternative<MemoryAllocWork>(node->work()) ||
           std::holds_alternative<MemoryFreeWork>(node->work()) ||
           (child != nullptr && child->graph->has_memory_nodes());
  });
}

void Graph::retain(const std::shared_ptr<UserObject>& object, std::uint64_t count) {
  auto& held = user_objects_[object.get()];
  held.first = object;
  held.second += count;
  object->retain(count);
}

bool Graph::release(const UserObject& object, std::uint64_t count) {
  const auto found = user_objects_.find(&object);
  if (found == user_objects_.end() || found->second.second < count) return false;
  const std::shared_ptr<UserObject> held = found->second.first;
  found->second.second -= count;
  if (found->second.second == 0) user_objects_.erase(found);
  return held->release(count);
}

}  // namespace culebra_emu
