// The loops in C over callees.c: the same calls with the same arguments as the benchmarks in Java
// make. The callee comes as a pointer, so that nothing is inlined. Each returns the sum of what the
// calls answered.

#include <stdint.h>

typedef int (*One)(const void*);
int64_t culebra_loop_one(One callee, const void* a, int64_t calls) {
  int64_t sum = 0;
  for (int64_t i = 0; i < calls; ++i) sum += callee(a);
  return sum;
}

typedef int (*Eleven)(const void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, const void*, const void*, const void*);
int64_t culebra_loop_eleven(Eleven callee, const void* a, unsigned grid_x, unsigned block_x,
                            int64_t calls) {
  int64_t sum = 0;
  for (int64_t i = 0; i < calls; ++i) {
    sum += callee(a, grid_x, 1, 1, block_x, 1, 1, 0, a, a, a);
  }
  return sum;
}

typedef int (*Out)(int64_t*, int64_t);
int64_t culebra_loop_out(Out callee, int64_t value, int64_t calls) {
  int64_t sum = 0;
  for (int64_t i = 0; i < calls; ++i) {
    int64_t out = 0;
    callee(&out, value);
    sum += out;
  }
  return sum;
}

typedef int (*String)(const char*);
int64_t culebra_loop_string(String callee, const char* name, int64_t calls) {
  int64_t sum = 0;
  for (int64_t i = 0; i < calls; ++i) sum += callee(name);
  return sum;
}

typedef int (*Text)(const char**);
int64_t culebra_loop_text(Text callee, int64_t calls) {
  int64_t sum = 0;
  for (int64_t i = 0; i < calls; ++i) {
    const char* text = 0;
    callee(&text);
    for (const char* c = text; *c != 0; ++c) ++sum;  // a caller wants to read it
  }
  return sum;
}

typedef struct {
  char bytes[64];
} Handle;
typedef int (*Struct)(Handle);
int64_t culebra_loop_struct(Struct callee, const Handle* handle, int64_t calls) {
  int64_t sum = 0;
  for (int64_t i = 0; i < calls; ++i) sum += callee(*handle);
  return sum;
}

static int increment(int value) { return value + 1; }
typedef int (*Upcall)(int (*)(int), int);
int64_t culebra_loop_upcall(Upcall callee, int value, int64_t calls) {
  int64_t sum = 0;
  for (int64_t i = 0; i < calls; ++i) sum += callee(increment, value);
  return sum;
}
