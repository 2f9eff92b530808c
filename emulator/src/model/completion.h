#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

namespace culebra_emu {

// Something that happens once and can be waited for.
class Completion {
 public:
  void complete() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
  }

  bool done() const {
    const std::lock_guard lock(mutex_);
    return done_;
  }

  void wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;
};

using CompletionPtr = std::shared_ptr<Completion>;

}  // namespace culebra_emu
