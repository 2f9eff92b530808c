#include "model/graph_memory.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "faults/faults.h"
#include "model/context.h"
#include "model/device.h"

namespace culebra_emu {
namespace {

struct Usage {
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved = 0;
  std::uint64_t reserved_high = 0;
};

struct Everything {
  std::mutex mutex;
  std::map<std::uint64_t, std::weak_ptr<GraphMemory>> by_address;
  std::map<int, Usage> usage;  // by device
};

// Never destroyed: a detached thread may still be using it at the process's end.
Everything& everything() {
  static Everything& instance = *new Everything;
  return instance;
}

}  // namespace

std::shared_ptr<GraphMemory> GraphMemory::create(Context& context, std::uint64_t bytes) {
  if (faults().denies_allocation()) return nullptr;
  std::shared_ptr<Mapping> mapping = context.device().map(bytes);
  if (mapping == nullptr) return nullptr;
  auto memory = std::make_shared<GraphMemory>(context, std::move(mapping));
  const std::lock_guard lock(everything().mutex);
  everything().by_address[memory->address()] = memory;
  return memory;
}

std::shared_ptr<GraphMemory> GraphMemory::find(std::uint64_t address) {
  const std::lock_guard lock(everything().mutex);
  const auto found = everything().by_address.find(address);
  return found == everything().by_address.end() ? nullptr : found->second.lock();
}

GraphMemory::GraphMemory(Context& context, std::shared_ptr<Mapping> mapping)
    : context_(context), address_(mapping->address()), bytes_(mapping->bytes()) {
  Allocation allocation;
  allocation.address = address_;
  allocation.bytes = bytes_;
  allocation.kind = MemoryKind::kGraph;
  allocation.device = &context.device();
  allocation.context = &context;
  allocation.mapping = std::move(mapping);
  address_space().add(std::move(allocation));
  const std::lock_guard lock(everything().mutex);
  Usage& usage = everything().usage[device_ordinal()];
  usage.reserved += bytes_;
  usage.reserved_high = std::max(usage.reserved_high, usage.reserved);
}

GraphMemory::~GraphMemory() {
  address_space().remove(
      address_, [](const Allocation& candidate) { return candidate.kind == MemoryKind::kGraph; });
  const std::lock_guard lock(everything().mutex);
  everything().by_address.erase(address_);
  everything().usage[device_ordinal()].reserved -= bytes_;
}

int GraphMemory::device_ordinal() const { return context_.device().ordinal(); }

bool GraphMemory::allocated() const {
  const std::lock_guard lock(everything().mutex);
  return self_ != nullptr;
}

void GraphMemory::set_allocated(bool allocated) {
  // The last reference may go, and then not under the lock.
  std::shared_ptr<GraphMemory> self = shared_from_this();
  const std::lock_guard lock(everything().mutex);
  if (allocated == (self_ != nullptr)) return;
  Usage& usage = everything().usage[device_ordinal()];
  if (allocated) {
    usage.used += bytes_;
    usage.used_high = std::max(usage.used_high, usage.used);
    self_ = std::move(self);
  } else {
    usage.used -= bytes_;
    self_ = nullptr;
  }
}

std::uint64_t graph_memory_attribute(const Device& device, CUgraphMem_attribute attribute) {
  const std::lock_guard lock(everything().mutex);
  const Usage& usage = everything().usage[device.ordinal()];
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      return usage.used;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      return usage.used_high;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      return usage.reserved;
    default:
      return usage.reserved_high;
  }
}

void reset_graph_memory_high(const Device& device, CUgraphMem_attribute attribute) {
  const std::lock_guard lock(everything().mutex);
  Usage& usage = everything().usage[device.ordinal()];
  if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) usage.used_high = usage.used;
  if (attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) usage.reserved_high = usage.reserved;
}

}  // namespace culebra_emu
