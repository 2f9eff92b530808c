// What a wrapper does on an architecture that lacks its instruction: it traps. A kernel that uses
// it belongs to the newer ones; that it compiles for older ones keeps a file of kernels in one
// piece.
#pragma once

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define CULEBRA_NEEDS_SM_90(statement) __trap()
#else
#define CULEBRA_NEEDS_SM_90(statement) statement
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890
#define CULEBRA_NEEDS_SM_89(statement) __trap()
#else
#define CULEBRA_NEEDS_SM_89(statement) statement
#endif
