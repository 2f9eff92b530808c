// Devices and their primary contexts.
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
