#include "model/workers.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace culebra_emu {
namespace {

class Workers {
 public:
  void start(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(work));
      if (tasks_.size() <= idle_) {
        wake_.notify_one();
        return;
      }
    }
    // Detached: the process may end while work waits for something that never comes.
    try {
      std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {
      do_one_here();
    }
  }

 private:
  // Unless a worker has become idle meanwhile and has taken it.
  void do_one_here() {
    std::function<void()> work;
    {
      const std::lock_guard lock(mutex_);
      if (tasks_.empty()) return;
      work = std::move(tasks_.back());
      tasks_.pop_back();
    }
    work();
  }

  void serve() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        ++idle_;
        wake_.wait(lock, [this] { return !tasks_.empty(); });
        --idle_;
        work = std::move(tasks_.front());
        tasks_.pop_front();
      }
      work();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  std::size_t idle_ = 0;
};

}  // namespace

void start_on_worker(std::function<void()> work) {
  static Workers& workers = *new Workers;
  workers.start(std::move(work));
}

}  // namespace culebra_emu
