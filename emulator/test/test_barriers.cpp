// Numbered barriers: bar.sync, bar.arrive and bar.red, right and wrong.
#include "support.h"

using namespace culebra_test;

namespace {

CUfunction barrier_kernel(const char* name) {
  return function(load_image("barrier_kernels"), name);
}

void make_mistake(int which) {
  use_device();
  RETURNS(0, launch(barrier_kernel("barrier_mistake"), 1, 128, 0, nullptr, which));
  RETURNS(719, cuCtxSynchronize());
}

}  // namespace

TEST(producers_and_consumers_meet_at_two_barriers) {
  use_device();
  const CUfunction kernel = barrier_kernel("produce_consume");
  constexpr unsigned kRounds = 7;
  Buffer<unsigned> out(64);
  RETURNS(0, launch(kernel, 1, 128, 0, nullptr, out.address, kRounds));
  out.download();
  for (unsigned lane = 0; lane < 64; ++lane) {
    CHECK_EQ(out.host[lane], 100 * kRounds * (kRounds - 1) / 2 + kRounds * (63 - lane));
  }
}

TEST(sixteen_barriers_work_at_a_time) {
  use_device();
  Buffer<unsigned> out(1024);
  RETURNS(0, launch(barrier_kernel("pairs_of_warps"), 1, 1024, 0, nullptr, out.address));
  out.download();
  std::size_t wrong = 0;
  for (unsigned i = 0; i < 1024; ++i) {
    const unsigned rounds = 3 + i / 64;
    wrong += out.host[i] != rounds * (i ^ 32) + rounds * (rounds - 1) / 2;
  }
  CHECK_EQ(wrong, 0u);
}

TEST(barriers_reduce_predicates) {
  use_device();
  const CUfunction kernel = barrier_kernel("barrier_reductions");
  for (const unsigned threads : {64u, 128u, 1024u}) {
    Buffer<unsigned> out(6 * threads, 99);
    RETURNS(0, launch(kernel, 1, threads, 0, nullptr, out.address));
    out.download();
    unsigned upper = 0, all = 0;
    for (unsigned i = 0; i < threads; ++i) {
      all += i % 3 == 0;
      upper += i >= threads / 2 && i % 3 == 0;
    }
    std::size_t wrong = 0;
    for (unsigned i = 0; i < threads; ++i) {
      const unsigned* const got = &out.host[6 * i];
      const bool in_upper = i >= threads / 2;
      const unsigned expected[] = {
          in_upper ? upper : 99, in_upper ? 1u : 99, in_upper ? 1u : 99, all, 0, 0};
      for (int k = 0; k < 6; ++k) wrong += got[k] != expected[k];
    }
    CHECK_EQ(wrong, 0u);
  }
}

TEST(exited_lanes_and_warps_at_barriers) {
  use_device();
  Buffer<unsigned> out(128);
  RETURNS(0, launch(barrier_kernel("exited_at_barrier"), 1, 128, 0, nullptr, out.address));
  out.download();
  for (unsigned i = 0; i < 128; ++i) {
    CHECK_EQ(out.host[i], i / 32 < 3 && i % 32 <= i / 32 ? 6u : 0u);
  }
}

TEST(arrivals_at_barrier_0_before_and_after_those_that_wait) {
  use_device();
  for (const unsigned how : {0u, 1u, 2u}) {
    Buffer<unsigned> out(32);
    RETURNS(0, launch(barrier_kernel("arrive_at_barrier_0"), 1, 64, 0, nullptr, out.address, how));
    out.download();
    for (unsigned lane = 0; lane < 32; ++lane) CHECK_EQ(out.host[lane], 500 + lane);
  }
}

TEST(a_barrier_that_a_warp_does_not_reach, {},
     ", barrier 3, where "
     "96 of 128 threads have arrived; threads 64-95 (32 of them) have exited") {
  make_mistake(0);
}
TEST(a_barrier_for_broken_warps, {}, "a barrier for 100 threads, which are not whole warps") {
  make_mistake(1);
}
TEST(a_barrier_for_more_than_the_block, {}, "a barrier for 256 threads in a block of 128") {
  make_mistake(2);
}
TEST(a_barrier_with_two_counts, {},
     "warp 1 comes for 96 threads, others for 64, to barrier 3: bar.sync in") {
  make_mistake(3);
}
TEST(a_barrier_reached_twice_by_a_warp, {},
     "warp 0 arrives a second time, before the others have, at barrier 3: bar.arrive in") {
  make_mistake(4);
}
TEST(a_barrier_that_does_not_exist, {}, "there is no barrier 16, they are 0 to 15") {
  make_mistake(5);
}
TEST(a_warp_at_two_barriers, {}, "divergent barrier: the lanes of its warp are at different ones") {
  make_mistake(6);
}
TEST(barrier_0_in_two_ways, {}, "barrier 0 is in use for ") { make_mistake(7); }
TEST(half_a_warp_at_a_barrier, {}, ", barrier 3, for the other lanes of the warp") {
  make_mistake(8);
}
TEST(an_arrival_without_a_count, {}, "an arrival at a barrier needs the number of threads") {
  make_mistake(9);
}
TEST(barrier_0_reached_twice_by_a_thread, {},
     "thread (0,0,0) comes a second time, before the others have, to barrier 0: bar.arrive in") {
  make_mistake(10);
}
TEST(barrier_0_with_two_counts, {},
     "barrier 0 is in use for 64 threads, and a thread comes to it for all: bar.arrive in") {
  make_mistake(11);
}
