// Launches.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "config.h"
#include "entry/call.h"
#include "entry/host_access.h"
#include "entry/launch.h"
#include "entry/submit.h"
#include "model/address_space.h"
#include "model/diagnosis.h"
#include "model/objects.h"
#include "model/occupancy.h"

using namespace culebra_emu;

namespace {

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
  const FunctionSettings& settings = *function.settings();
  return dynamic_bytes <= static_cast<unsigned>(settings.max_dynamic_shared_bytes.load()) &&
         std::uint64_t{dynamic_bytes} + settings.static_shared_bytes.load() <=
             settings.max_shared_bytes();
}

// CULEBRA_EMU_DIAGNOSE: looks for arguments, or fields of them, that are device addresses which
// belong to nothing. (A number may look like one, so nothing is refused.)
void diagnose_arguments(const Kernel& kernel, const std::vector<std::byte>& block) {
  if (!config().diagnose) return;
  for (std::uint32_t i = 0; i < kernel.parameter_count; ++i) {
    const Parameter& parameter = kernel.parameters[i];
    const std::uint32_t end = parameter.offset + parameter.size;
    for (std::uint32_t at = parameter.offset; at + sizeof(std::uint64_t) <= end;
         at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, block.data() + at, sizeof word);
      if (!AddressSpace::is_device_address(word) || address_space().find(word)) continue;
      const std::string where = address_space().describe(word, 1);
      diagnose(std::string("kernel ") + kernel.symbol + ", argument " + parameter.name +
               ": no allocation holds this address" + (where.empty() ? "" : ": " + where));
    }
  }
}

// Gathers the arguments into one block, from a pointer to each or from the caller's own block.
CUresult gather_parameters(const Kernel& kernel, void** arguments, void** extra,
                           std::vector<std::byte>& block) {
  const std::uint32_t bytes = parameter_block_bytes(kernel);
  // What the caller leaves out is garbage on the device; this is recognizable garbage.
  block.assign(bytes, std::byte{0xFF});
  if (arguments != nullptr) {
    if (extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
    AccessScope scope("kernelParams");
    for (std::uint32_t i = 0; i < kernel.parameter_count; ++i) {
      const Parameter& parameter = kernel.parameters[i];
      scope.set_parameter(i, parameter.name);
      std::memcpy(block.data() + parameter.offset, arguments[i], parameter.size);
    }
    return CUDA_SUCCESS;
  }
  if (extra == nullptr) return bytes == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  const void* buffer = nullptr;
  std::size_t buffer_bytes = 0;
  const AccessScope scope("extra, or what it holds");
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

// What a launch's attributes ask for.
struct Extras {
  bool cooperative = false;
  std::optional<Index3> cluster;
};

// The cluster of a launch: what it asks for, which must be what the kernel was made for, if it was
// made for one.
CUresult choose_cluster(const Function& function, Index3 grid, const Extras& extras,
                        Launch& launch) {
  const Index3 required = required_cluster(function);
  if (required.x == 0 && required.y == 0 && required.z == 0) {
    if (!extras.cluster) return CUDA_SUCCESS;
    launch.cluster = *extras.cluster;
  } else {
    const Index3 asked = extras.cluster.value_or(required);
    if (asked.x != required.x || asked.y != required.y || asked.z != required.z) {
      return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
    launch.cluster = required;
  }
  launch.has_cluster = true;
  const auto [x, y, z] = launch.cluster;
  if (!allows_cluster(function, launch.cluster) || grid.x % x != 0 || grid.y % y != 0 ||
      grid.z % z != 0) {
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  }
  return CUDA_SUCCESS;
}

// The most blocks that a cooperative launch may have: all must be on the device at once.
std::uint64_t resident_blocks(const Function& function, const Launch& launch) {
  const auto threads = static_cast<unsigned>(count_of(launch.block));
  if (!launch.has_cluster) {
    return kMultiprocessors * static_cast<std::uint64_t>(blocks_per_multiprocessor(
                                  function, threads, launch.dynamic_shared_bytes));
  }
  const std::uint64_t blocks = count_of(launch.cluster);
  return blocks * static_cast<std::uint64_t>(
                      active_clusters(function, threads, launch.dynamic_shared_bytes, blocks));
}

// CUDA_SUCCESS also for hints that mean nothing here.
CUresult apply_attribute(const CUlaunchAttribute& attribute, Extras& extras) {
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
      extras.cooperative = attribute.value.cooperative != 0;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
      const auto [x, y, z] = attribute.value.clusterDim;
      extras.cluster = Index3{x, y, z};
      return CUDA_SUCCESS;
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

}  // namespace

namespace culebra_emu {

CUresult prepare_launch(const LaunchRequest& request, KernelWork& work) {
  std::shared_ptr<Function> function = objects().functions.find(request.function);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto [grid, block] = std::pair{request.grid, request.block};
  Extras extras;
  for (const CUlaunchAttribute& attribute : request.attributes) {
    const CUresult result = apply_attribute(attribute, extras);
    if (result != CUDA_SUCCESS) return result;
  }
  if (!has_valid_shape(*function, grid, block, request.dynamic_bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (count_of(block) > function->kernel().max_threads) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  auto launch = std::make_shared<Launch>();
  launch->kernel = &function->kernel();
  launch->image_serial = function->image()->serial();
  launch->current_thread = function->image()->current_thread();
  launch->code = function->image()->code();
  launch->data_layout = function->image()->data_layout();
  launch->grid = grid;
  launch->block = block;
  launch->cooperative = extras.cooperative;
  launch->dynamic_shared_bytes = request.dynamic_bytes;
  launch->max_shared_bytes = function->settings()->max_shared_bytes();
  CUresult result = choose_cluster(*function, grid, extras, *launch);
  if (result != CUDA_SUCCESS) return result;
  if (launch->cooperative && count_of(grid) > resident_blocks(*function, *launch)) {
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  }
  result =
      gather_parameters(function->kernel(), request.arguments, request.extra, launch->parameters);
  if (result != CUDA_SUCCESS) return result;
  diagnose_arguments(function->kernel(), launch->parameters);
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
