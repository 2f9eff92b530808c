// Asynchronous copies, mbarriers and matrix instructions used wrongly: poison where data is read
// too early, and a message where the hardware would hang or do anything. (That they do what they
// should is checked by kernels-cu/runner, on the emulator and on GPUs.)
#include "support.h"

using namespace culebra_test;

namespace {

constexpr unsigned kPoison = 0xFFFFFFFFu;

CUfunction async_kernel(const char* name) { return function(load_image("async_kernels"), name); }

Buffer<unsigned>& numbered(Buffer<unsigned>& buffer) {
  for (std::size_t i = 0; i < buffer.host.size(); ++i) {
    buffer.host[i] = static_cast<unsigned>(1000 + i);
  }
  buffer.upload();
  return buffer;
}

// How many of out[first .. first + 32) are value(t).
template <class Value>
unsigned equal(const Buffer<unsigned>& out, std::size_t first, Value value) {
  unsigned count = 0;
  for (unsigned t = 0; t < 32; ++t) count += out.host[first + t] == value(t);
  return count;
}

unsigned poison(unsigned) { return kPoison; }
unsigned data(unsigned t) { return 1000 + t; }

void run_mbarrier_mistake(unsigned how) {
  use_device();
  RETURNS(0, launch(async_kernel("mbarrier_mistake"), 1, 1, 0, nullptr, how));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
}

}  // namespace

TEST(a_copy_read_before_its_own_wait_is_poison) {
  use_device();
  const CUfunction kernel = async_kernel("async_early_read");
  Buffer<unsigned> in(32), out(32);
  numbered(in);
  const auto run = [&](unsigned how) {
    RETURNS(0, launch(kernel, 1, 32, 0, nullptr, out.address, in.address, how));
    out.download();
  };
  run(0);
  CHECK_EQ(equal(out, 0, poison), 32u);
  run(1);
  CHECK_EQ(equal(out, 0, poison), 32u);
  run(2);
  CHECK_EQ(equal(out, 0, poison), 16u);
  CHECK_EQ(equal(out, 0, data), 16u);
  run(3);
  CHECK_EQ(equal(out, 0, data), 32u);
}

TEST(a_source_that_is_overwritten_before_the_wait_shows) {
  use_device();
  Buffer<unsigned> in(32), out(32);
  RETURNS(0, launch(async_kernel("async_overwritten_source"), 1, 32, 0, nullptr, out.address,
                    numbered(in).address));
  out.download();
  CHECK_EQ(equal(out, 0, [](unsigned) { return 7u; }), 32u);
}

TEST(a_misaligned_copy_is_a_misaligned_address, {}, "misaligned source of cp.async") {
  use_device();
  Buffer<unsigned> in(32);
  RETURNS(0, launch(async_kernel("async_misaligned"), 1, 32, 0, nullptr, in.address));
  RETURNS(CUDA_ERROR_MISALIGNED_ADDRESS, cuCtxSynchronize());
}

TEST(a_copy_of_no_memory_faults_where_it_is_issued, {}, "access to illegal address") {
  use_device();
  RETURNS(0, launch(async_kernel("async_bad_source"), 1, 32, 0, nullptr, CUdeviceptr{4096}));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

TEST(an_mbarrier_needs_a_count, {}, "the count is not in 1") { run_mbarrier_mistake(0); }
TEST(an_mbarrier_must_be_initialised, {}, "no initialised mbarrier object") {
  run_mbarrier_mistake(1);
}
TEST(a_live_mbarrier_is_not_initialised_again, {}, "mbarrier.inval must come first") {
  run_mbarrier_mistake(2);
}
TEST(an_mbarrier_counts_arrivals, {}, "more arrivals than the phase expects") {
  run_mbarrier_mistake(3);
}
TEST(an_mbarrier_counts_bytes, {}, "more than 2^20 - 1 bytes are expected") {
  run_mbarrier_mistake(4);
}
TEST(an_mbarrier_is_opaque, {}, "overwritten by an ordinary store") { run_mbarrier_mistake(5); }
TEST(an_invalid_mbarrier_is_none, {}, "no initialised mbarrier object") { run_mbarrier_mistake(6); }
TEST(a_state_names_this_phase_or_the_last, {}, "nor of the one before") { run_mbarrier_mistake(7); }
TEST(an_mbarrier_that_never_completes_is_a_deadlock, {}, "deadlock: all threads that can run") {
  run_mbarrier_mistake(9);
}

TEST(sleeping_between_looks_is_a_deadlock_too, {}, "deadlock: all threads that can run") {
  run_mbarrier_mistake(10);
}
TEST(many_looks_at_an_mbarrier_are_no_deadlock) {
  use_device();
  Buffer<unsigned> out(64);
  RETURNS(0, launch(async_kernel("mbarrier_bounded_looks"), 1, 64, 0, nullptr, out.address, 5000u));
  out.download();
  for (const unsigned gave_up : out.host) CHECK_EQ(gave_up, 1u);
}

TEST(an_mbarrier_is_aligned, {}, "misaligned mbarrier object") {
  use_device();
  RETURNS(0, launch(async_kernel("mbarrier_mistake"), 1, 1, 0, nullptr, 8u));
  RETURNS(CUDA_ERROR_MISALIGNED_ADDRESS, cuCtxSynchronize());
}

TEST(a_long_wait_for_an_mbarrier_is_no_deadlock) {
  use_device();
  Buffer<unsigned> out(64);
  RETURNS(0, launch(async_kernel("mbarrier_slow_arrival"), 1, 64, 0, nullptr, out.address));
  out.download();
  CHECK_EQ(out.host[63], 1u);
}

TEST(a_bulk_copy_lands_before_its_phase_is_over_and_no_earlier) {
  use_device();
  const CUfunction kernel = async_kernel("bulk_early_read");
  Buffer<unsigned> in(32), out(32);
  numbered(in);
  RETURNS(0, launch(kernel, 1, 32, 0, nullptr, out.address, in.address, 1u));
  out.download();
  CHECK_EQ(equal(out, 0, poison), 32u);
  RETURNS(0, launch(kernel, 1, 32, 0, nullptr, out.address, in.address, 2u));
  out.download();
  CHECK_EQ(equal(out, 0, data), 32u);
}

TEST(a_block_must_not_exit_before_its_bulk_copies_land, {}, "nobody waited for the mbarrier") {
  use_device();
  Buffer<unsigned> in(32), out(32);
  RETURNS(0,
          launch(async_kernel("bulk_early_read"), 1, 32, 0, nullptr, out.address, in.address, 0u));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
}

TEST(a_bulk_store_sees_shared_memory_as_of_the_last_proxy_fence) {
  use_device();
  const CUfunction kernel = async_kernel("bulk_store_mistake");
  Buffer<unsigned> out(64);
  const auto run = [&](unsigned how) {
    RETURNS(0, launch(kernel, 1, 32, 0, nullptr, out.address, how));
    out.download();
  };
  const auto first = [](unsigned t) { return 100 + t; };
  const auto second = [](unsigned t) { return 200 + t; };
  run(0);
  CHECK_EQ(equal(out, 0, poison), 32u);
  CHECK_EQ(equal(out, 32, poison), 32u);
  run(1);
  CHECK_EQ(equal(out, 0, first), 32u);
  CHECK_EQ(equal(out, 32, first), 32u);
  run(2);
  CHECK_EQ(equal(out, 0, first), 32u);
  CHECK_EQ(equal(out, 32, second), 32u);
  // The source is read when it is waited for, at the latest: too late here.
  run(3);
  CHECK_EQ(equal(out, 0, second), 32u);
}

TEST(stores_whose_sources_alone_are_waited_for_do_not_pile_up) {
  use_device();
  constexpr unsigned kCount = 50'000;
  Buffer<unsigned> out(4 * kCount), waiting(1);
  out.host.assign(out.host.size(), kPoison);
  out.upload();
  RETURNS(0, launch(async_kernel("bulk_stores_read_only"), 1, 1, 0, nullptr, out.address,
                    waiting.address, kCount));
  out.download();
  waiting.download();
  // They land late, but not all of them at the end.
  CHECK(waiting.host[0] >= 1);
  CHECK(waiting.host[0] <= 128);
  unsigned landed = 0;
  for (unsigned i = 0; i < kCount; ++i) landed += out.host[4 * i] == i;
  CHECK_EQ(landed, kCount);
}

TEST(a_thread_must_wait_for_its_bulk_stores, {}, "exited before its bulk copies had read") {
  use_device();
  Buffer<unsigned> out(64);
  RETURNS(0, launch(async_kernel("bulk_store_mistake"), 1, 32, 0, nullptr, out.address, 4u));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
}

TEST(a_bulk_copy_is_aligned, {}, "misaligned source of a bulk copy") {
  use_device();
  Buffer<unsigned> in(32);
  RETURNS(0, launch(async_kernel("bulk_bad_operand"), 1, 1, 0, nullptr, in.address + 8, 16u));
  RETURNS(CUDA_ERROR_MISALIGNED_ADDRESS, cuCtxSynchronize());
}

TEST(a_bulk_copy_is_a_multiple_of_16_bytes, {}, "not a multiple of 16 bytes") {
  use_device();
  Buffer<unsigned> in(32);
  RETURNS(0, launch(async_kernel("bulk_bad_operand"), 1, 1, 0, nullptr, in.address, 24u));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
}

TEST(a_matrix_row_is_aligned, {}, "misaligned row address") {
  use_device();
  RETURNS(0, launch(async_kernel("ldmatrix_misaligned"), 1, 32, 0, nullptr));
  RETURNS(CUDA_ERROR_MISALIGNED_ADDRESS, cuCtxSynchronize());
}

TEST(a_matrix_instruction_needs_all_lanes, {}, "has not 32 threads") {
  use_device();
  RETURNS(0, launch(async_kernel("mma_partial"), 1, 31, 0, nullptr, 0u));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
}

TEST(a_matrix_instruction_must_not_diverge, {}, "wait at mma.sync in async_kernels.cu") {
  use_device();
  RETURNS(0, launch(async_kernel("mma_partial"), 1, 32, 0, nullptr, 1u));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
}
