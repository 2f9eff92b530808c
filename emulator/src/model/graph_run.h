// Runs a graph: every node once its dependencies are done, side by side where no edge forbids it.
#pragma once

#include <memory>
#include <unordered_map>

#include "model/completion.h"
#include "model/event.h"
#include "model/graph.h"

namespace culebra_emu {

// One launch. What events its nodes wait for, and that they are being recorded, is decided when it
// is made, as for a stream.
class GraphRun {
 public:
  explicit GraphRun(std::shared_ptr<const Graph> graph);

  // Returns when all nodes are done. On a failed device nodes do nothing, but events are recorded,
  // since somebody may wait for them.
  void run(Device& device) const;

 private:
  class Pass;

  void plan_waits(const Graph& graph);
  void plan_records(const Graph& graph);
  void run_node(const GraphNode& node, Device& device) const;

  std::shared_ptr<const Graph> graph_;
  std::unordered_map<const GraphNode*, CompletionPtr> waits_;
  std::unordered_map<const GraphNode*, std::shared_ptr<Event::Record>> records_;
};

}  // namespace culebra_emu
