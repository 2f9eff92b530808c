// What streams are told about how their work shall be done. Nearly all of it means nothing here and
// is checked and kept.
#include <algorithm>

#include "entry/call.h"

using namespace culebra_emu;

namespace {

constexpr CUlaunchAttributeID kAttributes[] = {
    CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
    CU_LAUNCH_ATTRIBUTE_PRIORITY, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN};

bool is_for_streams(CUlaunchAttributeID id) {
  return std::find(std::begin(kAttributes), std::end(kAttributes), id) != std::end(kAttributes);
}

int device_attribute(const Stream& stream, int attribute) {
  return stream.context().device().attribute(attribute).value_or(0);
}

bool is_valid(const Stream& stream, CUlaunchAttributeID id, const CUlaunchAttribute::Value& value) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: {
      constexpr int kStreaming = 1;
      constexpr int kPersisting = 2;
      const auto& window = value.accessPolicyWindow;
      const auto most = static_cast<std::size_t>(
          device_attribute(stream, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE));
      return window.num_bytes <= most && window.hitRatio >= 0 && window.hitRatio <= 1 &&
             window.hitProp >= 0 && window.hitProp <= kPersisting && window.missProp >= 0 &&
             window.missProp <= kStreaming;
    }
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: {
      constexpr int kAuto = 1;
      constexpr int kBlockingSync = 4;
      return value.syncPolicy >= kAuto && value.syncPolicy <= kBlockingSync;
    }
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: {
      const int domains = device_attribute(stream, CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT);
      return value.memSyncDomainMap.default_ < domains && value.memSyncDomainMap.remote < domains;
    }
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      return value.memSyncDomain == 0 || value.memSyncDomain == 1;
    default:
      return true;
  }
}

// What a stream that was told nothing says.
CUlaunchAttribute::Value get(const Stream& stream, CUlaunchAttributeID id) {
  CUlaunchAttribute::Value value = stream.attribute(id);
  if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) value.priority = stream.priority();
  if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) {
    value.syncPolicy = std::max(value.syncPolicy, 1);
  }
  return value;
}

void set(Stream& stream, CUlaunchAttributeID id, const CUlaunchAttribute::Value& value) {
  constexpr int kLeastPriority = 0;
  constexpr int kGreatestPriority = -5;
  if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
    stream.set_priority(std::clamp(value.priority, kGreatestPriority, kLeastPriority));
  } else {
    stream.set_attribute(id, value);
  }
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuStreamGetAttribute(CUstream handle, CUlaunchAttributeID id,
                                                 CUlaunchAttribute::Value* value) {
  return call("cuStreamGetAttribute", kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream("cuStreamGetAttribute", handle, result);
    if (stream == nullptr) return result;
    if (value == nullptr || !is_for_streams(id)) return CUDA_ERROR_INVALID_VALUE;
    *value = get(*stream, id);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamSetAttribute(CUstream handle, CUlaunchAttributeID id,
                                                 const CUlaunchAttribute::Value* value) {
  return call("cuStreamSetAttribute", kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream("cuStreamSetAttribute", handle, result);
    if (stream == nullptr) return result;
    if (value == nullptr || !is_for_streams(id) || !is_valid(*stream, id, *value)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    set(*stream, id, *value);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamCopyAttributes(CUstream to_handle, CUstream from_handle) {
  return call("cuStreamCopyAttributes", kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr to = resolve_stream("cuStreamCopyAttributes", to_handle, result);
    if (to == nullptr) return result;
    const StreamPtr from = resolve_stream("cuStreamCopyAttributes", from_handle, result);
    if (from == nullptr) return result;
    if (&to->context() != &from->context()) return CUDA_ERROR_INVALID_VALUE;
    for (const CUlaunchAttributeID id : kAttributes) set(*to, id, get(*from, id));
    return CUDA_SUCCESS;
  });
}
