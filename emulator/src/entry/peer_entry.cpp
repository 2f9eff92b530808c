// Devices that reach each other's memory. All memory is one here, so that access is granted and
// taken back in the books alone.
#include "entry/call.h"

using namespace culebra_emu;

namespace {

// The context of a handle, with which the current one could have to do.
CUresult with_peer(const char* symbol, CUcontext handle, CUresult (*body)(Context&, Context&)) {
  return call(symbol, kNeedsContext, [&] {
    Context* peer = find_context(handle);
    if (peer == nullptr || !peer->active() || peer == current_context()) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    return body(*current_context(), *peer);
  });
}

template <class Body>
CUresult with_pair(const char* symbol, CUdevice from, CUdevice to, Body body) {
  return call(symbol, kNeedsInit | kWorksAfterFailure, [&] {
    const Device* first = find_device(from);
    const Device* second = find_device(to);
    if (first == nullptr || second == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    return body(*first, *second);
  });
}

}  // namespace

// A device is no peer of its own.
CULEBRA_EMU_EXPORT CUresult cuDeviceCanAccessPeer(int* can, CUdevice from, CUdevice to) {
  return with_pair("cuDeviceCanAccessPeer", from, to,
                   [&](const Device& first, const Device& second) {
                     if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
                     *can = &first != &second && can_access_peer(first, second);
                     return CUDA_SUCCESS;
                   });
}

CULEBRA_EMU_EXPORT CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute,
                                                    CUdevice from, CUdevice to) {
  return with_pair("cuDeviceGetP2PAttribute", from, to,
                   [&](const Device& first, const Device& second) {
                     if (&first == &second) return CUDA_ERROR_INVALID_DEVICE;
                     if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
                     switch (attribute) {
                       case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
                       case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
                         *value = can_access_peer(first, second);
                         return CUDA_SUCCESS;
                       // All links are alike, and there are no arrays.
                       case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
                       case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
                       case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
                         *value = 0;
                         return CUDA_SUCCESS;
                     }
                     return CUDA_ERROR_INVALID_VALUE;
                   });
}

CULEBRA_EMU_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags) {
  if (flags != 0) {
    return call("cuCtxEnablePeerAccess", kNeedsContext, [] { return CUDA_ERROR_INVALID_VALUE; });
  }
  return with_peer("cuCtxEnablePeerAccess", handle, [](Context& current, Context& peer) {
    const bool is_other = &current.device() != &peer.device();
    if (!is_other || !can_access_peer(current.device(), peer.device())) {
      return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    }
    return current.enable_peer(peer) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxDisablePeerAccess(CUcontext handle) {
  return with_peer("cuCtxDisablePeerAccess", handle, [](Context& current, Context& peer) {
    return current.disable_peer(peer) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  });
}
