// What a thread knows of its place, the numbered barriers, and accesses to shared memory, the
// block's own and a peer's. Blocks of 128 threads.
#pragma once

// out [14][threads]: the special registers, which of the lanes is elected, and whether the clocks
// go on.
extern "C" __global__ void __launch_bounds__(128) culebra_ptx_special_registers(uint32_t* out) {
  using namespace culebra::ptx;
  const uint32_t start = mov_u32_clock();
  const uint64_t start_ns = mov_u64_globaltimer();
  const uint32_t threads = gridDim.x * blockDim.x;
  const auto put = [&](uint32_t row, uint32_t value) {
    out[row * threads + blockIdx.x * blockDim.x + threadIdx.x] = value;
  };
  put(0, mov_u32_laneid());
  put(1, mov_u32_lanemask_eq());
  put(2, mov_u32_lanemask_lt());
  put(3, mov_u32_lanemask_le());
  put(4, mov_u32_lanemask_gt());
  put(5, mov_u32_lanemask_ge());
  put(6, mov_u32_dynamic_smem_size());
  put(7, mov_u32_warpid());
  put(8, mov_u32_nwarpid());
  put(9, mov_u32_smid());
  put(10, mov_u32_nsmid());
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  put(11, elect_sync(0xFFFFFFFFu));
#endif
  nanosleep_u32(100);
  put(12, mov_u32_clock() - start < 1u << 31);
  put(13, mov_u64_globaltimer() >= start_ns);
}
CULEBRA_KERNEL(culebra_ptx_special_registers, 128, out)

// out [5][128]. 0: the mirrored thread's 10 t. 1: that of the other half, which has only arrived; 0
// in that half. 2: for how many of a half's threads t % 3 is 0. 3, 4: bits 0 and 1 tell whether all
// and any of the half's threads are below 128, and below 1.
extern "C" __global__ void __launch_bounds__(128) culebra_ptx_barriers(uint32_t* out) {
  using namespace culebra::ptx;
  CULEBRA_SHARED(uint32_t, words, 128);
  const uint32_t t = threadIdx.x, half = t / 64;
  words[t] = 10 * t;
  bar_sync(1);
  out[t] = words[127 - t];
  bar_sync(2 + half, 64);
  uint32_t received = 0;
  // (The words of the first half are read by the second one only, up to here.)
  bar_sync(1);
  if (half == 0) {
    words[t] = 10 * t + 1;
    bar_arrive(4, 128);
  } else {
    bar_sync(4, 128);
    received = words[t - 64];
  }
  out[128 + t] = received;
  out[256 + t] = bar_red_popc_u32(5 + half, 64, t % 3 == 0);
  const auto all_and_any = [&](uint32_t limit) {
    const bool all = bar_red_and_pred(7 + half, 64, t < limit);
    const bool any = bar_red_or_pred(9 + half, 64, t < limit);
    return static_cast<uint32_t>(all) | static_cast<uint32_t>(any) << 1;
  };
  out[384 + t] = all_and_any(128);
  out[512 + t] = all_and_any(1);
}
CULEBRA_KERNEL(culebra_ptx_barriers, 128, out)

// out[t] = in[t + 1], with 1 added to y, and to w that of in[t + 2]; counted modulo 128.
extern "C" __global__ void __launch_bounds__(128) culebra_ptx_shared(uint4* out, const uint4* in) {
  using namespace culebra::ptx;
  CULEBRA_SHARED(uint4, rows, 128);
  const uint32_t t = threadIdx.x;
  const auto place = [&](uint32_t i) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(&rows[i % 128]));
  };
  st_shared_v4_u32(place(t), in[t]);
  st_shared_u32(place(t) + 4, in[t].y + 1);
  __syncthreads();  // all rows are there
  uint4 value = ld_shared_v4_u32(place(t + 1));
  value.w += ld_shared_u32(place(t + 2) + 12);
  out[t] = value;
}
CULEBRA_KERNEL(culebra_ptx_shared, 128, out, in)

// Two blocks. out [block][3][128] of 16 bytes. Row 0: in, stored by the peer, with 1 + the peer's
// rank added to z. 1: in, by st.async of the peer, which has told the mbarrier of the bytes, too.
// 2: the cluster's blocks, the own rank, and y of the peer's row 0 by a plain load.
extern "C" __global__ void __launch_bounds__(128)
    culebra_ptx_cluster_stores(uint4* out, const uint4* in) {
  using namespace culebra::ptx;
  CULEBRA_SHARED(uint4, stored, 128);
  CULEBRA_SHARED(uint4, landed, 128);
  CULEBRA_SHARED(uint64_t, barrier, 1);
  const auto address = [](const void* pointer) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
  };
  const uint32_t t = threadIdx.x, rank = mov_u32_cluster_ctarank(), peer = rank ^ 1;
  const auto there = [&](const void* pointer) {
    return mapa_shared_cluster_u32(address(pointer), peer);
  };
  if (t == 0) {
    mbarrier_init_shared_b64(address(barrier), 1);
    fence_mbarrier_init_release_cluster();
  }
  barrier_cluster_arrive_release();
  barrier_cluster_wait_acquire();  // both blocks have begun, and their mbarriers are there
  if (t == 0) {
    mbarrier_arrive_expect_tx_release_cluster_shared_cluster_b64(there(barrier), 2048);
  }
  st_async_shared_cluster_v4_b32(there(&landed[t]), in[t], there(barrier));
  st_shared_cluster_v4_u32(there(&stored[t]), in[t]);
  st_shared_cluster_u32(there(&stored[t]) + 8, in[t].z + 1 + rank);
  fence_acq_rel_cluster();  // makes the stores known, as the arrival does not
  barrier_cluster_arrive_relaxed();
  barrier_cluster_wait_acquire();  // both blocks' stores are there
  while (!mbarrier_try_wait_parity_shared_b64(address(barrier), 0)) {
  }
  uint4* const rows = out + 3 * 128 * blockIdx.x;
  rows[t] = stored[t];
  rows[128 + t] = landed[t];
  rows[256 + t] = make_uint4(mov_u32_cluster_nctarank(), rank, mapa_u64(&stored[t], peer)->y, 0);
  barrier_cluster_arrive_release();
  barrier_cluster_wait_acquire();  // nobody reads from the peer any more
}
CULEBRA_KERNEL(culebra_ptx_cluster_stores, 128, out, in)
CULEBRA_CLUSTER(culebra_ptx_cluster_stores, 2, 1, 1)
