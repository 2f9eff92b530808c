// Copies and fills of two and three dimensions, between any two places but arrays.
#include <optional>

#include "entry/call.h"
#include "entry/copy.h"
#include "entry/host_access.h"
#include "model/context.h"

using namespace culebra_emu;

namespace {

// One end as the driver's structures give it, whichever they are.
struct Place {
  CUmemorytype type;
  std::uint64_t host;
  std::uint64_t device;
  std::size_t x_bytes, y, z;
  std::size_t pitch_bytes;
  std::size_t height;
  std::size_t level;
};

struct Extent {
  std::size_t width_bytes, rows, slices;
};

// The address of the first byte; nothing if there is no such address.
std::optional<CopyEnd> end_of(const Place& place, const Extent& extent) {
  if (place.level != 0) return std::nullopt;
  CopyEnd end;
  switch (place.type) {
    case CU_MEMORYTYPE_HOST:
      end.type = CU_MEMORYTYPE_HOST;
      end.address = place.host;
      break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
      end.type = place.type;
      end.address = place.device;
      break;
    default:
      return std::nullopt;
  }
  // What is left out is packed.
  end.pitch_bytes = place.pitch_bytes == 0 ? extent.width_bytes : place.pitch_bytes;
  end.slice_rows = place.height == 0 ? extent.rows : place.height;
  std::uint64_t rows = 0;
  std::uint64_t offset = 0;
  if (__builtin_mul_overflow(place.z, end.slice_rows, &rows) ||
      __builtin_add_overflow(rows, place.y, &rows) ||
      __builtin_mul_overflow(rows, end.pitch_bytes, &offset) ||
      __builtin_add_overflow(offset, place.x_bytes, &offset) ||
      __builtin_add_overflow(end.address, offset, &end.address)) {
    return std::nullopt;
  }
  // A row must hold what is copied of it.
  std::size_t used = 0;
  const bool fits = !__builtin_add_overflow(place.x_bytes, extent.width_bytes, &used) &&
                    (place.pitch_bytes == 0 || used <= place.pitch_bytes);
  if (!fits && (extent.rows > 1 || extent.slices > 1)) return std::nullopt;
  return end;
}

// CUDA_ERROR_NOT_SUPPORTED for arrays.
CUresult describe(const Place& to, const Place& from, const Extent& extent, CopyWork& work) {
  if (to.type == CU_MEMORYTYPE_ARRAY || from.type == CU_MEMORYTYPE_ARRAY) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const auto to_end = end_of(to, extent);
  const auto from_end = end_of(from, extent);
  if (!to_end || !from_end) return CUDA_ERROR_INVALID_VALUE;
  work = {.to = *to_end,
          .from = *from_end,
          .width_bytes = extent.width_bytes,
          .rows = extent.rows,
          .slices = extent.slices};
  return CUDA_SUCCESS;
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

CUresult describe(const CUDA_MEMCPY2D& copy, CopyWork& work) {
  const Place from = {copy.srcMemoryType,
                      address_of(copy.srcHost),
                      copy.srcDevice,
                      copy.srcXInBytes,
                      copy.srcY,
                      0,
                      copy.srcPitch,
                      copy.Height,
                      0};
  const Place to = {copy.dstMemoryType,
                    address_of(copy.dstHost),
                    copy.dstDevice,
                    copy.dstXInBytes,
                    copy.dstY,
                    0,
                    copy.dstPitch,
                    copy.Height,
                    0};
  return describe(to, from, {copy.WidthInBytes, copy.Height, 1}, work);
}

// CUDA_MEMCPY3D or CUDA_MEMCPY3D_PEER.
template <class Copy>
CUresult describe_3d(const Copy& copy, CopyWork& work) {
  const Place from = {copy.srcMemoryType, address_of(copy.srcHost),
                      copy.srcDevice,     copy.srcXInBytes,
                      copy.srcY,          copy.srcZ,
                      copy.srcPitch,      copy.srcHeight,
                      copy.srcLOD};
  const Place to = {copy.dstMemoryType, address_of(copy.dstHost),
                    copy.dstDevice,     copy.dstXInBytes,
                    copy.dstY,          copy.dstZ,
                    copy.dstPitch,      copy.dstHeight,
                    copy.dstLOD};
  return describe(to, from, {copy.WidthInBytes, copy.Height, copy.Depth}, work);
}

CUresult describe(const CUDA_MEMCPY3D& copy, CopyWork& work) {
  if (copy.reserved0 != nullptr || copy.reserved1 != nullptr) return CUDA_ERROR_INVALID_VALUE;
  return describe_3d(copy, work);
}

// Both contexts must be there; which they are makes no difference, since memory is one.
CUresult describe(const CUDA_MEMCPY3D_PEER& copy, CopyWork& work) {
  for (CUcontext handle : {copy.srcContext, copy.dstContext}) {
    const Context* context = find_context(handle);
    if (context == nullptr || !context->active()) return CUDA_ERROR_INVALID_CONTEXT;
  }
  return describe_3d(copy, work);
}

template <class Description>
CUresult read_description(const char* symbol, const Description* copy, CopyWork& work) {
  const AccessScope scope("the description of the copy", symbol);
  return copy == nullptr ? CUDA_ERROR_INVALID_VALUE : describe(*copy, work);
}

template <class Copy>
CUresult copy_now(const char* symbol, const Copy* copy) {
  CopyWork work;
  const CUresult result = read_description(symbol, copy, work);
  if (result == CUDA_SUCCESS) return culebra_emu::copy_now(symbol, work);
  return call(symbol, kNeedsContext, [&] { return result; });
}

template <class Copy>
CUresult copy_async(const char* symbol, const Copy* copy, CUstream stream) {
  CopyWork work;
  const CUresult result = read_description(symbol, copy, work);
  if (result == CUDA_SUCCESS) return culebra_emu::copy_async(symbol, work, stream);
  return call(symbol, kNeedsInit, [&] { return result; });
}

FillWork fill(CUdeviceptr to, std::size_t pitch_bytes, unsigned value, unsigned element_bytes,
              std::size_t width, std::size_t rows) {
  return {.to = to,
          .pitch_bytes = pitch_bytes,
          .value = value,
          .element_bytes = element_bytes,
          .width = width,
          .rows = rows};
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) {
  return copy_now("cuMemcpy2D_v2", copy);
}

// The device's wishes for alignment are nothing here.
CULEBRA_EMU_EXPORT CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) {
  return copy_now("cuMemcpy2DUnaligned_v2", copy);
}

CULEBRA_EMU_EXPORT CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy_async("cuMemcpy2DAsync_v2", copy, stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  return copy_now("cuMemcpy3D_v2", copy);
}

CULEBRA_EMU_EXPORT CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy_async("cuMemcpy3DAsync_v2", copy, stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  return copy_now("cuMemcpy3DPeer", copy);
}

CULEBRA_EMU_EXPORT CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  return copy_async("cuMemcpy3DPeerAsync", copy, stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch_bytes,
                                            unsigned char value, std::size_t width,
                                            std::size_t rows) {
  return fill_now("cuMemsetD2D8_v2", fill(to, pitch_bytes, value, 1, width, rows));
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch_bytes,
                                             unsigned short value, std::size_t width,
                                             std::size_t rows) {
  return fill_now("cuMemsetD2D16_v2", fill(to, pitch_bytes, value, 2, width, rows));
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch_bytes,
                                             unsigned value, std::size_t width, std::size_t rows) {
  return fill_now("cuMemsetD2D32_v2", fill(to, pitch_bytes, value, 4, width, rows));
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch_bytes,
                                              unsigned char value, std::size_t width,
                                              std::size_t rows, CUstream stream) {
  return fill_async("cuMemsetD2D8Async", fill(to, pitch_bytes, value, 1, width, rows), stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch_bytes,
                                               unsigned short value, std::size_t width,
                                               std::size_t rows, CUstream stream) {
  return fill_async("cuMemsetD2D16Async", fill(to, pitch_bytes, value, 2, width, rows), stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch_bytes,
                                               unsigned value, std::size_t width, std::size_t rows,
                                               CUstream stream) {
  return fill_async("cuMemsetD2D32Async", fill(to, pitch_bytes, value, 4, width, rows), stream);
}
