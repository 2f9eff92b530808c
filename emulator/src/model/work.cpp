#include "model/work.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "checking/findings.h"
#include "checking/written.h"
#include "config.h"
#include "execution/fault.h"
#include "execution/grid.h"
#include "model/address_space.h"
#include "model/device.h"
#include "model/objects.h"

namespace culebra_emu {
namespace {

char* bytes_at(std::uint64_t address) { return reinterpret_cast<char*>(address); }

void run_kernel(const KernelWork& work, Device& device) {
  if (config().slow_kernel_ms != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(config().slow_kernel_ms));
  }
  const GridOutcome grid = run_grid(*work.launch);
  work.function->settings()->static_shared_bytes.store(grid.static_shared_bytes);
  if (grid.outcome.result != CUDA_SUCCESS) {
    device.fail(grid.outcome.result, grid.outcome.message);
  } else if (const auto damage = address_space().find_damage()) {
    device.fail(CUDA_ERROR_ILLEGAL_ADDRESS,
                std::string("kernel ") + work.launch->kernel->symbol +
                    " (or one that ran at the same time) wrote outside of " + *damage);
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
  if (add_finding(text)) device.fail(CUDA_ERROR_LAUNCH_FAILED, text);
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

// What was valid when the call was made may be gone when its turn comes: freed on another stream. A
// device says so with an error, and so does this, instead of ending the process.
template <class Move>
void run_guarded(const char* symbol, Device& device, const Move& move) {
  if (const std::optional<Fault> fault = run_until_fault(move)) {
    char message[128];
    std::snprintf(message, sizeof message, "%s: access to illegal address %p", symbol,
                  fault->address);
    device.fail(CUDA_ERROR_ILLEGAL_ADDRESS, message);
  }
}

struct Runner {
  const char* symbol;
  Device& device;

  void operator()(const KernelWork& work) const { run_kernel(work, device); }
  void operator()(const CopyWork& work) const {
    run_guarded(symbol, device, [&] { copy(work, symbol, device); });
  }
  void operator()(const FillWork& work) const {
    run_guarded(symbol, device, [&] { fill(work); });
  }
  void operator()(const HostWork& work) const {
    in_host_function = true;
    work.function(work.user_data);
    in_host_function = false;
  }
};

}  // namespace

void run(const Work& work, const char* symbol, Device& device) {
  std::visit(Runner{symbol, device}, work);
}

}  // namespace culebra_emu
