// Arithmetic: out[i] = f(a[i], b[i], c[i]), of which f takes as many as it needs. Everything
// travels as the bits of 32-bit words.
#pragma once

namespace {

__device__ float as_float(uint32_t bits) { return __uint_as_float(bits); }

}  // namespace

#define CULEBRA_MATH_TEST(name, expression)                                                     \
  extern "C" __global__ void __launch_bounds__(1024) culebra_ptx_##name(                        \
      uint32_t* out, const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t count) { \
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;                                   \
    if (i >= count) return;                                                                     \
    [[maybe_unused]] const uint32_t x = a[i], y = b[i], z = c[i];                               \
    using namespace culebra::ptx;                                                               \
    out[i] = expression;                                                                        \
  }                                                                                             \
  CULEBRA_KERNEL(culebra_ptx_##name, 1024, out, a, b, c, count)
#define CULEBRA_UNARY_F32_TEST(name) CULEBRA_MATH_TEST(name, __float_as_uint(name(as_float(x))))

CULEBRA_UNARY_F32_TEST(ex2_approx_f32)
CULEBRA_UNARY_F32_TEST(ex2_approx_ftz_f32)
CULEBRA_UNARY_F32_TEST(lg2_approx_f32)
CULEBRA_UNARY_F32_TEST(lg2_approx_ftz_f32)
CULEBRA_UNARY_F32_TEST(rcp_approx_f32)
CULEBRA_UNARY_F32_TEST(rcp_approx_ftz_f32)
CULEBRA_UNARY_F32_TEST(rsqrt_approx_f32)
CULEBRA_UNARY_F32_TEST(rsqrt_approx_ftz_f32)
CULEBRA_UNARY_F32_TEST(sqrt_approx_f32)
CULEBRA_UNARY_F32_TEST(sqrt_approx_ftz_f32)
CULEBRA_UNARY_F32_TEST(tanh_approx_f32)
CULEBRA_MATH_TEST(max_NaN_f32, __float_as_uint(max_NaN_f32(as_float(x), as_float(y))))
CULEBRA_MATH_TEST(min_NaN_f32, __float_as_uint(min_NaN_f32(as_float(x), as_float(y))))

CULEBRA_MATH_TEST(ex2_approx_f16x2, ex2_approx_f16x2(x))
CULEBRA_MATH_TEST(ex2_approx_ftz_bf16x2, ex2_approx_ftz_bf16x2(x))
CULEBRA_MATH_TEST(tanh_approx_f16x2, tanh_approx_f16x2(x))
CULEBRA_MATH_TEST(tanh_approx_bf16x2, tanh_approx_bf16x2(x))
CULEBRA_MATH_TEST(fma_rn_f16x2, fma_rn_f16x2(x, y, z))
CULEBRA_MATH_TEST(add_rn_f16x2, add_rn_f16x2(x, y))
CULEBRA_MATH_TEST(mul_rn_f16x2, mul_rn_f16x2(x, y))
CULEBRA_MATH_TEST(max_NaN_f16x2, max_NaN_f16x2(x, y))
CULEBRA_MATH_TEST(min_NaN_f16x2, min_NaN_f16x2(x, y))
CULEBRA_MATH_TEST(fma_rn_bf16x2, fma_rn_bf16x2(x, y, z))
CULEBRA_MATH_TEST(add_rn_bf16x2, add_rn_bf16x2(x, y))
CULEBRA_MATH_TEST(mul_rn_bf16x2, mul_rn_bf16x2(x, y))
CULEBRA_MATH_TEST(max_NaN_bf16x2, max_NaN_bf16x2(x, y))
CULEBRA_MATH_TEST(min_NaN_bf16x2, min_NaN_bf16x2(x, y))

CULEBRA_MATH_TEST(cvt_rn_f16x2_f32, cvt_rn_f16x2_f32(as_float(x), as_float(y)))
CULEBRA_MATH_TEST(cvt_rn_bf16x2_f32, cvt_rn_bf16x2_f32(as_float(x), as_float(y)))
CULEBRA_MATH_TEST(cvt_rn_satfinite_e4m3x2_f32,
                  cvt_rn_satfinite_e4m3x2_f32(as_float(x), as_float(y)))
CULEBRA_MATH_TEST(cvt_rn_satfinite_e5m2x2_f32,
                  cvt_rn_satfinite_e5m2x2_f32(as_float(x), as_float(y)))
CULEBRA_MATH_TEST(cvt_rn_satfinite_e4m3x2_f16x2, cvt_rn_satfinite_e4m3x2_f16x2(x))
CULEBRA_MATH_TEST(cvt_rn_satfinite_e5m2x2_f16x2, cvt_rn_satfinite_e5m2x2_f16x2(x))
CULEBRA_MATH_TEST(cvt_rn_f16x2_e4m3x2, cvt_rn_f16x2_e4m3x2(static_cast<uint16_t>(x)))
CULEBRA_MATH_TEST(cvt_rn_f16x2_e5m2x2, cvt_rn_f16x2_e5m2x2(static_cast<uint16_t>(x)))
CULEBRA_MATH_TEST(cvt_rna_tf32_f32, cvt_rna_tf32_f32(as_float(x)))

CULEBRA_MATH_TEST(prmt_b32, prmt_b32(x, y, z))
CULEBRA_MATH_TEST(lop3_b32, lop3_b32<0xCA>(x, y, z) + 3 * lop3_b32<0x96>(x, y, z))
CULEBRA_MATH_TEST(bfe_u32, bfe_u32(x, y, z))
CULEBRA_MATH_TEST(bfe_s32, static_cast<uint32_t>(bfe_s32(static_cast<int32_t>(x), y, z)))
#undef CULEBRA_UNARY_F32_TEST
#undef CULEBRA_MATH_TEST
