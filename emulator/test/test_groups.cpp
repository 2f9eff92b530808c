// Cooperative groups beyond what the kernels' runner checks: the grid's barrier, and who runs
// together.
#include "support.h"

using namespace culebra_test;

namespace {

constexpr unsigned kNobody = 99;

CUfunction group_kernel(const char* name) { return function(load_image("group_kernels"), name); }

CUresult launch_cooperatively(const char* name, unsigned blocks, unsigned threads,
                              void** arguments) {
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  const CUlaunchConfig config = {blocks, 1, 1, threads, 1, 1, 0, nullptr, &attribute, 1};
  return cuLaunchKernelEx(&config, group_kernel(name), arguments, nullptr);
}

}  // namespace

TEST(a_grid_meets_at_its_barrier) {
  use_device();
  for (const unsigned rounds : {1u, 2u, 33u}) {
    constexpr unsigned kBlocks = 7;
    Buffer<unsigned> out(2 * kBlocks);
    unsigned count = rounds;
    void* arguments[] = {&out.address, &count};
    RETURNS(0, launch_cooperatively("pass_around", kBlocks, 65, arguments));
    out.download();
    for (unsigned block = 0; block < kBlocks; ++block) {
      CHECK_EQ(out.host[rounds % 2 * kBlocks + block], (block + rounds) % kBlocks);
    }
  }
}

TEST(a_grid_that_is_not_cooperative_cannot_meet) {
  use_device();
  Buffer<unsigned> out(4);
  RETURNS(0, launch(group_kernel("pass_around"), 2, 32, 0, nullptr, out.address, 1u));
  RETURNS(719, cuCtxSynchronize());
}

TEST(a_block_that_left_is_waited_for_in_vain) {
  use_device();
  Buffer<unsigned> out(4);
  void* arguments[] = {&out.address};
  RETURNS(0, launch_cooperatively("leave_the_grid", 3, 32, arguments));
  RETURNS(719, cuCtxSynchronize());
}

TEST(lanes_know_who_came_with_them) {
  use_device();
  Buffer<unsigned> out(64, kNobody), flag(1, 0);
  RETURNS(0, launch(group_kernel("find_company"), 1, 64, 0, nullptr, out.address, flag.address));
  out.download();
  for (unsigned t = 0; t < 64; ++t) {
    const unsigned expected = t % 4 != 2 ? kNobody : t % 8 == 2 ? 0x04040404u : 4u;
    CHECK_EQ(out.host[t], expected);
  }
}
