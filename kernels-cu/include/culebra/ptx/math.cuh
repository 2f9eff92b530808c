// Arithmetic instructions: approximations, packed 16-bit numbers, conversions, bits.
//
// A pair of 16-bit numbers lies in a uint32_t, the first in the low half. Approximations: the
// emulator's are exact to the last bit, a device's are not (ex2 and lg2 to about 2^-22, tanh only
// to 2^-11).
#pragma once

#include "culebra/platform.cuh"
#include "culebra/ptx/arch.cuh"

namespace culebra::ptx {

// max.NaN.f32 (sm_80): the larger of two; NaN if either is NaN (fmaxf would drop it); +0 above -0.
__device__ __forceinline__ float max_NaN_f32(float a, float b) {
#ifdef CULEBRA_HOST
  return culebra_emu::max_NaN_f32(a, b);
#else
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#endif
}

// min.NaN.f32 (sm_80): the smaller of two; NaN if either is NaN; -0 below +0.
__device__ __forceinline__ float min_NaN_f32(float a, float b) {
#ifdef CULEBRA_HOST
  return culebra_emu::min_NaN_f32(a, b);
#else
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#endif
}

// ex2.approx.f32: 2 to the power of a.
__device__ __forceinline__ float ex2_approx_f32(float a) {
#ifdef CULEBRA_HOST
  return culebra_emu::ex2_approx_f32(a);
#else
  float result;
  asm("ex2.approx.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
#endif
}

// ex2.approx.ftz.f32: the same; a subnormal number counts and comes out as zero.
__device__ __forceinline__ float ex2_approx_ftz_f32(float a) {
#ifdef CULEBRA_HOST
  return culebra_emu::ex2_approx_ftz_f32(a);
#else
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
#endif
}

// lg2.approx.f32: the logarithm to base 2.
__device__ __forceinline__ float lg2_approx_f32(float a) {
#ifdef CULEBRA_HOST
  return culebra_emu::lg2_approx_f32(a);
#else
  float result;
  asm("lg2.approx.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
#endif
}

// lg2.approx.ftz.f32: the same; a subnormal number counts and comes out as zero.
__device__ __forceinline__ float lg2_approx_ftz_f32(float a) {
#ifdef CULEBRA_HOST
  return culebra_emu::lg2_approx_ftz_f32(a);
#else
  float result;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
#endif
}

// rcp.approx.f32: 1 / a.
__device__ __forceinline__ float rcp_approx_f32(float a) {
#ifdef CULEBRA_HOST
  return culebra_emu::rcp_approx_f32(a);
#else
  float result;
  asm("rcp.approx.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
#endif
}

// rcp.approx.ftz.f32: the same; a subnormal number counts and comes out as zero.
__device__ __forceinline__ float rcp_approx_ftz_f32(float a) {
#ifdef CULEBRA_HOST
  return culebra_emu::rcp_approx_ftz_f32(a);
#else
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
#endif
}

// rsqrt.approx.f32: 1 / sqrt(a).
__device__ __forceinline__ float rsqrt_approx_f32(float a) {
#ifdef CULEBRA_HOST
  return culebra_emu::rsqrt_approx_f32(a);
#else
  float result;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
#endif
}

// rsqrt.approx.ftz.f32: the same; a subnormal number counts and comes out as zero.
__device__ __forceinline__ float rsqrt_approx_ftz_f32(float a) {
#ifdef CULEBRA_HOST
  return culebra_emu::rsqrt_approx_ftz_f32(a);
#else
  float result;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
#endif
}

// sqrt.approx.f32: the square root.
__device__ __forceinline__ float sqrt_approx_f32(float a) {
#ifdef CULEBRA_HOST
  return culebra_emu::sqrt_approx_f32(a);
#else
  float result;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
#endif
}

// sqrt.approx.ftz.f32: the same; a subnormal number counts and comes out as zero.
__device__ __forceinline__ float sqrt_approx_ftz_f32(float a) {
#ifdef CULEBRA_HOST
  return culebra_emu::sqrt_approx_ftz_f32(a);
#else
  float result;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
#endif
}

// tanh.approx.f32: good to 2^-11 on a device; for 16-bit results only.
__device__ __forceinline__ float tanh_approx_f32(float a) {
#ifdef CULEBRA_HOST
  return culebra_emu::tanh_approx_f32(a);
#else
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
#endif
}

// ex2.approx.f16x2: of both halves.
__device__ __forceinline__ uint32_t ex2_approx_f16x2(uint32_t a) {
#ifdef CULEBRA_HOST
  return culebra_emu::ex2_approx_f16x2(a);
#else
  uint32_t result;
  asm("ex2.approx.f16x2 %0, %1;" : "=r"(result) : "r"(a));
  return result;
#endif
}

// ex2.approx.ftz.bf16x2 (sm_90).
__device__ __forceinline__ uint32_t ex2_approx_ftz_bf16x2(uint32_t a) {
#ifdef CULEBRA_HOST
  return culebra_emu::ex2_approx_ftz_bf16x2(a);
#else
  uint32_t result = 0;
  CULEBRA_NEEDS_SM_90(asm("ex2.approx.ftz.bf16x2 %0, %1;" : "=r"(result) : "r"(a)));
  return result;
#endif
}

// tanh.approx.f16x2.
__device__ __forceinline__ uint32_t tanh_approx_f16x2(uint32_t a) {
#ifdef CULEBRA_HOST
  return culebra_emu::tanh_approx_f16x2(a);
#else
  uint32_t result;
  asm("tanh.approx.f16x2 %0, %1;" : "=r"(result) : "r"(a));
  return result;
#endif
}

// tanh.approx.bf16x2 (sm_90).
__device__ __forceinline__ uint32_t tanh_approx_bf16x2(uint32_t a) {
#ifdef CULEBRA_HOST
  return culebra_emu::tanh_approx_bf16x2(a);
#else
  uint32_t result = 0;
  CULEBRA_NEEDS_SM_90(asm("tanh.approx.bf16x2 %0, %1;" : "=r"(result) : "r"(a)));
  return result;
#endif
}

// fma.rn.f16x2: a * b + c, rounded once.
__device__ __forceinline__ uint32_t fma_rn_f16x2(uint32_t a, uint32_t b, uint32_t c) {
#ifdef CULEBRA_HOST
  return culebra_emu::fma_rn_f16x2(a, b, c);
#else
  uint32_t result;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
#endif
}

// add.rn.f16x2.
__device__ __forceinline__ uint32_t add_rn_f16x2(uint32_t a, uint32_t b) {
#ifdef CULEBRA_HOST
  return culebra_emu::add_rn_f16x2(a, b);
#else
  uint32_t result;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#endif
}

// mul.rn.f16x2.
__device__ __forceinline__ uint32_t mul_rn_f16x2(uint32_t a, uint32_t b) {
#ifdef CULEBRA_HOST
  return culebra_emu::mul_rn_f16x2(a, b);
#else
  uint32_t result;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#endif
}

// max.NaN.f16x2: NaN if either is NaN.
__device__ __forceinline__ uint32_t max_NaN_f16x2(uint32_t a, uint32_t b) {
#ifdef CULEBRA_HOST
  return culebra_emu::max_NaN_f16x2(a, b);
#else
  uint32_t result;
  asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#endif
}

// min.NaN.f16x2.
__device__ __forceinline__ uint32_t min_NaN_f16x2(uint32_t a, uint32_t b) {
#ifdef CULEBRA_HOST
  return culebra_emu::min_NaN_f16x2(a, b);
#else
  uint32_t result;
  asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#endif
}

// fma.rn.bf16x2: a * b + c, rounded once.
__device__ __forceinline__ uint32_t fma_rn_bf16x2(uint32_t a, uint32_t b, uint32_t c) {
#ifdef CULEBRA_HOST
  return culebra_emu::fma_rn_bf16x2(a, b, c);
#else
  uint32_t result;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
#endif
}

// add.rn.bf16x2 (sm_90).
__device__ __forceinline__ uint32_t add_rn_bf16x2(uint32_t a, uint32_t b) {
#ifdef CULEBRA_HOST
  return culebra_emu::add_rn_bf16x2(a, b);
#else
  uint32_t result = 0;
  CULEBRA_NEEDS_SM_90(asm("add.rn.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b)));
  return result;
#endif
}

// mul.rn.bf16x2 (sm_90).
__device__ __forceinline__ uint32_t mul_rn_bf16x2(uint32_t a, uint32_t b) {
#ifdef CULEBRA_HOST
  return culebra_emu::mul_rn_bf16x2(a, b);
#else
  uint32_t result = 0;
  CULEBRA_NEEDS_SM_90(asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b)));
  return result;
#endif
}

// max.NaN.bf16x2: NaN if either is NaN.
__device__ __forceinline__ uint32_t max_NaN_bf16x2(uint32_t a, uint32_t b) {
#ifdef CULEBRA_HOST
  return culebra_emu::max_NaN_bf16x2(a, b);
#else
  uint32_t result;
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#endif
}

// min.NaN.bf16x2.
__device__ __forceinline__ uint32_t min_NaN_bf16x2(uint32_t a, uint32_t b) {
#ifdef CULEBRA_HOST
  return culebra_emu::min_NaN_bf16x2(a, b);
#else
  uint32_t result;
  asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#endif
}

// cvt.rn.f16x2.f32: two numbers rounded to nearest even, the first one into the upper half.
__device__ __forceinline__ uint32_t cvt_rn_f16x2_f32(float high, float low) {
#ifdef CULEBRA_HOST
  return culebra_emu::cvt_rn_f16x2_f32(high, low);
#else
  uint32_t result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
#endif
}

// cvt.rn.bf16x2.f32: two numbers rounded to nearest even, the first one into the upper half.
__device__ __forceinline__ uint32_t cvt_rn_bf16x2_f32(float high, float low) {
#ifdef CULEBRA_HOST
  return culebra_emu::cvt_rn_bf16x2_f32(high, low);
#else
  uint32_t result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
#endif
}

// cvt.rn.satfinite.e4m3x2.f32 (sm_89): the first one into the upper byte; what is too large,
// infinity too, becomes the largest finite number.
__device__ __forceinline__ uint16_t cvt_rn_satfinite_e4m3x2_f32(float high, float low) {
#ifdef CULEBRA_HOST
  return culebra_emu::cvt_rn_satfinite_e4m3x2_f32(high, low);
#else
  uint16_t result = 0;
  CULEBRA_NEEDS_SM_89(asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
                          : "=h"(result)
                          : "f"(high), "f"(low)));
  return result;
#endif
}

// cvt.rn.satfinite.e4m3x2.f16x2 (sm_89).
__device__ __forceinline__ uint16_t cvt_rn_satfinite_e4m3x2_f16x2(uint32_t a) {
#ifdef CULEBRA_HOST
  return culebra_emu::cvt_rn_satfinite_e4m3x2_f16x2(a);
#else
  uint16_t result = 0;
  CULEBRA_NEEDS_SM_89(asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(result) : "r"(a)));
  return result;
#endif
}

// cvt.rn.f16x2.e4m3x2 (sm_89): exact.
__device__ __forceinline__ uint32_t cvt_rn_f16x2_e4m3x2(uint16_t a) {
#ifdef CULEBRA_HOST
  return culebra_emu::cvt_rn_f16x2_e4m3x2(a);
#else
  uint32_t result = 0;
  CULEBRA_NEEDS_SM_89(asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(result) : "h"(a)));
  return result;
#endif
}

// cvt.rn.satfinite.e5m2x2.f32 (sm_89): the first one into the upper byte; what is too large,
// infinity too, becomes the largest finite number.
__device__ __forceinline__ uint16_t cvt_rn_satfinite_e5m2x2_f32(float high, float low) {
#ifdef CULEBRA_HOST
  return culebra_emu::cvt_rn_satfinite_e5m2x2_f32(high, low);
#else
  uint16_t result = 0;
  CULEBRA_NEEDS_SM_89(asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;"
                          : "=h"(result)
                          : "f"(high), "f"(low)));
  return result;
#endif
}

// cvt.rn.satfinite.e5m2x2.f16x2 (sm_89).
__device__ __forceinline__ uint16_t cvt_rn_satfinite_e5m2x2_f16x2(uint32_t a) {
#ifdef CULEBRA_HOST
  return culebra_emu::cvt_rn_satfinite_e5m2x2_f16x2(a);
#else
  uint16_t result = 0;
  CULEBRA_NEEDS_SM_89(asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(result) : "r"(a)));
  return result;
#endif
}

// cvt.rn.f16x2.e5m2x2 (sm_89): exact.
__device__ __forceinline__ uint32_t cvt_rn_f16x2_e5m2x2(uint16_t a) {
#ifdef CULEBRA_HOST
  return culebra_emu::cvt_rn_f16x2_e5m2x2(a);
#else
  uint32_t result = 0;
  CULEBRA_NEEDS_SM_89(asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(result) : "h"(a)));
  return result;
#endif
}

// cvt.rna.tf32.f32: to nearest, ties away from zero.
__device__ __forceinline__ uint32_t cvt_rna_tf32_f32(float a) {
#ifdef CULEBRA_HOST
  return culebra_emu::cvt_rna_tf32_f32(a);
#else
  uint32_t result;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(a));
  return result;
#endif
}

// prmt.b32: nibble i of the selector picks byte i of the result among the eight of b:a.
__device__ __forceinline__ uint32_t prmt_b32(uint32_t a, uint32_t b, uint32_t selector) {
#ifdef CULEBRA_HOST
  return culebra_emu::prmt_b32(a, b, selector);
#else
  uint32_t result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(selector));
  return result;
#endif
}

// bfe.u32: `bits` bits from `first` on.
__device__ __forceinline__ uint32_t bfe_u32(uint32_t a, uint32_t first, uint32_t bits) {
#ifdef CULEBRA_HOST
  return culebra_emu::bfe_u32(a, first, bits);
#else
  uint32_t result;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(first), "r"(bits));
  return result;
#endif
}

// bfe.s32: the same, the highest of them being a sign.
__device__ __forceinline__ int32_t bfe_s32(int32_t a, uint32_t first, uint32_t bits) {
#ifdef CULEBRA_HOST
  return culebra_emu::bfe_s32(a, first, bits);
#else
  int32_t result;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(first), "r"(bits));
  return result;
#endif
}

// lop3.b32: any function of three bits; bit 4 a + 2 b + c of the table is its value.
template <int kTable>
__device__ __forceinline__ uint32_t lop3_b32(uint32_t a, uint32_t b, uint32_t c) {
#ifdef CULEBRA_HOST
  return culebra_emu::lop3_b32(a, b, c, kTable);
#else
  uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(kTable));
  return result;
#endif
}

}  // namespace culebra::ptx
