#include "execution/grid.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "checking/global_races.h"
#include "config.h"
#include "execution/group_executor.h"
#include "execution/shuffle.h"

namespace culebra_emu {
namespace {

// Executors are kept: their stacks and their shared memory are expensive to map and cheap to use
// again.
class ExecutorPool {
 public:
  std::unique_ptr<GroupExecutor> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto executor = std::move(idle_.back());
        idle_.pop_back();
        return executor;
      }
    }
    return std::make_unique<GroupExecutor>();
  }

  void give_back(std::unique_ptr<GroupExecutor> executor) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(executor));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<GroupExecutor>> idle_;
};

// The pools are never destroyed: at the process's end a detached thread may still be using them.
ExecutorPool& executors() {
  static ExecutorPool& pool = *new ExecutorPool;
  return pool;
}

// One launch, worked on by several OS threads, each with one group of blocks at a time.
class GridRun {
 public:
  explicit GridRun(const Launch& launch)
      : launch_(launch),
        clusters_in_group_(launch.cooperative ? count_of(launch.clusters()) : 1),
        groups_(count_of(launch.clusters()) / clusters_in_group_) {
    if (config().checks.race && count_of(launch.clusters()) > 1) {
      races_.emplace(launch.cluster, reinterpret_cast<const void*>(launch.kernel->invoke));
    }
  }

  std::uint64_t groups() const { return groups_; }

  // Takes groups until there are no more. Does not touch the launch if it comes too late to get
  // one.
  void work() {
    std::unique_ptr<GroupExecutor> executor;
    for (;;) {
      const std::uint64_t group = next_.fetch_add(1);
      if (group >= groups_) break;
      if (!failed_.load()) {
        run_group(executor,
                  config().shuffle == 0 ? group : place_in_order(config().shuffle, group, groups_));
      }
      if (done_.fetch_add(1) + 1 == groups_) {
        const std::lock_guard lock(mutex_);
        finished_.notify_all();
      }
    }
    if (executor != nullptr) executors().give_back(std::move(executor));
  }

  GridOutcome wait() {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return done_.load() == groups_; });
    return std::move(outcome_);
  }

 private:
  // Takes an executor if it has none.
  void run_group(std::unique_ptr<GroupExecutor>& executor, std::uint64_t group) {
    Outcome outcome;
    std::uint32_t static_shared_bytes = 0;
    try {
      if (executor == nullptr) {
        prepare_thread_for_faults();
        executor = executors().take();
      }
      outcome = executor->run(launch_, group * clusters_in_group_, clusters_in_group_,
                              races_ ? &*races_ : nullptr);
      static_shared_bytes = executor->static_shared_bytes();
    } catch (const std::bad_alloc&) {
      // It may be half prepared.
      executor = nullptr;
      outcome = {CUDA_ERROR_OUT_OF_MEMORY,
                 std::string("kernel ") + launch_.kernel->symbol + ": " + GroupExecutor::kNoMemory};
    }
    const std::lock_guard lock(mutex_);
    outcome_.static_shared_bytes = std::max(outcome_.static_shared_bytes, static_shared_bytes);
    if (outcome.result != CUDA_SUCCESS && !failed_.exchange(true)) {
      outcome_.outcome = std::move(outcome);
    }
  }

  const Launch& launch_;
  const std::uint64_t clusters_in_group_;
  const std::uint64_t groups_;
  std::optional<GlobalRaces> races_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::condition_variable finished_;
  GridOutcome outcome_;
};

// OS threads that help whoever launches a grid of more than one group: one for each other core, or
// as many as the system gives.
class Helpers {
 public:
  Helpers() {
    const std::size_t wanted = available_cores() - 1;
    try {
      for (; count_ < wanted; ++count_) std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {
    }
  }

  void ask(const std::shared_ptr<GridRun>& run) {
    const std::size_t wanted = std::min<std::uint64_t>(count_, run->groups() - 1);
    if (wanted == 0) return;
    {
      const std::lock_guard lock(mutex_);
      for (std::size_t i = 0; i < wanted; ++i) requests_.push_back(run);
    }
    wake_.notify_all();
  }

 private:
  static std::size_t available_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return static_cast<std::size_t>(std::max(CPU_COUNT(&set), 1));
  }

  void serve() {
    for (;;) {
      std::shared_ptr<GridRun> run;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return !requests_.empty(); });
        run = std::move(requests_.front());
        requests_.pop_front();
      }
      run->work();
    }
  }

  std::size_t count_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<GridRun>> requests_;
};

Helpers& helpers() {
  static Helpers& instance = *new Helpers;
  return instance;
}

}  // namespace

GridOutcome run_grid(const Launch& launch) {
  const auto run = std::make_shared<GridRun>(launch);
  // An order that is drawn must not depend on who is faster.
  if (config().shuffle == 0) helpers().ask(run);
  run->work();
  return run->wait();
}

}  // namespace culebra_emu
