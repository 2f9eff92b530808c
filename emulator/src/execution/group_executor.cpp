#include "execution/group_executor.h"

#include <algorithm>
#include <utility>

#include "config.h"
#include "execution/sanitizer_report.h"

namespace culebra_emu {
namespace {

// A switch takes tens of nanoseconds, a look at the clock as many.
constexpr std::uint32_t kSwitchesPerLook = 1000;

}  // namespace

GroupExecutor::GroupExecutor() = default;
GroupExecutor::~GroupExecutor() = default;

GroupExecutor& GroupExecutor::of(const Thread* thread) {
  return *static_cast<const EmulatedThread*>(thread)->executor;
}

Outcome GroupExecutor::run(const Launch& launch, std::uint64_t first, std::uint64_t count,
                           GlobalRaces* races) {
  launch_ = &launch;
  outcome_ = {};
  current_ = launch.current_thread();
  prepare(launch, count);
  checks_.begin_group(launch, current_, threads_, races);
  prepare_order(first);
  has_deadline_ = config().timeout_s != 0;
  if (has_deadline_) {
    deadline_ = std::chrono::steady_clock::now() + std::chrono::seconds(config().timeout_s);
    until_look_ = kSwitchesPerLook;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    Cluster& cluster = clusters_[i];
    const Index3 index = index_at(first + i, launch.clusters());
    for (std::uint32_t rank = 0; rank < cluster.count; ++rank) {
      begin_block(*cluster.blocks[rank], index, rank);
    }
  }

  const SanitizerReport report(*this);
  FaultScope scope;
  scope.before_jump = [](void* context) {
    static_cast<FiberContext*>(context)->before_jump_here();
  };
  scope.before_jump_argument = &scheduler_;
  if (has_deadline_) {
    scope.may_leave = &GroupExecutor::may_be_left;
    scope.may_leave_argument = this;
    TimeLimit::of_this_thread().start(config().timeout_s);
  }
  if (sigsetjmp(scope.landing, 0) == 0) {
    scope.arm();
    FiberContext::switch_to(scheduler_, idle_fiber().context);
    scope.disarm();
  } else {
    scheduler_.after_jump_here();
    outcome_ = describe_fault(scope.fault());
  }
  if (has_deadline_) TimeLimit::of_this_thread().stop();
  *current_ = nullptr;
  // After a failure the group's other fibers are somewhere inside the kernel: drop them all, they
  // are made anew when needed.
  if (outcome_.result != CUDA_SUCCESS) drop_fibers();
  trim();
  return std::move(outcome_);
}

void GroupExecutor::prepare(const Launch& launch, std::uint64_t clusters) {
  if (layout_kernel_ != launch.kernel || layout_image_ != launch.image_serial) {
    layout_.clear();
    layout_kernel_ = launch.kernel;
    layout_image_ = launch.image_serial;
  }
  const auto blocks_in_cluster = static_cast<std::uint32_t>(count_of(launch.cluster));
  const auto threads_in_block = static_cast<std::uint32_t>(count_of(launch.block));
  const std::uint32_t warps_in_block = (threads_in_block + kWarpSize - 1) / kWarpSize;
  const std::size_t blocks = clusters * blocks_in_cluster;

  thread_count_ = live_threads_ = static_cast<std::uint32_t>(blocks * threads_in_block);
  next_thread_ = 0;
  start_one_ = false;
  grid_arrived_ = exited_blocks_ = 0;
  converging_.clear();
  ready_first_ = ready_last_ = nullptr;
  activity_ = 0;
  async_.begin_group(thread_count_);

  const bool same_shape = arranged_block_.x == launch.block.x &&
                          arranged_block_.y == launch.block.y &&
                          arranged_block_.z == launch.block.z && arranged_blocks_ >= blocks &&
                          arranged_cluster_ == blocks_in_cluster;
  if (same_shape) return;

  while (block_storage_.size() < blocks) {
    block_storage_.push_back(
        std::make_unique<EmulatedBlock>(layout_, block_storage_.size() < kGuardedBlocks));
    blocks_.push_back(block_storage_.back().get());
  }
  if (threads_.size() < thread_count_) threads_.resize(thread_count_);
  if (warps_.size() < blocks * warps_in_block) warps_.resize(blocks * warps_in_block);
  if (clusters_.size() < clusters) clusters_.resize(clusters);

  for (std::size_t i = 0; i < blocks; ++i) {
    EmulatedBlock& block = *blocks_[i];
    block.threads = &threads_[i * threads_in_block];
    block.warps = &warps_[i * warps_in_block];
    block.thread_count = threads_in_block;
    for (std::uint32_t t = 0; t < threads_in_block; ++t) {
      EmulatedThread& thread = block.threads[t];
      thread.executor = this;
      thread.home = &block;
      thread.block = &block.block;
      thread.index = index_at(t, launch.block);
      thread.lane = t % kWarpSize;
      thread.warp = t / kWarpSize;
    }
    for (std::uint32_t w = 0; w < warps_in_block; ++w) {
      block.warps[w].lanes = &block.threads[w * kWarpSize];
    }
  }
  for (std::size_t i = 0; i < clusters; ++i) {
    Cluster& cluster = clusters_[i];
    cluster.blocks = &blocks_[i * blocks_in_cluster];
    cluster.count = blocks_in_cluster;
    cluster.windows.clear();
    for (std::uint32_t rank = 0; rank < blocks_in_cluster; ++rank) {
      cluster.blocks[rank]->cluster = &cluster;
      cluster.windows.push_back(cluster.blocks[rank]->shared.window());
    }
  }
  arranged_block_ = launch.block;
  arranged_blocks_ = blocks;
  arranged_cluster_ = blocks_in_cluster;
}

void GroupExecutor::prepare_order(std::uint64_t first) {
  shuffle_.reset();
  ready_pool_.clear();
  if (config().shuffle == 0) return;
  shuffle_.emplace(config().shuffle + first);
  start_order_ = shuffle_->order(thread_count_);
}

void GroupExecutor::begin_block(EmulatedBlock& block, Index3 cluster_index, std::uint32_t rank) {
  const Launch& launch = *launch_;
  Cluster& cluster = *block.cluster;
  const Index3 inside = index_at(rank, launch.cluster);
  const Index3 index = {cluster_index.x * launch.cluster.x + inside.x,
                        cluster_index.y * launch.cluster.y + inside.y,
                        cluster_index.z * launch.cluster.z + inside.z};
  block.shared.begin_block(launch.dynamic_shared_bytes);
  const std::uint64_t linear =
      index.x + std::uint64_t{launch.grid.x} * (index.y + std::uint64_t{launch.grid.y} * index.z);
  block.block = {.index = index,
                 .dim = launch.block,
                 .grid_dim = launch.grid,
                 .dynamic_shared = block.shared.dynamic(),
                 .dynamic_shared_bytes = launch.dynamic_shared_bytes,
                 .cluster_dim = launch.cluster,
                 .index_in_cluster = inside,
                 .cluster_rank = rank,
                 .cluster_blocks = cluster.count,
                 .is_explicit_cluster = launch.has_cluster,
                 .shared_window_bytes = block.shared.window_bytes(),
                 .shared_windows = cluster.windows.data(),
                 .multiprocessor = static_cast<std::uint32_t>(linear % kMultiprocessors)};
  checks_.begin_block(block);
  block.live_threads = block.thread_count;
  block.barrier_arrived = block.barrier_predicates = block.barrier_arrived_only = 0;
  block.barrier_first = nullptr;
  if (std::exchange(block.barriers_used, false)) block.barriers = {};
  if (rank == 0) {
    cluster.live_threads = cluster.count * block.thread_count;
    cluster.arrived = cluster.phase = 0;
  }
  for (std::uint32_t i = 0; i < block.thread_count; ++i) {
    EmulatedThread& thread = block.threads[i];
    thread.waiting.what = Waiting::For::kNothing;
    thread.started = thread.exited = thread.looked_in_vain = false;
    thread.arrived_at_cluster = thread.arrived_at_block = false;
  }
  for (std::uint32_t i = 0; i * kWarpSize < block.thread_count; ++i) {
    const std::uint32_t lanes = std::min(kWarpSize, block.thread_count - i * kWarpSize);
    block.warps[i].live = lanes == kWarpSize ? ~0u : (1u << lanes) - 1;
    block.warps[i].waiting = block.warps[i].at_barrier = 0;
    std::fill(std::begin(block.warps[i].operands), std::end(block.warps[i].operands), nullptr);
  }
}

void GroupExecutor::drop_fibers() {
  idle_fibers_.clear();
  fibers_used_ = 0;
}

// A large group's memory is not kept: only a cooperative launch has one.
void GroupExecutor::trim() {
  if (fibers_used_ > kKeptFibers) {
    drop_fibers();
    fibers_.clear();
    stacks_.trim(kKeptFibers);
  }
  if (block_storage_.size() > kKeptBlocks) {
    arranged_blocks_ = 0;
    clusters_.clear();
    block_storage_.resize(kKeptBlocks);
    blocks_.resize(kKeptBlocks);
    threads_ = {};
    warps_ = {};
  }
}

Fiber& GroupExecutor::idle_fiber() {
  if (!idle_fibers_.empty()) {
    Fiber* fiber = idle_fibers_.back();
    idle_fibers_.pop_back();
    return *fiber;
  }
  // A group has at most as many fibers in use as it has threads.
  const std::size_t index = fibers_used_;
  if (fibers_.size() == index) fibers_.emplace_back();
  Fiber& fiber = fibers_[index];
  fiber.executor = this;
  fiber.context.reset(stacks_.base(index), FiberStacks::bytes(index), &GroupExecutor::run_fiber,
                      &fiber);
  ++fibers_used_;
  return fiber;
}

Fiber& GroupExecutor::another_fiber() {
  return *or_fail(*current_, [&] { return &idle_fiber(); });
}

void GroupExecutor::run_fiber(void* argument) {
  auto& fiber = *static_cast<Fiber*>(argument);
  fiber.context.first_arrival();
  GroupExecutor& executor = *fiber.executor;
  for (;;) {
    executor.start_threads(fiber);
    // Comes back when a later group, or a later thread of this one, needs a fiber.
    executor.go_on(fiber.context, &fiber);
  }
}

// Runs threads that have not started, as long as nobody is ready: a ready thread's data is still in
// the caches. But a thread that polls is always ready, and may poll for one that has not started.
void GroupExecutor::start_threads(Fiber& fiber) {
  while (next_thread_ < thread_count_ &&
         (std::exchange(start_one_, false) || !someone_is_ready())) {
    const std::uint32_t place = next_thread_++;
    EmulatedThread& thread = threads_[shuffle_ ? start_order_[place] : place];
    thread.fiber = &fiber;
    thread.started = true;
    *current_ = &thread;
    launch_->kernel->invoke(launch_->parameters.data());
    on_exit(thread);
  }
}

void GroupExecutor::resume(FiberContext& from, EmulatedThread& thread) {
  *current_ = &thread;
  if (&thread.fiber->context != &from) FiberContext::switch_to(from, thread.fiber->context);
}

// Leaves `from`, which waits or (if it is an idle fiber's) has no thread to run.
void GroupExecutor::go_on(FiberContext& from, Fiber* idle) {
  if (has_deadline_ && --until_look_ == 0) look_at_clock();
  if (!converging_.empty()) release_converged();
  const bool can_start = next_thread_ < thread_count_;
  if (shuffle_ && can_start && someone_is_ready() && shuffle_->draw(2) == 0) {
    start_one_ = true;
    // An idle fiber comes back to where it starts threads.
    if (idle == nullptr) FiberContext::switch_to(from, another_fiber().context);
  } else if (EmulatedThread* thread = take_ready()) {
    if (idle != nullptr) idle_fibers_.push_back(idle);
    resume(from, *thread);
  } else if (can_start) {
    FiberContext::switch_to(from, another_fiber().context);
  } else {
    if (live_threads_ != 0) {
      fail(CUDA_ERROR_LAUNCH_FAILED, "deadlock: no thread can go on; " + describe_all_waiting());
    }
    if (idle != nullptr) idle_fibers_.push_back(idle);
    FiberContext::switch_to(from, scheduler_);
  }
}

void GroupExecutor::look_at_clock() {
  until_look_ = kSwitchesPerLook;
  if (std::chrono::steady_clock::now() < deadline_) return;
  fail(CUDA_ERROR_LAUNCH_TIMEOUT, describe_timeout() + describe_all_waiting());
}

// In its own code a kernel holds nothing that others need, as it may in the emulator's or the C
// library's; and the clock says whether the signal is meant for this group.
bool GroupExecutor::may_be_left(void* executor, const void* code) {
  const auto& self = *static_cast<const GroupExecutor*>(executor);
  return self.launch_->code.contains(code) && std::chrono::steady_clock::now() >= self.deadline_;
}

void GroupExecutor::wait_here(EmulatedThread& thread) { go_on(thread.fiber->context, nullptr); }

// After a thread has come to a place where it may wait.
void GroupExecutor::settle(EmulatedThread& thread) {
  if (thread.waiting.what != Waiting::For::kNothing) {
    wait_here(thread);
  } else if (shuffle_) {
    // It came last and need not wait, but it is not for it to go first.
    make_ready(thread);
    wait_here(thread);
  }
}

bool GroupExecutor::someone_is_ready() const {
  return shuffle_ ? !ready_pool_.empty() : ready_first_ != nullptr;
}

void GroupExecutor::make_ready(EmulatedThread& thread) {
  ++activity_;
  thread.waiting.what = Waiting::For::kNothing;
  if (shuffle_) {
    ready_pool_.push_back(&thread);
    return;
  }
  thread.next_ready = nullptr;
  if (ready_last_ == nullptr) {
    ready_first_ = &thread;
  } else {
    ready_last_->next_ready = &thread;
  }
  ready_last_ = &thread;
}

// For one that waited: if it is the running thread, it simply goes on.
void GroupExecutor::let_go_on(EmulatedThread& thread) {
  if (*current_ == &thread && !thread.exited) {
    thread.waiting.what = Waiting::For::kNothing;
  } else {
    make_ready(thread);
  }
}

EmulatedThread* GroupExecutor::take_ready() {
  if (shuffle_) {
    if (ready_pool_.empty()) return nullptr;
    std::swap(ready_pool_[shuffle_->draw(ready_pool_.size())], ready_pool_.back());
    EmulatedThread* const drawn = ready_pool_.back();
    ready_pool_.pop_back();
    return drawn;
  }
  EmulatedThread* thread = ready_first_;
  if (thread != nullptr) {
    ready_first_ = thread->next_ready;
    if (ready_first_ == nullptr) ready_last_ = nullptr;
  }
  return thread;
}

void GroupExecutor::yield(EmulatedThread& thread) {
  ++activity_;
  yield_idly(thread);
}

void GroupExecutor::sleep(EmulatedThread& thread) {
  if (std::exchange(thread.looked_in_vain, false)) {
    yield_idly(thread);
  } else {
    yield(thread);
  }
}

void GroupExecutor::yield_idly(EmulatedThread& thread) {
  make_ready(thread);
  --activity_;
  thread.waiting.what = Waiting::For::kMemory;
  if (next_thread_ < thread_count_) {
    if (has_deadline_ && --until_look_ == 0) look_at_clock();
    start_one_ = true;
    FiberContext::switch_to(thread.fiber->context, another_fiber().context);
  } else {
    go_on(thread.fiber->context, nullptr);
  }
  thread.waiting.what = Waiting::For::kNothing;
}

// As on the hardware, an exited thread is waited for no longer.
void GroupExecutor::on_exit(EmulatedThread& thread) {
  EmulatedBlock& block = *thread.home;
  async_.on_exit(thread);
  ++activity_;
  thread.exited = true;
  --live_threads_;
  --block.live_threads;
  if (std::exchange(thread.arrived_at_block, false)) --block.barrier_arrived;
  if (block.barrier_arrived != 0 && block.barrier_arrived == block.live_threads) {
    release_barrier(block);
  }
  on_exit_of_lane(block.warp_of(thread), thread.lane);
  if (block.barriers_used) on_exit_at_barriers(thread);
  on_exit_in_cluster(thread);
  if (block.live_threads == 0) on_exit_of_block(block);
  if (grid_arrived_ != 0) release_grid_if_complete();
}

void GroupExecutor::on_exit_of_block(EmulatedBlock& block) {
  ++exited_blocks_;
  async_.on_exit_of_block(block);
  if (const auto damage = block.shared.find_damage()) {
    fail(CUDA_ERROR_ILLEGAL_ADDRESS, "wrote " + *damage);
  }
  // On a device its multiprocessor may by now run another block. One that is alone has no peers
  // that could see.
  if (block.cluster->count > 1) block.shared.close();
}

void* GroupExecutor::static_shared(EmulatedThread& thread, const void* key, std::uint64_t bytes,
                                   std::uint64_t align) {
  const SharedLayout::Array* array = layout_.find(key);
  if (array == nullptr) {
    array = layout_.add(key, bytes, align);
    if (array == nullptr) {
      fail(CUDA_ERROR_LAUNCH_FAILED, "the block's static shared memory exceeds " +
                                         std::to_string(kMaxStaticSharedBytes) + " bytes or " +
                                         std::to_string(SharedLayout::kMaxArrays) + " arrays");
    }
    const std::size_t blocks = thread_count_ / thread.home->thread_count;
    for (std::size_t i = 0; i < blocks; ++i) {
      if (!blocks_[i]->shared.closed()) blocks_[i]->shared.begin_array(*array);
    }
  }
  // A device knows it before the launch.
  const std::uint64_t together =
      std::uint64_t{layout_.used_bytes()} + launch_->dynamic_shared_bytes;
  if (together > launch_->max_shared_bytes) {
    fail(CUDA_ERROR_LAUNCH_FAILED,
         "the block's shared memory, " + std::to_string(layout_.used_bytes()) +
             " bytes static and " + std::to_string(launch_->dynamic_shared_bytes) +
             " dynamic, exceeds " + std::to_string(launch_->max_shared_bytes) +
             " bytes: a device refuses the launch (CUDA_ERROR_INVALID_VALUE)");
  }
  return thread.home->shared.window() + array->offset;
}

void GroupExecutor::fail(CUresult result, const std::string& message) {
  EmulatedThread& thread = running();
  outcome_ = {result, describe_block(*thread.home) + ": " + message};
  FiberContext::switch_to(thread.fiber->context, scheduler_);
  __builtin_unreachable();
}

}  // namespace culebra_emu
