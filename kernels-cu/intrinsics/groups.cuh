// Cooperative groups: each row of out is what the threads of one block got from one thing that
// groups do with their values in; runner/intrinsics_group_checks.cpp has the same list. A block of
// 64 threads.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace {

struct Wide {
  uint32_t words[5];
};

// What a group is like, seen from a thread.
template <class Group>
__device__ uint32_t shape(const Group& group) {
  return static_cast<uint32_t>(group.size() | group.thread_rank() << 8 |
                               group.meta_group_rank() << 16 | group.meta_group_size() << 24);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(64)
    culebra_intrinsics_groups(uint32_t* out, const uint32_t* in) {
  namespace cg = cooperative_groups;
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  const auto warp = cg::tiled_partition<32>(block);
  const auto quarter = cg::tiled_partition<4>(tile);
  const uint32_t t = block.thread_rank();
  const uint32_t value = in[t];
  uint32_t row = 0;
  const auto put = [&](uint32_t result) { out[64 * row++ + t] = result; };

  put(block.size() | block.group_index().x << 8 | block.thread_index().x << 16);
  put(static_cast<uint32_t>(cg::this_grid().thread_rank() | cg::this_grid().size() << 8));
  put(cg::this_cluster().num_blocks() | cg::this_cluster().thread_rank() << 8);
  put(shape(tile));
  put(shape(quarter));
  put(tile.shfl(value, 3));
  put(tile.shfl_down(value, 2));
  put(tile.shfl_up(value, 3));
  put(tile.shfl_xor(value, 5));
  put(static_cast<uint32_t>(tile.any(value % 8 == 0) | tile.all(value % 8 != 1) << 1));
  put(tile.ballot(value & 1));
  put(tile.match_any(value % 3));
  put(cg::reduce(tile, value, cg::plus<uint32_t>()));
  put(cg::reduce(tile, value, cg::less<uint32_t>()));
  put(cg::reduce(quarter, value, cg::greater<uint32_t>()));
  put(cg::reduce(warp, value, cg::bit_xor<uint32_t>()));
  put(cg::inclusive_scan(tile, value, cg::plus<uint32_t>()));
  put(cg::exclusive_scan(warp, value));
  put(tile.shfl(Wide{{value, 1, 2, 3, t}}, 6).words[4]);

  const cg::coalesced_group odd = cg::binary_partition(warp, (value & 1) != 0);
  put(shape(odd));
  put(cg::reduce(odd, value, cg::plus<uint32_t>()));
  const cg::coalesced_group alike = cg::labeled_partition(warp, value % 5);
  put(shape(alike));
  put(cg::inclusive_scan(alike, value));

  // A third of the lanes goes another way, and the others do nothing.
  uint32_t apart[6] = {};
  warp.sync();
  if (t % 3 == 1) {
    const cg::coalesced_group here = cg::coalesced_threads();
    apart[0] = here.size() | here.thread_rank() << 8;
    apart[1] = here.shfl(value, 2);
    apart[2] = here.ballot(value & 1);
    apart[3] = cg::reduce(here, value, cg::plus<uint32_t>());
    apart[4] = shape(cg::tiled_partition(here, 4));
    apart[5] = __activemask();
  }
  warp.sync();
  for (const uint32_t result : apart) put(result);

  uint32_t calls = 0;
  cg::invoke_one(tile, [&] { calls = 1; });
  put(cg::reduce(tile, calls, cg::plus<uint32_t>()));
  put(cg::invoke_one_broadcast(warp, [&] { return warp.meta_group_rank() + 7; }));
  block.sync();
}
CULEBRA_KERNEL(culebra_intrinsics_groups, 64, out, in)
