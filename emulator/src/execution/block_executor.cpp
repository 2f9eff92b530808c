#include "execution/block_executor.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

namespace culebra_emu {

// Runs one thread after the other, all on one stack, as long as they do not wait.
struct BlockExecutor::Fiber {
  BlockExecutor* executor = nullptr;
  FiberContext context;
};

// Where a thread waits, and for whom.
struct BlockExecutor::Waiting {
  enum class For { kNothing, kBlock, kLanes };
  For what = For::kNothing;
  Site site = {};
  std::uint32_t mask = 0;
  void* operand = nullptr;
  CompleteCollective complete = nullptr;
};

struct BlockExecutor::EmulatedThread : Thread {
  BlockExecutor* executor = nullptr;
  Fiber* fiber = nullptr;
  EmulatedThread* next_ready = nullptr;
  Waiting waiting;
  bool exited = false;
};

struct BlockExecutor::Warp {
  EmulatedThread* lanes = nullptr;
  std::uint32_t live = 0;
  std::uint32_t waiting = 0;
};

// A block's shared memory. Every byte is poisoned (it reads as NaN, or as -1) before a block sees
// it. An access far beyond the end faults; the bytes behind each array hold a pattern that shows a
// store there.
class BlockExecutor::SharedMemory {
 public:
  // As strict as any use of shared memory demands, and what culebra/platform.cuh promises.
  static constexpr std::uint64_t kAlign = 1024;
  static constexpr std::uint64_t kStaticAlign = 16;
  static constexpr unsigned char kPoison = 0xFF;
  static constexpr unsigned char kPattern = 0xC5;

  SharedMemory() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* memory = mmap(nullptr, total(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<char*>(memory);
    for (const std::size_t guard : {std::size_t{0}, page_ + kStaticRoom, total() - page_}) {
      mprotect(memory_ + guard, page_, PROT_NONE);
    }
  }
  ~SharedMemory() { munmap(memory_, total()); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  void* begin_block(std::uint32_t dynamic_bytes) {
    arrays_.clear();
    static_used_ = 0;
    const std::uint64_t room = round_up(dynamic_bytes, kAlign);
    dynamic_ = {nullptr, memory_ + total() - page_ - room, dynamic_bytes, room};
    dynamic_.prepare();
    return dynamic_.address;
  }

  // Null if the block asks for more than there is.
  void* static_array(const void* key, std::uint64_t bytes, std::uint64_t align) {
    for (const Array& array : arrays_) {
      if (array.key == key) return array.address;
    }
    const std::uint64_t offset = round_up(static_used_, std::max(align, kStaticAlign));
    if (offset + bytes > kMaxStaticSharedBytes) return nullptr;
    // Twice as far from the start as on a device: as aligned as there, with a gap of the array's
    // own size behind it.
    arrays_.push_back(
        {key, memory_ + page_ + 2 * offset, bytes, 2 * round_up(bytes, kStaticAlign)});
    arrays_.back().prepare();
    static_used_ = offset + bytes;
    return arrays_.back().address;
  }

  std::uint32_t static_used() const { return static_cast<std::uint32_t>(static_used_); }

  // A description of the memory that the block wrote beyond, if there is one.
  std::optional<std::string> find_damage() const {
    if (!dynamic_.intact()) {
      return "its dynamic shared memory of " + std::to_string(dynamic_.bytes) + " bytes";
    }
    for (const Array& array : arrays_) {
      if (!array.intact()) return "a shared array of " + std::to_string(array.bytes) + " bytes";
    }
    return std::nullopt;
  }

 private:
  struct Array {
    const void* key = nullptr;
    char* address = nullptr;
    std::uint64_t bytes = 0;
    // Up to the next array, or to the guard page.
    std::uint64_t room = 0;

    void prepare() {
      std::memset(address, kPoison, bytes);
      std::memset(address + bytes, kPattern, room - bytes);
    }
    bool intact() const {
      return std::all_of(address + bytes, address + room,
                         [](char byte) { return static_cast<unsigned char>(byte) == kPattern; });
    }
  };

  static constexpr std::size_t kStaticRoom = 2 * kMaxStaticSharedBytes;

  static std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
  }
  std::size_t total() const { return 3 * page_ + kStaticRoom + kMaxDynamicSharedBytes + kAlign; }

  std::size_t page_;
  char* memory_;
  Array dynamic_;
  std::vector<Array> arrays_;
  std::uint64_t static_used_ = 0;
};

BlockExecutor::BlockExecutor()
    : stacks_(kMaxThreadsPerBlock),
      fibers_(kMaxThreadsPerBlock),
      threads_(kMaxThreadsPerBlock),
      warps_(kMaxThreadsPerBlock / kWarpSize),
      shared_(std::make_unique<SharedMemory>()) {
  for (Fiber& fiber : fibers_) fiber.executor = this;
  for (EmulatedThread& thread : threads_) {
    thread.executor = this;
    thread.block = &block_;
  }
  for (std::size_t i = 0; i < warps_.size(); ++i) warps_[i].lanes = &threads_[i * kWarpSize];
}

BlockExecutor::~BlockExecutor() = default;

BlockExecutor& BlockExecutor::of(const Thread* thread) {
  return *static_cast<const EmulatedThread*>(thread)->executor;
}

std::uint32_t BlockExecutor::thread_count() const {
  return block_.dim.x * block_.dim.y * block_.dim.z;
}

Outcome BlockExecutor::run(const Launch& launch, Index3 block_index) {
  launch_ = &launch;
  outcome_ = {};
  current_ = launch.current_thread();
  block_ = {block_index, launch.block, launch.grid, nullptr, launch.dynamic_shared_bytes};
  block_.dynamic_shared = shared_->begin_block(launch.dynamic_shared_bytes);

  const std::uint32_t count = thread_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    EmulatedThread& thread = threads_[i];
    thread.index = {i % block_.dim.x, i / block_.dim.x % block_.dim.y,
                    i / (block_.dim.x * block_.dim.y)};
    thread.lane = i % kWarpSize;
    thread.warp = i / kWarpSize;
    thread.waiting.what = Waiting::For::kNothing;
    thread.exited = false;
  }
  for (std::uint32_t i = 0; i * kWarpSize < count; ++i) {
    const std::uint32_t lanes = std::min(kWarpSize, count - i * kWarpSize);
    warps_[i].live = lanes == kWarpSize ? ~0u : (1u << lanes) - 1;
    warps_[i].waiting = 0;
  }
  next_thread_ = 0;
  start_one_ = false;
  live_threads_ = count;
  ready_first_ = ready_last_ = nullptr;
  barrier_arrived_ = barrier_predicates_ = 0;
  barrier_first_ = nullptr;

  FaultScope scope;
  scope.before_jump = [](void* context) {
    static_cast<FiberContext*>(context)->before_jump_here();
  };
  scope.before_jump_argument = &scheduler_;
  if (sigsetjmp(scope.landing, 0) == 0) {
    scope.arm();
    FiberContext::switch_to(scheduler_, idle_fiber().context);
    scope.disarm();
    if (outcome_.result == CUDA_SUCCESS) {
      if (const auto damage = shared_->find_damage()) {
        outcome_ = {CUDA_ERROR_ILLEGAL_ADDRESS,
                    describe_block() + ": wrote beyond the end of " + *damage};
      }
    }
  } else {
    scheduler_.after_jump_here();
    outcome_ = describe_fault(scope.fault());
  }
  *current_ = nullptr;
  static_shared_used_ = std::max(static_shared_used_, shared_->static_used());
  if (outcome_.result != CUDA_SUCCESS) {
    // The block's other fibers are somewhere inside the kernel: drop them all, they are made anew
    // when needed.
    idle_fibers_.clear();
    fibers_used_ = 0;
  }
  return std::move(outcome_);
}

BlockExecutor::Fiber& BlockExecutor::idle_fiber() {
  if (!idle_fibers_.empty()) {
    Fiber* fiber = idle_fibers_.back();
    idle_fibers_.pop_back();
    return *fiber;
  }
  // A block has at most as many fibers in use as it has threads, so there is always another one.
  const std::size_t index = fibers_used_++;
  Fiber& fiber = fibers_[index];
  fiber.context.reset(stacks_.base(index), &BlockExecutor::run_fiber, &fiber);
  return fiber;
}

void BlockExecutor::run_fiber(void* argument) {
  auto& fiber = *static_cast<Fiber*>(argument);
  fiber.context.first_arrival();
  BlockExecutor& executor = *fiber.executor;
  for (;;) {
    executor.start_threads(fiber);
    // Comes back when a later block, or a later thread of this one, needs a fiber.
    executor.go_on(fiber.context, &fiber);
  }
}

// Runs threads that have not started, as long as nobody is ready: a ready thread's data is still in
// the caches. But a thread that polls is always ready, and may poll for one that has not started.
void BlockExecutor::start_threads(Fiber& fiber) {
  while (next_thread_ < thread_count() &&
         (std::exchange(start_one_, false) || ready_first_ == nullptr)) {
    EmulatedThread& thread = threads_[next_thread_++];
    thread.fiber = &fiber;
    *current_ = &thread;
    launch_->kernel->invoke(launch_->parameters.data());
    on_exit(thread);
  }
}

void BlockExecutor::resume(FiberContext& from, EmulatedThread& thread) {
  *current_ = &thread;
  if (&thread.fiber->context != &from) FiberContext::switch_to(from, thread.fiber->context);
}

// Leaves `from`, which waits or (if it is an idle fiber's) has no thread to run.
void BlockExecutor::go_on(FiberContext& from, Fiber* idle) {
  if (EmulatedThread* thread = take_ready()) {
    if (idle != nullptr) idle_fibers_.push_back(idle);
    resume(from, *thread);
  } else if (next_thread_ < thread_count()) {
    FiberContext::switch_to(from, idle_fiber().context);
  } else {
    if (live_threads_ != 0) {
      fail(CUDA_ERROR_LAUNCH_FAILED, "deadlock: no thread can go on; " + describe_waiting());
    }
    if (idle != nullptr) idle_fibers_.push_back(idle);
    FiberContext::switch_to(from, scheduler_);
  }
}

void BlockExecutor::wait_here(EmulatedThread& thread) { go_on(thread.fiber->context, nullptr); }

void BlockExecutor::make_ready(EmulatedThread& thread) {
  thread.waiting.what = Waiting::For::kNothing;
  thread.next_ready = nullptr;
  if (ready_last_ == nullptr) {
    ready_first_ = &thread;
  } else {
    ready_last_->next_ready = &thread;
  }
  ready_last_ = &thread;
}

BlockExecutor::EmulatedThread* BlockExecutor::take_ready() {
  EmulatedThread* thread = ready_first_;
  if (thread != nullptr) {
    ready_first_ = thread->next_ready;
    if (ready_first_ == nullptr) ready_last_ = nullptr;
  }
  return thread;
}

void BlockExecutor::yield(EmulatedThread& thread) {
  make_ready(thread);
  if (next_thread_ < thread_count()) {
    start_one_ = true;
    FiberContext::switch_to(thread.fiber->context, idle_fiber().context);
  } else {
    go_on(thread.fiber->context, nullptr);
  }
}

// As on the hardware, an exited thread is waited for no longer.
void BlockExecutor::on_exit(EmulatedThread& thread) {
  thread.exited = true;
  --live_threads_;
  Warp& warp = warps_[thread.warp];
  warp.live &= ~(1u << thread.lane);
  if (barrier_arrived_ != 0 && barrier_arrived_ == live_threads_) release_barrier();
  for (std::uint32_t rest = warp.waiting; rest != 0;) {
    const std::uint32_t mask = warp.lanes[__builtin_ctz(rest)].waiting.mask;
    rest &= ~mask;
    try_complete(warp, mask);
  }
}

std::uint32_t BlockExecutor::barrier(EmulatedThread& thread, const Site& site,
                                     std::uint32_t predicate) {
  thread.waiting = {Waiting::For::kBlock, site, 0, nullptr, nullptr};
  if (barrier_first_ == nullptr) {
    barrier_first_ = &thread;
  } else {
    const Site& other = barrier_first_->waiting.site;
    if (site.line != other.line ||
        (site.file != other.file && std::strcmp(site.file, other.file) != 0)) {
      fail(CUDA_ERROR_LAUNCH_FAILED,
           "divergent barrier: the threads of the block wait at different barriers; " +
               describe_waiting());
    }
  }
  ++barrier_arrived_;
  barrier_predicates_ += predicate != 0;
  if (barrier_arrived_ == live_threads_) {
    release_barrier();
    // It released itself with the others; but it is the one that runs, so let it go first.
    return barrier_result_;
  }
  wait_here(thread);
  return barrier_result_;
}

void BlockExecutor::release_barrier() {
  barrier_result_ = barrier_predicates_;
  barrier_arrived_ = barrier_predicates_ = 0;
  barrier_first_ = nullptr;
  for (std::uint32_t i = 0; i < next_thread_; ++i) {
    EmulatedThread& thread = threads_[i];
    if (thread.waiting.what != Waiting::For::kBlock) continue;
    if (*current_ == &thread && !thread.exited) {
      thread.waiting.what = Waiting::For::kNothing;
    } else {
      make_ready(thread);
    }
  }
}

void BlockExecutor::collective(EmulatedThread& thread, const Site& site, std::uint32_t mask,
                               void* operand, CompleteCollective complete) {
  Warp& warp = warps_[thread.warp];
  const std::uint32_t self = 1u << thread.lane;
  thread.waiting = {Waiting::For::kLanes, site, mask, operand, complete};
  if ((mask & self) == 0) {
    fail(CUDA_ERROR_LAUNCH_FAILED, name(thread) + " is not in the mask of its own " +
                                       site.operation + "; " + describe_waiting());
  }
  for (std::uint32_t rest = mask & warp.waiting; rest != 0; rest &= rest - 1) {
    const Waiting& other = warp.lanes[__builtin_ctz(rest)].waiting;
    // (One that waits with another mask may be on its way here, after a collective of fewer lanes.)
    if (other.mask == mask && other.complete != complete) {
      fail(
          CUDA_ERROR_LAUNCH_FAILED,
          "divergent warp: lanes of one mask wait in different collectives; " + describe_waiting());
    }
  }
  warp.waiting |= self;
  if (!try_complete(warp, mask)) wait_here(thread);
}

bool BlockExecutor::try_complete(Warp& warp, std::uint32_t mask) {
  const std::uint32_t lanes = mask & warp.live;
  if ((warp.waiting & lanes) != lanes) return false;
  void* operands[kWarpSize] = {};
  CompleteCollective complete = nullptr;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const Waiting& waiting = warp.lanes[lane].waiting;
    if (waiting.mask != mask) return false;
    operands[lane] = waiting.operand;
    complete = waiting.complete;
  }
  if (complete == nullptr) return false;
  complete(operands);
  warp.waiting &= ~lanes;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    EmulatedThread& thread = warp.lanes[__builtin_ctz(rest)];
    if (*current_ == &thread && !thread.exited) {
      thread.waiting.what = Waiting::For::kNothing;
    } else {
      make_ready(thread);
    }
  }
  return true;
}

void* BlockExecutor::static_shared(const void* key, std::uint64_t bytes, std::uint64_t align) {
  void* address = shared_->static_array(key, bytes, align);
  if (address == nullptr) {
    fail(CUDA_ERROR_LAUNCH_FAILED, "the block's static shared memory exceeds " +
                                       std::to_string(kMaxStaticSharedBytes) + " bytes");
  }
  return address;
}

void BlockExecutor::fail(CUresult result, const std::string& message) {
  outcome_ = {result, describe_block() + ": " + message};
  auto& thread = *static_cast<EmulatedThread*>(*current_);
  FiberContext::switch_to(thread.fiber->context, scheduler_);
  __builtin_unreachable();
}

namespace {

std::string to_string(Index3 index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," +
         std::to_string(index.z) + ")";
}

std::string base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

}  // namespace

std::string BlockExecutor::name(const EmulatedThread& thread) {
  return "thread " + to_string(thread.index);
}

std::string BlockExecutor::describe_block() const {
  return std::string("kernel ") + launch_->kernel->symbol + ", block " + to_string(block_.index);
}

// "threads 0-31 (32 of them) wait at __syncthreads in softmax.cu:120; threads 32-63 (32 of them)
// have exited", by linear index.
std::string BlockExecutor::describe_waiting() const {
  // In the order of their first threads.
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> groups;
  for (std::uint32_t i = 0; i < thread_count(); ++i) {
    const EmulatedThread& thread = threads_[i];
    std::string where;
    if (thread.exited) {
      where = "have exited";
    } else if (i >= next_thread_) {
      where = "have not started";
    } else if (thread.waiting.what == Waiting::For::kNothing) {
      where = "can run";
    } else {
      const Site& site = thread.waiting.site;
      where = std::string("wait at ") + site.operation + " in " + base_name(site.file) + ":" +
              std::to_string(site.line);
      if (thread.waiting.what == Waiting::For::kLanes) {
        char mask[24];
        std::snprintf(mask, sizeof mask, " mask 0x%08x", thread.waiting.mask);
        where += mask;
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

Outcome BlockExecutor::describe_fault(const Fault& fault) const {
  const auto& thread = *static_cast<const EmulatedThread*>(*current_);
  const std::string who = describe_block() + ", " + name(thread) + ": ";
  char address[24];
  std::snprintf(address, sizeof address, "%p", fault.address);
  switch (fault.signal) {
    case SIGILL:
      return {CUDA_ERROR_MISALIGNED_ADDRESS, who + "misaligned address"};
    case SIGFPE:
      return {CUDA_ERROR_LAUNCH_FAILED,
              who + "integer division by zero (a GPU gives an undefined value instead)"};
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
  return {CUDA_ERROR_ILLEGAL_ADDRESS, who + "access to illegal address " + address};
}

struct RuntimeFunctions {
  static BlockExecutor::EmulatedThread& of(Thread* thread) {
    return *static_cast<BlockExecutor::EmulatedThread*>(thread);
  }
  static std::uint32_t block_barrier(Thread* thread, const Site* site, std::uint32_t predicate) {
    return BlockExecutor::of(thread).barrier(of(thread), *site, predicate);
  }
  static void warp_collective(Thread* thread, const Site* site, std::uint32_t mask, void* operand,
                              CompleteCollective complete) {
    BlockExecutor::of(thread).collective(of(thread), *site, mask, operand, complete);
  }
  static std::uint32_t active_lanes(const Thread* thread) {
    return BlockExecutor::of(thread).warps_[thread->warp].live;
  }
  static void* static_shared(Thread* thread, const void* key, std::uint64_t bytes,
                             std::uint64_t align) {
    return BlockExecutor::of(thread).static_shared(key, bytes, align);
  }
  static void yield(Thread* thread) { BlockExecutor::of(thread).yield(of(thread)); }
  static void fail(Thread* thread, std::uint32_t result, const char* message) {
    BlockExecutor::of(thread).fail(static_cast<CUresult>(result),
                                   BlockExecutor::name(of(thread)) + ": " + message);
  }
};

const Runtime kRuntime = {
    kAbiVersion,
    &RuntimeFunctions::block_barrier,
    &RuntimeFunctions::warp_collective,
    &RuntimeFunctions::active_lanes,
    &RuntimeFunctions::static_shared,
    &RuntimeFunctions::yield,
    &RuntimeFunctions::fail,
};

}  // namespace culebra_emu
