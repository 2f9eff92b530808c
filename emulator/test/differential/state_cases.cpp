// Before cuInit, after a failure, after fork, after destruction, in a callback.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "case.h"

namespace differential {
namespace {

constexpr DriverFunction<CUcontext*, void*, unsigned, CUdevice> cuCtxCreate{"cuCtxCreate_v4"};
constexpr DriverFunction<CUcontext> cuCtxDestroy{"cuCtxDestroy_v2"};
constexpr DriverFunction<void**, std::size_t> cuMemAllocHost_v2{"cuMemAllocHost_v2"};

Case sticky_case(const char* name, const char* calls, const char* recorded,
                 CUdeviceptr offset_or_null) {
  return {name, calls, recorded, [=](Answer& answer) {
            use_device(answer);
            const Kernels kernels(answer);
            const CUdeviceptr memory = new_memory(answer, 256);
            const CUstream stream = new_stream(answer);
            const CUdeviceptr address = offset_or_null == 0 ? 0 : memory + offset_or_null;
            answer(launch_write(kernels.write, address));
            answer(cuCtxSynchronize());
            CUdeviceptr other = 0;
            CUstream new_one = nullptr;
            CUmodule module = nullptr;
            void* host = nullptr;
            CUcontext current = nullptr;
            int count = 0;
            answer(cuMemAlloc_v2(&other, 64));
            answer(cuMemFree_v2(memory));
            answer(cuMemFree_v2(0));
            answer(cuStreamQuery(stream));
            answer(cuStreamCreate(&new_one, 0));
            answer(cuStreamDestroy_v2(stream));
            answer(cuModuleLoadData(&module, image().data()));
            answer(cuMemHostAlloc(&host, 64, 0));
            answer(cuCtxGetCurrent(&current));
            answer(cuDeviceGetCount(&count));
          }};
}

const Cases all({
    {"before-init", "before cuInit: device count, current context, driver version", "3 3 0",
     [](Answer& answer) {
       int count = 0, version = 0;
       CUcontext context = nullptr;
       answer(cuDeviceGetCount(&count));
       answer(cuCtxGetCurrent(&context));
       answer(cuDriverGetVersion(&version));
     }},
    {"forked-child", "in a forked child: cuInit, device count, alloc; then alloc in the parent",
     "3 3 3 0",
     [](Answer& answer) {
       use_device(answer);
       int pipes[2];
       if (pipe(pipes) != 0) return;
       if (fork() == 0) {
         int results[3] = {};
         int count = 0;
         CUdeviceptr address = 0;
         results[0] = cuInit(0);
         results[1] = cuDeviceGetCount(&count);
         results[2] = cuMemAlloc_v2(&address, 64);
         _exit(write(pipes[1], results, sizeof results) == sizeof results ? 0 : 1);
       }
       int results[3] = {-1, -1, -1};
       if (read(pipes[0], results, sizeof results) < 0) return;
       wait(nullptr);
       for (const int result : results) answer(static_cast<CUresult>(result));
       CUdeviceptr address = 0;
       answer(cuMemAlloc_v2(&address, 64));
     }},
    sticky_case("sticky-null-write",
                "write to null: launch, sync; then 8 calls, current, device count",
                "0 700 700 700 700 700 700 700 700 700 0 0", 0),
    sticky_case("sticky-misaligned",
                "misaligned write: launch, sync; then 8 calls, current, device count",
                "0 716 716 716 716 716 716 716 716 716 0 0", 1),
    {"sticky-reset", "after 700: primary reset, retain", "0 700",
     [](Answer& answer) {
       use_device(answer);
       const Kernels kernels(answer);
       NEED(launch_write(kernels.write, 0));
       cuCtxSynchronize();
       CUcontext context = nullptr;
       answer(cuDevicePrimaryCtxReset_v2(0));
       answer(cuDevicePrimaryCtxRetain(&context, 0));
     }},
    {"sticky-release", "after 700: primary release, retain", "0 700",
     [](Answer& answer) {
       use_device(answer);
       const Kernels kernels(answer);
       NEED(launch_write(kernels.write, 0));
       cuCtxSynchronize();
       CUcontext context = nullptr;
       answer(cuDevicePrimaryCtxRelease_v2(0));
       answer(cuDevicePrimaryCtxRetain(&context, 0));
     }},
    {"sticky-created", "after 700 in a created context: destroy it, create another", "0 700",
     [](Answer& answer) {
       use_device(answer);
       CUcontext context = nullptr;
       NEED(cuCtxCreate(&context, nullptr, 0, 0));
       const Kernels kernels(answer);
       NEED(launch_write(kernels.write, 0));
       cuCtxSynchronize();
       answer(cuCtxDestroy(context));
       answer(cuCtxCreate(&context, nullptr, 0, 0));
     }},
    {"sticky-other-device",
     "after 700 on device 0: set, alloc, push, pop, sync on 1; set, sync on 0; set, free on 1", "",
     [](Answer& answer) {
       const CUcontext failed = use_device(answer);
       CUcontext healthy = nullptr;
       NEED(cuDevicePrimaryCtxRetain(&healthy, 1));
       const Kernels kernels(answer);
       NEED(launch_write(kernels.write, 0));
       cuCtxSynchronize();
       CUdeviceptr memory = 0;
       CUcontext popped = nullptr;
       answer(cuCtxSetCurrent(healthy));
       answer(cuMemAlloc_v2(&memory, 256));
       answer(cuCtxPushCurrent_v2(healthy));
       answer(cuCtxPopCurrent_v2(&popped));
       answer(cuCtxSynchronize());
       answer(cuCtxSetCurrent(failed));
       answer(cuCtxSynchronize());
       answer(cuCtxSetCurrent(healthy));
       answer(cuMemFree_v2(memory));
     },
     2},
    {"destroyed-stream", "cuStreamQuery of a destroyed stream", "crash",
     [](Answer& answer) {
       use_device(answer);
       const CUstream stream = new_stream(answer);
       NEED(cuStreamDestroy_v2(stream));
       answer(cuStreamQuery(stream));
     }},
    {"garbage-stream", "cuStreamQuery of a garbage handle", "crash",
     [](Answer& answer) {
       use_device(answer);
       answer(cuStreamQuery(reinterpret_cast<CUstream>(0x12345678)));
     }},
    {"null-stream", "cuStreamQuery(NULL), cuStreamDestroy(NULL)", "0 400",
     [](Answer& answer) {
       use_device(answer);
       answer(cuStreamQuery(nullptr));
       answer(cuStreamDestroy_v2(nullptr));
     }},
    // The driver defines no answer: one run got a code, another crashed.
    {"destroyed-event", "cuEventQuery of a destroyed event", "709 or crash",
     [](Answer& answer) {
       use_device(answer);
       const CUevent event = new_event(answer);
       NEED(cuEventDestroy_v2(event));
       answer(cuEventQuery(event));
     }},
    {"unloaded-function", "launch a function of an unloaded module", "400",
     [](Answer& answer) {
       use_device(answer);
       const Kernels kernels(answer);
       const CUdeviceptr memory = new_memory(answer, 64);
       NEED(cuModuleUnload(kernels.module));
       answer(launch_write(kernels.write, memory));
     }},
    {"unloaded-library", "launch a function of an unloaded library", "400",
     [](Answer& answer) {
       use_device(answer);
       const CUdeviceptr memory = new_memory(answer, 64);
       CUlibrary library = nullptr;
       CUkernel kernel = nullptr;
       CUfunction function = nullptr;
       NEED(cuLibraryLoadData(&library, image().data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
       NEED(cuLibraryGetKernel(&kernel, library, "culebra_selftest_write_at_u32"));
       NEED(cuKernelGetFunction(&function, kernel));
       NEED(cuLibraryUnload(library));
       answer(launch_write(function, memory));
     }},
    {"elapsed", "elapsed time: unrecorded, timing disabled, still running", "400 400 600",
     [](Answer& answer) {
       use_device(answer);
       const Kernels kernels(answer);
       const CUstream stream = new_stream(answer);
       const CUdeviceptr memory = new_memory(answer, 64);
       const CUevent first = new_event(answer, 0), second = new_event(answer, 0);
       const CUevent untimed = new_event(answer);
       float milliseconds = 0;
       answer(cuEventElapsedTime_v2(&milliseconds, first, second));
       NEED(cuEventRecord(first, stream));
       NEED(cuEventRecord(untimed, stream));
       NEED(cuStreamSynchronize(stream));
       answer(cuEventElapsedTime_v2(&milliseconds, first, untimed));
       NEED(launch_spin(kernels.spin, memory, 200, stream));
       NEED(cuEventRecord(second, stream));
       answer(cuEventElapsedTime_v2(&milliseconds, first, second));
     }},
    {"unrecorded-event", "query and synchronize an event that was never recorded", "0 0",
     [](Answer& answer) {
       use_device(answer);
       const CUevent event = new_event(answer);
       answer(cuEventQuery(event));
       answer(cuEventSynchronize(event));
     }},
    {"callback", "in a host function: alloc, current context, free of host memory, stream query",
     "800 800 800 600",
     [](Answer& answer) {
       use_device(answer);
       struct State {
         void* host;
         CUstream stream;
         CUresult results[4];
         std::atomic<bool> done;
       } state = {};
       NEED(cuMemAllocHost_v2(&state.host, 64));
       state.stream = new_stream(answer);
       NEED(cuLaunchHostFunc(
           state.stream,
           [](void* data) {
             auto& it = *static_cast<State*>(data);
             CUdeviceptr address = 0;
             CUcontext context = nullptr;
             it.results[0] = cuMemAlloc_v2(&address, 64);
             it.results[1] = cuCtxGetCurrent(&context);
             it.results[2] = cuMemFreeHost(it.host);
             it.results[3] = cuStreamQuery(it.stream);
             it.done = true;
           },
           &state));
       while (!state.done) usleep(1000);
       for (const CUresult result : state.results) answer(result);
     }},
    {"context-id", "the primary context after a reset: the same handle, its id", "same +1",
     [](Answer& answer) {
       const CUcontext before = use_device(answer);
       unsigned long long id_before = 0, id_after = 0;
       NEED(cuCtxGetId(before, &id_before));
       NEED(cuDevicePrimaryCtxReset_v2(0));
       const CUcontext after = use_device(answer);
       NEED(cuCtxGetId(after, &id_after));
       answer.word(before == after ? "same" : "another");
       answer.word("+" + std::to_string(id_after - id_before));
     }},
});

}  // namespace
}  // namespace differential
