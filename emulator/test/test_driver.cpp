// Start-up, devices, contexts, entry points: the answers of the real driver, recorded on an H200.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "support.h"

using namespace culebra_test;

DRIVER_CALL(cuDeviceGetLuid, char*, unsigned*, CUdevice);

TEST(before_init) {
  int count = 0, version = 0;
  CUcontext context = nullptr;
  RETURNS(3, cuDeviceGetCount(&count));
  RETURNS(3, cuCtxGetCurrent(&context));
  RETURNS(0, cuDriverGetVersion(&version));
  CHECK_EQ(version, 13000);
  RETURNS(1, cuInit(1));
  RETURNS(0, cuInit(0));
  RETURNS(0, cuInit(0));
}

TEST(a_forked_child_has_no_driver) {
  use_device();
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    CUdeviceptr memory = 0;
    const bool refused =
        cuInit(0) == 3 && cuDeviceGetCount(&count) == 3 && cuMemAlloc_v2(&memory, 64) == 3;
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK_EQ(status, 0);
  CUdeviceptr memory = 0;
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
}

TEST(device_says_what_it_is) {
  RETURNS(0, cuInit(0));
  int count = 0, value = 0;
  CUdevice device = 7;
  RETURNS(0, cuDeviceGetCount(&count));
  CHECK_EQ(count, 1);
  RETURNS(0, cuDeviceGet(&device, 0));
  CHECK_EQ(device, 0);
  RETURNS(101, cuDeviceGet(&device, 1));
  RETURNS(101, cuDeviceGet(&device, -1));
  char name[64] = {};
  RETURNS(0, cuDeviceGetName(name, sizeof name, 0));
  CHECK_EQ(std::string(name), "Culebra emulator (CPU)");
  RETURNS(0, cuDeviceGetName(name, 8, 0));
  CHECK_EQ(std::string(name), "Culebra");
  RETURNS(0, cuDeviceGetPCIBusId(name, sizeof name, 0));
  CHECK_EQ(std::string(name), "0000:01:00.0");
  const struct {
    int attribute, value;
  } expected[] = {{1, 1024}, {4, 64},     {5, 2147483647}, {6, 65535}, {8, 49152},   {10, 32},
                  {16, 132}, {39, 2048},  {75, 9},         {76, 0},    {81, 233472}, {97, 232448},
                  {106, 32}, {111, 1024}, {115, 1},        {147, 0}};
  for (const auto& attribute : expected) {
    RETURNS(0, cuDeviceGetAttribute(&value, attribute.attribute, 0));
    CHECK_EQ(value, attribute.value);
  }
  for (int i = 1; i <= 147; ++i) RETURNS(0, cuDeviceGetAttribute(&value, i, 0));
  RETURNS(1, cuDeviceGetAttribute(&value, 0, 0));
  RETURNS(1, cuDeviceGetAttribute(&value, 148, 0));
  std::size_t bytes = 0;
  RETURNS(0, cuDeviceTotalMem_v2(&bytes, 0));
  CHECK(bytes > std::size_t{1} << 30);
}

// As the driver for Linux, which has none.
TEST(devices_have_no_luid) {
  char luid[8] = {};
  unsigned mask = 0;
  RETURNS(3, cuDeviceGetLuid(luid, &mask, 0));
  RETURNS(0, cuInit(0));
  RETURNS(801, cuDeviceGetLuid(luid, &mask, 0));
  RETURNS(1, cuDeviceGetLuid(nullptr, &mask, 0));
  RETURNS(1, cuDeviceGetLuid(luid, nullptr, 0));
  RETURNS(101, cuDeviceGetLuid(luid, &mask, 1));
}

TEST(several_devices, {"CULEBRA_EMU_DEVICES=3"}) {
  RETURNS(0, cuInit(0));
  int count = 0;
  RETURNS(0, cuDeviceGetCount(&count));
  CHECK_EQ(count, 3);
  CUuuid a, b;
  RETURNS(0, cuDeviceGetUuid_v2(&a, 0));
  RETURNS(0, cuDeviceGetUuid_v2(&b, 2));
  CHECK(std::memcmp(&a, &b, sizeof a) != 0);
  CUcontext first = nullptr, second = nullptr;
  RETURNS(0, cuDevicePrimaryCtxRetain(&first, 0));
  RETURNS(0, cuDevicePrimaryCtxRetain(&second, 1));
  CHECK(first != second);
  // A function of one context on a stream of another.
  RETURNS(0, cuCtxSetCurrent(first));
  const CUfunction function_of_first = function(load_test_module(), "nothing");
  CUevent event_of_first = nullptr;
  RETURNS(0, cuEventCreate(&event_of_first, 0));
  RETURNS(0, cuCtxSetCurrent(second));
  CUstream stream_of_second = nullptr;
  RETURNS(0, cuStreamCreate(&stream_of_second, 0));
  RETURNS(400, launch(function_of_first, 1, 1, 0, stream_of_second));
  RETURNS(400, cuEventRecord(event_of_first, stream_of_second));
  RETURNS(0, cuStreamWaitEvent(stream_of_second, event_of_first, 0));
}

TEST(no_device, {"CULEBRA_EMU_DEVICES=0"}) { RETURNS(100, cuInit(0)); }

TEST(stub_library, {"CULEBRA_EMU_STUB=1"}) {
  int version = 0;
  const char* name = nullptr;
  RETURNS(34, cuInit(0));
  RETURNS(34, cuDriverGetVersion(&version));
  RETURNS(34, cuGetErrorName(CUDA_SUCCESS, &name));
}

TEST(a_misspelt_switch_is_refused, {"CULEBRA_EMU_DEVICES=two"},
     "CULEBRA_EMU_DEVICES=two: expected a number from 0 to 64", 6) {
  cuInit(0);
}

TEST(more_devices_than_there_can_be_are_refused, {"CULEBRA_EMU_DEVICES=65"},
     "CULEBRA_EMU_DEVICES=65: expected a number from 0 to 64", 6) {
  cuInit(0);
}

#define REJECTS(name, setting, message)                                  \
  TEST(name, {setting}, "culebra-emulator: " setting message, SIGABRT) { \
    cuInit(0);                                                           \
    CHECK(false);                                                        \
  }

REJECTS(no_memory_is_refused, "CULEBRA_EMU_MEMORY=0", ": expected a number from 4096 to ")
REJECTS(a_negative_number_is_refused, "CULEBRA_EMU_MEMORY=-1", ": expected a number from 4096 to ")
REJECTS(a_number_beyond_all_is_refused, "CULEBRA_EMU_SHUFFLE=18446744073709551616",
        ": expected a number from 0 to 18446744073709551615")
REJECTS(a_number_with_a_unit_is_refused, "CULEBRA_EMU_TIMEOUT_S=5s",
        ": expected a number from 0 to 1000000")
REJECTS(half_a_diagnosis_is_refused, "CULEBRA_EMU_DIAGNOSE=2", ": expected a number from 0 to 1")
REJECTS(a_report_in_words_is_refused, "CULEBRA_EMU_REPORT=yes", ": expected a number from 0 to 1")
REJECTS(a_stub_in_words_is_refused, "CULEBRA_EMU_STUB=true", ": expected a number from 0 to 1")
REJECTS(a_driver_before_all_is_refused, "CULEBRA_EMU_DRIVER_VERSION=1",
        ": expected a number from 11030 to 99990 that 10 divides")
REJECTS(a_driver_between_versions_is_refused, "CULEBRA_EMU_DRIVER_VERSION=12345",
        ": expected a number from 11030 to 99990 that 10 divides")
REJECTS(an_allocation_before_the_first_is_refused, "CULEBRA_EMU_FAULT=oom:0",
        ": expected rules, but \"oom:0\" is none of ")
REJECTS(a_rule_with_an_empty_word_is_refused, "CULEBRA_EMU_FAULT=oom::1",
        ": expected rules, but \"oom::1\" is none of ")
REJECTS(a_kernel_of_days_is_refused, "CULEBRA_EMU_FAULT=slow-kernel:99999999999999999",
        ": expected rules, but \"slow-kernel:99999999999999999\" is none of ")
REJECTS(an_empty_check_is_refused, "CULEBRA_EMU_CHECK=race,", ": expected all or some of ")
REJECTS(an_empty_function_is_refused, "CULEBRA_EMU_MISSING=cuMemFree,",
        ": expected functions of the driver")

TEST(an_unknown_switch_is_refused, {"CULEBRA_EMU_OOM_AT=1"},
     "culebra-emulator: CULEBRA_EMU_OOM_AT: expected one of the switches CULEBRA_EMU_CHECK, ",
     SIGABRT) {
  cuInit(0);
  CHECK(false);
}

// As if it were not there.
TEST(a_switch_that_is_set_to_nothing, {"CULEBRA_EMU_MEMORY=", "CULEBRA_EMU_CHECK="}) {
  RETURNS(0, cuInit(0));
}

TEST(a_missing_function_that_never_was_is_refused, {"CULEBRA_EMU_MISSING=cuMemFree,cuMemFre"},
     "CULEBRA_EMU_MISSING=cuMemFree,cuMemFre: expected functions of the driver", 6) {
  cuInit(0);
}

TEST(a_fault_in_a_function_that_never_was_is_refused, {"CULEBRA_EMU_FAULT=fail:cuMemAlocc:1:2"},
     "cuMemAlocc", 6) {
  cuInit(0);
}

TEST(primary_context_is_counted) {
  RETURNS(0, cuInit(0));
  CUcontext context = nullptr, again = nullptr;
  unsigned flags = 7;
  int active = 7;
  unsigned long long id = 0;
  RETURNS(0, cuDevicePrimaryCtxGetState(0, &flags, &active));
  CHECK_EQ(active, 0);
  RETURNS(201, cuDevicePrimaryCtxRelease_v2(0));
  RETURNS(0, cuDevicePrimaryCtxRetain(&context, 0));
  RETURNS(0, cuDevicePrimaryCtxRetain(&again, 0));
  CHECK_EQ(context, again);
  RETURNS(0, cuCtxSetCurrent(context));
  RETURNS(0, cuCtxGetId(context, &id));
  CHECK_EQ(id, 1u);
  CUdeviceptr memory = 0;
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, cuDevicePrimaryCtxRelease_v2(0));
  RETURNS(0, cuDevicePrimaryCtxGetState(0, &flags, &active));
  CHECK_EQ(active, 1);
  RETURNS(0, cuDevicePrimaryCtxRelease_v2(0));
  RETURNS(0, cuDevicePrimaryCtxGetState(0, &flags, &active));
  CHECK_EQ(active, 0);
  // The context has taken its memory along; the handle comes back with another number.
  RETURNS(709, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, cuDevicePrimaryCtxRetain(&again, 0));
  CHECK_EQ(context, again);
  RETURNS(0, cuCtxGetId(again, &id));
  CHECK_EQ(id, 2u);
  RETURNS(1, cuMemFree_v2(memory));
}

TEST(current_context_belongs_to_the_thread) {
  const CUcontext context = use_device();
  CUcontext current = nullptr;
  std::thread([&] {
    CUdeviceptr memory = 0;
    RETURNS(0, cuCtxGetCurrent(&current));
    CHECK(current == nullptr);
    RETURNS(201, cuMemAlloc_v2(&memory, 64));
    RETURNS(201, cuCtxSynchronize());
    RETURNS(0, cuCtxPushCurrent_v2(context));
    RETURNS(0, cuMemAlloc_v2(&memory, 64));
    RETURNS(0, cuCtxPopCurrent_v2(&current));
    CHECK_EQ(current, context);
    RETURNS(201, cuCtxPopCurrent_v2(&current));
    // Freeing needs none.
    RETURNS(0, cuMemFree_v2(memory));
  }).join();
  RETURNS(0, cuCtxGetCurrent(&current));
  CHECK_EQ(current, context);
  RETURNS(201, cuCtxSetCurrent(reinterpret_cast<CUcontext>(0x1234)));
  RETURNS(0, cuCtxSetCurrent(nullptr));
  RETURNS(0, cuCtxGetCurrent(&current));
  CHECK(current == nullptr);
}

TEST(every_result_has_its_name_and_a_text) {
  const char* text = nullptr;
#define RESULT(name, code, description)             \
  RETURNS(0, cuGetErrorName(CUDA_##name, &text));   \
  CHECK_EQ(std::string(text), "CUDA_" #name);       \
  RETURNS(0, cuGetErrorString(CUDA_##name, &text)); \
  CHECK(std::strlen(text) > 0);
#include "results.inc"
#undef RESULT
  RETURNS(1, cuGetErrorName(static_cast<CUresult>(54321), &text));
  CHECK(text == nullptr);
}

TEST(entry_points_are_found_by_base_name_and_version) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status;
  std::size_t count = 0;
#define DRIVER_FUNCTION(symbol, base, version)                           \
  RETURNS(0, cuGetProcAddress_v2(#base, &address, version, 0, &status)); \
  CHECK_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);                         \
  CHECK_EQ(address, dlsym(driver_library(), #symbol));                   \
  CHECK(address != nullptr);                                             \
  ++count;
#include "driver_functions.inc"
#undef DRIVER_FUNCTION
  CHECK(count >= 449);
  RETURNS(0, cuGetProcAddress_v2("cuNoSuchFunction", &address, 13000, 0, &status));
  CHECK_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  CHECK(address == nullptr);
  RETURNS(0, cuGetProcAddress_v2("cuKernelGetName", &address, 12000, 0, &status));
  CHECK_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  // Two versions of one function: each caller gets the one it was written for.
  RETURNS(0, cuGetProcAddress_v2("cuEventElapsedTime", &address, 12000, 0, &status));
  CHECK_EQ(address, dlsym(driver_library(), "cuEventElapsedTime"));
  RETURNS(0, cuGetProcAddress_v2("cuEventElapsedTime", &address, 13000, 0, &status));
  CHECK_EQ(address, dlsym(driver_library(), "cuEventElapsedTime_v2"));
}

TEST(an_older_driver_lacks_functions, {"CULEBRA_EMU_DRIVER_VERSION=12020"}) {
  void* address = nullptr;
  int version = 0;
  CUdriverProcAddressQueryResult status;
  RETURNS(0, cuDriverGetVersion(&version));
  CHECK_EQ(version, 12020);
  RETURNS(0, cuGetProcAddress_v2("cuFuncGetParamInfo", &address, 13000, 0, &status));
  CHECK_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  RETURNS(0, cuGetProcAddress_v2("cuLaunchKernelEx", &address, 13000, 0, &status));
  CHECK_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
}

TEST(missing_functions, {"CULEBRA_EMU_MISSING=cuStreamGetId,cuMemFree_v2"}) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status;
  for (const char* name : {"cuStreamGetId", "cuMemFree"}) {
    RETURNS(0, cuGetProcAddress_v2(name, &address, 13000, 0, &status));
    CHECK_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    RETURNS(500, cuGetProcAddress_v2(name, &address, 13000, 0, nullptr));
  }
  RETURNS(0, cuGetProcAddress_v2("cuMemAlloc", &address, 13000, 0, &status));
  CHECK_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
}

TEST(injected_failures, {"CULEBRA_EMU_FAULT=fail:cuMemAlloc:2:46;fail:cuStreamCreate:*:999"}) {
  use_device();
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  RETURNS(46, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  RETURNS(999, cuStreamCreate(&stream, 0));
  RETURNS(999, cuStreamCreate(&stream, 0));
}

TEST(unmodelled_functions_say_so) {
  for (const char* symbol : {"cuArrayCreate_v2", "cuGraphConditionalHandleCreate",
                             "cuTensorMapEncodeTiled", "cuCoredumpGetAttribute"}) {
    const auto call = reinterpret_cast<CUresult (*)()>(dlsym(driver_library(), symbol));
    CHECK(call != nullptr);
    RETURNS(801, call());
  }
}

TEST(
    report_at_exit, {"CULEBRA_EMU_REPORT=1"},
    "culebra-emulator: at exit: not given back: 1 context, 1 stream, 2 events, 1 module, 1 device allocation, 1 pinned host allocation\n") {
  use_device();
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUdeviceptr memory = 0;
  void* host = nullptr;
  RETURNS(0, cuStreamCreate(&stream, 0));
  RETURNS(0, cuEventCreate(&event, 0));
  RETURNS(0, cuEventCreate(&event, 0));
  load_test_module();
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, cuMemHostAlloc(&host, 64, 0));
}

TEST(clean_report_at_exit, {"CULEBRA_EMU_REPORT=1"}, "culebra-emulator: at exit: nothing is left") {
  use_device();
  CUdeviceptr memory = 0;
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, cuMemFree_v2(memory));
  RETURNS(0, cuDevicePrimaryCtxRelease_v2(0));
}
