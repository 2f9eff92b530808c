// wgmma, Hopper's matrix instruction (sm_90a only): four warps multiply tiles that lie in shared
// memory and keep the result in their registers.
//
// GPU only so far: there is no CPU meaning, so a kernel that uses it has to be left out where
// CULEBRA_HOST is defined. Elsewhere than on sm_90a the wrappers trap, and are not reached: who
// launches such a kernel asks the device first.
#pragma once

#include "culebra/platform.cuh"

#ifndef CULEBRA_HOST

// __CUDA_ARCH_FEAT_SM90_ALL is what tells sm_90a from sm_90.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define CULEBRA_NEEDS_SM_90A(statement) statement
#else
#define CULEBRA_NEEDS_SM_90A(statement) __trap()
#endif

namespace culebra::ptx {

// A matrix in shared memory whose rows are 128 bytes long and swizzled by 128 bytes: its 16-byte
// chunk c of row r lies at chunk c ^ (r % 8) of that row. Eight rows are 1024 bytes, and the next
// eight follow; the first begins at a multiple of 1024 bytes. K runs along a row; to go on along K
// by n bytes within it, add n to the address.
__device__ __forceinline__ uint64_t wgmma_descriptor_swizzle_128(const void* shared) {
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  constexpr uint64_t kStrideBytes = 1024;  // between groups of eight rows
  constexpr uint64_t kSwizzle128 = 1;
  return (static_cast<uint64_t>(address & 0x3FFFF) >> 4) | (1ull << 16) |
         ((kStrideBytes >> 4) << 32) | (kSwizzle128 << 62);
}

// wgmma.fence.sync.aligned: before the first wgmma, and where registers that it uses were written.
__device__ __forceinline__ void wgmma_fence() {
  CULEBRA_NEEDS_SM_90A(asm volatile("wgmma.fence.sync.aligned;" ::: "memory"));
}

// fence.proxy.async.shared::cta: what this thread wrote to shared memory before can be read by a
// wgmma behind the next barrier.
__device__ __forceinline__ void wgmma_fence_proxy_async() {
  CULEBRA_NEEDS_SM_90A(asm volatile("fence.proxy.async.shared::cta;" ::: "memory"));
}

// wgmma.commit_group.sync.aligned: closes a group of the wgmma before it.
__device__ __forceinline__ void wgmma_commit_group() {
  CULEBRA_NEEDS_SM_90A(asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"));
}

// wgmma.wait_group.sync.aligned: until at most kPending of the latest groups are not complete.
template <int kPending>
__device__ __forceinline__ void wgmma_wait_group() {
  CULEBRA_NEEDS_SM_90A(asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending)
                                    : "memory"));
}

// wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16: d += a * b^T, asynchronously, where a has
// 64 rows and b 256, both with K along a row (see the descriptor). With warp w of the four and lane
// = 4 * group + place, d[4 j + r] is row 16 w + group + 8 (r / 2), column 8 j + 2 place + r % 2.
__device__ __forceinline__ void wgmma_m64n256k16_f32_bf16_bf16(float (&d)[128], uint64_t a,
                                                               uint64_t b) {
  CULEBRA_NEEDS_SM_90A(asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, p, 1, 1, 0, 0;\n}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]),
        "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]),
        "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]),
        "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]),
        "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]),
        "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
        "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]),
        "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]),
        "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]),
        "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
      : "l"(a), "l"(b)));
}

}  // namespace culebra::ptx

#undef CULEBRA_NEEDS_SM_90A

#endif
