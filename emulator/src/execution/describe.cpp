// What an executor says when something is wrong.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "checking/source_line.h"
#include "config.h"
#include "execution/group_executor.h"
#include "model/address_space.h"

namespace culebra_emu {
namespace {

std::string base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

}  // namespace

std::string to_string(Index3 index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," +
         std::to_string(index.z) + ")";
}

std::string name_of(const EmulatedThread& thread) { return "thread " + to_string(thread.index); }

std::string describe_site(const Site& site) {
  return std::string(site.operation) + " in " + base_name(site.file) + ":" +
         std::to_string(site.line);
}

std::string GroupExecutor::describe_block(const EmulatedBlock& block) const {
  return std::string("kernel ") + launch_->kernel->symbol + ", block " +
         to_string(block.block.index);
}

// "kernel k, block (0,0,0), thread (1,0,0)"
std::string GroupExecutor::describe(const EmulatedThread& thread) const {
  return describe_block(*thread.home) + ", " + name_of(thread);
}

// "threads 0-31 (32 of them) wait at __syncthreads in softmax.cu:120; threads 32-63 (32 of them)
// have exited", by linear index.
std::string GroupExecutor::describe_waiting(const EmulatedBlock& block) const {
  // In the order of their first threads.
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> groups;
  for (std::uint32_t i = 0; i < block.thread_count; ++i) {
    const EmulatedThread& thread = block.threads[i];
    std::string where;
    if (thread.exited) {
      where = "have exited";
    } else if (!thread.started) {
      where = "have not started";
    } else if (thread.waiting.what == Waiting::For::kNothing) {
      where = "can run";
    } else if (thread.waiting.what == Waiting::For::kMemory) {
      where = "poll";
    } else {
      where = "wait at " + describe_site(*thread.waiting.site);
      if (thread.waiting.what == Waiting::For::kLanes) {
        char mask[24];
        std::snprintf(mask, sizeof mask, " mask 0x%08x", thread.waiting.mask);
        where += mask;
      } else if (thread.waiting.what == Waiting::For::kWarp) {
        where += ", barrier " + std::to_string(thread.waiting.number) +
                 ", for the other lanes of the warp";
      } else if (thread.waiting.what == Waiting::For::kNumbered) {
        const NumberedBarrier& barrier = block.barriers[thread.waiting.number];
        where += ", barrier " + std::to_string(thread.waiting.number) + ", where " +
                 std::to_string(barrier.arrived) + " of " + std::to_string(barrier.threads) +
                 " threads have arrived";
      }
    }
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& entry) { return entry.first == where; });
    if (group == groups.end()) group = groups.insert(groups.end(), {where, {}});
    group->second.push_back(i);
  }
  std::string text;
  for (const auto& [where, members] : groups) {
    constexpr std::size_t kShownRanges = 4;
    std::string ranges;
    std::size_t shown = 0;
    for (std::size_t i = 0; i < members.size();) {
      std::size_t last = i;
      while (last + 1 < members.size() && members[last + 1] == members[last] + 1) ++last;
      if (shown++ == kShownRanges) {
        ranges += ",...";
        break;
      }
      if (!ranges.empty()) ranges += ",";
      ranges += std::to_string(members[i]);
      if (last != i) ranges += "-" + std::to_string(members[last]);
      i = last + 1;
    }
    if (!text.empty()) text += "; ";
    text += "threads " + ranges + " (" + std::to_string(members.size()) + " of them) " + where;
  }
  return text;
}

// Of one block as above; of several, each that has a thread left, up to a few.
std::string GroupExecutor::describe_all_waiting() const {
  const std::size_t blocks = thread_count_ / running().home->thread_count;
  if (blocks == 1) return describe_waiting(*blocks_[0]);
  constexpr std::size_t kShownBlocks = 16;
  std::string text;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    const EmulatedBlock& block = *blocks_[i];
    if (block.live_threads == 0) continue;
    if (shown++ == kShownBlocks) return text + "; ...";
    if (!text.empty()) text += "; ";
    text += "block " + to_string(block.block.index) + ": " + describe_waiting(block);
  }
  return text;
}

std::string GroupExecutor::describe_timeout() {
  return "not done after " + std::to_string(config().timeout_s) + " s; ";
}

namespace {

// Whether the instruction is the one that the compiler ends its checks of alignments with. (A
// kernel's own __builtin_trap() is another: see culebra_emu/assertion.h.)
bool is_trap(const void* code) {
#if defined(__x86_64__)
  static constexpr unsigned char kUd2[] = {0x0F, 0x0B};
  return std::memcmp(code, kUd2, sizeof kUd2) == 0;
#else
  static_cast<void>(code);
  return true;
#endif
}

}  // namespace

Outcome GroupExecutor::describe_fault(const Fault& fault) const {
  const EmulatedThread& thread = running();
  const std::string who = describe_block(*thread.home) + ", " + name_of(thread) + ": ";
  if (fault.timed_out) {
    const std::string others = describe_all_waiting();
    // (A return address is behind its call.)
    return {CUDA_ERROR_LAUNCH_TIMEOUT,
            who + describe_timeout() + "it runs at " +
                source_line(static_cast<const char*>(fault.address) + 1) +
                (others.empty() ? "" : "; " + others)};
  }
  char address[24];
  std::snprintf(address, sizeof address, "%p", fault.address);
  switch (fault.signal) {
    case SIGILL:
      if (is_trap(fault.address))
        return {CUDA_ERROR_MISALIGNED_ADDRESS, who + "misaligned address"};
      return {CUDA_ERROR_ILLEGAL_INSTRUCTION, who + "illegal instruction at " + address};
    case SIGFPE:
      return {
          CUDA_ERROR_LAUNCH_FAILED,
          who + (fault.code == FPE_INTDIV
                     ? "integer division by zero, or of the least integer by -1 (a GPU gives an "
                       "undefined value instead)"
                     : "a floating-point exception that somebody has unmasked (a GPU has none)")};
    case SIGBUS:
      if (fault.code == BUS_ADRALN) {
        return {CUDA_ERROR_MISALIGNED_ADDRESS, who + "misaligned address " + address};
      }
      return {
          CUDA_ERROR_ILLEGAL_ADDRESS,
          who + "access to " + address + ", which the file that is mapped there does not reach"};
    default:
      break;
  }
  if (stacks_.is_guard(fault.address)) {
    return {CUDA_ERROR_HARDWARE_STACK_ERROR, who + "stack overflow: a thread has " +
                                                 std::to_string(FiberStacks::kStackBytes) +
                                                 " bytes"};
  }
  // The CPU reports no address for one that is not canonical, and for a misaligned vector access.
  if (fault.signal == SIGSEGV && fault.code == SI_KERNEL) {
    return {CUDA_ERROR_ILLEGAL_ADDRESS, who + "access to an impossible or misaligned address"};
  }
  const Cluster& cluster = *thread.home->cluster;
  for (std::uint32_t rank = 0; rank < cluster.count; ++rank) {
    const EmulatedBlock& block = *cluster.blocks[rank];
    if (!block.shared.contains(fault.address)) continue;
    const std::string whose = &block == thread.home
                                  ? "its shared memory"
                                  : "the shared memory of block " + to_string(block.block.index) +
                                        ", rank " + std::to_string(rank) + " of its cluster";
    if (block.shared.closed()) {
      return {CUDA_ERROR_ILLEGAL_ADDRESS, who + "access to illegal address " + address + ": in " +
                                              whose +
                                              ", which has exited (on a device that is undefined)"};
    }
    return {CUDA_ERROR_ILLEGAL_ADDRESS, who + "access to illegal address " + address +
                                            ": outside of " + whose + ", " +
                                            block.shared.describe(fault.address)};
  }
  const std::string where =
      address_space().describe(reinterpret_cast<std::uint64_t>(fault.address), 1);
  return {CUDA_ERROR_ILLEGAL_ADDRESS,
          who + "access to illegal address " + address + (where.empty() ? "" : ": " + where)};
}

}  // namespace culebra_emu
