// A graph that can be launched: a private copy, which follows its source only when told to.
#pragma once

#include <memory>

#include "model/completion.h"
#include "model/graph.h"

namespace culebra_emu {

// Whether a node of an executable graph may be given other work, and if not, why.
CUgraphExecUpdateResult check_update(const GraphNode& node, const Work& work);

class ExecutableGraph {
 public:
  ExecutableGraph(const std::shared_ptr<Graph>& source, std::uint64_t flags);
  ~ExecutableGraph();
  ExecutableGraph(const ExecutableGraph&) = delete;
  ExecutableGraph& operator=(const ExecutableGraph&) = delete;

  static CUgraphExec add(std::shared_ptr<ExecutableGraph> graph);
  // The live one of a handle; null if there is none.
  static std::shared_ptr<ExecutableGraph> find(CUgraphExec handle);
  static std::shared_ptr<ExecutableGraph> remove(CUgraphExec handle);
  static std::size_t count();
  static std::vector<std::string> describe_each();

  std::uint64_t flags() const { return flags_; }
  const std::shared_ptr<Graph>& body() const { return body_; }

  // The copy of a node of the source; null if there is none. The first is for reading; the second
  // leaves alone what launches that are under way see.
  const GraphNode* find_copy_of(const GraphNode& original) const;
  GraphNode* edit_copy_of(const GraphNode& original);

  // Takes over the work of a graph of the same shape. Nothing changes if that cannot be.
  CUgraphExecUpdateResultInfo update(const Graph& source);

  // The same for one node that is a child graph. False if it is none, or cannot be.
  bool updates_child(const GraphNode& original, const Graph& child);

  // Puts a run behind what the stream has and behind the run before it.
  CUresult launch(Stream& stream);

 private:
  Graph& editable();
  CUresult count_memory(const Graph& graph, bool apply);

  std::shared_ptr<Graph> body_;
  std::weak_ptr<Graph> source_;
  const std::uint64_t flags_;
  CompletionPtr last_;
};

}  // namespace culebra_emu
