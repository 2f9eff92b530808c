// cp.async, mbarrier, bulk copies, clusters. Blocks of 128 threads; every element is an integer.
#pragma once

#include "shared_address.cuh"

namespace {

__device__ void wait_for_parity(uint32_t barrier, uint32_t parity) {
  while (!culebra::ptx::mbarrier_try_wait_parity_shared_b64(barrier, parity)) {
  }
}

__device__ void sync_cluster() {
  culebra::ptx::barrier_cluster_arrive_release();
  culebra::ptx::barrier_cluster_wait_acquire();
}

}  // namespace

// out [7][128] of 16 bytes, in [2][128]: what each way of cp.async brings. Row 0: 16 bytes past L1.
// 1: of which t % 17 are read. 2: 8 + 4 + 4 bytes. 3: ignored where t is odd. 4: of which none. 5:
// twice 8, ignored where t is odd and where it is a multiple of 3. 6: the neighbour's row 0, behind
// a barrier.
extern "C" __global__ void __launch_bounds__(128)
    culebra_ptx_cp_async(uint4* out, const uint4* in) {
  using namespace culebra::ptx;
  CULEBRA_SHARED(uint4, rows, 6 * 128);
  const uint32_t t = threadIdx.x;
  const auto place = [&](int row) { return shared_address(&rows[128 * row + t]); };
  const uint4* const second = in + 128 + t;
  cp_async_cg_shared_global_16(place(0), in + t);
  cp_async_commit_group();
  cp_async_ca_shared_global<16>(place(1), in + t, t % 17);
  cp_async_ca_shared_global<8>(place(2), second);
  cp_async_ca_shared_global<4>(place(2) + 8, reinterpret_cast<const char*>(second) + 8);
  cp_async_ca_shared_global<4>(place(2) + 12, reinterpret_cast<const char*>(second) + 12);
  cp_async_commit_group();
  cp_async_cg_shared_global_16_ignore_src(place(3), second, t % 2 != 0);
  cp_async_commit_group();
  cp_async_cg_shared_global_16(place(4), in + t, 0);
  cp_async_ca_shared_global_ignore_src<8>(place(5), second, t % 2 != 0);
  cp_async_ca_shared_global_ignore_src<8>(place(5) + 8, reinterpret_cast<const char*>(second) + 8,
                                          t % 3 == 0);
  cp_async_wait_group<2>();
  out[t] = rows[t];
  cp_async_wait_group<1>();
  for (int row = 1; row < 3; ++row) out[128 * row + t] = rows[128 * row + t];
  cp_async_wait_all();
  for (int row = 3; row < 6; ++row) out[128 * row + t] = rows[128 * row + t];
  __syncthreads();  // every thread's copies have landed
  out[6 * 128 + t] = rows[(t + 1) % 128];
}
CULEBRA_KERNEL(culebra_ptx_cp_async, 128, out, in)

// out[t] = in[127 - t]: an mbarrier tells of the copies. It counts the arrivals of the init.
extern "C" __global__ void __launch_bounds__(128)
    culebra_ptx_cp_async_mbarrier_noinc(uint32_t* out, const uint32_t* in) {
  using namespace culebra::ptx;
  CULEBRA_SHARED(uint32_t, words, 128);
  CULEBRA_SHARED(uint64_t, barriers, 1);
  const uint32_t t = threadIdx.x;
  const uint32_t barrier = shared_address(&barriers[0]);
  if (t == 0) mbarrier_init_shared_b64(barrier, 128);
  __syncthreads();  // the mbarrier is there
  cp_async_ca_shared_global<4>(shared_address(&words[t]), in + t);
  cp_async_mbarrier_arrive_noinc_shared_b64(barrier);
  while (!mbarrier_test_wait_parity_shared_b64(barrier, 0)) {
  }
  out[t] = words[127 - t];
}
CULEBRA_KERNEL(culebra_ptx_cp_async_mbarrier_noinc, 128, out, in)

// The same with an mbarrier that has no arrivals but those of the copies and one more.
// compute-sanitizer's synccheck takes the arrivals for phases that nobody waited for.
extern "C" __global__ void __launch_bounds__(128)
    culebra_ptx_cp_async_mbarrier(uint32_t* out, const uint32_t* in) {
  using namespace culebra::ptx;
  CULEBRA_SHARED(uint32_t, words, 128);
  CULEBRA_SHARED(uint64_t, barriers, 1);
  const uint32_t t = threadIdx.x;
  const uint32_t barrier = shared_address(&barriers[0]);
  if (t == 0) mbarrier_init_shared_b64(barrier, 1);
  __syncthreads();  // the mbarrier is there
  cp_async_ca_shared_global<4>(shared_address(&words[t]), in + t);
  cp_async_mbarrier_arrive_shared_b64(barrier);
  __syncthreads();  // it knows all of its arrivals
  if (t == 0) mbarrier_arrive_shared_b64(barrier);
  while (!mbarrier_test_wait_parity_shared_b64(barrier, 0)) {
  }
  out[t] = words[127 - t];
}
CULEBRA_KERNEL(culebra_ptx_cp_async_mbarrier, 128, out, in)

// out [16]: what an mbarrier answers, asked by one thread.
extern "C" __global__ void __launch_bounds__(128) culebra_ptx_mbarrier(uint32_t* out) {
  using namespace culebra::ptx;
  CULEBRA_SHARED(uint64_t, object, 1);
  const uint32_t barrier = shared_address(object);
  mbarrier_init_shared_b64(barrier, 3);
  const uint64_t first = mbarrier_arrive_shared_b64(barrier);
  const uint64_t second = mbarrier_arrive_drop_shared_b64(barrier);
  out[0] = mbarrier_pending_count_b64(first);
  out[1] = mbarrier_pending_count_b64(second);
  out[2] = mbarrier_test_wait_shared_b64(barrier, first);
  out[3] = mbarrier_test_wait_parity_shared_b64(barrier, 0);
  out[4] = mbarrier_test_wait_parity_shared_b64(barrier, 1);
  mbarrier_arrive_shared_b64(barrier);
  out[5] = mbarrier_test_wait_shared_b64(barrier, first);
  out[6] = mbarrier_test_wait_parity_shared_b64(barrier, 0);
  out[7] = mbarrier_test_wait_parity_shared_b64(barrier, 1);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  // Of two arrivals now; and of bytes.
  const uint64_t third = mbarrier_arrive_expect_tx_shared_b64(barrier, 100);
  mbarrier_arrive_shared_b64(barrier, 1);
  out[8] = mbarrier_pending_count_b64(third);
  out[9] = mbarrier_test_wait_shared_b64(barrier, third);
  mbarrier_expect_tx_relaxed_cta_shared_b64(barrier, 28);
  mbarrier_complete_tx_relaxed_cluster_shared_cluster_b64(barrier, 64);
  out[10] = mbarrier_test_wait_shared_b64(barrier, third);
  mbarrier_complete_tx_relaxed_cluster_shared_cluster_b64(barrier, 64);
  out[11] = mbarrier_try_wait_shared_b64(barrier, third);
  out[12] = mbarrier_try_wait_parity_shared_b64(barrier, 1);
  out[13] = mbarrier_test_wait_parity_shared_b64(barrier, 0);
#endif
  mbarrier_inval_shared_b64(barrier);
  mbarrier_init_shared_b64(barrier, 1);
  out[14] = mbarrier_pending_count_b64(mbarrier_arrive_shared_b64(barrier));
}
CULEBRA_KERNEL(culebra_ptx_mbarrier, 128, out)

// out[t] = the sum over the tiles i of (i + 1) * in[i][t], in [tiles][1024]: one thread loads into
// two stages by bulk copies, all use them.
extern "C" __global__ void __launch_bounds__(128)
    culebra_ptx_bulk_pipeline(uint32_t* out, const uint32_t* in, uint32_t tiles) {
  using namespace culebra::ptx;
  constexpr uint32_t kWords = 1024, kStages = 2;
  CULEBRA_SHARED_DYNAMIC(uint32_t, stages);
  CULEBRA_SHARED(uint64_t, full, kStages);
  CULEBRA_SHARED(uint64_t, empty, kStages);
  const uint32_t t = threadIdx.x;
  if (t == 0) {
    for (uint32_t i = 0; i < kStages; ++i) {
      mbarrier_init_shared_b64(shared_address(&full[i]), 1);
      mbarrier_init_shared_b64(shared_address(&empty[i]), blockDim.x);
    }
    fence_mbarrier_init_release_cluster();
  }
  __syncthreads();  // the mbarriers are there
  const uint64_t policy = createpolicy_fractional_L2_evict_first_b64(1.0f);
  const auto load = [&](uint32_t tile) {
    const uint32_t stage = tile % kStages;
    const uint32_t to = shared_address(stages + kWords * stage);
    const uint32_t barrier = shared_address(&full[stage]);
    // (At first use the stage is empty: the phase before the first is over.)
    wait_for_parity(shared_address(&empty[stage]), tile / kStages % 2 ^ 1);
    mbarrier_arrive_expect_tx_shared_b64(barrier, 4 * kWords);
    if (tile % 2 == 0) {
      cp_async_bulk_shared_cluster_global(to, in + kWords * tile, 4 * kWords, barrier);
    } else {
      cp_async_bulk_shared_cluster_global_L2_cache_hint(to, in + kWords * tile, 2 * kWords, barrier,
                                                        policy);
      cp_async_bulk_shared_cluster_global(to + 2 * kWords, in + kWords * tile + kWords / 2,
                                          2 * kWords, barrier);
    }
  };
  if (t == 0) cp_async_bulk_prefetch_L2_global(in, 4 * kWords);
  uint32_t sums[kWords / 128] = {};
  if (t == 0) load(0);
  for (uint32_t tile = 0; tile < tiles; ++tile) {
    if (t == 0 && tile + 1 < tiles) load(tile + 1);
    const uint32_t stage = tile % kStages;
    wait_for_parity(shared_address(&full[stage]), tile / kStages % 2);
    for (uint32_t i = 0; i < kWords / 128; ++i) {
      sums[i] += (tile + 1) * stages[kWords * stage + 128 * i + t];
    }
    mbarrier_arrive_shared_b64(shared_address(&empty[stage]));
  }
  for (uint32_t i = 0; i < kWords / 128; ++i) out[128 * i + t] = sums[i];
}
CULEBRA_KERNEL(culebra_ptx_bulk_pipeline, 128, out, in, tiles)

// out [4][128] of 16 bytes: row r is in + r in each word, stored from one buffer that is filled
// anew as soon as it is read.
extern "C" __global__ void __launch_bounds__(128)
    culebra_ptx_bulk_store(uint4* out, const uint4* in) {
  using namespace culebra::ptx;
  CULEBRA_SHARED(uint4, row, 128);
  const uint32_t t = threadIdx.x;
  for (uint32_t r = 0; r < 4; ++r) {
    uint4 value = in[t];
    value.x += r, value.y += r, value.z += r, value.w += r;
    st_shared_v4_u32(shared_address(&row[t]), value);
    fence_proxy_async_shared_cta();
    __syncthreads();  // the row is there, also for the copy
    if (t == 0) {
      cp_async_bulk_global_shared_cta(out + 128 * r, shared_address(row), 1024);
      cp_async_bulk_global_shared_cta(out + 128 * r + 64, shared_address(row + 64), 1024);
      cp_async_bulk_commit_group();
      cp_async_bulk_wait_group_read<0>();
    }
    __syncthreads();  // thread 0 waits until the row is read
  }
  if (t == 0) cp_async_bulk_wait_group<0>();
}
CULEBRA_KERNEL(culebra_ptx_bulk_store, 128, out, in)

// f32 [512], f16 and bf16 [1024]: += small integers, by bulk copies that add, of each block.
extern "C" __global__ void __launch_bounds__(128)
    culebra_ptx_bulk_reduce(float* f32, uint32_t* f16, uint32_t* bf16) {
  using namespace culebra::ptx;
  CULEBRA_SHARED(uint4, rows, 3 * 128);
  const uint32_t t = threadIdx.x;
  // 1.0f; (1, 2) in f16; (1, 2) in bf16.
  const uint32_t words[3] = {0x3F800000u, 0x40003C00u, 0x40003F80u};
  for (int i = 0; i < 3; ++i)
    rows[128 * i + t] = make_uint4(words[i], words[i], words[i], words[i]);
  fence_proxy_async();
  __syncthreads();  // the rows are there, also for the copies
  if (t == 32) {
    cp_reduce_async_bulk_global_shared_cta_add_f32(f32, shared_address(rows), 2048);
    cp_reduce_async_bulk_global_shared_cta_add_noftz_f16(f16, shared_address(rows + 128), 2048);
    cp_async_bulk_commit_group();
    cp_reduce_async_bulk_global_shared_cta_add_noftz_bf16(bf16, shared_address(rows + 256), 2048);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group<1>();
    cp_async_bulk_wait_group<0>();
  }
}
CULEBRA_KERNEL(culebra_ptx_bulk_reduce, 128, f32, f16, bf16)

// Two blocks. out [block][4][128] of 16 bytes. Row 0: what the peer has copied from its shared
// memory. 1: a multicast's both halves, of which each block asks for one. 2: st.async of the peer.
// 3: what is loaded from the peer.
extern "C" __global__ void __launch_bounds__(128)
    culebra_ptx_cluster_copies(uint4* out, const uint4* in) {
  using namespace culebra::ptx;
  CULEBRA_SHARED(uint4, mine, 128);
  CULEBRA_SHARED(uint4, landed, 3 * 128);
  CULEBRA_SHARED(uint64_t, barriers, 2);
  const uint32_t t = threadIdx.x;
  const uint32_t rank = mov_u32_cluster_ctarank();
  const uint32_t peer = rank ^ 1;
  const uint32_t bytes = shared_address(&barriers[0]), arrivals = shared_address(&barriers[1]);
  if (t == 0) {
    mbarrier_init_shared_b64(bytes, 1);
    mbarrier_init_shared_b64(arrivals, 128);
    mbarrier_arrive_expect_tx_shared_b64(bytes, 3 * 2048);
    fence_mbarrier_init_release_cluster();
  }
  uint4 value = in[t];
  value.x += 1000 * rank;
  mine[t] = value;
  fence_proxy_async();
  sync_cluster();  // both blocks' rows and mbarriers are there
  const auto there = [&](const void* pointer) {
    return mapa_shared_cluster_u32(shared_address(pointer), peer);
  };
  if (t == 0) {
    cp_async_bulk_shared_cluster_shared_cta(there(landed), shared_address(mine), 2048,
                                            there(barriers));
    cp_async_bulk_shared_cluster_global_multicast_cluster(shared_address(landed + 128 + 64 * rank),
                                                          in + 64 * rank, 1024, bytes, 3);
  }
  const uint32_t slot = there(&landed[256 + t]);
  if (t % 3 == 0) {
    st_async_shared_cluster_v4_b32(slot, value, there(barriers));
  } else if (t % 3 == 1) {
    st_async_shared_cluster_b64(slot, value.x | static_cast<uint64_t>(value.y) << 32,
                                there(barriers));
    st_async_shared_cluster_b64(slot + 8, value.z | static_cast<uint64_t>(value.w) << 32,
                                there(barriers));
  } else {
    st_async_shared_cluster_b32(slot, value.x, there(barriers));
    st_async_shared_cluster_b32(slot + 4, value.y, there(barriers));
    st_async_shared_cluster_b32(slot + 8, value.z, there(barriers));
    st_async_shared_cluster_b32(slot + 12, value.w, there(barriers));
  }
  wait_for_parity(bytes, 0);
  uint4* const rows = out + 4 * 128 * blockIdx.x;
  for (int row = 0; row < 3; ++row) rows[128 * row + t] = landed[128 * row + t];
  uint4 loaded = ld_shared_cluster_v4_u32(there(&mine[t]));
  loaded.y = ld_shared_cluster_u32(there(&mine[t]) + 4);
  rows[3 * 128 + t] = loaded;
  // The peer may go when nobody reads from it any more.
  mbarrier_arrive_release_cluster_shared_cluster_b64(there(&barriers[1]));
  wait_for_parity(arrivals, 0);
  sync_cluster();
}
CULEBRA_KERNEL(culebra_ptx_cluster_copies, 128, out, in)
CULEBRA_CLUSTER(culebra_ptx_cluster_copies, 2, 1, 1)
