#include "model/stream.h"

#include <thread>

#include "model/context.h"
#include "model/device.h"

namespace culebra_emu {

CULEBRA_EMU_FAST_TLS constinit thread_local bool in_host_function = false;

namespace {

std::uint64_t next_stream_id() {
  static std::atomic<std::uint64_t> next = 1;
  return next.fetch_add(1);
}

}  // namespace

Stream::Stream(Context& context, Kind kind, unsigned flags, int priority)
    : context_(context), kind_(kind), flags_(flags), priority_(priority), id_(next_stream_id()) {}

CompletionPtr Stream::enqueue(std::function<void()> work, OnFailure on_failure,
                              std::vector<CompletionPtr> after) {
  // One at a time for the whole context: the order among the default stream and the blocking ones
  // is theirs together.
  const std::lock_guard order(context_.submission_order());
  if (kind_ != Kind::kNonBlocking) {
    for (const StreamPtr& other : context_.implicitly_ordered_streams()) {
      const bool waits = kind_ == Kind::kLegacyDefault || other->kind_ == Kind::kLegacyDefault;
      if (other.get() == this || !waits) continue;
      if (CompletionPtr last = other->last(); last != nullptr && !last->done()) {
        after.push_back(std::move(last));
      }
    }
  }
  context_.append_gates(after);
  auto done = std::make_shared<Completion>();
  const std::lock_guard lock(mutex_);
  // First of all, since it may fail: nobody must wait for work that no thread will do.
  if (!has_thread_) {
    // Detached: a process may end while work is queued, and then nobody must wait for it.
    std::thread(&Stream::serve, shared_from_this()).detach();
    has_thread_ = true;
  }
  tasks_.push_back({std::move(work), on_failure, std::move(after), done});
  last_ = done;
  wake_.notify_one();
  return done;
}

void Stream::serve(const std::shared_ptr<Stream>& self) {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(self->mutex_);
      self->wake_.wait(lock, [&] { return !self->tasks_.empty() || self->closed_; });
      if (self->tasks_.empty()) return;
      task = std::move(self->tasks_.front());
      self->tasks_.pop_front();
    }
    for (const CompletionPtr& other : task.after) other->wait();
    if (task.on_failure == OnFailure::kRun || !self->context_.device().failed()) task.work();
    // What the work holds (an image, a mapping) goes before anybody hears that it is done.
    task.work = nullptr;
    task.done->complete();
  }
}

CUlaunchAttribute::Value Stream::attribute(CUlaunchAttributeID id) const {
  const std::lock_guard lock(mutex_);
  const auto found = attributes_.find(id);
  return found == attributes_.end() ? CUlaunchAttribute::Value{} : found->second;
}

void Stream::set_attribute(CUlaunchAttributeID id, const CUlaunchAttribute::Value& value) {
  const std::lock_guard lock(mutex_);
  attributes_[id] = value;
}

CompletionPtr Stream::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

bool Stream::idle() const {
  const CompletionPtr done = last();
  return done == nullptr || done->done();
}

void Stream::synchronize() const {
  if (const CompletionPtr done = last()) done->wait();
}

void Stream::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  wake_.notify_one();
}

}  // namespace culebra_emu
