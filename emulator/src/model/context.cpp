#include "model/context.h"

#include <algorithm>

#include "fast_tls.h"
#include "model/capture.h"
#include "model/device.h"
#include "model/objects.h"

namespace culebra_emu {
namespace {

// A plain array, so that a thread that ends at any moment of the process's end has nothing to
// destroy. The top is kept beside it, since nearly every call asks for it, and the whole is too
// large for the fast way.
constexpr std::size_t kDeepest = 64;
thread_local Context* stack[kDeepest];
thread_local std::size_t depth = 0;
CULEBRA_EMU_FAST_TLS constinit thread_local Context* top = nullptr;

std::uint64_t next_context_id() {
  static std::atomic<std::uint64_t> next = 1;
  return next.fetch_add(1);
}

// Those that were created, in the order of creation. They are not taken out: a thread may have a
// destroyed context current, and must be told so.
struct CreatedContexts {
  std::mutex mutex;
  std::vector<std::unique_ptr<Context>> all;
};

CreatedContexts& created_contexts() {
  static CreatedContexts& instance = *new CreatedContexts;
  return instance;
}

}  // namespace

bool are_valid_context_flags(unsigned flags) {
  const unsigned scheduling = flags & CU_CTX_SCHED_MASK;
  return (flags & ~unsigned{CU_CTX_FLAGS_MASK}) == 0 && (scheduling & (scheduling - 1)) == 0;
}

Context& create_context(Device& device, unsigned flags) {
  auto context = std::make_unique<Context>(device, Context::Kind::kCreated);
  context->set_flags(flags);
  context->retain();
  CreatedContexts& created = created_contexts();
  const std::lock_guard lock(created.mutex);
  return *created.all.emplace_back(std::move(context));
}

Context* find_context(CUcontext handle) {
  for (int i = 0; i < device_count(); ++i) {
    Context& context = find_device(i)->primary();
    if (&context == handle) return &context;
  }
  CreatedContexts& created = created_contexts();
  const std::lock_guard lock(created.mutex);
  const auto found = std::find_if(created.all.begin(), created.all.end(),
                                  [&](const auto& context) { return context.get() == handle; });
  return found == created.all.end() ? nullptr : found->get();
}

namespace {

std::vector<Context*> live_contexts() {
  std::vector<Context*> live;
  for (int i = 0; i < device_count(); ++i) {
    Context& primary = find_device(i)->primary();
    if (primary.active()) live.push_back(&primary);
  }
  CreatedContexts& created = created_contexts();
  const std::lock_guard lock(created.mutex);
  for (const auto& context : created.all) {
    if (context->active()) live.push_back(context.get());
  }
  return live;
}

}  // namespace

std::size_t live_context_count() { return live_contexts().size(); }

std::vector<std::string> describe_live_contexts() {
  std::vector<std::string> lines;
  for (Context* context : live_contexts()) {
    lines.push_back("context of device " + std::to_string(context->device().ordinal()) +
                    ": made by " + to_string(context->origin()));
  }
  return lines;
}

Context* current_context() { return top; }

void set_current_context(Context* context) {
  if (context == nullptr) {
    pop_current_context();
  } else {
    if (depth == 0) depth = 1;
    top = stack[depth - 1] = context;
  }
}

bool push_current_context(Context* context) {
  if (depth == kDeepest) return false;
  top = stack[depth++] = context;
  return true;
}

Context* pop_current_context() {
  Context* const popped = top;
  if (depth != 0) --depth;
  top = depth == 0 ? nullptr : stack[depth - 1];
  return popped;
}

Origin Context::origin() {
  const std::lock_guard lock(lifecycle_);
  return origin_;
}

void Context::retain() {
  const std::lock_guard lock(lifecycle_);
  if (references_++ == 0) {
    id_.store(next_context_id());
    origin_ = current_origin();
    active_.store(true);
  }
}

bool Context::release() {
  const std::lock_guard lock(lifecycle_);
  if (references_ == 0) return false;
  if (--references_ == 0) destroy_contents();
  return true;
}

void Context::reset() {
  const std::lock_guard lock(lifecycle_);
  references_ = 0;
  if (active()) destroy_contents();
}

void Context::destroy_contents() {
  synchronize();
  active_.store(false);
  abandon_captures_of(*this);
  objects().remove_all_of(*this);
  for (Allocation& allocation : address_space().remove_all_of(this)) {
    if (allocation.kind != MemoryKind::kPool) continue;
    allocation.pool->count_free(allocation.bytes);
    allocation.pool->give_back(std::move(allocation.mapping));
  }
  device_.default_pool().trim(0);
  {
    const std::lock_guard peers_lock(peers_mutex_);
    peers_.clear();
  }
  const std::lock_guard lock(streams_mutex_);
  for (const auto& weak : streams_) {
    if (const StreamPtr stream = weak.lock()) stream->close();
  }
  streams_.clear();
  per_thread_.clear();
  legacy_ = nullptr;
}

StreamPtr Context::add_stream(Stream::Kind kind, unsigned flags, int priority) {
  std::erase_if(streams_, [](const auto& weak) { return weak.expired(); });
  auto stream = std::make_shared<Stream>(*this, kind, flags, priority);
  streams_.push_back(stream);
  return stream;
}

StreamPtr Context::legacy_stream() {
  const std::lock_guard lock(streams_mutex_);
  if (legacy_ == nullptr) legacy_ = add_stream(Stream::Kind::kLegacyDefault, CU_STREAM_DEFAULT, 0);
  return legacy_;
}

StreamPtr Context::per_thread_stream() {
  const std::lock_guard lock(streams_mutex_);
  StreamPtr& stream = per_thread_[std::this_thread::get_id()];
  if (stream == nullptr) stream = add_stream(Stream::Kind::kBlocking, CU_STREAM_DEFAULT, 0);
  return stream;
}

StreamPtr Context::create_stream(unsigned flags, int priority) {
  const std::lock_guard lock(streams_mutex_);
  const bool blocking = (flags & CU_STREAM_NON_BLOCKING) == 0;
  return add_stream(blocking ? Stream::Kind::kBlocking : Stream::Kind::kNonBlocking, flags,
                    priority);
}

void Context::synchronize() {
  std::vector<StreamPtr> streams;
  {
    const std::lock_guard lock(streams_mutex_);
    for (const auto& weak : streams_) {
      if (StreamPtr stream = weak.lock()) streams.push_back(std::move(stream));
    }
  }
  for (const StreamPtr& stream : streams) stream->synchronize();
}

CompletionPtr Context::after_all_work(std::function<void()> function) {
  std::vector<CompletionPtr> last;
  StreamPtr stream;
  {
    const std::lock_guard lock(streams_mutex_);
    for (const auto& weak : streams_) {
      if (const StreamPtr other = weak.lock()) {
        if (CompletionPtr done = other->last()) last.push_back(std::move(done));
      }
    }
    // A stream of its own, so that nothing is held up.
    stream = add_stream(Stream::Kind::kNonBlocking, CU_STREAM_NON_BLOCKING, 0);
  }
  CompletionPtr done =
      stream->enqueue(std::move(function), Stream::OnFailure::kRun, std::move(last));
  stream->close();
  return done;
}

bool Context::enable_peer(const Context& peer) {
  const std::lock_guard lock(peers_mutex_);
  return peers_.insert(&peer).second;
}

bool Context::disable_peer(const Context& peer) {
  const std::lock_guard lock(peers_mutex_);
  return peers_.erase(&peer) != 0;
}

void Context::add_gate(CompletionPtr gate) {
  const std::lock_guard lock(submission_order_);
  gates_.push_back(std::move(gate));
}

void Context::append_gates(std::vector<CompletionPtr>& after) {
  std::erase_if(gates_, [](const CompletionPtr& gate) { return gate->done(); });
  after.insert(after.end(), gates_.begin(), gates_.end());
}

std::vector<StreamPtr> Context::implicitly_ordered_streams() {
  std::vector<StreamPtr> result;
  const std::lock_guard lock(streams_mutex_);
  for (const auto& weak : streams_) {
    StreamPtr stream = weak.lock();
    if (stream != nullptr && stream->kind() != Stream::Kind::kNonBlocking) {
      result.push_back(std::move(stream));
    }
  }
  return result;
}

}  // namespace culebra_emu
