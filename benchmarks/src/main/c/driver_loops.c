// The loops that Java is compared with. They get the driver's entry points as pointers, the very
// ones that Java calls, so that nothing but the caller differs. Each returns the first CUresult
// that is not 0.

#include <stddef.h>
#include <stdint.h>

typedef int (*CtxGetCurrent)(void** context);
typedef int (*StreamSynchronize)(void* stream);
typedef int (*LaunchKernel)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, void* stream, void** parameters, void** extra);

int culebra_baseline_ctx_get_current(CtxGetCurrent ctx_get_current, int64_t calls) {
  void* context = 0;
  for (int64_t i = 0; i < calls; ++i) {
    int result = ctx_get_current(&context);
    if (result != 0) return result;
  }
  return 0;
}

int culebra_baseline_launch(LaunchKernel launch_kernel, StreamSynchronize stream_synchronize,
                            void* function, unsigned grid_x, unsigned block_x, void* stream,
                            void** parameters, int64_t launches, int64_t sync_every) {
  for (int64_t i = 1; i <= launches; ++i) {
    int result = launch_kernel(function, grid_x, 1, 1, block_x, 1, 1, 0, stream, parameters, 0);
    if (result != 0) return result;
    if (i % sync_every == 0) {
      result = stream_synchronize(stream);
      if (result != 0) return result;
    }
  }
  return stream_synchronize(stream);
}

typedef int (*EventCall)(void* event, void* stream);
int culebra_baseline_event_record(EventCall record, void* event, void* stream, int64_t calls) {
  for (int64_t i = 0; i < calls; ++i) {
    int result = record(event, stream);
    if (result != 0) return result;
  }
  return 0;
}

typedef int (*EventQuery)(void* event);
int culebra_baseline_event_query(EventQuery query, void* event, int64_t calls) {
  for (int64_t i = 0; i < calls; ++i) {
    int result = query(event);
    if (result != 0) return result;
  }
  return 0;
}

typedef int (*AllocateAsync)(uint64_t* address, size_t bytes, void* stream);
typedef int (*FreeAsync)(uint64_t address, void* stream);
int culebra_baseline_allocate(AllocateAsync allocate, FreeAsync release, size_t bytes, void* stream,
                              int64_t calls) {
  for (int64_t i = 0; i < calls; ++i) {
    uint64_t address = 0;
    int result = allocate(&address, bytes, stream);
    if (result == 0) result = release(address, stream);
    if (result != 0) return result;
  }
  return 0;
}

typedef int (*CopyToDevice)(uint64_t device, const void* host, size_t bytes, void* stream);
int culebra_baseline_copy(CopyToDevice copy, StreamSynchronize stream_synchronize, uint64_t device,
                          const void* host, size_t bytes, void* stream, int64_t calls) {
  for (int64_t i = 0; i < calls; ++i) {
    int result = copy(device, host, bytes, stream);
    if (result == 0) result = stream_synchronize(stream);
    if (result != 0) return result;
  }
  return 0;
}
