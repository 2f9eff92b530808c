// CULEBRA_EMU_CHECK: what the checks find without looking into kernels.
#include <csignal>

#include "support.h"

using namespace culebra_test;

DRIVER_CALL(cuModuleGetGlobal_v2, CUdeviceptr*, std::size_t*, CUmodule, const char*);

#define INIT_CHECK \
  { "CULEBRA_EMU_CHECK=init" }

TEST(copy_of_memory_that_nobody_wrote, INIT_CHECK,
     "init: cuMemcpyDtoH_v2 reads memory that nobody has written, at byte 16 of the allocation of "
     "64 bytes at 0x") {
  use_device();
  CUdeviceptr memory = 0;
  char host[64] = {};
  RETURNS(0, cuMemAlloc_v2(&memory, sizeof host));
  RETURNS(0, cuMemcpyHtoD_v2(memory, host, 16));
  RETURNS(0, cuMemsetD8_v2(memory + 32, 0, 32));
  RETURNS(0, cuMemcpyDtoH_v2(host, memory, 16));
  RETURNS(0, cuMemcpyDtoH_v2(host, memory + 32, 32));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuMemcpyDtoH_v2(host, memory, sizeof host));
}

TEST(copy_within_the_device_takes_along_what_is_written, INIT_CHECK,
     "at byte 8 of the allocation of 64 bytes") {
  use_device();
  CUdeviceptr first = 0, second = 0;
  char host[64] = {};
  RETURNS(0, cuMemAlloc_v2(&first, sizeof host));
  RETURNS(0, cuMemAlloc_v2(&second, sizeof host));
  RETURNS(0, cuMemsetD8_v2(first, 1, 8));
  RETURNS(0, cuMemsetD8_v2(second, 1, sizeof host));
  RETURNS(0, cuMemcpyDtoH_v2(host, second, sizeof host));
  RETURNS(0, cuMemcpyDtoD_v2(second, first, sizeof host));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuMemcpyDtoH_v2(host, second, sizeof host));
}

TEST(memory_of_a_pool_is_not_written_when_it_is_allocated_again, INIT_CHECK,
     "init: cuMemcpyDtoH_v2 reads memory that nobody has written") {
  use_device();
  CUdeviceptr first = 0, second = 0;
  char host[64] = {};
  RETURNS(0, cuMemAllocAsync(&first, sizeof host, nullptr));
  RETURNS(0, cuMemsetD8_v2(first, 1, sizeof host));
  RETURNS(0, cuMemcpyDtoH_v2(host, first, sizeof host));
  RETURNS(0, cuMemFreeAsync(first, nullptr));
  RETURNS(0, cuMemAllocAsync(&second, sizeof host, nullptr));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuMemcpyDtoH_v2(host, second, sizeof host));
}

TEST(findings_that_end_nothing, {"CULEBRA_EMU_CHECK=init,continue"},
     "culebra-emulator: the checks found 2 errors") {
  use_device();
  CUdeviceptr memory = 0;
  char host[64] = {};
  RETURNS(0, cuMemAlloc_v2(&memory, sizeof host));
  RETURNS(0, cuMemcpyDtoH_v2(host, memory, 8));
  RETURNS(0, cuMemcpyDtoH_v2(host, memory, 8));
}

// What checked images are watched for.

namespace {

CUmodule checked_module() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip("an image is watched by a sanitizer or by the emulator, not by both");
#endif
  static const CUmodule module = load_image("checked_kernels");
  return module;
}

// Launches a kernel of the checked image; returns the code of the synchronization.
template <class... Args>
CUresult run_checked_grid(const char* kernel, unsigned blocks, unsigned threads,
                          unsigned shared_bytes, Args... args) {
  RETURNS(0, launch(function(checked_module(), kernel), blocks, threads, shared_bytes, nullptr,
                    args...));
  return cuCtxSynchronize();
}

template <class... Args>
CUresult run_checked(const char* kernel, unsigned threads, unsigned shared_bytes, Args... args) {
  return run_checked_grid(kernel, 1, threads, shared_bytes, args...);
}

// Runs a kernel that is right, then the same with its mistake.
void expect_finding(CUresult code, const char* kernel, unsigned threads,
                    unsigned shared_bytes = 0) {
  use_device();
  CUdeviceptr out = 0;
  RETURNS(0, cuMemAlloc_v2(&out, 4096));
  RETURNS(0, run_checked(kernel, threads, shared_bytes, out, 0u));
  RETURNS(code, run_checked(kernel, threads, shared_bytes, out, 1u));
}

}  // namespace

#define CHECK_ALL \
  { "CULEBRA_EMU_CHECK=all" }
// A missing barrier lets a thread read also what is not there yet.
#define CHECK_RACES \
  { "CULEBRA_EMU_CHECK=race" }

TEST(check_of_a_global_bound, CHECK_ALL,
     "kernel beyond_bound, block (0,0,0): thread (25,0,0): invalid global write of 4 bytes at 0x") {
  use_device();
  CUdeviceptr out = 0;
  RETURNS(0, cuMemAlloc_v2(&out, 100));
  RETURNS(0, run_checked("beyond_bound", 32, 0, out, 25u, 0u));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("beyond_bound", 32, 0, out, 25u, 1u));
}

TEST(check_of_an_atomic, CHECK_ALL, "invalid global atomic operation of 4 bytes at 0x") {
  use_device();
  CUdeviceptr out = 0;
  RETURNS(0, cuMemAlloc_v2(&out, 100));
  RETURNS(0, cuMemsetD8_v2(out, 1, 100));
  RETURNS(0, run_checked("add_beyond", 1, 0, out, 24u));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("add_beyond", 1, 0, out, 25u));
}

TEST(check_names_allocation_and_line, CHECK_ALL, "(cuMemAlloc_v2 #2); at checked_kernels.cu:7") {
  use_device();
  CUdeviceptr first = 0, out = 0;
  RETURNS(0, cuMemAlloc_v2(&first, 100));
  RETURNS(0, cuMemAlloc_v2(&out, 100));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("beyond_bound", 32, 0, out, 25u, 1u));
}

TEST(check_of_a_vector_access, CHECK_ALL, "invalid global read of 16 bytes at 0x") {
  use_device();
  CUdeviceptr in = 0, out = 0;
  RETURNS(0, cuMemAlloc_v2(&in, 28));
  RETURNS(0, cuMemAlloc_v2(&out, 16));
  RETURNS(0, cuMemsetD8_v2(in, 1, 28));
  RETURNS(0, run_checked("vector_beyond_bound", 1, 0, out, in, 0u));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("vector_beyond_bound", 1, 0, out, in, 1u));
}

TEST(check_of_a_struct_copy, CHECK_ALL,
     "reaching 4 bytes beyond the allocation of 96 bytes at 0x") {
  use_device();
  CUdeviceptr in = 0, out = 0;
  RETURNS(0, cuMemAlloc_v2(&in, 100));
  RETURNS(0, cuMemAlloc_v2(&out, 96));
  RETURNS(0, cuMemsetD8_v2(in, 1, 100));
  RETURNS(0, run_checked("copy_struct", 1, 0, in, in));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("copy_struct", 1, 0, out, in));
}

TEST(check_of_freed_memory, CHECK_ALL, "of the former allocation of 64 bytes at 0x") {
  use_device();
  CUdeviceptr in = 0, out = 0;
  RETURNS(0, cuMemAlloc_v2(&in, 64));
  RETURNS(0, cuMemAlloc_v2(&out, 64));
  RETURNS(0, cuMemsetD8_v2(in, 1, 64));
  RETURNS(0, run_checked("read_one", 1, 0, out, in));
  RETURNS(0, cuMemFree_v2(in));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("read_one", 1, 0, out, in));
}

// The pool keeps it mapped; only the check knows that nobody may use it.
TEST(check_of_memory_freed_in_a_streams_order, CHECK_ALL, "freed by cuMemFreeAsync #1") {
  use_device();
  CUdeviceptr in = 0, out = 0;
  RETURNS(0, cuMemAllocAsync(&in, 64, nullptr));
  RETURNS(0, cuMemAlloc_v2(&out, 64));
  RETURNS(0, cuMemsetD8_v2(in, 1, 64));
  CUmemoryPool pool = nullptr;
  RETURNS(0, cuDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t threshold = 1 << 20;
  RETURNS(0, cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  RETURNS(0, cuMemFreeAsync(in, nullptr));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("read_one", 1, 0, out, in));
}

TEST(check_of_a_pointer_to_host_memory, CHECK_ALL,
     "which is host memory that the driver does not know, or no memory") {
  use_device();
  CUdeviceptr out = 0;
  RETURNS(0, cuMemAlloc_v2(&out, 64));
  const auto host = std::make_unique<unsigned[]>(16384);
  const auto address = reinterpret_cast<CUdeviceptr>(host.get());
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("read_one", 1, 0, out, address));
}

TEST(check_of_memory_that_was_registered, CHECK_ALL, "freed by cuMemHostUnregister #1") {
  use_device();
  CUdeviceptr out = 0;
  RETURNS(0, cuMemAlloc_v2(&out, 64));
  const auto host = std::make_unique<unsigned[]>(16384);
  RETURNS(0, cuMemHostRegister_v2(host.get(), 65536, 0));
  const auto address = reinterpret_cast<CUdeviceptr>(host.get());
  RETURNS(0, run_checked("read_one", 1, 0, out, address));
  RETURNS(0, cuMemHostUnregister(host.get()));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("read_one", 1, 0, out, address));
}

namespace {

CUdeviceptr variable(const char* name, std::size_t bytes) {
  CUdeviceptr address = 0;
  std::size_t its_bytes = 0;
  RETURNS(0, cuModuleGetGlobal_v2(&address, &its_bytes, checked_module(), name));
  CHECK_EQ(its_bytes, bytes);
  return address;
}

}  // namespace

TEST(check_of_a_constant_arrays_end, CHECK_ALL,
     "thread (4,0,0): invalid index: 4 of an array 'float [4]'; at checked_kernels.cu:") {
  use_device();
  Buffer<float> out(32);
  RETURNS(0, run_checked("read_table", 32, 0, out.address, 4u));
  out.download();
  CHECK_EQ(out.host[3], 4.0f);
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("read_table", 32, 0, out.address, 5u));
}

TEST(check_of_a_device_arrays_end, CHECK_ALL,
     "thread (4,0,0): invalid index: 4 of an array 'float [4]'; at checked_kernels.cu:") {
  use_device();
  Buffer<float> out(32);
  RETURNS(0, run_checked("write_counters", 32, 0, out.address, 4u));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("write_counters", 32, 0, out.address, 5u));
}

TEST(nobody_need_write_a_variable, CHECK_ALL) {
  use_device();
  Buffer<unsigned> out(64, 7);
  RETURNS(0, run_checked("read_unset", 64, 0, out.address));
  out.download();
  for (const unsigned value : out.host) CHECK_EQ(value, 0u);
  RETURNS(0, cuMemcpyDtoH_v2(out.host.data(), variable("unset", 256), 256));
}

namespace {

void expect_wrong_place(long long index) {
  use_device();
  Buffer<unsigned> out(1);
  const CUdeviceptr table = variable("table", 16);
  RETURNS(0, run_checked("read_at", 1, 0, out.address, table, 3ll));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("read_at", 1, 0, out.address, table, index));
}

}  // namespace

TEST(check_of_a_pointer_behind_a_variable, CHECK_ALL, "invalid global read of 4 bytes at 0x") {
  expect_wrong_place(4);
}
TEST(check_of_a_pointer_that_reaches_beyond_a_variable, CHECK_ALL,
     "reaching 2 bytes beyond the variable table of 16 bytes") {
  use_device();
  Buffer<unsigned> out(1);
  const CUdeviceptr table = variable("table", 16);
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("copy_halves", 1, 0, out.address, table + 14));
}

TEST(check_of_an_index_into_a_structs_last_member, CHECK_ALL,
     "invalid index: 25 of an array 'unsigned int [25]'; at checked_kernels.cu:") {
  use_device();
  Buffer<unsigned> out(32);
  RETURNS(0, run_checked("index_beyond", 1, 0, out.address, 1u, 24));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("index_beyond", 1, 0, out.address, 1u, 25));
}

TEST(check_of_an_index_into_a_threads_own_array, CHECK_ALL,
     "invalid index: -1 of an array 'unsigned int [3]'; at checked_kernels.cu:") {
  use_device();
  Buffer<unsigned> out(32);
  RETURNS(0, run_checked("index_beyond", 1, 0, out.address, 0u, 2));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("index_beyond", 1, 0, out.address, 0u, -1));
}

// The call is the kernel's last, from which a compiler would jump instead.
TEST(check_of_a_fill_at_the_kernels_end, CHECK_ALL, "; at checked_kernels.cu:") {
  use_device();
  Buffer<unsigned char> out(100);
  RETURNS(0, run_checked("clear", 1, 0, out.address, 100ull));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, run_checked("clear", 1, 0, out.address, 101ull));
}

// What is right is right under every check.
TEST(nothing_is_found_where_nothing_is_wrong, CHECK_ALL) {
  use_device();
  CUdeviceptr out = 0;
  RETURNS(0, cuMemAlloc_v2(&out, 4096));
  for (const char* kernel : {"reverse", "reuse", "warp_sum", "count", "narrow", "hand_over"}) {
    RETURNS(0, run_checked(kernel, 1024, 0, out, 0u));
  }
  RETURNS(0, run_checked("shuffle_is_no_fence", 32, 0, out, 0u));
  RETURNS(0, run_checked("leave_early", 64, 0, out, 0u));
}

TEST(check_of_a_shared_arrays_end, CHECK_ALL,
     "thread (31,0,0): invalid shared read of 4 bytes at 0x") {
  expect_finding(CUDA_ERROR_ILLEGAL_ADDRESS, "static_array_beyond", 32);
}

TEST(check_of_an_index_into_a_shared_array, CHECK_ALL,
     "thread (0,0,0): invalid index: 1024 of an array 'unsigned int [1024]'; at checked_kernels") {
  use_device();
  Buffer<unsigned> out(1024);
  RETURNS(0, run_checked("one_of_the_shared_array", 1, 0, out.address, 1023u));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS,
          run_checked("one_of_the_shared_array", 1, 0, out.address, 1024u));
}

TEST(check_of_dynamic_memorys_start, CHECK_ALL,
     "4 bytes before its dynamic shared memory of 128 bytes") {
  expect_finding(CUDA_ERROR_ILLEGAL_ADDRESS, "dynamic_array_before", 32, 128);
}

TEST(race_for_want_of_a_barrier, CHECK_RACES, "race between this write of 4 bytes at 0x") {
  expect_finding(CUDA_ERROR_LAUNCH_FAILED, "reverse", 64);
}

TEST(race_of_a_store_with_earlier_loads, CHECK_RACES, "race between this write of 4 bytes at 0x") {
  expect_finding(CUDA_ERROR_LAUNCH_FAILED, "reuse", 64);
}

TEST(race_within_a_warp, CHECK_RACES, "race between this write of 4 bytes at 0x") {
  expect_finding(CUDA_ERROR_LAUNCH_FAILED, "warp_sum", 64);
}

TEST(race_in_spite_of_a_shuffle, CHECK_RACES, "race between this read of 4 bytes at 0x") {
  expect_finding(CUDA_ERROR_LAUNCH_FAILED, "shuffle_is_no_fence", 32);
}

TEST(race_of_a_load_with_atomics, CHECK_RACES,
     "race between this atomic operation of 4 bytes at 0x") {
  expect_finding(CUDA_ERROR_LAUNCH_FAILED, "count", 64);
}

TEST(race_of_half_words, CHECK_RACES, "race between this write of 2 bytes at 0x") {
  expect_finding(CUDA_ERROR_LAUNCH_FAILED, "narrow", 64);
}

TEST(race_of_a_late_store, CHECK_RACES, "race between this") {
  expect_finding(CUDA_ERROR_LAUNCH_FAILED, "hand_over", 64);
}

TEST(race_beside_a_numbered_barrier, CHECK_RACES, "race between this read of 4 bytes at 0x") {
  expect_finding(CUDA_ERROR_LAUNCH_FAILED, "warp_to_warp", 64);
}

TEST(race_of_a_store_behind_an_arrival, CHECK_RACES, "race between this read of 4 bytes at 0x") {
  expect_finding(CUDA_ERROR_LAUNCH_FAILED, "arrive_only", 64);
}

TEST(a_variable_orders_what_is_around_it, CHECK_RACES, "race between this") {
  expect_finding(CUDA_ERROR_LAUNCH_FAILED, "flag_in_a_variable", 64);
}

TEST(race_with_a_thread_that_has_exited, CHECK_RACES, "race between this") {
  expect_finding(CUDA_ERROR_LAUNCH_FAILED, "leave_early", 64);
}

namespace {

void expect_cluster_race(unsigned how) {
  use_device();
  CUdeviceptr out = 0;
  RETURNS(0, cuMemAlloc_v2(&out, 4096));
  RETURNS(0, run_checked("across_cluster_barrier", 64, 0, out, 0u));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, run_checked("across_cluster_barrier", 64, 0, out, how));
}

}  // namespace

TEST(race_between_arrival_and_wait_at_a_cluster, CHECK_RACES, "race between this") {
  expect_cluster_race(1);
}
TEST(race_of_a_store_behind_its_arrival_at_a_cluster, CHECK_RACES, "race between this") {
  expect_cluster_race(2);
}
TEST(race_in_spite_of_relaxed_arrivals_at_a_cluster, CHECK_RACES, "race between this") {
  expect_cluster_race(3);
}
TEST(race_with_a_thread_that_exited_before_the_cluster_met, CHECK_RACES, "race between this") {
  expect_finding(CUDA_ERROR_LAUNCH_FAILED, "exited_before_cluster_barrier", 64);
}

TEST(race_of_a_multicast_with_a_peers_loads, CHECK_RACES, "race between this") {
  use_device();
  Buffer<unsigned> in(6 * 64), out(2 * 64);
  for (unsigned i = 0; i < in.host.size(); ++i) in.host[i] = i * i;
  in.upload();
  for (const unsigned stages : {1u, 2u}) {
    out.host.assign(out.host.size(), 0);
    out.upload();
    RETURNS(0,
            run_checked_grid("multicast_pipeline", 2, 64, 0, out.address, in.address, stages, 0u));
    out.download();
    for (unsigned i = 0; i < out.host.size(); ++i) {
      unsigned sum = 0;
      for (unsigned tile = 0; tile < 6; ++tile) sum += in.host[64 * tile + (i + tile) % 64];
      CHECK_EQ(out.host[i], sum);
    }
  }
  RETURNS(CUDA_ERROR_LAUNCH_FAILED,
          run_checked_grid("multicast_pipeline", 2, 64, 0, out.address, in.address, 1u, 1u));
}

namespace {

void expect_race_of_a_round_trip(unsigned how) {
  use_device();
  Buffer<unsigned> out(64), flags(2);
  flags.upload();
  RETURNS(0, run_checked_grid("round_trip", 2, 64, 0, out.address, flags.address, how, 0u));
  flags.upload();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED,
          run_checked_grid("round_trip", 2, 64, 0, out.address, flags.address, how, 1u));
}

}  // namespace

TEST(race_behind_an_arrival_that_a_peer_passed_on, CHECK_RACES, "race between this") {
  expect_race_of_a_round_trip(0);
}
TEST(race_behind_an_atomic_that_a_peer_passed_on, CHECK_RACES, "race between this") {
  expect_race_of_a_round_trip(1);
}
TEST(race_behind_a_flag_that_a_peer_passed_on, CHECK_RACES, "race between this") {
  expect_race_of_a_round_trip(2);
}

namespace {

void expect_unfenced(unsigned how) {
  use_device();
  Buffer<unsigned> out(64);
  RETURNS(0, run_checked("fenced_store", 64, 0, out.address, 0u));
  RETURNS(0, run_checked("fenced_store", 64, 0, out.address, 1u));
  out.download();
  for (unsigned t = 0; t < 64; ++t) CHECK_EQ(out.host[t], t);
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, run_checked("fenced_store", 64, 0, out.address, how));
}

}  // namespace

TEST(a_warp_without_its_proxy_fence, CHECK_RACES,
     "a write by thread (32,0,0) at checked_kernels.cu") {
  expect_unfenced(2);
}
TEST(a_proxy_fence_before_the_stores, CHECK_RACES, "no fence.proxy.async comes behind it") {
  expect_unfenced(3);
}
TEST(a_proxy_fence_of_another_threads_stores, CHECK_RACES, "no fence.proxy.async comes behind it") {
  expect_unfenced(4);
}

TEST(read_of_unwritten_shared_memory, CHECK_ALL, "thread (5,0,0): init: read of 4 bytes at 0x") {
  expect_finding(CUDA_ERROR_LAUNCH_FAILED, "unwritten_shared", 64);
}

TEST(read_of_unwritten_device_memory, CHECK_ALL,
     "of memory that nobody has written, at byte 0 of the allocation of 64 bytes at 0x") {
  use_device();
  CUdeviceptr in = 0, out = 0;
  unsigned value = 5;
  RETURNS(0, cuMemAlloc_v2(&in, 64));
  RETURNS(0, cuMemAlloc_v2(&out, 64));
  RETURNS(0, cuMemcpyHtoD_v2(out, &value, sizeof value));
  RETURNS(0, run_checked("read_one", 1, 0, out, out));
  RETURNS(0, cuMemcpyDtoH_v2(&value, out, sizeof value));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, run_checked("read_one", 1, 0, out, in));
}

// Only what is asked for is looked at.
TEST(other_checks_are_off, {"CULEBRA_EMU_CHECK=memory"}) {
  use_device();
  CUdeviceptr out = 0;
  RETURNS(0, cuMemAlloc_v2(&out, 4096));
  RETURNS(0, run_checked("reverse", 64, 0, out, 1u));
  RETURNS(0, run_checked("unwritten_shared", 64, 0, out, 1u));
}

TEST(a_race_that_ends_nothing, {"CULEBRA_EMU_CHECK=race,continue"},
     "kernel reverse, block (0,0,0), thread (32,0,0): race between this read") {
  use_device();
  CUdeviceptr out = 0;
  RETURNS(0, cuMemAlloc_v2(&out, 4096));
  RETURNS(0, run_checked("reverse", 64, 0, out, 1u));
}

// A check of an image that tells nothing would find nothing.
TEST(check_of_an_image_that_tells_nothing, CHECK_ALL, "the image was not compiled for checks") {
  use_device();
  CUmodule module = nullptr;
  RETURNS(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, test_image().data()));
}

TEST(checked_image_without_a_check) {
  use_device();
  CUdeviceptr out = 0;
  RETURNS(0, cuMemAlloc_v2(&out, 4096));
  RETURNS(0, run_checked("reverse", 64, 0, out, 1u));
}

TEST(unknown_check, {"CULEBRA_EMU_CHECK=memory,leaks"},
     "CULEBRA_EMU_CHECK=memory,leaks: expected all", SIGABRT) {
  cuInit(0);
}

TEST(time_limit_of_a_checked_loop, {"CULEBRA_EMU_CHECK=all", "CULEBRA_EMU_TIMEOUT_S=1"},
     "thread (0,0,0): not done after 1 s; it runs at ") {
  use_device();
  Buffer<unsigned> flag(1);
  RETURNS(CUDA_ERROR_LAUNCH_TIMEOUT, run_checked("poll_plainly", 64, 0, flag.address));
}
