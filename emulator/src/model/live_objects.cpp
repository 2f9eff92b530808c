#include "model/live_objects.h"

#include "model/address_space.h"
#include "model/context.h"
#include "model/device.h"
#include "model/executable_graph.h"
#include "model/graph.h"
#include "model/objects.h"
#include "model/user_object.h"

namespace culebra_emu {
namespace {

template <auto kRegistry>
constexpr LiveKind in_registry(const char* one, const char* many) {
  return {one, one, many, [] { return (objects().*kRegistry).size(); },
          [] { return (objects().*kRegistry).describe_each(); }};
}

template <MemoryKind kKind>
constexpr LiveKind memory(const char* word, const char* one, const char* many) {
  return {word, one, many, [] { return address_space().count(kKind); },
          [] { return address_space().describe_each(kKind); }};
}

// What belongs to a module or to a graph goes with it and is not counted beside it.
constexpr LiveKind kKinds[] = {
    {"context", "context", "contexts", &live_context_count, &describe_live_contexts},
    in_registry<&Objects::streams>("stream", "streams"),
    in_registry<&Objects::events>("event", "events"),
    in_registry<&Objects::modules>("module", "modules"),
    in_registry<&Objects::libraries>("library", "libraries"),
    {"graph", "graph", "graphs", &Graph::count, &Graph::describe_each},
    {"executable graph", "executable graph", "executable graphs", &ExecutableGraph::count,
     &ExecutableGraph::describe_each},
    {"user object", "user object", "user objects", &UserObject::count, &UserObject::describe_each},
    {"pool", "memory pool", "memory pools", &live_pool_count, &describe_live_pools},
    memory<MemoryKind::kDevice>("device memory", "device allocation", "device allocations"),
    memory<MemoryKind::kPool>("pool memory", "stream-ordered allocation",
                              "stream-ordered allocations"),
    memory<MemoryKind::kManaged>("managed memory", "managed allocation", "managed allocations"),
    memory<MemoryKind::kVirtual>("mapped memory", "mapping of physical memory",
                                 "mappings of physical memory"),
    memory<MemoryKind::kPinned>("pinned memory", "pinned host allocation",
                                "pinned host allocations"),
    memory<MemoryKind::kRegistered>("registered memory", "registered host range",
                                    "registered host ranges"),
};

}  // namespace

std::span<const LiveKind> live_kinds() { return kKinds; }

std::string describe_live() {
  std::string text;
  for (const LiveKind& kind : kKinds) {
    const std::size_t count = kind.count();
    if (count == 0) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(count) + " " + (count == 1 ? kind.one : kind.many);
  }
  return text;
}

}  // namespace culebra_emu
