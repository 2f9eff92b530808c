// A queue of work that one OS thread runs in order.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "abi.h"
#include "fast_tls.h"
#include "model/completion.h"

namespace culebra_emu {

// True on a thread that runs a cuLaunchHostFunc function: nearly no call is allowed there.
extern CULEBRA_EMU_FAST_TLS constinit thread_local bool in_host_function;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // The legacy default stream waits for all blocking streams of its context, and they for it.
  enum class Kind { kLegacyDefault, kBlocking, kNonBlocking };

  // What happens to work that has not begun when the device fails: most is dropped.
  enum class OnFailure { kSkip, kRun };

  Stream(Context& context, Kind kind, unsigned flags, int priority);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Context& context() const { return context_; }
  Kind kind() const { return kind_; }
  unsigned flags() const { return flags_; }
  int priority() const { return priority_.load(); }
  void set_priority(int priority) { priority_.store(priority); }

  // What cuStreamSetAttribute was told; the zero value if it never was.
  CUlaunchAttribute::Value attribute(CUlaunchAttributeID id) const;
  void set_attribute(CUlaunchAttributeID id, const CUlaunchAttribute::Value& value);

  std::uint64_t id() const { return id_; }

  // Adds work behind all earlier work; it also waits for `after`. Throws std::bad_alloc or
  // std::system_error, and has then added nothing.
  CompletionPtr enqueue(std::function<void()> work, OnFailure on_failure = OnFailure::kSkip,
                        std::vector<CompletionPtr> after = {});

  bool idle() const;
  void synchronize() const;
  // Done when all that was asked for is done; null if nothing ever was.
  CompletionPtr last() const;

  // Takes no more work; the OS thread ends when all is done.
  void close();

 private:
  struct Task {
    std::function<void()> work;
    OnFailure on_failure;
    std::vector<CompletionPtr> after;
    CompletionPtr done;
  };

  static void serve(const std::shared_ptr<Stream>& self);

  Context& context_;
  const Kind kind_;
  const unsigned flags_;
  std::atomic<int> priority_;
  const std::uint64_t id_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  CompletionPtr last_;
  bool has_thread_ = false;
  bool closed_ = false;
  std::map<CUlaunchAttributeID, CUlaunchAttribute::Value> attributes_;
};

using StreamPtr = std::shared_ptr<Stream>;

}  // namespace culebra_emu
