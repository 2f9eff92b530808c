// Uses one device from several threads at once, in every way that does not depend on who comes
// first, and checks what comes out. Made to run under the thread sanitizer; what that finds is not
// a wrong result here.
//
//   hammer SECONDS [THREADS [SEED]]
//
// What a thread does follows from the seed; how the threads meet does not.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "graph_driver.h"
#include "support.h"

namespace {

using namespace culebra_test;

std::atomic<long> wrong_answers = 0;
std::atomic<long> answers = 0;

void expect(bool ok, const char* what) {
  ++answers;
  if (ok) return;
  ++wrong_answers;
  std::fprintf(stderr, "hammer: %s\n", what);
}

#define SUCCEEDS(call) expect((call) == CUDA_SUCCESS, #call " failed")

// What all threads share.
struct Shared {
  CUcontext context = nullptr;
  CUfunction fill = nullptr;
  CUfunction append = nullptr;
  CUmemoryPool pool = nullptr;
  std::array<CUstream, 2> streams = {};
  std::array<CUevent, 4> events = {};
  std::atomic<CUdeviceptr> last_address = 0;
};

class Worker {
 public:
  Worker(Shared& shared, unsigned seed) : shared_(shared), random_(seed) {}

  void run(std::chrono::steady_clock::time_point end) {
    SUCCEEDS(cuCtxSetCurrent(shared_.context));
    using Step = void (Worker::*)();
    constexpr Step kSteps[] = {
        &Worker::write_and_read, &Worker::write_and_read,
        &Worker::cross_streams,  &Worker::drop_busy_stream,
        &Worker::host_functions, &Worker::modules,
        &Worker::query,          &Worker::shared_stream,
        &Worker::pinned_memory,  &Worker::registered_memory,
        &Worker::pool_memory,    &Worker::nested_context,
        &Worker::graphs,         &Worker::own_context,
    };
    while (std::chrono::steady_clock::now() < end) (this->*kSteps[pick(std::size(kSteps))])();
  }

 private:
  std::size_t pick(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }

  CUstream new_stream() {
    CUstream stream = nullptr;
    SUCCEEDS(cuStreamCreate(&stream, static_cast<unsigned>(pick(2)) * CU_STREAM_NON_BLOCKING));
    return stream;
  }

  // The legacy default stream now and then, which orders all blocking ones.
  CUstream some_stream(CUstream own) { return pick(6) == 0 ? nullptr : own; }

  // Fills words in one of three ways.
  void write(CUdeviceptr address, unsigned value, unsigned words, CUstream stream,
             std::vector<unsigned>& staging) {
    switch (pick(3)) {
      case 0:
        SUCCEEDS(launch(shared_.fill, (words + 31) / 32, 32, 0, stream, address, value, words));
        break;
      case 1:
        SUCCEEDS(cuMemsetD32Async(address, value, words, stream));
        break;
      default:
        staging.assign(words, value);
        SUCCEEDS(cuMemcpyHtoDAsync_v2(address, staging.data(), words * 4, stream));
        break;
    }
  }

  void check_words(const std::vector<unsigned>& words, unsigned value) {
    std::size_t wrong = 0;
    for (const unsigned word : words) wrong += word != value;
    expect(wrong == 0, "a copy brought other words than were written");
  }

  void write_and_read() {
    const unsigned words = static_cast<unsigned>(1 + pick(500));
    const auto value = static_cast<unsigned>(random_());
    const CUstream own = new_stream();
    const CUstream stream = some_stream(own);
    CUdeviceptr address = 0;
    const bool ordered = pick(2) == 0;
    if (ordered) {
      SUCCEEDS(cuMemAllocAsync(&address, words * 4, stream));
    } else {
      SUCCEEDS(cuMemAlloc_v2(&address, words * 4));
    }
    shared_.last_address = address;
    std::vector<unsigned> staging, back(words);
    write(address, value, words, stream, staging);
    SUCCEEDS(cuMemcpyDtoHAsync_v2(back.data(), address, words * 4, stream));
    if (ordered) SUCCEEDS(cuMemFreeAsync(address, stream));
    SUCCEEDS(cuStreamSynchronize(stream));
    if (!ordered) SUCCEEDS(cuMemFree_v2(address));
    check_words(back, value);
    SUCCEEDS(cuStreamDestroy_v2(own));
  }

  // Written on one stream, copied on another behind an event, read on the first behind another one.
  void cross_streams() {
    const unsigned words = static_cast<unsigned>(1 + pick(200));
    const auto value = static_cast<unsigned>(random_());
    const CUstream first = new_stream(), second = new_stream();
    CUevent written = nullptr, copied = nullptr;
    SUCCEEDS(cuEventCreate(&written, 0));
    SUCCEEDS(cuEventCreate(&copied, CU_EVENT_DISABLE_TIMING));
    CUdeviceptr from = 0, to = 0;
    SUCCEEDS(cuMemAllocAsync(&from, words * 4, first));
    SUCCEEDS(cuMemAlloc_v2(&to, words * 4));
    std::vector<unsigned> staging, back(words);
    write(from, value, words, first, staging);
    SUCCEEDS(cuEventRecord(written, first));
    SUCCEEDS(cuStreamWaitEvent(second, written, 0));
    SUCCEEDS(cuMemcpyDtoDAsync_v2(to, from, words * 4, second));
    SUCCEEDS(cuEventRecord(copied, second));
    SUCCEEDS(cuStreamWaitEvent(first, copied, 0));
    SUCCEEDS(cuMemFreeAsync(from, first));
    SUCCEEDS(cuMemcpyDtoHAsync_v2(back.data(), to, words * 4, first));
    // Either of these makes the words visible here.
    if (pick(2) == 0) {
      CUevent read = nullptr;
      SUCCEEDS(cuEventCreate(&read, 0));
      SUCCEEDS(cuEventRecord(read, first));
      SUCCEEDS(cuEventSynchronize(read));
      float ms = -1;
      SUCCEEDS(cuEventElapsedTime_v2(&ms, written, read));
      expect(ms >= 0, "an event was before the one that it was recorded behind");
      SUCCEEDS(cuEventDestroy_v2(read));
    } else {
      const CUresult result = cuCtxSynchronize();
      // Refused while another thread captures.
      expect(result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
             "cuCtxSynchronize");
      if (result != CUDA_SUCCESS) SUCCEEDS(cuStreamSynchronize(first));
    }
    check_words(back, value);
    SUCCEEDS(cuMemFree_v2(to));
    SUCCEEDS(cuEventDestroy_v2(written));
    SUCCEEDS(cuEventDestroy_v2(copied));
    SUCCEEDS(cuStreamDestroy_v2(first));
    SUCCEEDS(cuStreamDestroy_v2(second));
  }

  // A destroyed stream's work is done nevertheless.
  void drop_busy_stream() {
    const CUstream stream = new_stream();
    CUevent event = nullptr;
    SUCCEEDS(cuEventCreate(&event, 0));
    std::atomic<int> ran = 0;
    SUCCEEDS(cuLaunchHostFunc(
        stream, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &ran));
    SUCCEEDS(cuEventRecord(event, stream));
    SUCCEEDS(cuStreamDestroy_v2(stream));
    SUCCEEDS(cuEventSynchronize(event));
    expect(ran == 1, "a host function of a destroyed stream did not run");
    SUCCEEDS(cuEventDestroy_v2(event));
  }

  void host_functions() {
    const CUstream stream = new_stream();
    int ran = 0;  // plain: the stream orders its own work, and the wait orders it before us
    for (int i = 0; i < 5; ++i) {
      SUCCEEDS(cuLaunchHostFunc(
          stream, [](void* count) { ++*static_cast<int*>(count); }, &ran));
    }
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
    SUCCEEDS(cuStreamSynchronize(stream));
    expect(ran == 5, "five host functions did not run once each");
    SUCCEEDS(cuStreamDestroy_v2(stream));
  }

  void modules() {
    if (pick(4) != 0) return;  // loading is slow
    const CUmodule module = load_test_module();
    const CUfunction fill = function(module, "fill");
    unsigned back = 0;
    CUdeviceptr address = 0;
    SUCCEEDS(cuMemAlloc_v2(&address, 4));
    SUCCEEDS(launch(fill, 1, 32, 0, nullptr, address, 7u, 1u));
    SUCCEEDS(cuMemcpyDtoH_v2(&back, address, 4));
    expect(back == 7, "a kernel of a module of its own did not run");
    SUCCEEDS(cuMemFree_v2(address));
    SUCCEEDS(cuModuleUnload(module));
  }

  // Questions about what other threads make and drop meanwhile.
  void query() {
    std::size_t free_bytes = 0, total_bytes = 0;
    SUCCEEDS(cuMemGetInfo_v2(&free_bytes, &total_bytes));
    expect(free_bytes <= total_bytes, "more memory is free than there is");
    CUcontext current = nullptr;
    SUCCEEDS(cuCtxGetCurrent(&current));
    expect(current == shared_.context, "another context is current");
    const CUdeviceptr address = shared_.last_address;
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    const CUresult range = cuMemGetAddressRange_v2(&base, &bytes, address);
    expect(
        range == CUDA_SUCCESS || range == CUDA_ERROR_NOT_FOUND || range == CUDA_ERROR_INVALID_VALUE,
        "cuMemGetAddressRange of memory that may be gone");
    unsigned kind = 0;
    const CUresult known = cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
    expect(known == CUDA_SUCCESS || known == CUDA_ERROR_INVALID_VALUE,
           "cuPointerGetAttribute of memory that may be gone");
    for (const CUevent event : shared_.events) {
      const CUresult result = cuEventQuery(event);
      expect(result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY, "cuEventQuery");
    }
    int threads = 0;
    SUCCEEDS(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, shared_.fill));
  }

  // Streams and events that all threads use.
  void shared_stream() {
    const CUstream stream = shared_.streams[pick(shared_.streams.size())];
    const CUevent event = shared_.events[pick(shared_.events.size())];
    CUdeviceptr list = 0;
    SUCCEEDS(cuMemAllocAsync(&list, 5 * 4, stream));
    SUCCEEDS(cuMemsetD32Async(list, 0, 5, stream));
    for (unsigned i = 1; i <= 4; ++i) SUCCEEDS(launch(shared_.append, 1, 1, 0, stream, list, i));
    std::array<unsigned, 5> back = {};
    SUCCEEDS(cuMemcpyDtoHAsync_v2(back.data(), list, sizeof back, stream));
    SUCCEEDS(cuMemFreeAsync(list, stream));
    SUCCEEDS(cuEventRecord(event, stream));
    SUCCEEDS(cuStreamWaitEvent(shared_.streams[pick(shared_.streams.size())], event, 0));
    SUCCEEDS(cuStreamSynchronize(stream));
    expect(back == std::array<unsigned, 5>{4, 1, 2, 3, 4}, "launches of a stream changed places");
  }

  void pinned_memory() {
    void* memory = nullptr;
    SUCCEEDS(cuMemHostAlloc(&memory, 256, 0));
    auto* words = static_cast<unsigned*>(memory);
    for (unsigned i = 0; i < 64; ++i) words[i] = i;
    CUdeviceptr seen = 0;
    SUCCEEDS(cuMemHostGetDevicePointer_v2(&seen, memory, 0));
    const CUstream stream = new_stream();
    SUCCEEDS(launch(shared_.fill, 2, 32, 0, stream, seen, 3u, 64u));
    SUCCEEDS(cuStreamSynchronize(stream));
    expect(words[63] == 3, "a kernel did not write pinned memory");
    SUCCEEDS(cuStreamDestroy_v2(stream));
    SUCCEEDS(cuMemFreeHost(memory));
  }

  void registered_memory() {
    std::vector<unsigned> words(1024, 5);
    SUCCEEDS(cuMemHostRegister_v2(words.data(), words.size() * 4, 0));
    CUdeviceptr address = 0;
    SUCCEEDS(cuMemAlloc_v2(&address, words.size() * 4));
    SUCCEEDS(cuMemcpyHtoD_v2(address, words.data(), words.size() * 4));
    std::vector<unsigned> back(words.size());
    SUCCEEDS(cuMemcpyDtoH_v2(back.data(), address, words.size() * 4));
    expect(back == words, "registered memory was not copied");
    SUCCEEDS(cuMemFree_v2(address));
    SUCCEEDS(cuMemHostUnregister(words.data()));
  }

  void pool_memory() {
    std::uint64_t used = 0, high = 0;
    SUCCEEDS(cuMemPoolGetAttribute(shared_.pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    SUCCEEDS(cuMemPoolGetAttribute(shared_.pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &high));
    if (pick(4) == 0) SUCCEEDS(cuMemPoolTrimTo(shared_.pool, 0));
    std::uint64_t keep = pick(2) == 0 ? 0 : ~std::uint64_t{0};
    SUCCEEDS(cuMemPoolSetAttribute(shared_.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
  }

  void nested_context() {
    CUcontext again = nullptr, popped = nullptr;
    SUCCEEDS(cuDevicePrimaryCtxRetain(&again, 0));
    SUCCEEDS(cuCtxPushCurrent_v2(again));
    SUCCEEDS(cuCtxPopCurrent_v2(&popped));
    expect(again == shared_.context && popped == again, "the primary context is not one");
    SUCCEEDS(cuDevicePrimaryCtxRelease_v2(0));
  }

  // Captured from two streams, launched several times on different ones.
  void graphs() {
    CUdeviceptr list = 0;
    SUCCEEDS(cuMemAlloc_v2(&list, 5 * 4));
    CUstream stream = nullptr, side = nullptr;
    SUCCEEDS(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    SUCCEEDS(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
    CUevent fork = nullptr, join = nullptr;
    SUCCEEDS(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    SUCCEEDS(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    CUgraph graph = nullptr;
    SUCCEEDS(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    SUCCEEDS(cuMemsetD32Async(list, 0, 5, stream));
    SUCCEEDS(launch(shared_.append, 1, 1, 0, stream, list, 1u));
    SUCCEEDS(cuEventRecord(fork, stream));
    SUCCEEDS(cuStreamWaitEvent(side, fork, 0));
    SUCCEEDS(launch(shared_.append, 1, 1, 0, side, list, 2u));
    SUCCEEDS(cuEventRecord(join, side));
    SUCCEEDS(cuStreamWaitEvent(stream, join, 0));
    SUCCEEDS(launch(shared_.append, 1, 1, 0, stream, list, 3u));
    SUCCEEDS(cuStreamEndCapture(stream, &graph));
    CUgraphExec executable = nullptr;
    SUCCEEDS(cuGraphInstantiateWithFlags(&executable, graph, 0));
    SUCCEEDS(cuGraphDestroy(graph));
    std::array<unsigned, 5> back = {};
    const CUstream last = pick(2) == 0 ? stream : shared_.streams[pick(shared_.streams.size())];
    SUCCEEDS(cuGraphLaunch(executable, side));
    SUCCEEDS(cuGraphLaunch(executable, last));
    SUCCEEDS(cuMemcpyDtoHAsync_v2(back.data(), list, sizeof back, last));
    SUCCEEDS(cuStreamSynchronize(last));
    expect(back == std::array<unsigned, 5>{3, 1, 2, 3, 0}, "a graph's kernels changed places");
    SUCCEEDS(cuGraphExecDestroy(executable));
    SUCCEEDS(cuEventDestroy_v2(fork));
    SUCCEEDS(cuEventDestroy_v2(join));
    SUCCEEDS(cuStreamDestroy_v2(stream));
    SUCCEEDS(cuStreamDestroy_v2(side));
    SUCCEEDS(cuMemFree_v2(list));
  }

  // A context beside the primary one, with work in it when it goes.
  void own_context() {
    CUcontext context = nullptr;
    SUCCEEDS(create_context(&context, nullptr, 0, 0));
    CUdeviceptr address = 0;
    SUCCEEDS(cuMemAlloc_v2(&address, 4096));
    SUCCEEDS(cuMemsetD32Async(address, 1, 1024, new_stream()));
    SUCCEEDS(destroy_context(context));
    SUCCEEDS(cuCtxSetCurrent(shared_.context));
  }

  static constexpr DriverFunction<CUcontext*, void*, unsigned, CUdevice> create_context{
      "cuCtxCreate_v4"};
  static constexpr DriverFunction<CUcontext> destroy_context{"cuCtxDestroy_v2"};

  Shared& shared_;
  std::mt19937 random_;
};

}  // namespace

// support.h reports here.
void culebra_test::check(bool ok, const char* file, int line, const std::string& text) {
  expect(ok, (std::string(file) + ":" + std::to_string(line) + ": " + text).c_str());
}

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 0;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 4;
  const unsigned seed = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 1;
  if (seconds <= 0 || threads <= 0) {
    std::fprintf(stderr, "usage: hammer SECONDS [THREADS [SEED]]\n");
    return 2;
  }
  open_driver();
  Shared shared;
  shared.context = use_device();
  const CUmodule module = load_test_module();
  shared.fill = function(module, "fill");
  shared.append = function(module, "append");
  SUCCEEDS(cuDeviceGetDefaultMemPool(&shared.pool, 0));
  for (CUstream& stream : shared.streams) SUCCEEDS(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  for (CUevent& event : shared.events) SUCCEEDS(cuEventCreate(&event, 0));

  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back(
        [&shared, end, seed, i] { Worker(shared, seed + static_cast<unsigned>(i)).run(end); });
  }
  for (std::thread& worker : workers) worker.join();

  SUCCEEDS(cuCtxSynchronize());
  for (const CUstream stream : shared.streams) SUCCEEDS(cuStreamDestroy_v2(stream));
  for (const CUevent event : shared.events) SUCCEEDS(cuEventDestroy_v2(event));
  SUCCEEDS(cuModuleUnload(module));
  SUCCEEDS(cuDevicePrimaryCtxRelease_v2(0));
  std::printf("hammer: %d threads, %d s, %ld passed, %ld failed\n", threads, seconds,
              answers - wrong_answers, wrong_answers.load());
  return wrong_answers == 0 ? 0 : 1;
}
