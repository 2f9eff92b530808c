// Contexts that users create, and whose an object is.
#include <atomic>
#include <chrono>
#include <thread>

#include "support.h"

using namespace culebra_test;

DRIVER_CALL(cuCtxCreate_v4, CUcontext*, CUctxCreateParams*, unsigned, CUdevice);
DRIVER_CALL(cuCtxDestroy_v2, CUcontext);
DRIVER_CALL(cuCtxAttach, CUcontext*, unsigned);
DRIVER_CALL(cuCtxDetach, CUcontext);
DRIVER_CALL(cuCtxGetDevice_v2, CUdevice*, CUcontext);
DRIVER_CALL(cuCtxSynchronize_v2, CUcontext);
DRIVER_CALL(cuCtxGetFlags, unsigned*);
DRIVER_CALL(cuCtxSetFlags, unsigned);
DRIVER_CALL(cuCtxGetLimit, std::size_t*, CUlimit);
DRIVER_CALL(cuCtxSetLimit, CUlimit, std::size_t);
DRIVER_CALL(cuCtxGetCacheConfig, CUfunc_cache*);
DRIVER_CALL(cuCtxSetCacheConfig, CUfunc_cache);
DRIVER_CALL(cuCtxGetSharedMemConfig, CUsharedconfig*);
DRIVER_CALL(cuCtxSetSharedMemConfig, CUsharedconfig);
DRIVER_CALL(cuCtxResetPersistingL2Cache);
DRIVER_CALL(cuCtxGetExecAffinity, CUexecAffinityParam*, CUexecAffinityType);
DRIVER_CALL(cuCtxRecordEvent, CUcontext, CUevent);
DRIVER_CALL(cuCtxWaitEvent, CUcontext, CUevent);

namespace {

// A gate in a stream: what comes behind it waits until it is opened.
class Gate {
 public:
  void put(CUstream stream) {
    RETURNS(0, cuLaunchHostFunc(
                   stream,
                   [](void* gate) {
                     while (!static_cast<Gate*>(gate)->open_.load()) {
                       std::this_thread::sleep_for(std::chrono::milliseconds(1));
                     }
                   },
                   this));
  }
  void open() { open_.store(true); }

 private:
  std::atomic<bool> open_ = false;
};

CUcontext create_context(CUdevice device = 0) {
  CUcontext context = nullptr;
  RETURNS(0, cuCtxCreate_v4(&context, nullptr, 0, device));
  return context;
}

}  // namespace

TEST(a_created_context_is_current_and_has_an_id_of_its_own) {
  const CUcontext primary = use_device();
  CUcontext created = nullptr, current = nullptr;
  unsigned flags = 99;
  unsigned long long id_of_primary = 0, id = 0, id_of_other = 0;
  RETURNS(0, cuCtxCreate_v4(&created, nullptr, 4, 0));
  CHECK(created != primary);
  RETURNS(0, cuCtxGetCurrent(&current));
  CHECK_EQ(current, created);
  RETURNS(0, cuCtxGetFlags(&flags));
  CHECK_EQ(flags, 4u);
  const CUcontext other = create_context();
  RETURNS(0, cuCtxGetId(primary, &id_of_primary));
  RETURNS(0, cuCtxGetId(created, &id));
  RETURNS(0, cuCtxGetId(other, &id_of_other));
  CHECK(id != id_of_primary && id != id_of_other && id_of_other != id_of_primary);
  // They lie on the thread's stack, one on the other.
  RETURNS(0, cuCtxPopCurrent_v2(&current));
  CHECK_EQ(current, other);
  RETURNS(0, cuCtxPopCurrent_v2(&current));
  CHECK_EQ(current, created);
  RETURNS(0, cuCtxPopCurrent_v2(&current));
  CHECK_EQ(current, primary);
}

TEST(what_a_context_cannot_be_created_with) {
  CUcontext context = nullptr;
  RETURNS(3, cuCtxCreate_v4(&context, nullptr, 0, 0));
  RETURNS(0, cuInit(0));
  RETURNS(1, cuCtxCreate_v4(nullptr, nullptr, 0, 0));
  RETURNS(1, cuCtxCreate_v4(&context, nullptr, 0x100, 0));
  // Spin and yield at once.
  RETURNS(1, cuCtxCreate_v4(&context, nullptr, 3, 0));
  RETURNS(101, cuCtxCreate_v4(&context, nullptr, 0, 1));
  RETURNS(101, cuCtxCreate_v4(&context, nullptr, 0, -1));
  CUexecAffinityParam affinity = {CU_EXEC_AFFINITY_TYPE_SM_COUNT, 8};
  CUctxCreateParams parameters = {&affinity, 1, nullptr};
  RETURNS(224, cuCtxCreate_v4(&context, &parameters, 0, 0));
  parameters = {nullptr, 0, &affinity};
  RETURNS(801, cuCtxCreate_v4(&context, &parameters, 0, 0));
  parameters = {&affinity, 1, &affinity};
  RETURNS(1, cuCtxCreate_v4(&context, &parameters, 0, 0));
  parameters = {nullptr, 0, nullptr};
  RETURNS(0, cuCtxCreate_v4(&context, &parameters, 0, 0));
}

TEST(a_destroyed_context_takes_its_objects_along) {
  const CUcontext primary = use_device();
  const CUcontext context = create_context();
  CUdeviceptr memory = 0;
  CUevent event = nullptr;
  CUstream stream = nullptr;
  std::size_t free_before = 0, free_after = 0;
  RETURNS(0, cuMemGetInfo_v2(&free_before, nullptr));
  RETURNS(0, cuMemAlloc_v2(&memory, 1 << 20));
  RETURNS(0, cuEventCreate(&event, 0));
  RETURNS(0, cuStreamCreate(&stream, 0));
  const CUfunction kernel = function(load_test_module(), "nothing");
  RETURNS(0, cuCtxDestroy_v2(context));
  CUcontext current = nullptr;
  RETURNS(0, cuCtxGetCurrent(&current));
  CHECK_EQ(current, primary);
  RETURNS(1, cuMemFree_v2(memory));
  RETURNS(709, cuEventQuery(event));
  RETURNS(400, launch(kernel, 1, 1, 0, nullptr));
  RETURNS(0, cuMemGetInfo_v2(&free_after, nullptr));
  CHECK_EQ(free_after, free_before);
  // What the handle gives now.
  CUdevice device = 0;
  unsigned long long id = 0;
  RETURNS(709, cuCtxDestroy_v2(context));
  RETURNS(201, cuCtxSetCurrent(context));
  RETURNS(201, cuCtxPushCurrent_v2(context));
  RETURNS(709, cuCtxGetDevice_v2(&device, context));
  RETURNS(709, cuCtxSynchronize_v2(context));
  RETURNS(709, cuCtxGetId(context, &id));
  // Nor may anybody destroy the primary one, or what is none.
  RETURNS(201, cuCtxDestroy_v2(primary));
  RETURNS(201, cuCtxDestroy_v2(nullptr));
  RETURNS(201, cuCtxDestroy_v2(reinterpret_cast<CUcontext>(0x1234)));
}

TEST(a_context_destroyed_under_another_thread_stays_current_there) {
  RETURNS(0, cuInit(0));
  const CUcontext context = create_context();
  std::atomic<bool> is_current = false, is_destroyed = false;
  std::thread other([&] {
    RETURNS(0, cuCtxSetCurrent(context));
    is_current.store(true);
    while (!is_destroyed.load()) std::this_thread::yield();
    CUcontext current = nullptr;
    CUdeviceptr memory = 0;
    RETURNS(0, cuCtxGetCurrent(&current));
    CHECK_EQ(current, context);
    RETURNS(709, cuMemAlloc_v2(&memory, 64));
    RETURNS(709, cuCtxSynchronize());
    RETURNS(0, cuCtxPopCurrent_v2(&current));
    RETURNS(201, cuMemAlloc_v2(&memory, 64));
  });
  while (!is_current.load()) std::this_thread::yield();
  RETURNS(0, cuCtxDestroy_v2(context));
  is_destroyed.store(true);
  other.join();
}

TEST(destroying_a_context_waits_for_its_work) {
  RETURNS(0, cuInit(0));
  const CUcontext context = create_context();
  CUstream stream = nullptr;
  RETURNS(0, cuStreamCreate(&stream, 1));
  static std::atomic<bool> has_run = false;
  RETURNS(0, cuLaunchHostFunc(
                 stream,
                 [](void*) {
                   std::this_thread::sleep_for(std::chrono::milliseconds(50));
                   has_run.store(true);
                 },
                 nullptr));
  RETURNS(0, cuCtxDestroy_v2(context));
  CHECK(has_run.load());
}

// Recorded on an H200: which calls need which context.
TEST(objects_of_one_context_under_another) {
  RETURNS(0, cuInit(0));
  const CUcontext a = create_context();
  CUstream stream_of_a = nullptr;
  CUevent event_of_a = nullptr;
  CUdeviceptr memory_of_a = 0, memory = 0;
  RETURNS(0, cuStreamCreate(&stream_of_a, 1));
  RETURNS(0, cuEventCreate(&event_of_a, 0));
  RETURNS(0, cuMemAlloc_v2(&memory_of_a, 256));
  const CUfunction function_of_a = function(load_test_module(), "nothing");
  CUcontext context = nullptr;
  char bytes[256] = {};
  const auto use_stream_of_a = [&] {
    RETURNS(0, launch(function_of_a, 1, 32, 0, stream_of_a));
    RETURNS(0, cuEventRecord(event_of_a, stream_of_a));
    RETURNS(0, cuMemsetD32Async(memory_of_a, 7, 64, stream_of_a));
    RETURNS(0, cuMemAllocAsync(&memory, 64, stream_of_a));
    RETURNS(0, cuMemFreeAsync(memory, stream_of_a));
    RETURNS(0, cuStreamSynchronize(stream_of_a));
    RETURNS(0, cuStreamQuery(stream_of_a));
  };
  // None current.
  RETURNS(0, cuCtxPopCurrent_v2(&context));
  use_stream_of_a();
  RETURNS(201, cuMemcpyDtoH_v2(bytes, memory_of_a, sizeof bytes));
  RETURNS(201, launch(function_of_a, 1, 32, 0, nullptr));
  // Another one current.
  const CUcontext b = create_context();
  use_stream_of_a();
  RETURNS(0, cuMemcpyDtoH_v2(bytes, memory_of_a, sizeof bytes));
  CHECK_EQ(static_cast<int>(bytes[0]), 7);
  CUstream stream_of_b = nullptr;
  CUevent event_of_b = nullptr;
  RETURNS(0, cuStreamCreate(&stream_of_b, 1));
  RETURNS(0, cuEventCreate(&event_of_b, 0));
  const CUfunction function_of_b = function(load_test_module(), "nothing");
  RETURNS(0, cuStreamGetCtx(stream_of_b, &context));
  CHECK_EQ(context, b);
  RETURNS(0, cuStreamGetCtx(stream_of_a, &context));
  CHECK_EQ(context, a);
  RETURNS(400, launch(function_of_a, 1, 32, 0, stream_of_b));
  RETURNS(400, launch(function_of_a, 1, 32, 0, nullptr));
  RETURNS(400, launch(function_of_b, 1, 32, 0, stream_of_a));
  RETURNS(400, cuEventRecord(event_of_b, stream_of_a));
  RETURNS(0, cuStreamWaitEvent(stream_of_b, event_of_a, 0));
  RETURNS(0, cuMemsetD32Async(memory_of_a, 1, 64, stream_of_b));
  RETURNS(0, cuMemFree_v2(memory_of_a));
  RETURNS(0, cuStreamDestroy_v2(stream_of_a));
}

TEST(a_failure_poisons_created_contexts_too) {
  RETURNS(0, cuInit(0));
  const CUcontext context = create_context();
  // Writes to null.
  RETURNS(0, launch(function(load_test_module(), "store"), 1, 1, 0, nullptr, CUdeviceptr{0}, 1u));
  RETURNS(700, cuCtxSynchronize());
  CUcontext other = nullptr;
  CUdeviceptr memory = 0;
  RETURNS(700, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, cuCtxDestroy_v2(context));
  RETURNS(700, cuCtxCreate_v4(&other, nullptr, 0, 0));
  RETURNS(700, cuDevicePrimaryCtxRetain(&other, 0));
}

TEST(a_context_is_counted_by_attach_and_detach) {
  RETURNS(0, cuInit(0));
  CUcontext again = nullptr;
  RETURNS(201, cuCtxAttach(&again, 0));
  const CUcontext context = create_context();
  CUdeviceptr memory = 0;
  RETURNS(1, cuCtxAttach(&again, 1));
  RETURNS(0, cuCtxAttach(&again, 0));
  CHECK_EQ(again, context);
  RETURNS(0, cuCtxDetach(context));
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, cuCtxDetach(context));
  RETURNS(201, cuMemAlloc_v2(&memory, 64));
  RETURNS(709, cuCtxDestroy_v2(context));
  const CUcontext a = create_context();
  create_context();
  // Only the current one.
  RETURNS(201, cuCtxDetach(a));
}

TEST(a_context_keeps_its_settings_to_itself) {
  RETURNS(0, cuInit(0));
  const CUcontext a = create_context();
  std::size_t value = 0;
  unsigned flags = 0;
  RETURNS(0, cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  CHECK_EQ(value, 1024u);
  RETURNS(0, cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  RETURNS(0, cuCtxSetFlags(2));
  RETURNS(1, cuCtxSetFlags(3));
  RETURNS(1, cuCtxSetFlags(0x100));
  CUfunc_cache cache = CU_FUNC_CACHE_PREFER_EQUAL;
  RETURNS(0, cuCtxGetCacheConfig(&cache));
  CHECK_EQ(cache, CU_FUNC_CACHE_PREFER_NONE);
  RETURNS(0, cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  RETURNS(1, cuCtxSetCacheConfig(static_cast<CUfunc_cache>(4)));
  const CUcontext b = create_context();
  RETURNS(0, cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  CHECK_EQ(value, 1024u);
  RETURNS(0, cuCtxGetCacheConfig(&cache));
  CHECK_EQ(cache, CU_FUNC_CACHE_PREFER_NONE);
  RETURNS(0, cuCtxGetFlags(&flags));
  CHECK_EQ(flags, 0u);
  RETURNS(0, cuCtxSetCurrent(a));
  RETURNS(0, cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  CHECK_EQ(value, 4096u);
  RETURNS(0, cuCtxGetCacheConfig(&cache));
  CHECK_EQ(cache, CU_FUNC_CACHE_PREFER_L1);
  RETURNS(0, cuCtxGetFlags(&flags));
  CHECK_EQ(flags, 2u);
  RETURNS(215, cuCtxGetLimit(&value, CU_LIMIT_PERSISTING_L2_CACHE_SIZE));
  RETURNS(215, cuCtxSetLimit(static_cast<CUlimit>(77), 1));
  RETURNS(1, cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE));
  CUsharedconfig banks = CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE;
  RETURNS(0, cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
  RETURNS(0, cuCtxGetSharedMemConfig(&banks));
  CHECK_EQ(banks, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
  RETURNS(1, cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(3)));
  RETURNS(0, cuCtxResetPersistingL2Cache());
  CUexecAffinityParam affinity = {};
  RETURNS(224, cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
  CUdevice device = 7;
  RETURNS(0, cuCtxGetDevice_v2(&device, b));
  CHECK_EQ(device, 0);
  RETURNS(0, cuCtxGetDevice_v2(&device, nullptr));
  RETURNS(201, cuCtxGetDevice_v2(&device, reinterpret_cast<CUcontext>(0x1234)));
  RETURNS(1, cuCtxGetDevice_v2(nullptr, b));
  RETURNS(0, cuCtxSynchronize_v2(b));
}

TEST(an_event_can_stand_for_all_work_of_a_context) {
  RETURNS(0, cuInit(0));
  const CUcontext context = create_context();
  CUstream first = nullptr, second = nullptr;
  CUevent event = nullptr;
  RETURNS(0, cuStreamCreate(&first, 1));
  RETURNS(0, cuStreamCreate(&second, 1));
  RETURNS(0, cuEventCreate(&event, 0));
  Gate gate_of_first, gate_of_second;
  gate_of_first.put(first);
  gate_of_second.put(second);
  RETURNS(0, cuCtxRecordEvent(context, event));
  RETURNS(600, cuEventQuery(event));
  gate_of_first.open();
  RETURNS(0, cuStreamSynchronize(first));
  RETURNS(600, cuEventQuery(event));
  gate_of_second.open();
  RETURNS(0, cuEventSynchronize(event));
  RETURNS(0, cuEventQuery(event));
  create_context();
  CUevent event_of_other = nullptr;
  RETURNS(0, cuEventCreate(&event_of_other, 0));
  RETURNS(400, cuCtxRecordEvent(context, event_of_other));
  RETURNS(400, cuCtxRecordEvent(context, nullptr));
  RETURNS(201, cuCtxRecordEvent(reinterpret_cast<CUcontext>(0x1234), event));
}

TEST(a_context_can_wait_for_an_event_of_another) {
  RETURNS(0, cuInit(0));
  create_context();
  CUstream stream_of_a = nullptr;
  CUevent event_of_a = nullptr;
  RETURNS(0, cuStreamCreate(&stream_of_a, 1));
  RETURNS(0, cuEventCreate(&event_of_a, 0));
  Gate gate;
  gate.put(stream_of_a);
  RETURNS(0, cuEventRecord(event_of_a, stream_of_a));
  const CUcontext b = create_context();
  CUstream before = nullptr, after = nullptr;
  RETURNS(0, cuStreamCreate(&before, 1));
  RETURNS(0, cuCtxWaitEvent(b, event_of_a));
  // Streams that were there and streams that come later.
  RETURNS(0, cuStreamCreate(&after, 1));
  static std::atomic<int> done = 0;
  for (CUstream stream : {before, after}) {
    RETURNS(0, cuLaunchHostFunc(
                   stream, [](void*) { ++done; }, nullptr));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  CHECK_EQ(done.load(), 0);
  gate.open();
  RETURNS(0, cuCtxSynchronize());
  CHECK_EQ(done.load(), 2);
  RETURNS(400, cuCtxWaitEvent(b, nullptr));
}
