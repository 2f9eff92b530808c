// Which calls wait for a kernel that runs in another stream.
#include <chrono>
#include <vector>

#include "case.h"

namespace differential {
namespace {

using Clock = std::chrono::steady_clock;

// Long against everything else that a call does, also on a busy machine.
constexpr int kKernelMilliseconds = 800;

struct World {
  CUcontext context;
  Kernels kernels;
  CUdeviceptr memory;
  CUdeviceptr large;
  CUstream busy;
  CUstream other;
  void* pinned = nullptr;
  std::vector<char> pageable = std::vector<char>(4 << 20);

  explicit World(Answer& answer)
      : context(use_device(answer)),
        kernels(answer),
        memory(new_memory(answer, 4096)),
        large(new_memory(answer, 4 << 20)),
        busy(new_stream(answer)),
        other(new_stream(answer)) {
    NEED(cuMemHostAlloc(&pinned, 4096, 0));
    NEED(launch_spin(kernels.spin, memory, 1, busy));
    NEED(cuCtxSynchronize());
  }
};

// "waits" if the call took about as long as the kernel.
Case wait_case(const char* name, const char* calls, const char* recorded,
               std::function<CUresult(World&)> call) {
  return {name, calls, recorded, [=](Answer& answer) {
            World world(answer);
            NEED(launch_spin(world.kernels.spin, world.memory, kKernelMilliseconds, world.busy));
            const auto start = Clock::now();
            NEED(call(world));
            const auto took = Clock::now() - start;
            answer.word(took > std::chrono::milliseconds(kKernelMilliseconds / 2) ? "waits"
                                                                                  : "returns");
          }};
}

const Cases all({
    wait_case("wait-free", "cuMemFree beside a running kernel", "waits",
              [](World& world) { return cuMemFree_v2(world.large); }),
    wait_case("wait-free-host", "cuMemFreeHost beside a running kernel", "waits",
              [](World& world) { return cuMemFreeHost(world.pinned); }),
    wait_case("wait-alloc", "cuMemAlloc beside a running kernel", "returns",
              [](World&) {
                CUdeviceptr address = 0;
                return cuMemAlloc_v2(&address, 4096);
              }),
    wait_case("wait-host-alloc", "cuMemHostAlloc beside a running kernel", "returns",
              [](World&) {
                void* address = nullptr;
                return cuMemHostAlloc(&address, 4096, 0);
              }),
    wait_case("wait-destroy", "cuStreamDestroy of the kernel's stream", "returns",
              [](World& world) { return cuStreamDestroy_v2(world.busy); }),
    wait_case("wait-to-host", "pageable copy to the host, behind the kernel", "waits",
              [](World& world) {
                return cuMemcpyDtoHAsync_v2(world.pageable.data(), world.large, 4096, world.busy);
              }),
    wait_case("wait-to-device-large", "pageable copy of 4 MiB to the device, behind the kernel",
              "waits",
              [](World& world) {
                return cuMemcpyHtoDAsync_v2(world.large, world.pageable.data(), 4 << 20,
                                            world.busy);
              }),
    wait_case("wait-to-device-small", "pageable copy of 64 KiB to the device, behind the kernel",
              "returns",
              [](World& world) {
                return cuMemcpyHtoDAsync_v2(world.large, world.pageable.data(), 64 << 10,
                                            world.busy);
              }),
    // The same three in a stream of their own, which has nothing else to wait for.
    wait_case("wait-beside-to-host", "pageable copy to the host, beside the kernel", "returns",
              [](World& world) {
                return cuMemcpyDtoHAsync_v2(world.pageable.data(), world.large, 4096, world.other);
              }),
    wait_case("wait-beside-to-device-large",
              "pageable copy of 4 MiB to the device, beside the kernel", "returns",
              [](World& world) {
                return cuMemcpyHtoDAsync_v2(world.large, world.pageable.data(), 4 << 20,
                                            world.other);
              }),
    wait_case("wait-beside-to-device-small",
              "pageable copy of 64 KiB to the device, beside the kernel", "returns",
              [](World& world) {
                return cuMemcpyHtoDAsync_v2(world.large, world.pageable.data(), 64 << 10,
                                            world.other);
              }),
});

}  // namespace
}  // namespace differential
