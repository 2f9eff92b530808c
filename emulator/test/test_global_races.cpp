// CULEBRA_EMU_CHECK=race, as far as it compares the blocks of a launch in global memory.
#include "support.h"

using namespace culebra_test;

namespace {

CUfunction race_kernel(const char* name) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip("an image is watched by a sanitizer or by the emulator, not by both");
#endif
  static const CUmodule module = load_image("race_kernels");
  return function(module, name);
}

template <class... Args>
CUresult run_race(const char* kernel, unsigned blocks, unsigned threads, Args... args) {
  RETURNS(0, launch(race_kernel(kernel), blocks, threads, 0, nullptr, args...));
  return cuCtxSynchronize();
}

CUresult tell(unsigned how) {
  Buffer<unsigned> out(64), words(64), flag(1);
  flag.upload();
  const CUresult result =
      run_race("tell_other_block", 2, 64, out.address, words.address, flag.address, how);
  if (result == CUDA_SUCCESS) {
    out.download();
    for (unsigned t = 0; t < 64; ++t) CHECK_EQ(out.host[t], t);
  }
  return result;
}

CUresult sum_up(unsigned how) {
  constexpr unsigned kBlocks = 100;
  Buffer<unsigned> out(1), words(kBlocks);
  const CUresult result = run_race("last_block_sums", kBlocks, 64, out.address, words.address, how);
  if (result == CUDA_SUCCESS) {
    out.download();
    CHECK_EQ(out.host[0], kBlocks * (kBlocks - 1) / 2);
  }
  return result;
}

CUresult touch_same_word(unsigned how) {
  Buffer<unsigned> words(8);
  words.upload();
  return run_race("same_word", 6, 1, words.address, how);
}

CUresult meet(unsigned rounds, unsigned wrong) {
  constexpr unsigned kBlocks = 5;
  Buffer<unsigned> out(kBlocks), words(2 * kBlocks);
  words.upload();
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  const CUlaunchConfig config = {kBlocks, 1, 1, 64, 1, 1, 0, nullptr, &attribute, 1};
  void* arguments[] = {&out.address, &words.address, &rounds, &wrong};
  RETURNS(0, cuLaunchKernelEx(&config, race_kernel("meet_as_grid"), arguments, nullptr));
  const CUresult result = cuCtxSynchronize();
  if (result == CUDA_SUCCESS) {
    out.download();
    for (unsigned block = 0; block < kBlocks; ++block) {
      CHECK_EQ(out.host[block], 2 * ((block + 1) % kBlocks) + rounds - 1);
    }
  }
  return result;
}

CUresult meet_as_cluster(unsigned wrong) {
  Buffer<unsigned> out(4), words(4);
  return run_race("meet_as_cluster", 4, 1, out.address, words.address, wrong);
}

}  // namespace

#define CHECK_RACES \
  { "CULEBRA_EMU_CHECK=race" }

TEST(blocks_that_are_ordered_make_no_race, CHECK_RACES) {
  use_device();
  // Often, since the blocks run side by side.
  for (int i = 0; i < 20; ++i) {
    for (unsigned how = 0; how <= 3; ++how) RETURNS(0, tell(how));
    RETURNS(0, sum_up(0));
    RETURNS(0, sum_up(3));
    for (unsigned how = 0; how <= 2; ++how) RETURNS(0, touch_same_word(how));
  }
  for (const unsigned rounds : {1u, 2u, 9u}) RETURNS(0, meet(rounds, 0));
  RETURNS(0, meet_as_cluster(0));
}

TEST(race_for_want_of_a_fence_before_a_flag, CHECK_RACES,
     "with no fence (__threadfence, or a release for the device) between that and the atomic") {
  use_device();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, tell(4));
}
TEST(race_for_want_of_a_fence_behind_a_flag, CHECK_RACES,
     "with no fence (__threadfence, or an acquire for the device) behind the atomic access by "
     "which this block is told; the byte lies at byte ") {
  use_device();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, tell(5));
}
TEST(race_in_spite_of_a_fence_for_the_block, CHECK_RACES,
     "with no fence (__threadfence, or a release for the device) between that and the atomic") {
  use_device();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, tell(6));
}
TEST(race_of_a_store_behind_a_flag, CHECK_RACES, ", with nothing that orders them") {
  use_device();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, tell(7));
}
TEST(race_at_a_flag_for_the_block, CHECK_RACES,
     "for its block alone by block (0,0,0), thread (0,0,0) at sync.cuh:") {
  use_device();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, tell(8));
}
TEST(race_with_a_block_that_is_not_waited_for, CHECK_RACES, "at race_kernels.cu:") {
  use_device();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, tell(9));
}

TEST(race_of_the_last_block_for_want_of_the_others_fences, CHECK_RACES,
     "race between this read of 4 bytes at 0x") {
  use_device();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, sum_up(1));
}
TEST(race_of_the_last_block_for_want_of_its_own_fence, CHECK_RACES,
     ", with no fence (__threadfence, or an acquire for the device)") {
  use_device();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, sum_up(2));
}

TEST(race_of_blocks_that_store_to_one_word, CHECK_RACES,
     "at byte 0 of the allocation of 32 bytes at 0x") {
  use_device();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, touch_same_word(3));
}
TEST(race_of_atomics_for_the_block, CHECK_RACES,
     "and an atomic operation for its block alone by block (") {
  use_device();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, touch_same_word(4));
}
TEST(race_of_a_plain_load_with_another_blocks_atomic, CHECK_RACES, "race between this") {
  use_device();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, touch_same_word(5));
}
TEST(race_of_a_load_with_another_blocks_store, CHECK_RACES, "kernel same_word, block (") {
  use_device();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, touch_same_word(6));
}

TEST(race_of_a_grid_that_does_not_meet, CHECK_RACES, "race between this") {
  use_device();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, meet(1, 1));
}

TEST(race_between_clusters, CHECK_RACES, "race between this") {
  use_device();
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, meet_as_cluster(1));
}

TEST(blocks_are_not_compared_unasked, {"CULEBRA_EMU_CHECK=memory,init"}) {
  use_device();
  RETURNS(0, touch_same_word(3));
}
