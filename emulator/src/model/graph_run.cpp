#include "model/graph_run.h"

#include <atomic>
#include <utility>
#include <vector>

#include "model/context.h"
#include "model/device.h"
#include "model/workers.h"

namespace culebra_emu {

// The nodes of one graph, or of a child of it, on their way. Shared with the worker threads, the
// last of which may outlive the wait.
class GraphRun::Pass : public std::enable_shared_from_this<Pass> {
 public:
  Pass(const GraphRun& run, const Graph& graph, Device& device)
      : run_(run), graph_(graph), device_(device), left_(graph.nodes().size()) {
    for (const auto& node : graph.nodes()) waiting_[node.get()] = node->dependencies().size();
  }

  void run() {
    std::vector<const GraphNode*> roots;
    for (const auto& node : graph_.nodes()) {
      if (node->dependencies().empty()) roots.push_back(node.get());
    }
    if (roots.empty()) return;
    go_on(roots);
    done_.wait();
  }

 private:
  // The first here, the others elsewhere.
  void go_on(const std::vector<const GraphNode*>& ready) {
    for (std::size_t i = 1; i < ready.size(); ++i) {
      start_on_worker([self = shared_from_this(), node = ready[i]] { self->follow(node); });
    }
    follow(ready.front());
  }

  // A node, and then what becomes ready by it.
  void follow(const GraphNode* node) {
    while (node != nullptr) {
      run_.run_node(*node, device_);
      const GraphNode* next = nullptr;
      for (const Edge& edge : node->dependents()) {
        if (waiting_.at(edge.node).fetch_sub(1) != 1) continue;
        if (next == nullptr) {
          next = edge.node;
        } else {
          start_on_worker([self = shared_from_this(), other = edge.node] { self->follow(other); });
        }
      }
      // Nothing of the graph may be touched after the last one is counted.
      if (left_.fetch_sub(1) == 1) done_.complete();
      node = next;
    }
  }

  const GraphRun& run_;
  const Graph& graph_;
  Device& device_;
  std::unordered_map<const GraphNode*, std::atomic<std::size_t>> waiting_;
  std::atomic<std::size_t> left_;
  Completion done_;
};

GraphRun::GraphRun(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {
  // First all waits: a node does not wait for what its own graph records.
  plan_waits(*graph_);
  plan_records(*graph_);
}

void GraphRun::plan_waits(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    if (const auto* child = std::get_if<ChildGraphWork>(&node->work())) plan_waits(*child->graph);
    const auto* wait = std::get_if<EventWaitWork>(&node->work());
    if (wait == nullptr) continue;
    if (const auto record = wait->event->record()) waits_[node.get()] = record->done;
  }
}

void GraphRun::plan_records(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    if (const auto* child = std::get_if<ChildGraphWork>(&node->work())) plan_records(*child->graph);
    const auto* record = std::get_if<EventRecordWork>(&node->work());
    if (record == nullptr) continue;
    auto point = std::make_shared<Event::Record>();
    point->done = std::make_shared<Completion>();
    record->event->set_record(point);
    records_[node.get()] = std::move(point);
  }
}

void GraphRun::run(Device& device) const {
  if (!graph_->nodes().empty()) std::make_shared<Pass>(*this, *graph_, device)->run();
}

void GraphRun::run_node(const GraphNode& node, Device& device) const {
  if (const auto wait = waits_.find(&node); wait != waits_.end()) wait->second->wait();
  if (const auto record = records_.find(&node); record != records_.end()) {
    record->second->time = Event::Clock::now();
    record->second->done->complete();
  }
  if (const auto* child = std::get_if<ChildGraphWork>(&node.work())) {
    if (!child->graph->nodes().empty()) {
      std::make_shared<Pass>(*this, *child->graph, device)->run();
    }
    return;
  }
  Device& own = node.context() == nullptr ? device : node.context()->device();
  if (node.enabled() && !own.failed()) culebra_emu::run(node.work(), "cuGraphLaunch", own);
}

}  // namespace culebra_emu
