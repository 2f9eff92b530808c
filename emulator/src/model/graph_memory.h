// The memory of a graph's allocation nodes: one fixed address for the graph's life, whether the
// graph is running or not.
#pragma once

#include <cstdint>
#include <memory>

#include "abi.h"
#include "abi_graph.h"
#include "model/address_space.h"

namespace culebra_emu {

class Device;

class GraphMemory : public std::enable_shared_from_this<GraphMemory> {
 public:
  // Null if the device has not enough memory, or is to say so.
  static std::shared_ptr<GraphMemory> create(Context& context, std::uint64_t bytes);
  // The one that begins at the address; null if there is none.
  static std::shared_ptr<GraphMemory> find(std::uint64_t address);

  GraphMemory(Context& context, std::shared_ptr<Mapping> mapping);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  std::uint64_t address() const { return address_; }
  std::uint64_t bytes() const { return bytes_; }
  int device_ordinal() const;

  // Whether a launch has allocated it and nothing has freed it since. It then lives on, even if the
  // graph does not.
  bool allocated() const;
  void set_allocated(bool allocated);

  // Some graph has the one free node that there may be.
  bool has_free_node() const { return has_free_node_; }
  void set_has_free_node() { has_free_node_ = true; }

 private:
  Context& context_;
  const std::uint64_t address_;
  const std::uint64_t bytes_;
  bool has_free_node_ = false;
  std::shared_ptr<GraphMemory> self_;  // while allocated
};

// cuDeviceGetGraphMemAttribute and its kin, in bytes.
std::uint64_t graph_memory_attribute(const Device& device, CUgraphMem_attribute attribute);
// Sets a high-water mark back to what is current.
void reset_graph_memory_high(const Device& device, CUgraphMem_attribute attribute);

}  // namespace culebra_emu
