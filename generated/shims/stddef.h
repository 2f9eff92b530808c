/* size_t with one spelling for every 64-bit platform, so that no C `long` reaches the generated
 * code. */
#ifndef CULEBRA_SHIM_STDDEF_H
#define CULEBRA_SHIM_STDDEF_H
typedef unsigned long long size_t;
#endif
