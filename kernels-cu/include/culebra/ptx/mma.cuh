// The warp's matrix instructions. All are .aligned: the 32 threads of a warp call them together.
//
// mma_sync_<shape>_<d>_<a>_<b>_<c>: d = a * b + c, where a is row-major and b column-major (the
// only layouts these shapes have). With lane = 4 * group + place and E elements a register (E = 4,
// 2 or 1 of 8, 16 or 32 bits):
//
//   a[r]   row group + 8 (r % 2), columns 4 E (r / 2) + E place + {0 .. E - 1}
//   b[r]   column group, rows 4 E r + E place + {0 .. E - 1}
//   c, d   32 bits: [r] is row group + 8 (r / 2), column 2 place + r % 2
//          f16: [r] is row group + 8 r, columns 2 place + {0, 1}
//
// ldmatrix_<count>[_trans], stmatrix_<count>[_trans]: 8 x 8 matrices of 16-bit elements in shared
// memory. Lane 8 m + r gives the address of row r of matrix m, aligned to 16 bytes; register m of a
// lane is row `group`, columns 2 place + {0, 1} of matrix m, which is how a fragment of mma has it;
// with _trans that of the transposed matrix.
//
// wgmma (sm_90a), whose operands lie in shared memory and are read through the async proxy, is in
// ptx/wgmma.cuh.
#pragma once

#include "culebra/platform.cuh"
#include "culebra/ptx/arch.cuh"

namespace culebra::ptx {

// One line an instruction below. What differs is how many registers d, a and b have, and what asm
// calls those of d.
#ifdef CULEBRA_HOST
#define CULEBRA_MMA(name, instruction, Number, letter, kD, kA, kB, A, B, NEEDS)               \
  inline void mma_sync_##name(Number(&d)[kD], const uint32_t(&a)[kA], const uint32_t(&b)[kB], \
                              const Number(&c)[kD] CULEBRA_AND_WHERE) {                       \
    culebra_emu::mma<culebra_emu::Mma##A, culebra_emu::Mma##B>(where, d, a, b, c);            \
  }
#else
#define CULEBRA_MMA(name, instruction, Number, letter, kD, kA, kB, A, B, NEEDS)                   \
  __device__ __forceinline__ void mma_sync_##name(Number(&d)[kD], const uint32_t(&a)[kA],         \
                                                  const uint32_t(&b)[kB], const Number(&c)[kD]) { \
    NEEDS(CULEBRA_MMA_ASM_##kD##_##kA("mma.sync.aligned." instruction, letter));                  \
  }
#endif

// The statement for d with 4 registers and a with 4, and so on; b has half of a's.
#define CULEBRA_MMA_ASM_4_4(instruction, letter)                                                  \
  asm volatile(instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" \
               : "=" letter(d[0]), "=" letter(d[1]), "=" letter(d[2]), "=" letter(d[3])           \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), letter(c[0]),  \
                 letter(c[1]), letter(c[2]), letter(c[3]))
#define CULEBRA_MMA_ASM_4_2(instruction, letter)                                            \
  asm volatile(instruction " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"          \
               : "=" letter(d[0]), "=" letter(d[1]), "=" letter(d[2]), "=" letter(d[3])     \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), letter(c[0]), letter(c[1]), letter(c[2]), \
                 letter(c[3]))
#define CULEBRA_MMA_ASM_2_4(instruction, letter)                                                 \
  asm volatile(instruction " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"                    \
               : "=" letter(d[0]), "=" letter(d[1])                                              \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), letter(c[0]), \
                 letter(c[1]))
#define CULEBRA_MMA_ASM_2_2(instruction, letter)                  \
  asm volatile(instruction " {%0, %1}, {%2, %3}, {%4}, {%5, %6};" \
               : "=" letter(d[0]), "=" letter(d[1])               \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), letter(c[0]), letter(c[1]))

#define CULEBRA_MMA_FLOAT(shape, kA, kB, type, Type, NEEDS)                                     \
  CULEBRA_MMA(shape##_f32_##type##_##type##_f32, #shape ".row.col.f32." #type "." #type ".f32", \
              float, "f", 4, kA, kB, Type, Type, NEEDS)
#define CULEBRA_MMA_HALF(shape, kA, kB)                                                         \
  CULEBRA_MMA(shape##_f16_f16_f16_f16, #shape ".row.col.f16.f16.f16.f16", uint32_t, "r", 2, kA, \
              kB, F16, F16, CULEBRA_NEEDS_NOTHING)
#define CULEBRA_MMA_INTEGER(shape, kA, kB, type, Type)                                          \
  CULEBRA_MMA(shape##_s32_##type##_##type##_s32, #shape ".row.col.s32." #type "." #type ".s32", \
              uint32_t, "r", 4, kA, kB, Type, Type, CULEBRA_NEEDS_NOTHING)
#define CULEBRA_NEEDS_NOTHING(statement) statement

CULEBRA_MMA_FLOAT(m16n8k16, 4, 2, f16, F16, CULEBRA_NEEDS_NOTHING)
CULEBRA_MMA_FLOAT(m16n8k8, 2, 1, f16, F16, CULEBRA_NEEDS_NOTHING)
CULEBRA_MMA_FLOAT(m16n8k16, 4, 2, bf16, Bf16, CULEBRA_NEEDS_NOTHING)
CULEBRA_MMA_FLOAT(m16n8k8, 2, 1, bf16, Bf16, CULEBRA_NEEDS_NOTHING)
CULEBRA_MMA_FLOAT(m16n8k8, 4, 2, tf32, Tf32, CULEBRA_NEEDS_NOTHING)
CULEBRA_MMA_FLOAT(m16n8k4, 2, 1, tf32, Tf32, CULEBRA_NEEDS_NOTHING)
CULEBRA_MMA_HALF(m16n8k16, 4, 2)
CULEBRA_MMA_HALF(m16n8k8, 2, 1)
CULEBRA_MMA_INTEGER(m16n8k32, 4, 2, s8, S8)
CULEBRA_MMA_INTEGER(m16n8k16, 2, 1, s8, S8)
CULEBRA_MMA_INTEGER(m16n8k32, 4, 2, u8, U8)
// sm_89; b has the type of a.
CULEBRA_MMA_FLOAT(m16n8k32, 4, 2, e4m3, E4m3, CULEBRA_NEEDS_SM_89)
CULEBRA_MMA_FLOAT(m16n8k32, 4, 2, e5m2, E5m2, CULEBRA_NEEDS_SM_89)

#undef CULEBRA_NEEDS_NOTHING
#undef CULEBRA_MMA_INTEGER
#undef CULEBRA_MMA_HALF
#undef CULEBRA_MMA_FLOAT
#undef CULEBRA_MMA_ASM_2_2
#undef CULEBRA_MMA_ASM_2_4
#undef CULEBRA_MMA_ASM_4_2
#undef CULEBRA_MMA_ASM_4_4
#undef CULEBRA_MMA

#ifdef CULEBRA_HOST
#define CULEBRA_LDMATRIX(count, suffix, qualifier, operands, kTranspose)                       \
  inline void ldmatrix_x##count##suffix(uint32_t(&r)[count], uint32_t row CULEBRA_AND_WHERE) { \
    culebra_emu::ldmatrix<kTranspose>(where, r, row);                                          \
  }
#define CULEBRA_STMATRIX(count, suffix, qualifier, operands, kTranspose)               \
  inline void stmatrix_x##count##suffix(uint32_t row,                                  \
                                        const uint32_t(&r)[count] CULEBRA_AND_WHERE) { \
    culebra_emu::stmatrix<kTranspose>(where, r, row);                                  \
  }
#else
#define CULEBRA_LDMATRIX(count, suffix, qualifier, operands, kTranspose)                         \
  __device__ __forceinline__ void ldmatrix_x##count##suffix(uint32_t(&r)[count], uint32_t row) { \
    CULEBRA_LDMATRIX_ASM_##count("ldmatrix.sync.aligned.m8n8.x" #count qualifier                 \
                                 ".shared.b16 " operands);                                       \
  }
#define CULEBRA_STMATRIX(count, suffix, qualifier, operands, kTranspose)                 \
  __device__ __forceinline__ void stmatrix_x##count##suffix(uint32_t row,                \
                                                            const uint32_t(&r)[count]) { \
    CULEBRA_NEEDS_SM_90(CULEBRA_STMATRIX_ASM_##count(                                    \
        "stmatrix.sync.aligned.m8n8.x" #count qualifier ".shared.b16 " operands));       \
  }
#endif
#define CULEBRA_LDMATRIX_ASM_1(text) asm volatile(text : "=r"(r[0]) : "r"(row) : "memory")
#define CULEBRA_LDMATRIX_ASM_2(text) \
  asm volatile(text : "=r"(r[0]), "=r"(r[1]) : "r"(row) : "memory")
#define CULEBRA_LDMATRIX_ASM_4(text) \
  asm volatile(text : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row) : "memory")
#define CULEBRA_STMATRIX_ASM_1(text) asm volatile(text : : "r"(row), "r"(r[0]) : "memory")
#define CULEBRA_STMATRIX_ASM_2(text) \
  asm volatile(text : : "r"(row), "r"(r[0]), "r"(r[1]) : "memory")
#define CULEBRA_STMATRIX_ASM_4(text) \
  asm volatile(text : : "r"(row), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory")

CULEBRA_LDMATRIX(1, , "", "{%0}, [%1];", false)
CULEBRA_LDMATRIX(2, , "", "{%0, %1}, [%2];", false)
CULEBRA_LDMATRIX(4, , "", "{%0, %1, %2, %3}, [%4];", false)
CULEBRA_LDMATRIX(1, _trans, ".trans", "{%0}, [%1];", true)
CULEBRA_LDMATRIX(2, _trans, ".trans", "{%0, %1}, [%2];", true)
CULEBRA_LDMATRIX(4, _trans, ".trans", "{%0, %1, %2, %3}, [%4];", true)
// sm_90
CULEBRA_STMATRIX(1, , "", "[%0], {%1};", false)
CULEBRA_STMATRIX(2, , "", "[%0], {%1, %2};", false)
CULEBRA_STMATRIX(4, , "", "[%0], {%1, %2, %3, %4};", false)
CULEBRA_STMATRIX(1, _trans, ".trans", "[%0], {%1};", true)
CULEBRA_STMATRIX(2, _trans, ".trans", "[%0], {%1, %2};", true)
CULEBRA_STMATRIX(4, _trans, ".trans", "[%0], {%1, %2, %3, %4};", true)

#undef CULEBRA_STMATRIX_ASM_4
#undef CULEBRA_STMATRIX_ASM_2
#undef CULEBRA_STMATRIX_ASM_1
#undef CULEBRA_LDMATRIX_ASM_4
#undef CULEBRA_LDMATRIX_ASM_2
#undef CULEBRA_LDMATRIX_ASM_1
#undef CULEBRA_STMATRIX
#undef CULEBRA_LDMATRIX

// movmatrix.sync.aligned.m8n8.trans.b16: the transposed matrix, from registers to registers.
__device__ __forceinline__ uint32_t movmatrix_trans_b16(uint32_t a CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  return culebra_emu::movmatrix_trans_b16(a, where);
#else
  uint32_t d;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(a));
  return d;
#endif
}

}  // namespace culebra::ptx
