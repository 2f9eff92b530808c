// Launches and occupancy.
#include <algorithm>
#include <cstring>
#include <utility>

#include "entry/call.h"
#include "entry/launch.h"
#include "entry/submit.h"
#include "model/objects.h"

using namespace culebra_emu;

namespace {

constexpr int kMultiprocessors = 132;

// How many blocks of a kernel fit on one multiprocessor of the device that the emulator stands for.
int blocks_per_multiprocessor(const Function& function, unsigned threads,
                              std::size_t dynamic_bytes) {
  constexpr unsigned kMaxThreads = 2048;
  constexpr unsigned kMaxBlocks = 32;
  constexpr std::size_t kSharedBytes = 233472;
  constexpr std::size_t kReservedBytesPerBlock = 1024;
  if (threads > function.kernel().max_threads) return 0;
  const unsigned rounded = (threads + kWarpSize - 1) / kWarpSize * kWarpSize;
  const std::size_t shared = function.settings()->static_shared_bytes.load() + dynamic_bytes;
  if (shared > Device::kMaxSharedOptinBytes) return 0;
  return static_cast<int>(std::min<std::size_t>(std::min(kMaxThreads / rounded, kMaxBlocks),
                                                kSharedBytes / (shared + kReservedBytesPerBlock)));
}

// The limits are indistinguishable in the driver's answer, so they are here.
bool has_valid_shape(const Function& function, Index3 grid, Index3 block, unsigned dynamic_bytes) {
  constexpr unsigned kMaxGridX = 2147483647;
  constexpr unsigned kMaxGridYZ = 65535;
  constexpr unsigned kMaxBlockZ = 64;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0) {
    return false;
  }
  if (grid.x > kMaxGridX || grid.y > kMaxGridYZ || grid.z > kMaxGridYZ) return false;
  if (block.x > kMaxThreadsPerBlock || block.y > kMaxThreadsPerBlock || block.z > kMaxBlockZ ||
      block.x * block.y * block.z > kMaxThreadsPerBlock) {
    return false;
  }
  return dynamic_bytes <=
         static_cast<unsigned>(function.settings()->max_dynamic_shared_bytes.load());
}

// Gathers the arguments into one block, from a pointer to each or from the caller's own block.
CUresult gather_parameters(const Kernel& kernel, void** arguments, void** extra,
                           std::vector<std::byte>& block) {
  const std::uint32_t bytes = parameter_block_bytes(kernel);
  // What the caller leaves out is garbage on the device; this is recognizable garbage.
  block.assign(bytes, std::byte{0xFF});
  if (arguments != nullptr) {
    if (extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (std::uint32_t i = 0; i < kernel.parameter_count; ++i) {
      const Parameter& parameter = kernel.parameters[i];
      std::memcpy(block.data() + parameter.offset, arguments[i], parameter.size);
    }
    return CUDA_SUCCESS;
  }
  if (extra == nullptr) return bytes == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  const void* buffer = nullptr;
  std::size_t buffer_bytes = 0;
  for (; *extra != reinterpret_cast<void*>(kLaunchParamEnd); extra += 2) {
    const auto key = reinterpret_cast<std::uintptr_t>(extra[0]);
    if (key == kLaunchParamBufferPointer) {
      buffer = extra[1];
    } else if (key == kLaunchParamBufferSize) {
      buffer_bytes = *static_cast<const std::size_t*>(extra[1]);
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  if (buffer == nullptr || (buffer_bytes == 0 && bytes != 0)) return CUDA_ERROR_INVALID_VALUE;
  if (buffer_bytes > bytes) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  std::memcpy(block.data(), buffer, buffer_bytes);
  return CUDA_SUCCESS;
}

// What a launch attribute asks for. CUDA_SUCCESS also for hints that mean nothing here.
CUresult apply_attribute(const CUlaunchAttribute& attribute, const Index3& grid,
                         bool& cooperative) {
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    // Permits the next kernel to begin early, and does not demand it.
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      cooperative = attribute.value.cooperative != 0;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
      constexpr std::uint64_t kPortableBlocks = 8;
      const auto [x, y, z] = attribute.value.clusterDim;
      if (x == 0 || y == 0 || z == 0 || grid.x % x != 0 || grid.y % y != 0 || grid.z % z != 0 ||
          std::uint64_t{x} * y * z > kPortableBlocks) {
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
      }
      return x * y * z == 1 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
    }
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult launch(const char* symbol, const LaunchRequest& request, CUstream stream_handle) {
  const std::shared_ptr<Function> function = objects().functions.find(request.function);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  CUresult result = CUDA_SUCCESS;
  const StreamPtr stream = resolve_stream(symbol, stream_handle, result);
  if (stream == nullptr) return result;
  if (function->context() != nullptr && function->context() != &stream->context()) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  KernelWork work;
  result = prepare_launch(request, work);
  return result == CUDA_SUCCESS ? submit(symbol, *stream, std::move(work)) : result;
}

CUresult max_active_blocks(const char* symbol, int* blocks, CUfunction handle, int threads,
                           std::size_t dynamic_bytes) {
  return call(symbol, kNeedsContext, [&] {
    const std::shared_ptr<Function> function = objects().functions.find(handle);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (blocks == nullptr || threads <= 0 || threads > static_cast<int>(kMaxThreadsPerBlock)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *blocks = blocks_per_multiprocessor(*function, static_cast<unsigned>(threads), dynamic_bytes);
    return CUDA_SUCCESS;
  });
}

}  // namespace

namespace culebra_emu {

CUresult prepare_launch(const LaunchRequest& request, KernelWork& work) {
  std::shared_ptr<Function> function = objects().functions.find(request.function);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto [grid, block] = std::pair{request.grid, request.block};
  bool cooperative = false;
  for (const CUlaunchAttribute& attribute : request.attributes) {
    const CUresult result = apply_attribute(attribute, grid, cooperative);
    if (result != CUDA_SUCCESS) return result;
  }
  if (!has_valid_shape(*function, grid, block, request.dynamic_bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const unsigned threads = block.x * block.y * block.z;
  if (threads > function->kernel().max_threads) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  if (cooperative) {
    const auto fitting = static_cast<std::uint64_t>(
        blocks_per_multiprocessor(*function, threads, request.dynamic_bytes) * kMultiprocessors);
    if (std::uint64_t{grid.x} * grid.y * grid.z > fitting) {
      return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
  }
  auto launch = std::make_shared<Launch>();
  const CUresult result =
      gather_parameters(function->kernel(), request.arguments, request.extra, launch->parameters);
  if (result != CUDA_SUCCESS) return result;
  launch->kernel = &function->kernel();
  launch->current_thread = function->image()->current_thread();
  launch->grid = grid;
  launch->block = block;
  launch->dynamic_shared_bytes = request.dynamic_bytes;
  work.function = std::move(function);
  work.launch = std::move(launch);
  work.attributes.assign(request.attributes.begin(), request.attributes.end());
  return CUDA_SUCCESS;
}

}  // namespace culebra_emu

CULEBRA_EMU_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                           unsigned grid_z, unsigned block_x, unsigned block_y,
                                           unsigned block_z, unsigned dynamic_bytes,
                                           CUstream stream, void** arguments, void** extra) {
  return call("cuLaunchKernel", kNeedsInit, [&] {
    return launch("cuLaunchKernel",
                  {.function = function,
                   .grid = {grid_x, grid_y, grid_z},
                   .block = {block_x, block_y, block_z},
                   .dynamic_bytes = dynamic_bytes,
                   .arguments = arguments,
                   .extra = extra},
                  stream);
  });
}

CULEBRA_EMU_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                             void** arguments, void** extra) {
  return call("cuLaunchKernelEx", kNeedsInit, [&] {
    if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return launch("cuLaunchKernelEx",
                  {.function = function,
                   .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                   .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                   .dynamic_bytes = config->sharedMemBytes,
                   .arguments = arguments,
                   .extra = extra,
                   .attributes = {config->attrs, config->numAttrs}},
                  config->hStream);
  });
}

CULEBRA_EMU_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x,
                                                      unsigned grid_y, unsigned grid_z,
                                                      unsigned block_x, unsigned block_y,
                                                      unsigned block_z, unsigned dynamic_bytes,
                                                      CUstream stream, void** arguments) {
  return call("cuLaunchCooperativeKernel", kNeedsInit, [&] {
    CUlaunchAttribute cooperative = {};
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
    return launch("cuLaunchCooperativeKernel",
                  {.function = function,
                   .grid = {grid_x, grid_y, grid_z},
                   .block = {block_x, block_y, block_z},
                   .dynamic_bytes = dynamic_bytes,
                   .arguments = arguments,
                   .attributes = {&cooperative, 1}},
                  stream);
  });
}

CULEBRA_EMU_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                        CUfunction function,
                                                                        int threads,
                                                                        std::size_t dynamic_bytes) {
  return max_active_blocks("cuOccupancyMaxActiveBlocksPerMultiprocessor", blocks, function, threads,
                           dynamic_bytes);
}

CULEBRA_EMU_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, CUfunction function, int threads, std::size_t dynamic_bytes, unsigned flags) {
  constexpr const char* kSymbol = "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags";
  if (flags > 1) return call(kSymbol, kNeedsContext, [] { return CUDA_ERROR_INVALID_VALUE; });
  return max_active_blocks(kSymbol, blocks, function, threads, dynamic_bytes);
}
