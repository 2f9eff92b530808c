// A device's primary context, and what is current on each thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "abi.h"
#include "model/stream.h"

namespace culebra_emu {

class Device;

class Context {
 public:
  explicit Context(Device& device) : device_(device) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Device& device() const { return device_; }
  bool active() const { return active_.load(); }
  // Another one after each reset, although the handle stays the same.
  std::uint64_t id() const { return id_.load(); }
  unsigned flags() const { return flags_.load(); }
  void set_flags(unsigned flags) { flags_.store(flags); }

  void retain();
  // False if it is not retained.
  bool release();
  // Destroys all that belongs to the context, whoever holds it.
  void reset();

  StreamPtr legacy_stream();
  // The calling thread's own default stream.
  StreamPtr per_thread_stream();
  StreamPtr create_stream(unsigned flags, int priority);

  // Waits for all streams.
  void synchronize();

  std::mutex& submission_order() { return submission_order_; }
  // Under submission_order(): the default stream and the blocking ones.
  std::vector<StreamPtr> implicitly_ordered_streams();

 private:
  StreamPtr add_stream(Stream::Kind kind, unsigned flags, int priority);
  void destroy_contents();

  Device& device_;
  std::atomic<bool> active_ = false;
  std::atomic<std::uint64_t> id_ = 0;
  std::atomic<unsigned> flags_ = 0;

  std::mutex lifecycle_;
  unsigned references_ = 0;

  std::mutex submission_order_;
  std::mutex streams_mutex_;
  std::vector<std::weak_ptr<Stream>> streams_;
  StreamPtr legacy_;
  std::map<std::thread::id, StreamPtr> per_thread_;
};

// The calling thread's stack of contexts; its top is current. Null if empty.
Context* current_context();
void set_current_context(Context* context);
// False if the stack is full.
bool push_current_context(Context* context);
// Null if there is none.
Context* pop_current_context();

}  // namespace culebra_emu
