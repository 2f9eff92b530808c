// What the emulator says of misuse that a driver only answers with a code, and the faults that a
// test can ask for.
#include <dlfcn.h>

#include <chrono>
#include <csignal>

#include "culebra_emu/control.h"
#include "graph_driver.h"
#include "support.h"

using namespace culebra_test;

namespace {

// The functions of control.h are looked up, as a program does that also runs on a real driver.
template <class F>
F* control(const char* name) {
  void* library = dlopen(std::getenv("CULEBRA_DRIVER"), RTLD_NOW);
  auto* address = reinterpret_cast<F*>(dlsym(library, name));
  CHECK(address != nullptr);
  return address;
}

int set_fault(const char* spec) {
  return control<decltype(culebraEmuSetFault)>("culebraEmuSetFault")(spec);
}

}  // namespace

#define DIAGNOSE \
  { "CULEBRA_EMU_DIAGNOSE=1" }

TEST(diagnosis_of_a_second_free, DIAGNOSE, "cuMemFree_v2 #2: 1 byte at 0x") {
  use_device();
  CUdeviceptr memory = 0;
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, cuMemFree_v2(memory));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(memory));
}

TEST(diagnosis_of_a_copy_from_freed_memory, DIAGNOSE,
     "(cuMemAlloc_v2 #1), freed by cuMemFree_v2 #1") {
  use_device();
  CUdeviceptr memory = 0;
  char host[64];
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, cuMemFree_v2(memory));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(host, memory, 64));
}

TEST(diagnosis_of_a_copy_that_is_too_long, DIAGNOSE, "cuMemsetD8_v2 #1: 65 bytes at 0x") {
  use_device();
  CUdeviceptr memory = 0;
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(memory, 0, 65));
}

TEST(
    diagnosis_of_an_argument, DIAGNOSE,
    "cuLaunchKernel #1: kernel store, argument address: no allocation holds this address: at byte 0 of the former "
    "allocation of 64 bytes at 0x") {
  use_device();
  CUdeviceptr memory = 0;
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, cuMemFree_v2(memory));
  RETURNS(0, launch(function(load_test_module(), "store"), 1, 1, 0, nullptr, memory, 1));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

TEST(diagnosis_of_a_destroyed_event, DIAGNOSE,
     "was an event, made by cuEventCreate #1, destroyed by cuEventDestroy_v2 #1") {
  use_device();
  CUevent event = nullptr;
  RETURNS(0, cuEventCreate(&event, 0));
  RETURNS(0, cuEventDestroy_v2(event));
  RETURNS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuEventQuery(event));
}

TEST(
    history_of_a_destroyed_stream, {},
    "the stream was destroyed or never existed: made by cuStreamCreate #1, destroyed by cuStreamDestroy_v2 #1",
    SIGABRT) {
  use_device();
  CUstream stream = nullptr;
  RETURNS(0, cuStreamCreate(&stream, 0));
  RETURNS(0, cuStreamDestroy_v2(stream));
  cuStreamQuery(stream);
}

TEST(report_says_what_made_a_leak, {"CULEBRA_EMU_REPORT=1"},
     "made by cuStreamCreate #1 (the reader)") {
  use_device();
  CUstream stream = nullptr;
  control<decltype(culebraEmuSetLabel)>("culebraEmuSetLabel")("the reader");
  RETURNS(0, cuStreamCreate(&stream, 0));
}

// Each kind is in the summary, in the lines and in the counts alike.
TEST(every_kind_is_reported, {"CULEBRA_EMU_REPORT=1"},
     "not given back: 2 contexts, 1 graph, 1 user object, 1 memory pool, 1 managed allocation\n") {
  use_device();
  const DriverFunction<CUdeviceptr*, std::size_t, unsigned> alloc_managed{"cuMemAllocManaged"};
  const DriverFunction<CUmemoryPool*, const CUmemPoolProps*> create_pool{"cuMemPoolCreate"};
  const DriverFunction<CUcontext*, void*, unsigned, CUdevice> create_context{"cuCtxCreate_v4"};
  const DriverFunction<CUgraph*, unsigned> create_graph{"cuGraphCreate"};
  const DriverFunction<CUuserObject*, void*, CUhostFn, unsigned, unsigned> create_object{
      "cuUserObjectCreate"};
  const auto live = control<decltype(culebraEmuLiveCount)>("culebraEmuLiveCount");
  CHECK_EQ(live("context"), 1);
  for (const char* kind : {"pool", "managed memory", "graph", "executable graph", "user object"}) {
    CHECK_EQ(live(kind), 0);
  }
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr;
  CUdeviceptr memory = 0;
  CUgraph graph = nullptr;
  CUcontext context = nullptr;
  CUuserObject object = nullptr;
  RETURNS(0, create_pool(&pool, &properties));
  RETURNS(0, alloc_managed(&memory, 64, 1));
  RETURNS(0, create_graph(&graph, 0));
  RETURNS(0, create_object(
                 &object, nullptr, [](void*) {}, 1, 1));
  RETURNS(0, create_context(&context, nullptr, 0, 0));
  CHECK_EQ(live("context"), 2);
  for (const char* kind : {"pool", "managed memory", "graph", "user object"}) {
    CHECK_EQ(live(kind), 1);
  }
}

TEST(report_says_what_made_a_pool, {"CULEBRA_EMU_REPORT=1"},
     "memory pool of device 0: made by cuMemPoolCreate #1") {
  use_device();
  const DriverFunction<CUmemoryPool*, const CUmemPoolProps*> create_pool{"cuMemPoolCreate"};
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr;
  RETURNS(0, create_pool(&pool, &properties));
}

TEST(live_objects_and_calls_are_counted) {
  use_device();
  const auto live = control<decltype(culebraEmuLiveCount)>("culebraEmuLiveCount");
  const auto calls = control<decltype(culebraEmuCallCount)>("culebraEmuCallCount");
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  CHECK_EQ(live("stream"), 0);
  RETURNS(0, cuStreamCreate(&stream, 0));
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  CHECK_EQ(live("stream"), 1);
  CHECK_EQ(live("device memory"), 1);
  CHECK_EQ(calls("cuMemAlloc_v2"), 1);
  RETURNS(0, cuStreamDestroy_v2(stream));
  CHECK_EQ(live("stream"), 0);
  CHECK_EQ(live("cow"), -1);
  CHECK_EQ(calls("cuMoo"), -1);
}

TEST(faults_that_a_test_sets) {
  use_device();
  CUdeviceptr memory = 0;
  RETURNS(0, set_fault("fail:cuMemAlloc:2:999;oom:1"));
  RETURNS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&memory, 64));
  RETURNS(CUDA_ERROR_UNKNOWN, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, set_fault("fail:cuMemFree_v2:*:2"));
  RETURNS(CUDA_ERROR_OUT_OF_MEMORY, cuMemFree_v2(memory));
  RETURNS(CUDA_ERROR_OUT_OF_MEMORY, cuMemFree_v2(memory));
  RETURNS(0, set_fault(nullptr));
  RETURNS(0, cuMemFree_v2(memory));
}

TEST(fault_of_a_budget) {
  use_device();
  CUdeviceptr first = 0, second = 0;
  RETURNS(0, set_fault("budget:100"));
  RETURNS(0, cuMemAlloc_v2(&first, 64));
  RETURNS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc_v2(&second, 64));
  RETURNS(0, cuMemFree_v2(first));
  RETURNS(0, cuMemAlloc_v2(&second, 64));
}

TEST(fault_of_a_launch, {"CULEBRA_EMU_FAULT=launch:2:719"}, "kernel nothing: failed on demand") {
  use_device();
  const CUfunction kernel = function(load_test_module(), "nothing");
  RETURNS(0, launch(kernel, 1, 1, 0, nullptr));
  RETURNS(0, cuCtxSynchronize());
  RETURNS(0, launch(kernel, 1, 1, 0, nullptr));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
  CUdeviceptr memory = 0;
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuMemAlloc_v2(&memory, 64));
}

TEST(fault_of_a_lost_device, {}, "lost on demand") {
  use_device();
  CUdeviceptr memory = 0;
  RETURNS(0, set_fault("lost:2:46"));
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  RETURNS(46, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, set_fault(""));
  RETURNS(46, cuCtxSynchronize());
}

TEST(fault_of_a_slow_copy) {
  use_device();
  CUdeviceptr memory = 0;
  const std::vector<char> host(1000);
  RETURNS(0, cuMemAlloc_v2(&memory, 1000));
  RETURNS(0, set_fault("slow-copy:10000"));
  const auto start = std::chrono::steady_clock::now();
  RETURNS(0, cuMemcpyHtoD_v2(memory, host.data(), 1000));
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(100));
}

TEST(faults_that_make_no_sense) {
  for (const char* spec :
       {"fail", "fail:cuInit:0:2", "fail:cuInit:1:12345", "oom:x", "launch:*:719", "lost:1",
        "budget:-1", "slow-copy:0", "fail:cuInit:1:2:3", "ooms:1"}) {
    RETURNS(CUDA_ERROR_INVALID_VALUE, set_fault(spec));
  }
  RETURNS(0, cuInit(0));
}

TEST(fault_of_the_environment_that_makes_no_sense, {"CULEBRA_EMU_FAULT=oom:1;never"},
     "CULEBRA_EMU_FAULT=oom:1;never: expected rules, but \"never\" is none of", SIGABRT) {
  cuInit(0);
}
