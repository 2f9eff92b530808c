// Order and asynchrony: streams, events, host functions.
#include <atomic>
#include <chrono>
#include <thread>

#include "streams.h"

using namespace culebra_test;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

TEST(launches_of_a_stream_run_in_order) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  Buffer<unsigned> list(1001);
  for (unsigned i = 1; i <= 1000; ++i) RETURNS(0, launch(append, 1, 1, 0, stream, list.address, i));
  RETURNS(0, cuStreamSynchronize(stream));
  list.download();
  std::size_t wrong = 0;
  for (unsigned i = 0; i <= 1000; ++i) wrong += list.host[i] != (i == 0 ? 1000 : i);
  CHECK_EQ(wrong, 0u);
}

// Behind a gate that nobody opens meanwhile: one that waited would never return.
TEST(launches_return_at_once) {
  use_device();
  const CUfunction nothing = function(load_test_module(), "nothing");
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  Gate gate;
  RETURNS(0, cuLaunchHostFunc(stream, &Gate::wait, &gate));
  RETURNS(0, launch(nothing, 1, 1, 0, stream));
  RETURNS(600, cuStreamQuery(stream));
  gate.open = true;
  RETURNS(0, cuStreamSynchronize(stream));
  RETURNS(0, cuStreamQuery(stream));
}

TEST(fault_of_a_slow_kernel, {"CULEBRA_EMU_FAULT=slow-kernel:300"}) {
  use_device();
  const CUfunction nothing = function(load_test_module(), "nothing");
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  const auto start = Clock::now();
  RETURNS(0, launch(nothing, 1, 1, 0, stream));
  RETURNS(0, cuStreamSynchronize(stream));
  CHECK(seconds_since(start) >= 0.3);
}

TEST(streams_run_beside_each_other) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  const CUstream held = new_stream(CU_STREAM_NON_BLOCKING);
  const CUstream free = new_stream(CU_STREAM_NON_BLOCKING);
  Buffer<unsigned> list(8);
  Gate gate;
  RETURNS(0, cuLaunchHostFunc(held, &Gate::wait, &gate));
  RETURNS(0, launch(append, 1, 1, 0, held, list.address, 1u));
  RETURNS(0, launch(append, 1, 1, 0, free, list.address, 2u));
  RETURNS(0, cuStreamSynchronize(free));
  RETURNS(600, cuStreamQuery(held));
  gate.open = true;
  RETURNS(0, cuStreamSynchronize(held));
  list.download();
  CHECK_EQ(list.host[1], 2u);
  CHECK_EQ(list.host[2], 1u);
}

TEST(an_event_orders_two_streams) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  const CUstream first = new_stream(CU_STREAM_NON_BLOCKING);
  const CUstream second = new_stream(CU_STREAM_NON_BLOCKING);
  CUevent event = nullptr;
  RETURNS(0, cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  Buffer<unsigned> list(8);
  Gate gate;
  RETURNS(0, cuLaunchHostFunc(first, &Gate::wait, &gate));
  RETURNS(0, launch(append, 1, 1, 0, first, list.address, 1u));
  RETURNS(0, cuEventRecord(event, first));
  RETURNS(0, cuStreamWaitEvent(second, event, 0));
  RETURNS(0, launch(append, 1, 1, 0, second, list.address, 2u));
  RETURNS(600, cuEventQuery(event));
  RETURNS(600, cuStreamQuery(second));
  gate.open = true;
  RETURNS(0, cuStreamSynchronize(second));
  RETURNS(0, cuEventQuery(event));
  list.download();
  CHECK_EQ(list.host[1], 1u);
  CHECK_EQ(list.host[2], 2u);
}

TEST(the_default_stream_orders_blocking_streams_only) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  const CUstream blocking = new_stream(CU_STREAM_DEFAULT);
  const CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
  Buffer<unsigned> list(8);
  Gate gate;
  RETURNS(0, cuLaunchHostFunc(blocking, &Gate::wait, &gate));
  RETURNS(0, launch(append, 1, 1, 0, blocking, list.address, 1u));
  RETURNS(0, launch(append, 1, 1, 0, nullptr, list.address, 2u));
  RETURNS(0, launch(append, 1, 1, 0, blocking, list.address, 3u));
  RETURNS(0, launch(append, 1, 1, 0, other, list.address, 4u));
  RETURNS(0, cuStreamSynchronize(other));
  RETURNS(600, cuStreamQuery(nullptr));
  gate.open = true;
  RETURNS(0, cuCtxSynchronize());
  list.download();
  const unsigned expected[] = {4, 4, 1, 2, 3};
  for (unsigned i = 0; i < 5; ++i) CHECK_EQ(list.host[i], expected[i]);
}

TEST(a_destroyed_stream_finishes_its_work) {
  use_device();
  const CUfunction append = function(load_test_module(), "append");
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  Buffer<unsigned> list(8);
  Gate gate;
  RETURNS(0, cuLaunchHostFunc(stream, &Gate::wait, &gate));
  RETURNS(0, launch(append, 1, 1, 0, stream, list.address, 5u));
  RETURNS(0, cuStreamDestroy_v2(stream));
  gate.open = true;
  list.download();
  CHECK_EQ(list.host[1], 5u);
  RETURNS(400, cuStreamDestroy_v2(nullptr));
}

TEST(unload_while_a_kernel_runs) {
  use_device();
  const CUmodule module = load_test_module();
  const CUfunction append = function(module, "append");
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  Buffer<unsigned> list(8);
  std::thread opener;
  Gate gate;
  RETURNS(0, cuLaunchHostFunc(stream, &Gate::wait, &gate));
  RETURNS(0, launch(append, 1, 1, 0, stream, list.address, 6u));
  opener = std::thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.open = true;
  });
  RETURNS(0, cuModuleUnload(module));
  RETURNS(400, launch(append, 1, 1, 0, stream, list.address, 7u));
  opener.join();
  list.download();
  CHECK_EQ(list.host[1], 6u);
}

TEST(event_rules) {
  use_device();
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  CUevent a = nullptr, b = nullptr, untimed = nullptr;
  float ms = -1;
  RETURNS(1, cuEventCreate(&a, 64));
  RETURNS(0, cuEventCreate(&a, 0));
  RETURNS(0, cuEventCreate(&b, 0));
  RETURNS(0, cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  RETURNS(0, cuEventQuery(a));
  RETURNS(0, cuEventSynchronize(a));
  RETURNS(400, cuEventElapsedTime_v2(&ms, a, b));
  RETURNS(0, cuEventRecord(a, stream));
  RETURNS(0, cuEventSynchronize(a));
  Gate gate;
  RETURNS(0, cuLaunchHostFunc(stream, &Gate::wait, &gate));
  RETURNS(0, cuEventRecord(b, stream));
  RETURNS(0, cuEventRecord(untimed, stream));
  RETURNS(600, cuEventElapsedTime_v2(&ms, a, b));
  RETURNS(400, cuEventElapsedTime_v2(&ms, a, untimed));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  gate.open = true;
  RETURNS(0, cuEventSynchronize(b));
  RETURNS(0, cuEventElapsedTime_v2(&ms, a, b));
  CHECK(ms >= 25 && ms < 10'000);
  RETURNS(0, cuEventDestroy_v2(a));
  RETURNS(709, cuEventQuery(a));
  RETURNS(709, cuEventDestroy_v2(a));
  RETURNS(400, cuEventDestroy_v2(nullptr));
}

TEST(host_functions_may_hardly_call_the_driver) {
  use_device();
  static CUresult results[4];
  static CUstream stream;
  stream = new_stream(CU_STREAM_NON_BLOCKING);
  RETURNS(0, cuLaunchHostFunc(
                 stream,
                 [](void*) {
                   CUdeviceptr memory = 0;
                   CUcontext context = nullptr;
                   results[0] = cuMemAlloc_v2(&memory, 64);
                   results[1] = cuCtxGetCurrent(&context);
                   results[2] = cuMemFreeHost(nullptr);
                   results[3] = cuStreamQuery(stream);
                 },
                 nullptr));
  RETURNS(0, cuStreamSynchronize(stream));
  RETURNS(800, results[0]);
  RETURNS(800, results[1]);
  RETURNS(800, results[2]);
  RETURNS(600, results[3]);
}

TEST(copies_wait_as_the_driver_does) {
  use_device();
  const CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
  constexpr std::size_t kLarge = 4 << 20;
  Buffer<char> device(kLarge);
  std::vector<char> pageable(kLarge, 3);
  void* pinned = nullptr;
  RETURNS(0, cuMemHostAlloc(&pinned, kLarge, 0));
  // No clock tells: one that waits by mistake never returns, for the gate opens behind it.
  const auto returns_at_once = [&](auto call) {
    Gate gate;
    RETURNS(0, cuLaunchHostFunc(stream, &Gate::wait, &gate));
    RETURNS(0, call());
    gate.open = true;
    RETURNS(0, cuStreamSynchronize(stream));
  };
  const auto waits = [&](auto call) {
    Gate gate;
    RETURNS(0, cuLaunchHostFunc(stream, &Gate::wait, &gate));
    std::thread opener([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
      gate.open = true;
    });
    RETURNS(0, call());
    const bool waited = gate.open;
    opener.join();
    RETURNS(0, cuStreamSynchronize(stream));
    return waited;
  };
  returns_at_once([&] { return cuMemcpyHtoDAsync_v2(device.address, pinned, kLarge, stream); });
  returns_at_once([&] { return cuMemcpyDtoHAsync_v2(pinned, device.address, kLarge, stream); });
  returns_at_once(
      [&] { return cuMemcpyHtoDAsync_v2(device.address, pageable.data(), 65536, stream); });
  CHECK(
      waits([&] { return cuMemcpyHtoDAsync_v2(device.address, pageable.data(), kLarge, stream); }));
  CHECK(waits([&] { return cuMemcpyDtoHAsync_v2(pageable.data(), device.address, 16, stream); }));
  CUdeviceptr other = 0;
  RETURNS(0, cuMemAlloc_v2(&other, 64));
  CHECK(waits([&] { return cuMemFree_v2(other); }));
}

// The process ends with work queued and threads waiting: nothing may crash or hang.
TEST(exit_while_work_is_queued) {
  use_device();
  const CUfunction spin = function(load_test_module(), "spin");
  for (int i = 0; i < 4; ++i) {
    const CUstream stream = new_stream(i % 2 == 0 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
    for (int k = 0; k < 3; ++k) RETURNS(0, launch(spin, 8, 64, 0, stream, 20'000'000ull));
  }
}

TEST(priorities_are_clamped) {
  use_device();
  int least = 1, greatest = 1, priority = 1;
  CUstream stream = nullptr;
  CUcontext context = nullptr;
  RETURNS(0, cuCtxGetStreamPriorityRange(&least, &greatest));
  CHECK(greatest < least);
  RETURNS(0, cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -100));
  RETURNS(0, cuStreamGetPriority(stream, &priority));
  CHECK_EQ(priority, greatest);
  RETURNS(0, cuStreamGetCtx(stream, &context));
  CUcontext current = nullptr;
  RETURNS(0, cuCtxGetCurrent(&current));
  CHECK_EQ(context, current);
}
