// The loops that Java is compared with. They get the driver's entry points as pointers, the very
// ones that Java calls, so that nothing but the caller differs. Each returns the first CUresult
// that is not 0.

#include <stdint.h>

typedef int (*CtxGetCurrent)(void** context);
typedef int (*StreamSynchronize)(void* stream);
typedef int (*LaunchKernel)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, void* stream, void** parameters, void** extra);

// Does nothing: the floor of a call from Java.
int culebra_baseline_nothing(void** unused) { return unused == 0; }

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
