/* What a test may ask of the emulator beyond the driver's interface: faults on demand, labels,
 * counts.
 *
 * Plain C. The functions are symbols of libculebra-emulator.so and not known to cuGetProcAddress: a
 * program that must also run on a real driver finds them with dlsym (or SymbolLookup), or not at
 * all. They may be called from any thread and at any time, also before cuInit. */
#ifndef CULEBRA_EMU_CONTROL_H
#define CULEBRA_EMU_CONTROL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces all faults that this function has set, and those of CULEBRA_EMU_FAULT, by those of
 * `spec` (README.md has the words). Null or "" takes them away. What a rule counts is counted from
 * now on. Returns 0, or 1 (CUDA_ERROR_INVALID_VALUE) and changes nothing if the spec makes no
 * sense. */
int culebraEmuSetFault(const char* spec);

/* What the calling thread makes from now on carries the label in every report; null for none. */
void culebraEmuSetLabel(const char* label);

/* How many live objects there are of a kind: "context", "stream", "event", "module", "library",
 * "graph", "executable graph", "user object", "pool", "device memory", "pool memory", "managed
 * memory", "mapped memory", "pinned memory", "registered memory". -1 for an unknown kind. */
int64_t culebraEmuLiveCount(const char* kind);

/* How many errors the checks of CULEBRA_EMU_CHECK have found. */
int64_t culebraEmuFindingCount(void);

/* How often a function of the driver was called, by its symbol; -1 for an unknown one. */
int64_t culebraEmuCallCount(const char* symbol);

#ifdef __cplusplus
}
#endif

#endif
