// The barriers of a block and of a cluster.
#include <cstring>

#include "execution/group_executor.h"

namespace culebra_emu {

std::uint32_t GroupExecutor::block_barrier(EmulatedThread& thread, const Site& site,
                                           std::uint32_t predicate) {
  EmulatedBlock& block = *thread.home;
  thread.waiting = {Waiting::For::kBlock, site, 0, nullptr, nullptr};
  if (block.barrier_first == nullptr) {
    block.barrier_first = &thread;
  } else {
    const Site& other = block.barrier_first->waiting.site;
    if (site.line != other.line ||
        (site.file != other.file && std::strcmp(site.file, other.file) != 0)) {
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
  } else {
    wait_here(thread);
  }
  return block.barrier_result;
}

void GroupExecutor::release_barrier(EmulatedBlock& block) {
  block.barrier_result = block.barrier_predicates;
  block.barrier_arrived = block.barrier_predicates = 0;
  block.barrier_first = nullptr;
  for (std::uint32_t i = 0; i < block.thread_count; ++i) {
    EmulatedThread& thread = block.threads[i];
    if (thread.waiting.what == Waiting::For::kBlock) let_go_on(thread);
  }
}

void GroupExecutor::cluster_arrive(EmulatedThread& thread, const Site& site) {
  Cluster& cluster = *thread.home->cluster;
  thread.waiting.site = site;
  if (thread.arrived_at_cluster) {
    fail(CUDA_ERROR_LAUNCH_FAILED, name_of(thread) +
                                       " arrives at the cluster's barrier a second time without "
                                       "having waited: " +
                                       describe_site(site));
  }
  thread.arrived_at_cluster = true;
  thread.cluster_phase = cluster.phase;
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
    thread.waiting = {Waiting::For::kCluster, site, 0, nullptr, nullptr};
    wait_here(thread);
  }
  thread.arrived_at_cluster = false;
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
  --cluster.live_threads;
  if (thread.arrived_at_cluster && thread.cluster_phase == cluster.phase) --cluster.arrived;
  if (cluster.arrived != 0 && cluster.arrived == cluster.live_threads) release_cluster(cluster);
}

}  // namespace culebra_emu
