// The variants of functions for per-thread default streams.
#include <thread>

#include "graph_driver.h"
#include "streams.h"

using namespace culebra_test;

namespace {

constexpr std::uint64_t kPerThread = 2;
const auto kOwnStream = reinterpret_cast<CUstream>(std::uintptr_t{2});

template <class Function>
Function variant(Function, const char* base, std::uint64_t flags) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status;
  RETURNS(0, cuGetProcAddress_v2(base, &address, 13000, flags, &status));
  CHECK(address != nullptr);
  return reinterpret_cast<Function>(address);
}
#define PER_THREAD(symbol, base) variant(symbol, base, kPerThread)

unsigned long long id_of(CUstream stream) {
  unsigned long long id = 0;
  RETURNS(0, cuStreamGetId(stream, &id));
  return id;
}

}  // namespace

TEST(a_variant_takes_stream_zero_for_the_threads_own) {
  use_device();
  const auto get_id = PER_THREAD(cuStreamGetId, "cuStreamGetId");
  unsigned long long id = 0;
  RETURNS(0, get_id(nullptr, &id));
  CHECK_EQ(id, id_of(kOwnStream));
  CHECK(id != id_of(nullptr));
  // The legacy stream and others keep their names, and the next call of the function itself is as
  // ever.
  RETURNS(0, get_id(reinterpret_cast<CUstream>(std::uintptr_t{1}), &id));
  CHECK_EQ(id, id_of(nullptr));
  CUstream stream = nullptr;
  RETURNS(0, cuStreamCreate(&stream, 0));
  RETURNS(0, get_id(stream, &id));
  CHECK_EQ(id, id_of(stream));
  // Another thread has another stream.
  CUcontext context = nullptr;
  RETURNS(0, cuCtxGetCurrent(&context));
  unsigned long long other = 0;
  std::thread([&] {
    cuCtxSetCurrent(context);
    get_id(nullptr, &other);
  }).join();
  CHECK(other != 0 && other != id_of(kOwnStream));
}

TEST(functions_without_a_variant_are_found_as_they_are) {
  CHECK_EQ(reinterpret_cast<void*>(PER_THREAD(cuMemAlloc_v2, "cuMemAlloc")),
           reinterpret_cast<void*>(variant(cuMemAlloc_v2, "cuMemAlloc", 0)));
  CHECK(PER_THREAD(cuStreamGetId, "cuStreamGetId") != variant(cuStreamGetId, "cuStreamGetId", 1));
}

TEST(variants_with_many_arguments_pass_them_on) {
  use_device();
  const auto kernel = function(load_test_module(), "store");
  Buffer<int> value(1, 0);
  const auto launch_kernel = PER_THREAD(cuLaunchKernel, "cuLaunchKernel");
  int number = 41;
  void* arguments[] = {&value.address, &number};
  RETURNS(0, launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  // The copy waits for the thread's own stream.
  const auto copy = PER_THREAD(cuMemcpyDtoH_v2, "cuMemcpyDtoH");
  int got = 0;
  RETURNS(0, copy(&got, value.address, sizeof got));
  CHECK_EQ(got, 41);
}

TEST(work_of_a_variant_is_captured_on_the_threads_own_stream) {
  use_device();
  Buffer<int> value(1, 0);
  const auto fill = PER_THREAD(cuMemsetD32Async, "cuMemsetD32Async");
  RETURNS(0, cuStreamBeginCapture_v2(kOwnStream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  RETURNS(0, fill(value.address, 7, 1, nullptr));
  CUgraph graph = nullptr;
  RETURNS(0, cuStreamEndCapture(kOwnStream, &graph));
  std::size_t nodes = 0;
  RETURNS(0, cuGraphGetNodes(graph, nullptr, &nodes));
  CHECK_EQ(nodes, 1u);
}
