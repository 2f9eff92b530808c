// The lanes of a warp meet.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "execution/group_executor.h"

namespace culebra_emu {

void GroupExecutor::collective(EmulatedThread& thread, const Site& site, std::uint32_t mask,
                               void* operand, CompleteCollective complete) {
  Warp& warp = thread.home->warp_of(thread);
  const std::uint32_t self = 1u << thread.lane;
  thread.waiting = {Waiting::For::kLanes, &site, mask, 0, complete, nullptr};
  if ((mask & self) == 0) {
    fail(CUDA_ERROR_LAUNCH_FAILED, name_of(thread) + " is not in the mask of its own " +
                                       site.operation + "; " + describe_waiting(*thread.home));
  }
  if (warp.waiting == 0) {
    warp.uniform = true;
    warp.mask = mask;
    warp.complete = complete;
  } else if (mask != warp.mask || complete != warp.complete || !warp.uniform) {
    warp.uniform = false;
    check_others(thread, warp);
  }
  warp.operands[thread.lane] = operand;
  warp.waiting |= self;
  try_complete(warp, mask);
  settle(thread);
}

// One that waits with another mask may be on its way here, after a collective of fewer lanes.
void GroupExecutor::check_others(const EmulatedThread& thread, const Warp& warp) {
  const std::uint32_t mask = thread.waiting.mask;
  for (std::uint32_t rest = mask & warp.waiting; rest != 0; rest &= rest - 1) {
    const Waiting& other = warp.lanes[__builtin_ctz(rest)].waiting;
    if (other.mask == mask && other.complete != thread.waiting.complete) {
      fail(CUDA_ERROR_LAUNCH_FAILED,
           "divergent warp: lanes of one mask wait in different collectives; " +
               describe_waiting(*thread.home));
    }
  }
}

bool GroupExecutor::try_complete(Warp& warp, std::uint32_t mask) {
  const std::uint32_t lanes = mask & warp.live;
  if ((warp.waiting & lanes) != lanes || lanes == 0) return false;
  // On the stack, which is where checks expect a thread to read without being watched.
  void* operands[kWarpSize];
  CompleteCollective complete = warp.complete;
  if (warp.uniform && warp.waiting == lanes) {
    std::copy(std::begin(warp.operands), std::end(warp.operands), operands);
  } else {
    std::fill(std::begin(operands), std::end(operands), nullptr);
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const Waiting& waiting = warp.lanes[lane].waiting;
      if (waiting.mask != mask) return false;
      operands[lane] = warp.operands[lane];
      complete = waiting.complete;
    }
  }
  const EmulatedThread& any = warp.lanes[__builtin_ctz(lanes)];
  checks_.begin_collective(*any.home, any.warp, lanes, any.waiting.site->operation);
  complete(operands);
  checks_.end_collective();
  warp.waiting &= ~lanes;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    warp.operands[lane] = nullptr;
    let_go_on(warp.lanes[lane]);
  }
  return true;
}

void GroupExecutor::on_exit_of_lane(Warp& warp, std::uint32_t lane) {
  warp.live &= ~(1u << lane);
  for (std::uint32_t rest = warp.waiting; rest != 0;) {
    const std::uint32_t mask = warp.lanes[__builtin_ctz(rest)].waiting.mask;
    rest &= ~mask;
    try_complete(warp, mask);
  }
}

std::uint32_t GroupExecutor::converged_lanes(EmulatedThread& thread, const Site& site) {
  Warp& warp = thread.home->warp_of(thread);
  std::uint32_t lanes = 0;
  thread.waiting = {Waiting::For::kConverged, &site, 0, 0, nullptr, &lanes};
  if (std::find(converging_.begin(), converging_.end(), &warp) == converging_.end()) {
    converging_.push_back(&warp);
  }
  wait_here(thread);
  return lanes;
}

// A fiber knows nothing of the branches that others take. But once every lane of the warp has
// exited, waits or polls, those that ask at one place are those that came there together.
void GroupExecutor::release_converged() {
  std::erase_if(converging_, [&](Warp* warp) {
    for (std::uint32_t rest = warp->live; rest != 0; rest &= rest - 1) {
      const EmulatedThread& lane = warp->lanes[__builtin_ctz(rest)];
      if (!lane.started || lane.waiting.what == Waiting::For::kNothing) return false;
    }
    for (std::uint32_t rest = warp->live; rest != 0; rest &= rest - 1) {
      const EmulatedThread& first = warp->lanes[__builtin_ctz(rest)];
      if (first.waiting.what != Waiting::For::kConverged) continue;
      const Site& site = *first.waiting.site;
      std::uint32_t together = 0;
      for (std::uint32_t others = rest; others != 0; others &= others - 1) {
        const Waiting& waiting = warp->lanes[__builtin_ctz(others)].waiting;
        if (waiting.what == Waiting::For::kConverged && is_same_place(*waiting.site, site) &&
            std::strcmp(waiting.site->operation, site.operation) == 0) {
          together |= others & -others;
        }
      }
      for (std::uint32_t lanes = together; lanes != 0; lanes &= lanes - 1) {
        EmulatedThread& lane = warp->lanes[__builtin_ctz(lanes)];
        *lane.waiting.result = together;
        make_ready(lane);
      }
    }
    return true;
  });
}

}  // namespace culebra_emu
