// Which calls need a current context: A's objects, with no context or context B current.
#include <vector>

#include "case.h"

namespace differential {
namespace {

constexpr DriverFunction<CUcontext*, void*, unsigned, CUdevice> cuCtxCreate{"cuCtxCreate_v4"};

// A is the primary context, B another of the same device.
struct World {
  CUcontext a;
  CUcontext b = nullptr;
  Kernels kernels;
  CUstream stream;
  CUevent event;
  CUdeviceptr memory;
  CUdeviceptr ordered = 0;

  explicit World(Answer& answer)
      : a(use_device(answer)),
        kernels(answer),
        stream(new_stream(answer)),
        event(new_event(answer)),
        memory(new_memory(answer, 256)) {
    NEED(cuMemAllocAsync(&ordered, 256, stream));
    NEED(cuStreamSynchronize(stream));
    NEED(cuCtxCreate(&b, nullptr, 0, 0));
    NEED(cuCtxSetCurrent(nullptr));
  }
};

// The answer with no context current, then, in a world of its own, with B.
Case both(const char* name, const char* calls, const char* recorded,
          std::function<void(World&, Answer&)> body, bool only_b = false) {
  return {name, calls, recorded, [=](Answer& answer) {
            World world(answer);
            while (!only_b) {
              // cuCtxCreate pushed B, and there may be more below.
              CUcontext current = nullptr;
              NEED(cuCtxGetCurrent(&current));
              if (current == nullptr) break;
              NEED(cuCtxPopCurrent_v2(&current));
            }
            if (!only_b) body(world, answer);
            NEED(cuCtxSetCurrent(world.b));
            if (only_b) {
              body(world, answer);
              return;
            }
            const World other = world;
            World fresh = other;
            // What the first round used up.
            NEED(cuCtxSetCurrent(world.a));
            fresh.stream = new_stream(answer);
            fresh.memory = new_memory(answer, 256);
            NEED(cuMemAllocAsync(&fresh.ordered, 256, fresh.stream));
            NEED(cuStreamSynchronize(fresh.stream));
            NEED(cuCtxSetCurrent(world.b));
            body(fresh, answer);
          }};
}

// Whether memory is of a context, in words.
const char* owner_of(const World& world, CUdeviceptr address) {
  CUcontext owner = nullptr;
  if (cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address) != CUDA_SUCCESS) {
    return "?";
  }
  return owner == world.b ? "B" : owner == world.a ? "A" : "?";
}

const Cases all({
    both("context-launch", "launch on A's stream", "0 0",
         [](World& world, Answer& answer) {
           answer(launch_write(world.kernels.write, world.memory, world.stream));
         }),
    both("context-record", "record an event on A's stream", "0 0",
         [](World& world, Answer& answer) { answer(cuEventRecord(world.event, world.stream)); }),
    both("context-memset", "asynchronous fill on A's stream", "0 0",
         [](World& world, Answer& answer) {
           answer(cuMemsetD32Async(world.memory, 0, 4, world.stream));
         }),
    both("context-sync", "synchronize and query A's stream", "0 0 0 0",
         [](World& world, Answer& answer) {
           answer(cuStreamSynchronize(world.stream));
           answer(cuStreamQuery(world.stream));
         }),
    both("context-free-async", "cuMemFreeAsync on A's stream", "0 0",
         [](World& world, Answer& answer) { answer(cuMemFreeAsync(world.ordered, world.stream)); }),
    both("context-destroy", "destroy A's stream", "0 0",
         [](World& world, Answer& answer) { answer(cuStreamDestroy_v2(world.stream)); }),
    both("context-free", "cuMemFree of A's memory", "0 0",
         [](World& world, Answer& answer) { answer(cuMemFree_v2(world.memory)); }),
    both("context-copy", "synchronous copy of A's memory to the host", "201 0",
         [](World& world, Answer& answer) {
           std::uint32_t word = 0;
           answer(cuMemcpyDtoH_v2(&word, world.memory, 4));
         }),
    both("context-alloc", "alloc, and whose the memory is", "201 0 B",
         [](World& world, Answer& answer) {
           CUdeviceptr address = 0;
           const CUresult result = cuMemAlloc_v2(&address, 64);
           answer(result);
           if (result == CUDA_SUCCESS) answer.word(owner_of(world, address));
         }),
    both("context-create", "create a stream, an event; load a module", "201 201 201 0 0 0",
         [](World&, Answer& answer) {
           CUstream stream = nullptr;
           CUevent event = nullptr;
           CUmodule module = nullptr;
           answer(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
           answer(cuEventCreate(&event, 0));
           answer(cuModuleLoadData(&module, image().data()));
         }),
    both("context-library", "load a library", "0 0",
         [](World&, Answer& answer) {
           CUlibrary library = nullptr;
           answer(cuLibraryLoadData(&library, image().data(), nullptr, nullptr, 0, nullptr, nullptr,
                                    0));
         }),
    {"context-null-stream", "launch on the NULL stream with no context current", "201",
     [](Answer& answer) {
       World world(answer);
       CUcontext current = nullptr;
       while (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr) {
         NEED(cuCtxPopCurrent_v2(&current));
       }
       answer(launch_write(world.kernels.write, world.memory));
     }},
    both(
        "context-crossed", "A's function on B's stream, B's function on A's, B's event on A's",
        "400 400 400",
        [](World& world, Answer& answer) {
          const Kernels own(answer);
          const CUstream stream = new_stream(answer);
          const CUevent event = new_event(answer);
          answer(launch_write(world.kernels.write, world.memory, stream));
          answer(launch_write(own.write, world.memory, world.stream));
          answer(cuEventRecord(event, world.stream));
        },
        true),
    both(
        "context-shared", "B's stream waits for A's event; fill of A's memory on B's stream", "0 0",
        [](World& world, Answer& answer) {
          const CUstream stream = new_stream(answer);
          NEED(cuEventRecord(world.event, world.stream));
          answer(cuStreamWaitEvent(stream, world.event, 0));
          answer(cuMemsetD32Async(world.memory, 0, 4, stream));
        },
        true),
    {"elapsed-crossed", "elapsed time between events of two contexts", "400",
     [](Answer& answer) {
       World world(answer);
       NEED(cuCtxSetCurrent(world.a));
       const CUevent first = new_event(answer, 0);
       NEED(cuEventRecord(first, world.stream));
       NEED(cuCtxSetCurrent(world.b));
       const CUstream stream = new_stream(answer);
       const CUevent second = new_event(answer, 0);
       NEED(cuEventRecord(second, stream));
       NEED(cuStreamSynchronize(stream));
       float milliseconds = 0;
       answer(cuEventElapsedTime_v2(&milliseconds, first, second));
     }},
});

}  // namespace
}  // namespace differential
