// What a stream is asked to do, as data: it can run now, or wait as a node of a graph and be read
// back.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "abi.h"
#include "abi_graph.h"

namespace culebra_emu {

class Device;
class GraphMemory;
struct Launch;

struct KernelWork {
  std::shared_ptr<Function> function;
  std::shared_ptr<const Launch> launch;
  // What cuLaunchKernelEx was asked for besides the shape.
  std::vector<CUlaunchAttribute> attributes;
};

// One end of a copy: rows of bytes, and slices of rows.
struct CopyEnd {
  // Device memory must lie within one allocation. Host and unified may be anything of the process.
  CUmemorytype type = CU_MEMORYTYPE_DEVICE;
  std::uint64_t address = 0;
  std::size_t pitch_bytes = 0;  // from a row to the next
  std::size_t slice_rows = 0;   // from a slice to the next
};

struct CopyWork {
  CopyEnd to;
  CopyEnd from;
  std::size_t width_bytes = 0;
  std::size_t rows = 1;
  std::size_t slices = 1;
  // Set if the source was taken along when the call was made; `from` then lies in it.
  std::shared_ptr<const char[]> staged = nullptr;

  bool empty() const { return width_bytes == 0 || rows == 0 || slices == 0; }
};

struct FillWork {
  std::uint64_t to = 0;
  std::size_t pitch_bytes = 0;
  unsigned value = 0;
  unsigned element_bytes = 1;  // 1, 2 or 4
  std::size_t width = 0;       // in elements
  std::size_t rows = 1;

  bool empty() const { return width == 0 || rows == 0; }
};

struct HostWork {
  CUhostFn function = nullptr;
  void* user_data = nullptr;
};

// Waits for, and writes of, words of memory, in order.
struct BatchMemoryWork {
  std::vector<CUstreamBatchMemOpParams> operations;
  unsigned flags = 0;
};

// The rest is for graphs: a stream does these in its own way, or not at all.

struct EmptyWork {};

struct ChildGraphWork {
  std::shared_ptr<Graph> graph;
};

// The handle is what the user gave; the event lives as long as somebody may record it.
struct EventRecordWork {
  CUevent handle = nullptr;
  std::shared_ptr<Event> event;
};

struct EventWaitWork {
  CUevent handle = nullptr;
  std::shared_ptr<Event> event;
};

struct MemoryAllocWork {
  std::shared_ptr<GraphMemory> memory;
};

struct MemoryFreeWork {
  std::shared_ptr<GraphMemory> memory;
};

using Work =
    std::variant<KernelWork, CopyWork, FillWork, HostWork, BatchMemoryWork, EmptyWork,
                 ChildGraphWork, EventRecordWork, EventWaitWork, MemoryAllocWork, MemoryFreeWork>;

CUgraphNodeType node_type(const Work& work);

// Does the work on the calling OS thread. What goes wrong fails the device; `symbol` is the call
// that asked for it. Does nothing for child graphs and events: see model/graph_run.h.
void run(const Work& work, const char* symbol, Device& device);

}  // namespace culebra_emu
