#include "model/executable_graph.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "execution/launch.h"
#include "model/device.h"
#include "model/graph_memory.h"
#include "model/graph_run.h"
#include "model/objects.h"

namespace culebra_emu {
namespace {

Registry<ExecutableGraph>& registry() {
  static Registry<ExecutableGraph>& instance = *new Registry<ExecutableGraph>("executable graph");
  return instance;
}

bool is_cooperative(const KernelWork& work) {
  return std::any_of(work.attributes.begin(), work.attributes.end(), [](const auto& attribute) {
    return attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attribute.value.cooperative != 0;
  });
}

CUgraphExecUpdateResult check_kernel(const KernelWork& from, const KernelWork& to) {
  if (from.function->context() != to.function->context()) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
  }
  return is_cooperative(from) == is_cooperative(to) ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                    : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
}

CUgraphExecUpdateResult check_copy(const CopyWork& from, const CopyWork& to) {
  const bool same_types = from.to.type == to.to.type && from.from.type == to.from.type;
  const auto is_linear = [](const CopyWork& work) { return work.rows == 1 && work.slices == 1; };
  const bool same_shape =
      from.width_bytes == to.width_bytes && from.rows == to.rows && from.slices == to.slices;
  return same_types && ((is_linear(from) && is_linear(to)) || same_shape)
             ? CU_GRAPH_EXEC_UPDATE_SUCCESS
             : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

CUgraphExecUpdateResult check_fill(const FillWork& from, const FillWork& to) {
  const bool same_shape = from.width == to.width && from.rows == to.rows &&
                          from.pitch_bytes == to.pitch_bytes &&
                          from.element_bytes == to.element_bytes;
  return (from.rows == 1 && to.rows == 1) || same_shape
             ? CU_GRAPH_EXEC_UPDATE_SUCCESS
             : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

// Pairs the nodes of two graphs of one shape: first those that nothing depends on, in their order,
// then what each pair depends on, in the order of the edges.
class Pairing {
 public:
  Pairing(Graph& to, const Graph& from) {
    const auto mine = exits(to);
    const auto theirs = exits(from);
    if (to.nodes().size() != from.nodes().size()) {
      fail(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr);
    } else if (mine.size() != theirs.size()) {
      fail(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, theirs.empty() ? nullptr : theirs.back());
    } else {
      for (std::size_t i = 0; i < mine.size() && ok(); ++i) pair(mine[i], theirs[i], nullptr);
    }
  }

  bool ok() const { return info_.result == CU_GRAPH_EXEC_UPDATE_SUCCESS; }
  const CUgraphExecUpdateResultInfo& info() const { return info_; }
  // A node of the executable graph, and whose work it takes over.
  const std::unordered_map<GraphNode*, const GraphNode*>& pairs() const { return pairs_; }

 private:
  static std::vector<GraphNode*> exits(const Graph& graph) {
    std::vector<GraphNode*> result;
    for (const auto& node : graph.nodes()) {
      if (node->dependents().empty()) result.push_back(node.get());
    }
    return result;
  }

  void fail(CUgraphExecUpdateResult result, const GraphNode* node,
            const GraphNode* from = nullptr) {
    info_ = {result, const_cast<GraphNode*>(node), const_cast<GraphNode*>(from)};
  }

  // `dependent` is the node of the new graph that brought us here.
  void pair(GraphNode* mine, const GraphNode* theirs, const GraphNode* dependent) {
    std::vector<std::pair<GraphNode*, const GraphNode*>> open{{mine, theirs}};
    std::vector<const GraphNode*> dependents{dependent};
    while (!open.empty() && ok()) {
      const auto [to, from] = open.back();
      const GraphNode* behind = dependents.back();
      open.pop_back();
      dependents.pop_back();
      const auto known = pairs_.find(to);
      const bool taken = taken_.contains(from);
      if (known != pairs_.end() || taken) {
        if (known == pairs_.end() || known->second != from) {
          fail(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, behind == nullptr ? from : behind,
               behind == nullptr ? nullptr : from);
        }
        continue;
      }
      check(*to, *from);
      pairs_.emplace(to, from);
      taken_.emplace(from, to);
      for (std::size_t i = 0; ok() && i < to->dependencies().size(); ++i) {
        open.emplace_back(to->dependencies()[i].node, from->dependencies()[i].node);
        dependents.push_back(from);
      }
    }
  }

  void check(const GraphNode& to, const GraphNode& from) {
    if (to.type() != from.type()) {
      fail(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, &from);
    } else if (to.dependencies().size() != from.dependencies().size()) {
      fail(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, &from);
    } else if (const auto* child = std::get_if<ChildGraphWork>(&from.work())) {
      const auto& own = std::get<ChildGraphWork>(to.work());
      const Pairing inner(*own.graph, *child->graph);
      if (!inner.ok()) {
        info_ = inner.info();
      } else {
        pairs_.insert(inner.pairs().begin(), inner.pairs().end());
      }
    } else if (const auto result = check_update(to, from.work());
               result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
      fail(result, &from);
    }
  }

  CUgraphExecUpdateResultInfo info_ = {};
  std::unordered_map<GraphNode*, const GraphNode*> pairs_;
  std::unordered_map<const GraphNode*, GraphNode*> taken_;
};

CUgraphExecUpdateResultInfo take_over(Graph& to, const Graph& from) {
  const Pairing pairing(to, from);
  if (!pairing.ok()) return pairing.info();
  for (const auto& [mine, theirs] : pairing.pairs()) {
    // A child's nodes are among the pairs.
    if (!std::holds_alternative<ChildGraphWork>(theirs->work())) mine->set_work(theirs->work());
    mine->set_context(theirs->context());
  }
  return pairing.info();
}

}  // namespace

CUgraphExecUpdateResult check_update(const GraphNode& node, const Work& work) {
  if (node.work().index() != work.index()) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  if (const auto* kernel = std::get_if<KernelWork>(&work)) {
    return check_kernel(std::get<KernelWork>(node.work()), *kernel);
  }
  if (const auto* copy = std::get_if<CopyWork>(&work)) {
    return check_copy(std::get<CopyWork>(node.work()), *copy);
  }
  if (const auto* fill = std::get_if<FillWork>(&work)) {
    return check_fill(std::get<FillWork>(node.work()), *fill);
  }
  if (const auto* alloc = std::get_if<MemoryAllocWork>(&work)) {
    return std::get<MemoryAllocWork>(node.work()).memory == alloc->memory
               ? CU_GRAPH_EXEC_UPDATE_SUCCESS
               : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
  }
  if (const auto* free = std::get_if<MemoryFreeWork>(&work)) {
    return std::get<MemoryFreeWork>(node.work()).memory == free->memory
               ? CU_GRAPH_EXEC_UPDATE_SUCCESS
               : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
  }
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

ExecutableGraph::ExecutableGraph(const std::shared_ptr<Graph>& source, std::uint64_t flags)
    : body_(source->clone(Graph::Copy::kExecutable)), source_(source), flags_(flags) {
  ++source->executables;
}

ExecutableGraph::~ExecutableGraph() {
  const std::lock_guard lock(graphs_mutex());
  if (const auto source = source_.lock()) --source->executables;
}

CUgraphExec ExecutableGraph::add(std::shared_ptr<ExecutableGraph> graph) {
  return registry().add(std::move(graph));
}

std::shared_ptr<ExecutableGraph> ExecutableGraph::find(CUgraphExec handle) {
  return registry().find(handle);
}

std::shared_ptr<ExecutableGraph> ExecutableGraph::remove(CUgraphExec handle) {
  return registry().remove(handle);
}

std::size_t ExecutableGraph::count() { return registry().size(); }

std::vector<std::string> ExecutableGraph::describe_each() { return registry().describe_each(); }

const GraphNode* ExecutableGraph::find_copy_of(const GraphNode& original) const {
  return body_->find_copy_of(original);
}

GraphNode* ExecutableGraph::edit_copy_of(const GraphNode& original) {
  return body_->find_copy_of(original) == nullptr ? nullptr : editable().find_copy_of(original);
}

Graph& ExecutableGraph::editable() {
  // Runs hold the body they began with.
  if (body_.use_count() > 1) body_ = body_->clone(Graph::Copy::kRevision);
  std::atomic_thread_fence(std::memory_order_acquire);
  return *body_;
}

CUgraphExecUpdateResultInfo ExecutableGraph::update(const Graph& source) {
  return take_over(editable(), source);
}

bool ExecutableGraph::updates_child(const GraphNode& original, const Graph& child) {
  const GraphNode* node = edit_copy_of(original);
  const auto* own = node == nullptr ? nullptr : std::get_if<ChildGraphWork>(&node->work());
  return own != nullptr && take_over(*own->graph, child).result == CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

// Allocations and frees count when the graph is launched, in the order of the nodes.
CUresult ExecutableGraph::count_memory(const Graph& graph, bool apply) {
  for (const auto& node : graph.nodes()) {
    if (const auto* child = std::get_if<ChildGraphWork>(&node->work())) {
      const CUresult result = count_memory(*child->graph, apply);
      if (result != CUDA_SUCCESS) return result;
    }
    const auto* alloc = std::get_if<MemoryAllocWork>(&node->work());
    const auto* free = std::get_if<MemoryFreeWork>(&node->work());
    if (alloc != nullptr) {
      const bool frees_itself = (flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
      if (alloc->memory->allocated() && !frees_itself) return CUDA_ERROR_INVALID_VALUE;
      if (apply) alloc->memory->set_allocated(true);
    } else if (free != nullptr && apply) {
      free->memory->set_allocated(false);
    }
  }
  return CUDA_SUCCESS;
}

CUresult ExecutableGraph::launch(Stream& stream) {
  if (const CUresult result = count_memory(*body_, false); result != CUDA_SUCCESS) return result;
  count_memory(*body_, true);
  Device& device = stream.context().device();
  auto run = std::make_shared<const GraphRun>(body_);
  std::vector<CompletionPtr> after;
  if (last_ != nullptr && !last_->done()) after.push_back(last_);
  last_ = stream.enqueue([run = std::move(run), &device] { run->run(device); },
                         Stream::OnFailure::kRun, std::move(after));
  return CUDA_SUCCESS;
}

}  // namespace culebra_emu
