// The barriers of a block, of a cluster and of a grid.
#include <cstring>
#include <utility>

#include "execution/group_executor.h"

namespace culebra_emu {

std::uint32_t GroupExecutor::block_barrier(EmulatedThread& thread, const Site& site,
                                           std::uint32_t predicate) {
  EmulatedBlock& block = *thread.home;
  check_barrier_0(thread, site);
  thread.waiting = {Waiting::For::kBlock, &site, 0, 0, nullptr, nullptr};
  if (block.barrier_first == nullptr) {
    block.barrier_first = &thread;
  } else {
    const Site& other = *block.barrier_first->waiting.site;
    if (!is_same_place(site, other)) {
      fail(CUDA_ERROR_LAUNCH_FAILED,
           "divergent barrier: the threads of the block wait at different barriers; " +
               describe_waiting(block));
    }
  }
  ++block.barrier_arrived;
  block.barrier_predicates += predicate != 0;
  if (block.barrier_arrived == block.live_threads) {
    // It releases itself with the others; but it is the one that runs, so let it go first.
    release_barrier(block);
  }
  settle(thread);
  return block.barrier_result;
}

void GroupExecutor::arrive_at_block_barrier(EmulatedThread& thread, const Site& site) {
  EmulatedBlock& block = *thread.home;
  check_barrier_0(thread, site);
  thread.arrived_at_block = true;
  ++block.barrier_arrived_only;
  checks_.on_arrival(thread, &block.barrier_arrived);
  if (++block.barrier_arrived == block.live_threads) release_barrier(block);
}

void GroupExecutor::check_barrier_0(EmulatedThread& thread, const Site& site) {
  EmulatedBlock& block = *thread.home;
  const auto reject = [&](const std::string& why) {
    fail(CUDA_ERROR_LAUNCH_FAILED,
         why + ": " + describe_site(site) + "; " + describe_waiting(block));
  };
  if (block.barriers[0].arrived != 0) {
    reject("barrier 0 is in use for " + std::to_string(block.barriers[0].threads) +
           " threads, and a thread comes to it for all");
  }
  if (thread.arrived_at_block) {
    reject(name_of(thread) + " comes a second time, before the others have, to barrier 0");
  }
}

void GroupExecutor::release_barrier(EmulatedBlock& block) {
  block.barrier_result = block.barrier_predicates;
  block.barrier_arrived = block.barrier_predicates = 0;
  block.barrier_first = nullptr;
  order_at_barrier(block);
  for (std::uint32_t i = 0; i < block.thread_count; ++i) {
    EmulatedThread& thread = block.threads[i];
    thread.arrived_at_block = false;
    if (thread.waiting.what == Waiting::For::kBlock) let_go_on(thread);
  }
}

// What one that did not wait does since is not ordered.
void GroupExecutor::order_at_barrier(EmulatedBlock& block) {
  if (std::exchange(block.barrier_arrived_only, 0) == 0) return checks_.on_barrier(block);
  const auto each_that_waits = [&](auto what) {
    for (std::uint32_t i = 0; i < block.thread_count; ++i) {
      if (block.threads[i].waiting.what == Waiting::For::kBlock) what(block.threads[i]);
    }
  };
  each_that_waits([&](auto& thread) { checks_.on_arrival(thread, &block.barrier_arrived); });
  each_that_waits([&](auto& thread) { checks_.on_departure(thread, &block.barrier_arrived); });
}

std::uint32_t GroupExecutor::numbered_barrier(EmulatedThread& thread, const Site& site,
                                              std::uint32_t number, std::uint32_t threads,
                                              bool arrive_only, std::uint32_t predicate) {
  EmulatedBlock& block = *thread.home;
  const auto reject = [&](const std::string& why) {
    fail(CUDA_ERROR_LAUNCH_FAILED, name_of(thread) + ": " + why + ": " + describe_site(site) +
                                       "; " + describe_waiting(block));
  };
  const std::uint32_t most = (block.thread_count + kWarpSize - 1) / kWarpSize * kWarpSize;
  if (number >= kBarriersPerBlock) {
    reject("there is no barrier " + std::to_string(number) + ", they are 0 to " +
           std::to_string(kBarriersPerBlock - 1));
  }
  if (threads % kWarpSize != 0) {
    reject("a barrier for " + std::to_string(threads) + " threads, which are not whole warps");
  }
  if (threads > most) {
    reject("a barrier for " + std::to_string(threads) + " threads in a block of " +
           std::to_string(block.thread_count));
  }
  if (arrive_only && threads == 0) reject("an arrival at a barrier needs the number of threads");
  // The same barrier as that of __syncthreads.
  if (number == 0 && (threads == 0 || threads == most)) {
    if (!arrive_only) return block_barrier(thread, site, predicate);
    arrive_at_block_barrier(thread, site);
    return 0;
  }
  if (number == 0 && block.barrier_arrived != 0) {
    reject("barrier 0 is in use for all threads, and a thread comes to it for " +
           std::to_string(threads));
  }

  // Lanes come one after the other, and count when the warp is whole.
  block.barriers_used = true;
  Warp& warp = block.warp_of(thread);
  if (warp.at_barrier == 0) {
    warp.barrier_threads = threads;
    warp.barrier_arrive_only = arrive_only;
    warp.barrier_predicates = 0;
  } else {
    const EmulatedThread& first = warp.lanes[__builtin_ctz(warp.at_barrier)];
    if (first.waiting.number != number || warp.barrier_threads != threads ||
        warp.barrier_arrive_only != arrive_only) {
      thread.waiting = {Waiting::For::kWarp, &site, 0, number, nullptr, nullptr};
      reject("divergent barrier: the lanes of its warp are at different ones");
    }
  }
  std::uint32_t result = 0;
  thread.waiting = {Waiting::For::kWarp, &site, 0, number, nullptr, &result};
  warp.at_barrier |= 1u << thread.lane;
  warp.barrier_predicates += predicate != 0;
  if (warp.at_barrier == warp.live) arrive_as_warp(block, thread.warp);
  settle(thread);
  return result;
}

// All lanes that have not exited are at the barrier.
void GroupExecutor::arrive_as_warp(EmulatedBlock& block, std::uint32_t warp_index) {
  Warp& warp = block.warps[warp_index];
  const std::uint32_t lanes = std::exchange(warp.at_barrier, 0);
  const Waiting& waiting = warp.lanes[__builtin_ctz(lanes)].waiting;
  const std::uint32_t number = waiting.number;
  NumberedBarrier& barrier = block.barriers[number];
  const bool whole_block = warp.barrier_threads == 0;
  const std::uint32_t most = (block.thread_count + kWarpSize - 1) / kWarpSize * kWarpSize;
  const std::uint32_t threads = whole_block ? most : warp.barrier_threads;
  const auto reject = [&](const std::string& why) {
    fail(CUDA_ERROR_LAUNCH_FAILED,
         "warp " + std::to_string(warp_index) + " " + why + std::to_string(number) + ": " +
             describe_site(*waiting.site) + "; the barrier was begun at " +
             describe_site(barrier.first) + "; " + describe_waiting(block));
  };
  if (barrier.arrived == 0) {
    barrier = {threads, 0, 0, 0, whole_block, *waiting.site};
  } else if (barrier.threads != threads) {
    reject("comes for " + std::to_string(threads) + " threads, others for " +
           std::to_string(barrier.threads) + ", to barrier ");
  } else if ((barrier.warps >> warp_index & 1) != 0) {
    reject("arrives a second time, before the others have, at barrier ");
  }
  barrier.warps |= 1u << warp_index;
  barrier.arrived += kWarpSize;
  barrier.predicates += warp.barrier_predicates;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    EmulatedThread& lane = warp.lanes[__builtin_ctz(rest)];
    checks_.on_arrival(lane, &barrier);
    if (warp.barrier_arrive_only) {
      let_go_on(lane);
    } else {
      lane.waiting.what = Waiting::For::kNumbered;
    }
  }
  release_if_complete(block, number);
}

void GroupExecutor::release_if_complete(EmulatedBlock& block, std::uint32_t number) {
  NumberedBarrier& barrier = block.barriers[number];
  std::uint32_t expected = barrier.threads;
  if (barrier.whole_block) {
    // As __syncthreads: those that have exited are not waited for.
    for (std::uint32_t w = 0; w * kWarpSize < block.thread_count; ++w) {
      if (block.warps[w].live == 0 && (barrier.warps >> w & 1) == 0) expected -= kWarpSize;
    }
  }
  if (barrier.arrived < expected) return;
  const std::uint32_t warps = barrier.warps;
  barrier.arrived = 0;
  for (std::uint32_t rest = warps; rest != 0; rest &= rest - 1) {
    Warp& warp = block.warps[__builtin_ctz(rest)];
    for (std::uint32_t lanes = warp.live; lanes != 0; lanes &= lanes - 1) {
      EmulatedThread& thread = warp.lanes[__builtin_ctz(lanes)];
      if (thread.waiting.what == Waiting::For::kNumbered && thread.waiting.number == number) {
        *thread.waiting.result = barrier.predicates;
        checks_.on_departure(thread, &barrier);
        let_go_on(thread);
      }
    }
  }
}

void GroupExecutor::on_exit_at_barriers(EmulatedThread& thread) {
  EmulatedBlock& block = *thread.home;
  Warp& warp = block.warp_of(thread);
  if (warp.at_barrier != 0 && warp.at_barrier == warp.live) arrive_as_warp(block, thread.warp);
  if (warp.live != 0) return;
  for (std::uint32_t number = 0; number < kBarriersPerBlock; ++number) {
    if (block.barriers[number].arrived != 0 && block.barriers[number].whole_block) {
      release_if_complete(block, number);
    }
  }
}

void GroupExecutor::cluster_arrive(EmulatedThread& thread, const Site& site, bool relaxed) {
  Cluster& cluster = *thread.home->cluster;
  if (thread.arrived_at_cluster) {
    fail(CUDA_ERROR_LAUNCH_FAILED, name_of(thread) +
                                       " arrives at the cluster's barrier a second time without "
                                       "having waited: " +
                                       describe_site(site));
  }
  thread.arrived_at_cluster = true;
  thread.cluster_phase = cluster.phase;
  if (!relaxed) checks_.on_arrival(thread, cluster.hand_over(cluster.phase));
  if (++cluster.arrived == cluster.live_threads) release_cluster(cluster);
}

void GroupExecutor::cluster_wait(EmulatedThread& thread, const Site& site) {
  Cluster& cluster = *thread.home->cluster;
  if (!thread.arrived_at_cluster) {
    fail(CUDA_ERROR_LAUNCH_FAILED,
         name_of(thread) +
             " waits at the cluster's barrier without having arrived: " + describe_site(site));
  }
  if (thread.cluster_phase == cluster.phase) {
    thread.waiting = {Waiting::For::kCluster, &site, 0, 0, nullptr, nullptr};
    wait_here(thread);
  }
  thread.arrived_at_cluster = false;
  checks_.on_departure(thread, cluster.hand_over(thread.cluster_phase));
}

void GroupExecutor::release_cluster(Cluster& cluster) {
  cluster.arrived = 0;
  ++cluster.phase;
  for (std::uint32_t rank = 0; rank < cluster.count; ++rank) {
    EmulatedBlock& block = *cluster.blocks[rank];
    for (std::uint32_t i = 0; i < block.thread_count; ++i) {
      EmulatedThread& thread = block.threads[i];
      if (thread.waiting.what == Waiting::For::kCluster) let_go_on(thread);
    }
  }
}

void GroupExecutor::on_exit_in_cluster(EmulatedThread& thread) {
  Cluster& cluster = *thread.home->cluster;
  // Whoever waits at the barrier knows that it has exited.
  checks_.on_arrival(thread, cluster.hand_over(cluster.phase));
  --cluster.live_threads;
  if (thread.arrived_at_cluster && thread.cluster_phase == cluster.phase) --cluster.arrived;
  if (cluster.arrived != 0 && cluster.arrived == cluster.live_threads) release_cluster(cluster);
}

void GroupExecutor::grid_barrier(EmulatedThread& thread, const Site& site) {
  if (!launch_->cooperative) {
    fail(CUDA_ERROR_LAUNCH_FAILED,
         name_of(thread) +
             " waits for the grid in a launch that is not cooperative: " + describe_site(site));
  }
  const void* const hand_over = &grid_hand_overs_[grid_phase_ % 2];
  thread.waiting = {Waiting::For::kGrid, &site, 0, 0, nullptr, nullptr};
  checks_.on_arrival(thread, hand_over);
  ++grid_arrived_;
  release_grid_if_complete();
  settle(thread);
  checks_.on_departure(thread, hand_over);
}

// A thread that has exited is not waited for, a block of which none is left is, in vain.
void GroupExecutor::release_grid_if_complete() {
  if (grid_arrived_ != live_threads_ || exited_blocks_ != 0) return;
  grid_arrived_ = 0;
  ++grid_phase_;
  checks_.on_grid_barrier({clusters_.data(), count_of(launch_->clusters())});
  for (std::uint32_t i = 0; i < thread_count_; ++i) {
    if (threads_[i].waiting.what == Waiting::For::kGrid && !threads_[i].exited) {
      let_go_on(threads_[i]);
    }
  }
}

}  // namespace culebra_emu
