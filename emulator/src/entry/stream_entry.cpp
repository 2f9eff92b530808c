// Streams, events and host functions.
#include <algorithm>
#include <chrono>

#include "entry/call.h"
#include "entry/submit.h"
#include "model/capture.h"
#include "model/objects.h"

using namespace culebra_emu;

namespace {

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

CUresult create_stream(const char* symbol, CUstream* out, unsigned flags, int priority) {
  return call(symbol, kNeedsContext, [&] {
    if (out == nullptr || (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    // Out of range is not an error: the nearest one is taken.
    priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
    *out = objects().streams.add(current_context()->create_stream(flags, priority));
    return CUDA_SUCCESS;
  });
}

// Calls body(stream) on the handle's stream. Needs no current context unless the handle is a
// default stream's.
template <class Body>
CUresult with_stream(const char* symbol, CUstream handle, Body body, unsigned demand = kNeedsInit) {
  return call(symbol, demand, [&] {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream(symbol, handle, result);
    return stream == nullptr ? result : body(stream);
  });
}

// Calls body(event) if the handle is a live event's.
template <class Body>
CUresult with_event(CUevent handle, Body body) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const std::shared_ptr<Event> event = objects().events.find(handle);
  return event == nullptr ? CUDA_ERROR_CONTEXT_IS_DESTROYED : body(event);
}

// The same for what only a recorded event can be asked, not a captured one.
template <class Body>
CUresult with_recorded_event(CUevent handle, Body body) {
  return with_event(handle, [&](const std::shared_ptr<Event>& event) {
    const CUresult result = refuse_captured(*event);
    return result == CUDA_SUCCESS ? body(*event) : result;
  });
}

// Nobody can wait for a captured stream, nor, if a capture forbids it, for another one.
CUresult refuse_wait(const Stream& stream) {
  const CUresult result = refuse_in_capture(stream);
  return result == CUDA_SUCCESS ? refuse_unsafe_call() : result;
}

CUresult elapsed_time(const char* symbol, float* milliseconds, CUevent start, CUevent end) {
  return call(symbol, kNeedsInit, [&] {
    if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with_recorded_event(start, [&](Event& first) {
      return with_recorded_event(end, [&](Event& second) {
        const auto from = first.record();
        const auto to = second.record();
        const bool timed = ((first.flags() | second.flags()) & CU_EVENT_DISABLE_TIMING) == 0;
        if (!timed || from == nullptr || to == nullptr || &first.context() != &second.context()) {
          return CUDA_ERROR_INVALID_HANDLE;
        }
        if (!from->done->done() || !to->done->done()) return CUDA_ERROR_NOT_READY;
        *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
        return CUDA_SUCCESS;
      });
    });
  });
}

CUresult record_event(const char* symbol, CUevent handle, CUstream stream_handle, unsigned flags) {
  return with_stream(symbol, stream_handle, [&](const StreamPtr& stream) {
    return with_event(handle, [&](const std::shared_ptr<Event>& event) {
      if (&event->context() != &stream->context()) return CUDA_ERROR_INVALID_HANDLE;
      if (any_capture()) {
        const std::lock_guard lock(graphs_mutex());
        std::shared_ptr<Capture> capture;
        const CUresult result = find_target(*stream, capture);
        if (result != CUDA_SUCCESS) return result;
        if (capture != nullptr) {
          if (flags == CU_EVENT_RECORD_EXTERNAL) {
            return capture->add(*stream, EventRecordWork{handle, event});
          }
          capture->record(*stream, *event);
          return CUDA_SUCCESS;
        }
      }
      // External is for captures alone.
      if (flags != CU_EVENT_RECORD_DEFAULT) return CUDA_ERROR_ILLEGAL_STATE;
      auto record = std::make_shared<Event::Record>();
      record->done = stream->enqueue([record] { record->time = Event::Clock::now(); },
                                     Stream::OnFailure::kRun);
      event->set_record(record);
      return CUDA_SUCCESS;
    });
  });
}

CUresult wait_event(const StreamPtr& stream, CUevent handle, const std::shared_ptr<Event>& event,
                    unsigned flags) {
  if (flags > CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  const bool waits_for_captured = event->captured() != nullptr;
  if (any_capture() || waits_for_captured) {
    const std::lock_guard lock(graphs_mutex());
    std::shared_ptr<Capture> capture;
    const CUresult result = find_target(*stream, capture);
    if (result != CUDA_SUCCESS) return result;
    if (capture != nullptr && flags == CU_EVENT_WAIT_EXTERNAL) {
      return capture->add(*stream, EventWaitWork{handle, event});
    }
    if (capture != nullptr || waits_for_captured) return wait_in_capture(stream, *event);
  }
  if (flags != CU_EVENT_WAIT_DEFAULT) return CUDA_ERROR_ILLEGAL_STATE;
  if (const auto record = event->record(); record != nullptr && !record->done->done()) {
    stream->enqueue([] {}, Stream::OnFailure::kRun, {record->done});
  }
  return CUDA_SUCCESS;
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return create_stream("cuStreamCreate", stream, flags, 0);
}

CULEBRA_EMU_EXPORT CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags,
                                                       int priority) {
  return create_stream("cuStreamCreateWithPriority", stream, flags, priority);
}

CULEBRA_EMU_EXPORT CUresult cuStreamDestroy_v2(CUstream handle) {
  return call("cuStreamDestroy_v2", kNeedsInit, [&] {
    if (reinterpret_cast<std::uintptr_t>(handle) <= 2) return CUDA_ERROR_INVALID_HANDLE;
    const StreamPtr stream = objects().streams.remove(handle);
    if (stream == nullptr) {
      die_of_dead_stream("cuStreamDestroy_v2", handle);
    }
    {
      const std::lock_guard lock(graphs_mutex());
      abandon_capture(*stream);
    }
    stream->close();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamSynchronize(CUstream handle) {
  return with_stream("cuStreamSynchronize", handle, [](const StreamPtr& stream) {
    if (const CUresult result = refuse_wait(*stream); result != CUDA_SUCCESS) return result;
    stream->synchronize();
    Device& device = stream->context().device();
    device.trim_pools_to_threshold();
    return device.failure();
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamQuery(CUstream handle) {
  return with_stream(
      "cuStreamQuery", handle,
      [](const StreamPtr& stream) {
        if (const CUresult result = refuse_wait(*stream); result != CUDA_SUCCESS) return result;
        return stream->idle() ? stream->context().device().failure() : CUDA_ERROR_NOT_READY;
      },
      kNeedsInit | kWorksInHostFunction);
}

CULEBRA_EMU_EXPORT CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle,
                                              unsigned flags) {
  return with_stream("cuStreamWaitEvent", handle, [&](const StreamPtr& stream) {
    return with_event(event_handle, [&](const std::shared_ptr<Event>& event) {
      return wait_event(stream, event_handle, event, flags);
    });
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  return with_stream("cuStreamGetId", handle, [&](const StreamPtr& stream) {
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *id = stream->id();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  return with_stream("cuStreamGetFlags", handle, [&](const StreamPtr& stream) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = stream->flags();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  return with_stream("cuStreamGetPriority", handle, [&](const StreamPtr& stream) {
    if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *priority = stream->priority();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  return with_stream("cuStreamGetCtx", handle, [&](const StreamPtr& stream) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = &stream->context();
    return CUDA_SUCCESS;
  });
}

// There are no green contexts; who asks for one is told of none.
CULEBRA_EMU_EXPORT CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* context, void** green) {
  return with_stream("cuStreamGetCtx_v2", handle, [&](const StreamPtr& stream) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = &stream->context();
    if (green != nullptr) *green = nullptr;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamGetDevice(CUstream handle, CUdevice* ordinal) {
  return with_stream("cuStreamGetDevice", handle, [&](const StreamPtr& stream) {
    if (ordinal == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *ordinal = stream->context().device().ordinal();
    return CUDA_SUCCESS;
  });
}

// Unlike a host function it is told of a failure, and cannot be captured.
CULEBRA_EMU_EXPORT CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback,
                                                void* user_data, unsigned flags) {
  return with_stream("cuStreamAddCallback", handle, [&](const StreamPtr& stream) {
    if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const CUresult refused = refuse_in_capture(*stream);
    if (refused != CUDA_SUCCESS) return refused;
    stream->enqueue(
        [=, &device = stream->context().device()] {
          in_host_function = true;
          callback(handle, device.failure(), user_data);
          in_host_function = false;
        },
        Stream::OnFailure::kRun);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* user_data) {
  return with_stream("cuLaunchHostFunc", handle, [&](const StreamPtr& stream) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return submit("cuLaunchHostFunc", *stream, HostWork{function, user_data});
  });
}

CULEBRA_EMU_EXPORT CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return call("cuEventCreate", kNeedsContext, [&] {
    constexpr unsigned kKnown =
        CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (event == nullptr || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CU_EVENT_INTERPROCESS) != 0) return CUDA_ERROR_NOT_SUPPORTED;
    *event = objects().events.add(std::make_shared<Event>(*current_context(), flags));
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuEventDestroy_v2(CUevent handle) {
  return call("cuEventDestroy_v2", kNeedsInit, [&] {
    if (handle == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return objects().events.remove(handle) == nullptr ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                      : CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuEventRecord(CUevent handle, CUstream stream) {
  return record_event("cuEventRecord", handle, stream, CU_EVENT_RECORD_DEFAULT);
}

CULEBRA_EMU_EXPORT CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream,
                                                   unsigned flags) {
  if (flags > CU_EVENT_RECORD_EXTERNAL) {
    return call("cuEventRecordWithFlags", kNeedsInit, [] { return CUDA_ERROR_INVALID_VALUE; });
  }
  return record_event("cuEventRecordWithFlags", handle, stream, flags);
}

CULEBRA_EMU_EXPORT CUresult cuEventQuery(CUevent handle) {
  return call("cuEventQuery", kNeedsInit | kWorksInHostFunction, [&] {
    return with_recorded_event(handle, [](Event& event) {
      if (const CUresult result = refuse_unsafe_call(); result != CUDA_SUCCESS) return result;
      const auto record = event.record();
      if (record != nullptr && !record->done->done()) return CUDA_ERROR_NOT_READY;
      return event.context().device().failure();
    });
  });
}

CULEBRA_EMU_EXPORT CUresult cuEventSynchronize(CUevent handle) {
  return call("cuEventSynchronize", kNeedsInit, [&] {
    return with_recorded_event(handle, [](Event& event) {
      if (const CUresult result = refuse_unsafe_call(); result != CUDA_SUCCESS) return result;
      if (const auto record = event.record()) record->done->wait();
      Device& device = event.context().device();
      device.trim_pools_to_threshold();
      return device.failure();
    });
  });
}

CULEBRA_EMU_EXPORT CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return elapsed_time("cuEventElapsedTime", milliseconds, start, end);
}

CULEBRA_EMU_EXPORT CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return elapsed_time("cuEventElapsedTime_v2", milliseconds, start, end);
}
