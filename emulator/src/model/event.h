#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "model/completion.h"

namespace culebra_emu {

class Context;
// Where an event was recorded in a stream that was being captured: model/capture.h.
struct CapturedPoint;

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
    captured_ = nullptr;
  }

  // Null if it was last recorded to run, or never.
  std::shared_ptr<const CapturedPoint> captured() const {
    const std::lock_guard lock(mutex_);
    return captured_;
  }
  void set_captured(std::shared_ptr<const CapturedPoint> captured) {
    const std::lock_guard lock(mutex_);
    captured_ = std::move(captured);
  }

 private:
  Context& context_;
  const unsigned flags_;
  mutable std::mutex mutex_;
  std::shared_ptr<Record> record_;
  std::shared_ptr<const CapturedPoint> captured_;
};

}  // namespace culebra_emu
