// What is called where only the call itself is asked about: functions with the shapes of the
// driver's that do next to nothing, in a library of their own. Each answers with something made of
// its arguments, so that a caller can tell that it was called, and with what.

#include <stdint.h>

// As cuCtxGetCurrent: one pointer.
int culebra_callee_one(const void* a) { return (int)(intptr_t)a; }

// As cuLaunchKernel: eleven arguments.
int culebra_callee_eleven(const void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, const void* stream, const void* parameters,
                          const void* extra) {
  (void)function, (void)stream, (void)parameters, (void)extra;
  return (int)(grid_x + grid_y + grid_z + block_x + block_y + block_z + shared_bytes);
}

// As cuDeviceGetAttribute: a result in memory.
int culebra_callee_out(int64_t* out, int64_t value) {
  *out = value;
  return 0;
}

// As cuModuleGetFunction: a name goes in.
int culebra_callee_string(const char* name) { return name[0]; }

// As cuGetErrorName: a text comes out.
int culebra_callee_text(const char** out) {
  *out = "CUDA_ERROR_INVALID_VALUE";
  return 0;
}

// As cuIpcOpenMemHandle: a struct of 64 bytes by value.
typedef struct {
  char bytes[64];
} Handle;
int culebra_callee_struct(Handle handle) { return handle.bytes[63]; }

// As a host function of a stream: calls back.
int culebra_callee_upcall(int (*callback)(int), int value) { return callback(value); }
