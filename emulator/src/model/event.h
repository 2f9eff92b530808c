#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "model/completion.h"

namespace culebra_emu {

class Context;

// A point in a stream. Recording again makes it another point; who waits already waits for the old
// one.
class Event {
 public:
  using Clock = std::chrono::steady_clock;

  struct Record {
    CompletionPtr done;
    Clock::time_point time;  // valid when done
  };

  Event(Context& context, unsigned flags) : context_(context), flags_(flags) {}

  Context& context() const { return context_; }
  unsigned flags() const { return flags_; }

  std::shared_ptr<Record> record() const {
    const std::lock_guard lock(mutex_);
    return record_;
  }
  void set_record(std::shared_ptr<Record> record) {
    const std::lock_guard lock(mutex_);
    record_ = std::move(record);
  }

 private:
  Context& context_;
  const unsigned flags_;
  mutable std::mutex mutex_;
  std::shared_ptr<Record> record_;
};

}  // namespace culebra_emu
