// Copies and fills of plain ranges. Device memory is host memory here, so all copies are one; what
// differs is which ends are checked, and who waits for whom.
#include "entry/copy.h"

using namespace culebra_emu;

namespace {

CopyWork linear(CUmemorytype to_type, std::uint64_t to, CUmemorytype from_type, std::uint64_t from,
                std::size_t bytes) {
  CopyWork work;
  work.to = {to_type, to, bytes, 1};
  work.from = {from_type, from, bytes, 1};
  work.width_bytes = bytes;
  return work;
}

CopyWork to_device(CUdeviceptr to, const void* from, std::size_t bytes) {
  return linear(CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_HOST, reinterpret_cast<std::uint64_t>(from),
                bytes);
}

CopyWork to_host(void* to, CUdeviceptr from, std::size_t bytes) {
  return linear(CU_MEMORYTYPE_HOST, reinterpret_cast<std::uint64_t>(to), CU_MEMORYTYPE_DEVICE, from,
                bytes);
}

CopyWork within_device(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return linear(CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_DEVICE, from, bytes);
}

CopyWork unified(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return linear(CU_MEMORYTYPE_UNIFIED, to, CU_MEMORYTYPE_UNIFIED, from, bytes);
}

FillWork fill(CUdeviceptr to, unsigned value, unsigned element_bytes, std::size_t count) {
  FillWork work;
  work.to = to;
  work.value = value;
  work.element_bytes = element_bytes;
  work.width = count;
  return work;
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy_now("cuMemcpyHtoD_v2", to_device(to, from, bytes));
}

CULEBRA_EMU_EXPORT CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy_now("cuMemcpyDtoH_v2", to_host(to, from, bytes));
}

CULEBRA_EMU_EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_now("cuMemcpyDtoD_v2", within_device(to, from, bytes));
}

CULEBRA_EMU_EXPORT CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_now("cuMemcpy", unified(to, from, bytes));
}

CULEBRA_EMU_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from,
                                                 std::size_t bytes, CUstream stream) {
  return copy_async("cuMemcpyHtoDAsync_v2", to_device(to, from, bytes), stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes,
                                                 CUstream stream) {
  return copy_async("cuMemcpyDtoHAsync_v2", to_host(to, from, bytes), stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from,
                                                 std::size_t bytes, CUstream stream) {
  return copy_async("cuMemcpyDtoDAsync_v2", within_device(to, from, bytes), stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                          CUstream stream) {
  return copy_async("cuMemcpyAsync", unified(to, from, bytes), stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill_now("cuMemsetD8_v2", fill(to, value, 1, count));
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value,
                                           std::size_t count) {
  return fill_now("cuMemsetD16_v2", fill(to, value, 2, count));
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
  return fill_now("cuMemsetD32_v2", fill(to, value, 4, count));
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                            CUstream stream) {
  return fill_async("cuMemsetD8Async", fill(to, value, 1, count), stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value,
                                             std::size_t count, CUstream stream) {
  return fill_async("cuMemsetD16Async", fill(to, value, 2, count), stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count,
                                             CUstream stream) {
  return fill_async("cuMemsetD32Async", fill(to, value, 4, count), stream);
}
