// A graph as a drawing in the DOT language.
#include <cstdio>

#include "execution/launch.h"
#include "model/graph.h"
#include "model/graph_memory.h"
#include "model/objects.h"

namespace culebra_emu {
namespace {

template <class... Args>
std::string format(const char* text, Args... args) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, text, args...);
  return buffer;
}

struct Describe {
  bool verbose;

  std::string operator()(const KernelWork& work) const {
    std::string text = work.launch->kernel->symbol;
    if (verbose) {
      const auto [grid, block] = std::pair{work.launch->grid, work.launch->block};
      text += format("\\ngrid %u,%u,%u block %u,%u,%u shared %u", grid.x, grid.y, grid.z, block.x,
                     block.y, block.z, work.launch->dynamic_shared_bytes);
    }
    return text;
  }
  std::string operator()(const CopyWork& work) const {
    return "memcpy" + format("\\n%zu x %zu x %zu bytes", work.width_bytes, work.rows, work.slices);
  }
  std::string operator()(const FillWork& work) const {
    return "memset" + format("\\n%zu x %zu of %u bytes", work.width, work.rows, work.element_bytes);
  }
  std::string operator()(const HostWork&) const { return "host"; }
  std::string operator()(const BatchMemoryWork& work) const {
    return format("memory operations\\n%zu", work.operations.size());
  }
  std::string operator()(const EmptyWork&) const { return "empty"; }
  std::string operator()(const ChildGraphWork&) const { return "graph"; }
  std::string operator()(const EventRecordWork&) const { return "event record"; }
  std::string operator()(const EventWaitWork&) const { return "event wait"; }
  std::string operator()(const MemoryAllocWork& work) const {
    return format("alloc\\n%llu bytes", static_cast<unsigned long long>(work.memory->bytes()));
  }
  std::string operator()(const MemoryFreeWork& work) const {
    return format("free\\n%#llx", static_cast<unsigned long long>(work.memory->address()));
  }
};

void write(const Graph& graph, bool verbose, std::string& out) {
  for (const auto& node : graph.nodes()) {
    out += format("  n%llu [label=\"", static_cast<unsigned long long>(node->id())) +
           std::visit(Describe{verbose}, node->work()) + "\"];\n";
    for (const Edge& edge : node->dependents()) {
      out += format("  n%llu -> n%llu;\n", static_cast<unsigned long long>(node->id()),
                    static_cast<unsigned long long>(edge.node->id()));
    }
    if (const auto* child = std::get_if<ChildGraphWork>(&node->work())) {
      out += format("  subgraph cluster_%llu {\n", static_cast<unsigned long long>(node->id()));
      write(*child->graph, verbose, out);
      out += "  }\n";
    }
  }
}

}  // namespace

std::string to_dot(const Graph& graph, bool verbose) {
  std::string out = "digraph culebra {\n  node [shape=box];\n";
  write(graph, verbose, out);
  return out + "}\n";
}

}  // namespace culebra_emu
