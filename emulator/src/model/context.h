// Contexts: a device's primary one and those that users create, and what is current on each thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "abi.h"
#include "model/origin.h"
#include "model/stream.h"

namespace culebra_emu {

class Device;

// What a context remembers and the emulator makes no use of: fibers have stacks of one size, printf
// and malloc are the C library's, and there are no caches.
struct ContextSettings {
  std::atomic<std::size_t> stack_bytes = 1024;
  std::atomic<std::size_t> printf_fifo_bytes = 7 * 1024 * 1024;
  std::atomic<std::size_t> malloc_heap_bytes = 8 * 1024 * 1024;
  std::atomic<CUfunc_cache> cache_config = CU_FUNC_CACHE_PREFER_NONE;
};

class Context {
 public:
  // The primary context belongs to its device and comes and goes with its users; a created one ends
  // once, and its handle is not used again.
  enum class Kind { kPrimary, kCreated };

  Context(Device& device, Kind kind) : device_(device), kind_(kind) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Device& device() const { return device_; }
  Kind kind() const { return kind_; }
  bool active() const { return active_.load(); }
  // Unique in the process; another one after each reset, although the handle stays the same.
  std::uint64_t id() const { return id_.load(); }
  unsigned flags() const { return flags_.load(); }
  void set_flags(unsigned flags) { flags_.store(flags); }
  ContextSettings& settings() { return settings_; }
  // The call that brought it to life.
  Origin origin();

  void retain();
  // False if it is not retained.
  bool release();
  // Destroys all that belongs to the context, whoever holds it.
  void reset();

  StreamPtr legacy_stream();
  // The calling thread's own default stream.
  StreamPtr per_thread_stream();
  StreamPtr create_stream(unsigned flags, int priority);

  // Whether this context may reach the other's memory. Each says false if it was so already.
  bool enable_peer(const Context& peer);
  bool disable_peer(const Context& peer);

  // Waits for all streams.
  void synchronize();

  // Calls the function when all work that the context has now is done.
  CompletionPtr after_all_work(std::function<void()> function);
  // All later work of the context waits for this too.
  void add_gate(CompletionPtr gate);
  // Under submission_order(): the gates that are still closed.
  void append_gates(std::vector<CompletionPtr>& after);

  std::mutex& submission_order() { return submission_order_; }
  // Under submission_order(): the default stream and the blocking ones.
  std::vector<StreamPtr> implicitly_ordered_streams();

 private:
  StreamPtr add_stream(Stream::Kind kind, unsigned flags, int priority);
  void destroy_contents();

  Device& device_;
  const Kind kind_;
  std::atomic<bool> active_ = false;
  std::atomic<std::uint64_t> id_ = 0;
  std::atomic<unsigned> flags_ = 0;
  ContextSettings settings_;

  std::mutex lifecycle_;
  unsigned references_ = 0;
  Origin origin_;

  std::mutex peers_mutex_;
  std::set<const Context*> peers_;

  std::mutex submission_order_;
  std::vector<CompletionPtr> gates_;
  std::mutex streams_mutex_;
  std::vector<std::weak_ptr<Stream>> streams_;
  StreamPtr legacy_;
  std::map<std::thread::id, StreamPtr> per_thread_;
};

// Known flags, and of spin, yield and block one at most.
bool are_valid_context_flags(unsigned flags);

// A new context, with one user.
Context& create_context(Device& device, unsigned flags);
// The context of a handle, live or not; null if there never was one.
Context* find_context(CUcontext handle);

// Those that are active, and a line for each.
std::size_t live_context_count();
std::vector<std::string> describe_live_contexts();

// The calling thread's stack of contexts; its top is current. Null if empty.
Context* current_context();
void set_current_context(Context* context);
// False if the stack is full.
bool push_current_context(Context* context);
// Null if there is none.
Context* pop_current_context();

}  // namespace culebra_emu
