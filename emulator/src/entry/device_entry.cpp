// Devices and their primary contexts.
#include <cstdio>
#include <cstring>
#include <string>

#include "entry/call.h"

using namespace culebra_emu;

namespace {

constexpr unsigned kQuery = kNeedsInit | kWorksAfterFailure;

// Calls body(device) if there is a device of that ordinal.
template <class Body>
CUresult with_device(const char* symbol, unsigned demand, CUdevice ordinal, Body body) {
  return call(symbol, demand, [&] {
    Device* device = find_device(ordinal);
    return device == nullptr ? CUDA_ERROR_INVALID_DEVICE : body(*device);
  });
}

CUresult copy_text(const std::string& text, char* out, int capacity) {
  if (out == nullptr || capacity <= 0) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t length = std::min(text.size(), static_cast<std::size_t>(capacity) - 1);
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
  return CUDA_SUCCESS;
}

CUresult get_uuid(const char* symbol, CUuuid* uuid, CUdevice ordinal) {
  return with_device(symbol, kQuery, ordinal, [&](Device& device) {
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *uuid = device.uuid();
    return CUDA_SUCCESS;
  });
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuDeviceGetCount(int* count) {
  return call("cuDeviceGetCount", kQuery, [&] {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = device_count();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuDeviceGet(CUdevice* out, int ordinal) {
  return with_device("cuDeviceGet", kQuery, ordinal, [&](Device& device) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = device.ordinal();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuDeviceGetName(char* name, int capacity, CUdevice ordinal) {
  return with_device("cuDeviceGetName", kQuery, ordinal,
                     [&](Device&) { return copy_text(Device::kName, name, capacity); });
}

CULEBRA_EMU_EXPORT CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice ordinal) {
  return get_uuid("cuDeviceGetUuid", uuid, ordinal);
}

CULEBRA_EMU_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice ordinal) {
  return get_uuid("cuDeviceGetUuid_v2", uuid, ordinal);
}

// Only Windows has such numbers; elsewhere the driver looks at the arguments and says no.
CULEBRA_EMU_EXPORT CUresult cuDeviceGetLuid(char* luid, unsigned* node_mask, CUdevice ordinal) {
  return with_device("cuDeviceGetLuid", kQuery, ordinal, [&](Device&) {
    return luid == nullptr || node_mask == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                   : CUDA_ERROR_NOT_SUPPORTED;
  });
}

CULEBRA_EMU_EXPORT CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice ordinal) {
  return with_device("cuDeviceGetAttribute", kQuery, ordinal, [&](Device& device) {
    const std::optional<int> known = device.attribute(attribute);
    if (value == nullptr || !known) return CUDA_ERROR_INVALID_VALUE;
    *value = *known;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice ordinal) {
  return with_device("cuDeviceTotalMem_v2", kQuery, ordinal, [&](Device& device) {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *bytes = device.total_bytes();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuDeviceGetPCIBusId(char* text, int capacity, CUdevice ordinal) {
  return with_device("cuDeviceGetPCIBusId", kQuery, ordinal, [&](Device& device) {
    return copy_text(device.pci_bus_id(), text, capacity);
  });
}

CULEBRA_EMU_EXPORT CUresult cuDeviceGetByPCIBusId(CUdevice* out, const char* text) {
  return call("cuDeviceGetByPCIBusId", kQuery, [&] {
    if (out == nullptr || text == nullptr) return CUDA_ERROR_INVALID_VALUE;
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned slot = 0;
    unsigned function = 0;
    // Domain and function may be left out, but not both.
    if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
      domain = 0;
      if (std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) != 3) {
        return CUDA_ERROR_INVALID_VALUE;
      }
    }
    char full[32];
    std::snprintf(full, sizeof full, "%04X:%02X:%02X.%X", domain, bus, slot, function);
    for (int i = 0; i < device_count(); ++i) {
      if (find_device(i)->pci_bus_id() == full) {
        *out = i;
        return CUDA_SUCCESS;
      }
    }
    return CUDA_ERROR_INVALID_DEVICE;
  });
}

CULEBRA_EMU_EXPORT CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice ordinal) {
  return with_device("cuDeviceComputeCapability", kQuery, ordinal, [&](Device& device) {
    if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *major = device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR).value();
    *minor = device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR).value();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice ordinal) {
  return with_device("cuDeviceGetProperties", kQuery, ordinal, [&](Device& device) {
    if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto get = [&](int attribute) { return device.attribute(attribute).value(); };
    *properties = {.maxThreadsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
                   .maxThreadsDim = {get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                                     get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + 1),
                                     get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + 2)},
                   .maxGridSize = {get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
                                   get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + 1),
                                   get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + 2)},
                   .sharedMemPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
                   .totalConstantMemory = get(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
                   .SIMDWidth = get(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
                   .memPitch = get(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
                   .regsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
                   .clockRate = get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
                   .textureAlign = get(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)};
    return CUDA_SUCCESS;
  });
}

// Part of the multiprocessors can be had only under MPS, which the device says is off.
CULEBRA_EMU_EXPORT CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType type,
                                                           CUdevice ordinal) {
  return with_device("cuDeviceGetExecAffinitySupport", kQuery, ordinal, [&](Device&) {
    if (supported == nullptr || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *supported = 0;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice ordinal) {
  return with_device("cuDevicePrimaryCtxRetain", kQuery, ordinal, [&](Device& device) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device.failed()) return device.failure();
    device.primary().retain();
    *context = &device.primary();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
  return with_device("cuDevicePrimaryCtxRelease_v2", kQuery, ordinal, [&](Device& device) {
    return device.primary().release() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  });
}

CULEBRA_EMU_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
  return with_device("cuDevicePrimaryCtxReset_v2", kQuery, ordinal, [&](Device& device) {
    device.primary().reset();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags,
                                                       int* active) {
  return with_device("cuDevicePrimaryCtxGetState", kQuery, ordinal, [&](Device& device) {
    if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = device.primary().flags();
    *active = device.primary().active();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags) {
  return with_device("cuDevicePrimaryCtxSetFlags_v2", kNeedsInit, ordinal, [&](Device& device) {
    if (!are_valid_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    device.primary().set_flags(flags);
    return CUDA_SUCCESS;
  });
}
