// Kinds of memory, and loads and stores with a hint for the caches. A block of 64 threads in a
// cluster of its own.
#pragma once

// Each row of out is what a thread got; runner/intrinsics_group_checks.cpp has the same list.
extern "C" __global__ void __launch_bounds__(64)
    culebra_intrinsics_memory(uint32_t* out, const uint32_t* in, uint32_t* scratch) {
  CULEBRA_SHARED(uint32_t, shared, 64);
  const uint32_t t = threadIdx.x;
  uint32_t row = 0;
  const auto put = [&](uint32_t result) { out[64 * row++ + t] = result; };
  shared[t] = in[t];
  volatile uint32_t local[2] = {in[t], t};
  __syncthreads();

  const auto kind = [](const void* address) {
    return __isGlobal(address) | __isShared(address) << 1 | __isLocal(address) << 2;
  };
  put(kind(in + t));
  put(kind(shared + t));
  put(kind(const_cast<const uint32_t*>(local + in[t] % 2)));
  put(*static_cast<uint32_t*>(__cvta_global_to_generic(__cvta_generic_to_global(in + t))));
  put(*static_cast<uint32_t*>(__cvta_shared_to_generic(__cvta_generic_to_shared(shared + t))));

  put(__ldg(in + t));
  put(__ldca(in + t));
  put(__ldcg(in + t));
  put(__ldcs(in + t));
  put(__ldlu(in + t));
  put(__ldcv(in + t));
  __stwb(scratch + t, in[t] + 1);
  __stcg(scratch + 64 + t, in[t] + 2);
  __stcs(scratch + 128 + t, in[t] + 3);
  __stwt(scratch + 192 + t, in[t] + 4);
  for (uint32_t i = 0; i < 4; ++i) put(scratch[64 * i + t] - in[t]);
  __prof_trigger(3);
  __threadfence_block();
}
CULEBRA_KERNEL(culebra_intrinsics_memory, 64, out, in, scratch)
