// Loads and stores with hints, sums into global memory, and what only tells the hardware something.
#pragma once

// out[16 t ...] = in[16 t ...] by one way of loading and storing after the other; any one block.
// out [kWays][threads], in [threads] of 16 bytes.
extern "C" __global__ void __launch_bounds__(1024) culebra_ptx_copies(uint4* out, const uint4* in) {
  using namespace culebra::ptx;
  const uint64_t first = createpolicy_fractional_L2_evict_first_b64(1.0f);
  const uint64_t last = createpolicy_fractional_L2_evict_last_b64(0.5f);
  const uint4* const from = in + threadIdx.x;
  prefetch_global_L2(from);
  const auto store = [&](int way, uint4 value) {
    uint4* const to = out + way * blockDim.x + threadIdx.x;
    if (way % 3 == 0) st_global_v4_u32(to, value);
    if (way % 3 == 1) st_global_L1_no_allocate_v4_u32(to, value);
    if (way % 3 == 2) st_global_L2_cache_hint_v4_u32(to, value, first);
  };
  store(0, ld_global_v4_u32(from));
  store(1, ld_global_L2_cache_hint_v4_u32(from, last));
  store(2, ld_global_nc_v4_u32(from));
  store(3, ld_global_nc_L1_no_allocate_v4_u32(from));
  store(4, ld_global_nc_L1_no_allocate_L2_cache_hint_v4_u32(from, first));
}
CULEBRA_KERNEL(culebra_ptx_copies, 1024, out, in)

// sums[0 .. 7] += what each thread adds to each: its global number, in 1, 2 and 4 floats.
extern "C" __global__ void __launch_bounds__(1024) culebra_ptx_red_f32(float* sums) {
  using namespace culebra::ptx;
  const float value = static_cast<float>(blockIdx.x * blockDim.x + threadIdx.x);
  red_relaxed_gpu_global_add_f32(sums, value);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  red_relaxed_gpu_global_add_v2_f32(sums + 2, make_float2(value, 2 * value));
  red_relaxed_gpu_global_add_v4_f32(sums + 4, make_float4(value, 2 * value, 3 * value, 4 * value));
#endif
}
CULEBRA_KERNEL(culebra_ptx_red_f32, 1024, sums)

// sums[0] += (1, 2) in f16 and, on sm_90 and up, sums[1] += (1, 2) in bf16, by each thread.
extern "C" __global__ void __launch_bounds__(1024) culebra_ptx_red_16(uint32_t* sums) {
  using namespace culebra::ptx;
  red_relaxed_gpu_global_add_noftz_f16x2(sums, 0x40003C00u);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  red_relaxed_gpu_global_add_noftz_bf16x2(sums + 1, 0x40003F80u);
#endif
}
CULEBRA_KERNEL(culebra_ptx_red_16, 1024, sums)

// Three warpgroups pass registers from one to the others, and the grid says that it is done.
extern "C" __global__ void __launch_bounds__(384, 1) culebra_ptx_control(uint32_t* out) {
  using namespace culebra::ptx;
  griddepcontrol_wait();
  if (threadIdx.x < 128) {
    setmaxnreg_dec_u32<40>();
    out[threadIdx.x] = 1;
  } else {
    setmaxnreg_inc_u32<232>();
    out[threadIdx.x] = 2;
  }
  griddepcontrol_launch_dependents();
}
CULEBRA_KERNEL(culebra_ptx_control, 384, out)
