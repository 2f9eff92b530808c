#include "model/work.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <thread>
#include <type_traits>

#include "checking/findings.h"
#include "checking/written.h"
#include "execution/fault.h"
#include "execution/grid.h"
#include "faults/faults.h"
#include "model/address_space.h"
#include "model/device.h"
#include "model/diagnosis.h"
#include "model/objects.h"

namespace culebra_emu {
namespace {

char* bytes_at(std::uint64_t address) { return reinterpret_cast<char*>(address); }

void run_kernel(const KernelWork& work, Device& device) {
  if (const std::uint64_t delay = faults().kernel_delay_ms(); delay != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(delay));
  }
  if (const CUresult fault = faults().on_launch(); fault != CUDA_SUCCESS) {
    return device.fail(fault,
                       std::string("kernel ") + work.launch->kernel->symbol + ": failed on demand");
  }
  const GridOutcome grid = run_grid(*work.launch);
  work.function->settings()->note_static_shared(grid.static_shared_bytes);
  if (grid.outcome.result != CUDA_SUCCESS) {
    device.fail(grid.outcome.result, grid.outcome.message);
  } else if (const auto damage = address_space().find_damage()) {
    device.fail(CUDA_ERROR_ILLEGAL_ADDRESS, std::string("kernel ") + work.launch->kernel->symbol +
                                                " (or one that ran at the same time) wrote " +
                                                *damage);
  }
}

void delay_copy(std::uint64_t bytes) {
  if (const std::uint64_t delay = faults().copy_delay_ns(bytes); delay != 0) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(delay));
  }
}

// CULEBRA_EMU_CHECK=init: what a copy brings to the host must have been written.
void check_row(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, const char* symbol,
               Device& device) {
  const auto unwritten = note_copy(to, from, bytes);
  if (!unwritten) return;
  const std::string text = std::string("init: ") + symbol +
                           " reads memory that nobody has written, " +
                           address_space().describe(from + *unwritten, 1);
  if (add_finding(text, [&] { return text; })) device.fail(CUDA_ERROR_LAUNCH_FAILED, text);
}

// Overlap is allowed, as silently as the driver allows it.
void copy(const CopyWork& work, const char* symbol, Device& device) {
  for (std::size_t slice = 0; slice < work.slices; ++slice) {
    for (std::size_t row = 0; row < work.rows; ++row) {
      const auto offset = [&](const CopyEnd& end) {
        return (slice * end.slice_rows + row) * end.pitch_bytes;
      };
      const std::uint64_t to = work.to.address + offset(work.to);
      const std::uint64_t from = work.from.address + offset(work.from);
      delay_copy(work.width_bytes);
      check_row(to, from, work.width_bytes, symbol, device);
      std::memmove(bytes_at(to), bytes_at(from), work.width_bytes);
    }
  }
}

template <class Element>
void fill_with(const FillWork& work) {
  for (std::size_t row = 0; row < work.rows; ++row) {
    const std::uint64_t to = work.to + row * work.pitch_bytes;
    note_fill(to, work.width * sizeof(Element));
    delay_copy(work.width * sizeof(Element));
    auto* first = reinterpret_cast<Element*>(to);
    std::fill(first, first + work.width, static_cast<Element>(work.value));
  }
}

void fill(const FillWork& work) {
  switch (work.element_bytes) {
    case 1:
      return fill_with<unsigned char>(work);
    case 2:
      return fill_with<unsigned short>(work);
    default:
      return fill_with<unsigned>(work);
  }
}

template <class Word>
bool is_reached(Word actual, Word wanted, unsigned condition) {
  switch (condition) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<std::make_signed_t<Word>>(actual - wanted) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return actual == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
      return (actual & wanted) != 0;
    default:
      return static_cast<Word>(~(actual | wanted)) != 0;
  }
}

// Polls: whoever writes the word may be a kernel, another stream, or the program itself.
template <class Word>
void wait_for_word(const CUstreamBatchMemOpParams::Value& wait, const Device& device) {
  const auto* word = reinterpret_cast<const Word*>(wait.address);
  const unsigned condition = wait.flags & ~unsigned{CU_STREAM_WAIT_VALUE_FLUSH};
  while (!is_reached(__atomic_load_n(word, __ATOMIC_ACQUIRE), static_cast<Word>(wait.value64),
                     condition)) {
    if (device.failed()) return;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

template <class Word>
void write_word(const CUstreamBatchMemOpParams::Value& write) {
  note_fill(write.address, sizeof(Word));
  __atomic_store_n(reinterpret_cast<Word*>(write.address), static_cast<Word>(write.value64),
                   __ATOMIC_RELEASE);
}

void run_batch(const BatchMemoryWork& work, const Device& device) {
  for (const CUstreamBatchMemOpParams& operation : work.operations) {
    switch (operation.operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        wait_for_word<std::uint32_t>(operation.value, device);
        break;
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        wait_for_word<std::uint64_t>(operation.value, device);
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        write_word<std::uint32_t>(operation.value);
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        write_word<std::uint64_t>(operation.value);
        break;
      default:
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
  }
}

// Whether a fault is one of the program's own memory, at this end of a copy: neither the driver nor
// a device can say something about that.
bool is_in_host_memory(const CopyWork& work, const CopyEnd& end, const Fault& fault) {
  if (end.type == CU_MEMORYTYPE_DEVICE || AddressSpace::is_device_address(end.address) ||
      address_space().find(end.address)) {
    return false;
  }
  // The processor gives no address where it cannot be one.
  if (fault.signal == SIGSEGV && fault.code == SI_KERNEL) {
    constexpr int kAddressBits = 47;
    return end.address >> kAddressBits != 0;
  }
  const std::uint64_t rows = (work.slices - 1) * end.slice_rows + work.rows;
  const std::uint64_t bytes = (rows - 1) * end.pitch_bytes + work.width_bytes;
  return reinterpret_cast<std::uint64_t>(fault.address) - end.address < bytes;
}

void die_if_in_host_memory(const CopyWork& work, const char* symbol, const Fault& fault) {
  for (const CopyEnd* end : {&work.from, &work.to}) {
    if (work.staged != nullptr && end == &work.from) continue;
    if (!is_in_host_memory(work, *end, fault)) continue;
    char what[160];
    std::snprintf(what, sizeof what,
                  "%s host memory at %p, where there is none: the %s of the copy",
                  end == &work.from ? "reads" : "writes to", fault.address,
                  end == &work.from ? "source" : "destination");
    die_of_misuse(symbol, what);
  }
}

// What was valid when the call was made may be gone when its turn comes: freed on another stream. A
// device says so with an error, and so does this, instead of ending the process.
void fail_at(const Fault& fault, const char* symbol, Device& device) {
  char message[128];
  std::snprintf(message, sizeof message, "%s: access to illegal address %p", symbol, fault.address);
  device.fail(CUDA_ERROR_ILLEGAL_ADDRESS, message);
}

template <class Move>
void run_guarded(const char* symbol, Device& device, const Move& move) {
  if (const std::optional<Fault> fault = run_until_fault(move)) fail_at(*fault, symbol, device);
}

struct Runner {
  const char* symbol;
  Device& device;

  void operator()(const KernelWork& work) const { run_kernel(work, device); }
  void operator()(const CopyWork& work) const {
    const std::optional<Fault> fault = run_until_fault([&] { copy(work, symbol, device); });
    if (!fault) return;
    die_if_in_host_memory(work, symbol, *fault);
    fail_at(*fault, symbol, device);
  }
  void operator()(const FillWork& work) const {
    run_guarded(symbol, device, [&] { fill(work); });
  }
  void operator()(const HostWork& work) const {
    in_host_function = true;
    work.function(work.user_data);
    in_host_function = false;
  }
  void operator()(const BatchMemoryWork& work) const {
    run_guarded(symbol, device, [&] { run_batch(work, device); });
  }
  void operator()(const EmptyWork&) const {}
  void operator()(const ChildGraphWork&) const {}
  void operator()(const EventRecordWork&) const {}
  void operator()(const EventWaitWork&) const {}
  // Graph memory is there as long as the graph; a launch has counted it.
  void operator()(const MemoryAllocWork&) const {}
  void operator()(const MemoryFreeWork&) const {}
};

}  // namespace

CUgraphNodeType node_type(const Work& work) {
  // In the order of the variant.
  static constexpr CUgraphNodeType kTypes[] = {
      CU_GRAPH_NODE_TYPE_KERNEL,    CU_GRAPH_NODE_TYPE_MEMCPY,       CU_GRAPH_NODE_TYPE_MEMSET,
      CU_GRAPH_NODE_TYPE_HOST,      CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, CU_GRAPH_NODE_TYPE_EMPTY,
      CU_GRAPH_NODE_TYPE_GRAPH,     CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
      CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEM_FREE,
  };
  static_assert(std::size(kTypes) == std::variant_size_v<Work>);
  return kTypes[work.index()];
}

void run(const Work& work, const char* symbol, Device& device) {
  try {
    std::visit(Runner{symbol, device}, work);
  } catch (const std::bad_alloc&) {
    // The call that asked for it has long returned.
    device.fail(CUDA_ERROR_OUT_OF_MEMORY, std::string(symbol) + ": out of memory");
  }
}

}  // namespace culebra_emu
