#include "model/context.h"

#include <algorithm>

#include "model/device.h"
#include "model/objects.h"

namespace culebra_emu {
namespace {

// A plain array, so that a thread that ends at any moment of the process's end has nothing to
// destroy.
constexpr std::size_t kDeepest = 64;
thread_local Context* stack[kDeepest];
thread_local std::size_t depth = 0;

}  // namespace

Context* current_context() { return depth == 0 ? nullptr : stack[depth - 1]; }

void set_current_context(Context* context) {
  if (context == nullptr) {
    pop_current_context();
  } else if (depth == 0) {
    stack[depth++] = context;
  } else {
    stack[depth - 1] = context;
  }
}

bool push_current_context(Context* context) {
  if (depth == kDeepest) return false;
  stack[depth++] = context;
  return true;
}

Context* pop_current_context() { return depth == 0 ? nullptr : stack[--depth]; }

void Context::retain() {
  const std::lock_guard lock(lifecycle_);
  if (references_++ == 0) {
    id_.fetch_add(1);
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
  objects().remove_all_of(*this);
  MemoryPool& pool = device_.default_pool();
  for (Allocation& allocation : address_space().remove_all_of(this)) {
    if (allocation.kind != MemoryKind::kPool) continue;
    pool.count_free(allocation.bytes);
    pool.give_back(std::move(allocation.mapping));
  }
  pool.trim(0);
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
