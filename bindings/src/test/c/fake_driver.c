/* A driver that does nothing but tell what it was asked, for the tests of bindings/. It hands out
   its functions as the real one does: by base name and ABI version, through cuGetProcAddress_v2.

   Environment: FAKE_VERSION (13000), FAKE_INIT (the result of cuInit), FAKE_DEVICES (1), FAKE_STUB
   (every result is 34), FAKE_MISSING (one base name that is not found). Built with
   -DNO_PROC_ADDRESS it is a driver from before CUDA 11.3. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT        __attribute__((visibility("default")))
#define MAX_FUNCTIONS 128
#define MAX_ARGUMENTS 12

typedef int CUresult;
typedef uint64_t handle;

static int setting(const char* name, int otherwise) {
  const char* value = getenv(name);
  return value ? atoi(value) : otherwise;
}

/* ---- What the tests ask */

static const char* last_name = "";
static uint64_t last_arguments[MAX_ARGUMENTS];
static int last_count;
static int next_result;

EXPORT const char* fake_last_name(void) { return last_name; }
EXPORT int fake_last_count(void) { return last_count; }
EXPORT uint64_t fake_last_argument(int i) { return last_arguments[i]; }
EXPORT void fake_set_result(int result) { next_result = result; }

static void record(const char* name, int count, const uint64_t* arguments) {
  last_name = name;
  last_count = count;
  memcpy(last_arguments, arguments, (size_t)count * sizeof *arguments);
}

/* ---- The table of functions */

static struct {
  const char* base;
  int version;
  void* function;
} table[MAX_FUNCTIONS];
static int table_size;

static void enter(const char* base, int version, void* function) {
  if (table_size == MAX_FUNCTIONS) abort();
  table[table_size].base = base;
  table[table_size].version = version;
  table[table_size].function = function;
  table_size++;
}

/* FAKE(name, ABI version, parameters, what a success writes, by-value arguments to record; the 0
 * keeps the list from being empty) */
#define FAKE(name, version, parameters, success, ...)                          \
  static CUresult name parameters {                                            \
    const uint64_t arguments[] = {__VA_ARGS__ __VA_OPT__(, ) 0};               \
    record(#name, (int)(sizeof arguments / sizeof *arguments) - 1, arguments); \
    if (next_result != 0) return next_result;                                  \
    success;                                                                   \
    return 0;                                                                  \
  }                                                                            \
  __attribute__((constructor)) static void enter_##name(void) {                \
    enter(#name, version, (void*)name);                                        \
  }

#define NOTHING (void)0

/* ---- Exported by name, as in a real driver */

EXPORT CUresult cuInit(unsigned flags) {
  (void)flags;
  return setting("FAKE_STUB", 0) ? 34 : setting("FAKE_INIT", 0);
}

EXPORT CUresult cuDriverGetVersion(int* version) {
  if (setting("FAKE_STUB", 0)) return 34;
  *version = setting("FAKE_VERSION", 13000);
  return 0;
}

#ifndef NO_PROC_ADDRESS
EXPORT CUresult cuGetProcAddress_v2(const char* base, void** function, int version, uint64_t flags,
                                    int* status) {
  const char* missing = getenv("FAKE_MISSING");
  *function = NULL;
  *status = 1; /* symbol not found */
  if (flags != 1) return 1;
  if (missing && strcmp(missing, base) == 0) return 500;
  for (int i = 0; i < table_size; i++) {
    if (strcmp(table[i].base, base) != 0) continue;
    if (table[i].version != version || version > setting("FAKE_VERSION", 13000)) {
      *status = 2; /* version not sufficient */
      return 500;
    }
    *function = table[i].function;
    *status = 0;
    return 0;
  }
  return 500;
}
#endif

/* ---- Errors: not recorded, since an exception asks for them in the middle of a test */

static CUresult get_error_name(int code, const char** text) {
  *text = code == 2      ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == 4242 ? "CUDA_ERROR_FROM_THE_FUTURE"
                         : NULL;
  return *text ? 0 : 1;
}

static CUresult get_error_string(int code, const char** text) {
  *text = code == 2 ? "the fake has no memory" : NULL;
  return *text ? 0 : 1;
}

__attribute__((constructor)) static void enter_errors(void) {
  enter("cuGetErrorName", 6000, (void*)get_error_name);
  enter("cuGetErrorString", 6000, (void*)get_error_string);
}

/* ---- Devices and contexts */

static void set_text(char* out, int length, const char* text) {
  strncpy(out, text, (size_t)length);
}

static _Thread_local handle current = 74;

FAKE(cuDeviceGetCount, 2000, (int* out), *out = setting("FAKE_DEVICES", 1))
FAKE(cuDeviceGet, 2000, (int* out, int ordinal), *out = 70, ordinal)
FAKE(cuDeviceGetName, 2000, (char* out, int length, int device), set_text(out, length, "Fake GPU"),
     length, device)
FAKE(cuDeviceGetUuid, 11040, (char* out, int device), memcpy(out, "0123456789abcdef", 16), device)
FAKE(cuDeviceGetAttribute, 2000, (int* out, int attribute, int device), *out = 71, attribute,
     device)
FAKE(cuDeviceTotalMem, 3020, (size_t * out, int device), *out = 1ull << 40, device)
FAKE(cuDeviceGetPCIBusId, 4010, (char* out, int length, int device),
     set_text(out, length, "0000:3b:00.0"), length, device)
FAKE(cuDeviceGetDefaultMemPool, 11020, (handle * out, int device), *out = 72, device)
FAKE(cuDevicePrimaryCtxRetain, 7000, (handle * out, int device), *out = 73, device)
FAKE(cuDevicePrimaryCtxRelease, 11000, (int device), NOTHING, device)
FAKE(cuDevicePrimaryCtxGetState, 7000, (int device, unsigned* flags, int* active),
     (*flags = 5, *active = 1), device)
FAKE(cuCtxGetCurrent, 4000, (handle * out), *out = current)
FAKE(cuCtxSetCurrent, 4000, (handle context), current = context, context)
FAKE(cuCtxPushCurrent, 4000, (handle context), NOTHING, context)
FAKE(cuCtxPopCurrent, 4000, (handle * out), *out = 75)
FAKE(cuCtxSynchronize, 2000, (void), NOTHING)
FAKE(cuCtxGetId, 12000, (handle context, uint64_t* out), *out = 76, context)
FAKE(cuCtxGetDevice, 2000, (int* out), *out = 77)
FAKE(cuCtxGetStreamPriorityRange, 5050, (int* least, int* greatest), (*least = 0, *greatest = -5))

/* ---- Streams and events */

FAKE(cuStreamCreateWithPriority, 5050, (handle * out, unsigned flags, int priority), *out = 80,
     flags, (uint64_t)(int64_t)priority)
FAKE(cuStreamDestroy, 4000, (handle stream), NOTHING, stream)
FAKE(cuStreamSynchronize, 2000, (handle stream), NOTHING, stream)
FAKE(cuStreamQuery, 2000, (handle stream), NOTHING, stream)
FAKE(cuStreamWaitEvent, 3020, (handle stream, handle event, unsigned flags), NOTHING, stream, event,
     flags)
FAKE(cuStreamGetId, 12000, (handle stream, uint64_t* out), *out = 81, stream)
FAKE(cuLaunchHostFunc, 10000, (handle stream, void (*function)(void*), void* data), function(data),
     stream)
FAKE(cuEventCreate, 2000, (handle * out, unsigned flags), *out = 82, flags)
FAKE(cuEventRecord, 2000, (handle event, handle stream), NOTHING, event, stream)
FAKE(cuEventQuery, 2000, (handle event), NOTHING, event)
FAKE(cuEventSynchronize, 2000, (handle event), NOTHING, event)
FAKE(cuEventElapsedTime, 12080, (float* out, handle start, handle end), *out = 1.5f, start, end)
FAKE(cuEventDestroy, 4000, (handle event), NOTHING, event)

/* ---- Memory */

static uint64_t pool_value = UINT64_MAX;
static char pinned[64];

FAKE(cuMemAlloc, 3020, (handle * out, size_t bytes), *out = 90, bytes)
FAKE(cuMemFree, 3020, (handle address), NOTHING, address)
FAKE(cuMemAllocAsync, 11020, (handle * out, size_t bytes, handle stream), *out = 91, bytes, stream)
FAKE(cuMemFreeAsync, 11020, (handle address, handle stream), NOTHING, address, stream)
FAKE(cuMemGetInfo, 3020, (size_t * free_bytes, size_t* total),
     (*free_bytes = 1ull << 33, *total = 1ull << 37))
FAKE(cuMemPoolSetAttribute, 11020, (handle pool, int attribute, uint64_t* value),
     pool_value = *value, pool, attribute, *value)
FAKE(cuMemPoolGetAttribute, 11020, (handle pool, int attribute, int* value), *value = 1, pool,
     attribute)
FAKE(cuMemPoolTrimTo, 11020, (handle pool, size_t keep), NOTHING, pool, keep)
FAKE(cuMemHostAlloc, 2020, (void** out, size_t bytes, unsigned flags), *out = pinned, bytes, flags)
FAKE(cuMemFreeHost, 2000, (handle address), NOTHING, address)
FAKE(cuMemcpyHtoD, 3020, (handle to, handle from, size_t bytes), NOTHING, to, from, bytes)
FAKE(cuMemcpyDtoH, 3020, (handle to, handle from, size_t bytes), NOTHING, to, from, bytes)
FAKE(cuMemcpyDtoD, 3020, (handle to, handle from, size_t bytes), NOTHING, to, from, bytes)
FAKE(cuMemcpyHtoDAsync, 3020, (handle to, handle from, size_t bytes, handle stream), NOTHING, to,
     from, bytes, stream)
FAKE(cuMemcpyDtoHAsync, 3020, (handle to, handle from, size_t bytes, handle stream), NOTHING, to,
     from, bytes, stream)
FAKE(cuMemcpyDtoDAsync, 3020, (handle to, handle from, size_t bytes, handle stream), NOTHING, to,
     from, bytes, stream)
FAKE(cuMemsetD8, 3020, (handle to, unsigned char value, size_t count), NOTHING, to, value, count)
FAKE(cuMemsetD16, 3020, (handle to, unsigned short value, size_t count), NOTHING, to, value, count)
FAKE(cuMemsetD32, 3020, (handle to, unsigned value, size_t count), NOTHING, to, value, count)
FAKE(cuMemsetD8Async, 3020, (handle to, unsigned char value, size_t count, handle stream), NOTHING,
     to, value, count, stream)
FAKE(cuMemsetD16Async, 3020, (handle to, unsigned short value, size_t count, handle stream),
     NOTHING, to, value, count, stream)
FAKE(cuMemsetD32Async, 3020, (handle to, unsigned value, size_t count, handle stream), NOTHING, to,
     value, count, stream)

/* ---- Images, kernels, launches. A load writes a compiler's log and fails if the image starts with
 * '!' */

static CUresult load(const char* image, unsigned options, const int* option, uint64_t* value,
                     handle* out) {
  if (*image == '!') {
    if (options == 2 && option[0] == 5 && option[1] == 6)
      strncpy((char*)value[0], "line 3: no such opcode", value[1]);
    return 218;
  }
  *out = 100;
  return 0;
}

FAKE(cuLibraryLoadData, 12000,
     (handle * out, const char* image, int* option, uint64_t* value, unsigned options,
      void* library_option, void* library_value, unsigned library_options),
     return load(image, options, option, value, out), (uint64_t)(uintptr_t)image, options,
     (uint64_t)(uintptr_t)library_option, (uint64_t)(uintptr_t)library_value, library_options)
FAKE(cuLibraryUnload, 12000, (handle library), NOTHING, library)
FAKE(cuLibraryGetModule, 12000, (handle * out, handle library), *out = 101, library)
FAKE(cuLibraryGetKernel, 12000, (handle * out, handle library, const char* name), *out = 102,
     library, (uint64_t)name[0])
FAKE(cuLibraryGetGlobal, 12000, (handle * out, size_t* bytes, handle library, const char* name),
     (*out = 103, *bytes = 12), library, (uint64_t)name[0])
FAKE(cuKernelGetFunction, 12000, (handle * out, handle kernel), *out = 104, kernel)
FAKE(cuKernelGetAttribute, 12000, (int* out, int attribute, handle kernel, int device), *out = 105,
     attribute, kernel, device)
FAKE(cuKernelSetAttribute, 12000, (int attribute, int value, handle kernel, int device), NOTHING,
     attribute, value, kernel, device)
FAKE(cuModuleLoadDataEx, 2010,
     (handle * out, const char* image, unsigned options, int* option, uint64_t* value),
     return load(image, options, option, value, out), (uint64_t)(uintptr_t)image, options)
FAKE(cuModuleGetFunction, 2000, (handle * out, handle module, const char* name), *out = 106, module,
     (uint64_t)name[0])
FAKE(cuModuleUnload, 2000, (handle module), NOTHING, module)
FAKE(cuFuncGetAttribute, 2020, (int* out, int attribute, handle function), *out = 107, attribute,
     function)
FAKE(cuFuncSetAttribute, 9000, (handle function, int attribute, int value), NOTHING, function,
     attribute, value)
FAKE(cuFuncGetParamInfo, 12040, (handle function, size_t index, size_t* offset, size_t* bytes),
     (*offset = 8, *bytes = 4), function, index)
FAKE(cuFuncLoad, 12040, (handle function), NOTHING, function)
FAKE(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050,
     (int* out, handle function, int threads, size_t shared), *out = 108, function, threads, shared)
FAKE(cuOccupancyMaxActiveClusters, 11070, (int* out, handle function, handle config), *out = 109,
     function, config)
FAKE(cuLaunchKernel, 4000,
     (handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
      unsigned shared, handle stream, handle parameters, handle extra),
     NOTHING, function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra)
FAKE(cuLaunchKernelEx, 11060, (handle config, handle function, handle parameters, handle extra),
     NOTHING, config, function, parameters, extra)
