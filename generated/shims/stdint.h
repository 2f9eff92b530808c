/* The fixed-width types that cuda.h names, with `long long` for 64 bits: the same output on Linux
 * and Windows. */
#ifndef CULEBRA_SHIM_STDINT_H
#define CULEBRA_SHIM_STDINT_H
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#endif
