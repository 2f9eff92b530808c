// Copies and fills of two and three dimensions, between contexts, and in batches; and what the
// driver says about an address.
#include <numeric>
#include <thread>
#include <vector>

#include "support.h"

using namespace culebra_test;

DRIVER_CALL(cuMemAllocPitch_v2, CUdeviceptr*, std::size_t*, std::size_t, std::size_t, unsigned);
DRIVER_CALL(cuMemcpy2D_v2, const CUDA_MEMCPY2D*);
DRIVER_CALL(cuMemcpy2DUnaligned_v2, const CUDA_MEMCPY2D*);
DRIVER_CALL(cuMemcpy2DAsync_v2, const CUDA_MEMCPY2D*, CUstream);
DRIVER_CALL(cuMemcpy3D_v2, const CUDA_MEMCPY3D*);
DRIVER_CALL(cuMemcpy3DAsync_v2, const CUDA_MEMCPY3D*, CUstream);
DRIVER_CALL(cuMemcpy3DPeer, const CUDA_MEMCPY3D_PEER*);
DRIVER_CALL(cuMemcpyPeer, CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, std::size_t);
DRIVER_CALL(cuMemcpyPeerAsync, CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, std::size_t,
            CUstream);
DRIVER_CALL(cuMemcpyBatchAsync_v2, CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t,
            CUmemcpyAttributes*, std::size_t*, std::size_t, CUstream);
DRIVER_CALL(cuMemcpy3DBatchAsync_v2, std::size_t, CUDA_MEMCPY3D_BATCH_OP*, unsigned long long,
            CUstream);
DRIVER_CALL(cuMemsetD2D8_v2, CUdeviceptr, std::size_t, unsigned char, std::size_t, std::size_t);
DRIVER_CALL(cuMemsetD2D16_v2, CUdeviceptr, std::size_t, unsigned short, std::size_t, std::size_t);
DRIVER_CALL(cuMemsetD2D32Async, CUdeviceptr, std::size_t, unsigned, std::size_t, std::size_t,
            CUstream);
DRIVER_CALL(cuMemHostGetFlags, unsigned*, void*);
DRIVER_CALL(cuPointerGetAttributes, unsigned, CUpointer_attribute*, void**, CUdeviceptr);
DRIVER_CALL(cuPointerSetAttribute, const void*, CUpointer_attribute, CUdeviceptr);

namespace {

// 1, 2, 3 ...
std::vector<unsigned char> numbers(std::size_t count) {
  std::vector<unsigned char> result(count);
  std::iota(result.begin(), result.end(), static_cast<unsigned char>(1));
  return result;
}

CUDA_MEMCPY2D from_host(const void* host, std::size_t host_pitch, CUdeviceptr device,
                        std::size_t device_pitch, std::size_t width, std::size_t height) {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host;
  copy.srcPitch = host_pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = device;
  copy.dstPitch = device_pitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  return copy;
}

}  // namespace

TEST(pitched_memory) {
  use_device();
  CUdeviceptr memory = 0;
  std::size_t pitch = 0, bytes = 0;
  RETURNS(0, cuMemAllocPitch_v2(&memory, &pitch, 100, 3, 4));
  CHECK_EQ(pitch, 512u);
  RETURNS(0, cuMemGetAddressRange_v2(nullptr, &bytes, memory));
  CHECK_EQ(bytes, 3 * 512u);
  RETURNS(0, cuMemAllocPitch_v2(&memory, &pitch, 513, 1, 16));
  CHECK_EQ(pitch, 1024u);
  RETURNS(1, cuMemAllocPitch_v2(&memory, &pitch, 100, 3, 5));
  RETURNS(1, cuMemAllocPitch_v2(&memory, &pitch, 0, 3, 4));
  RETURNS(1, cuMemAllocPitch_v2(&memory, &pitch, 100, 0, 4));
  RETURNS(1, cuMemAllocPitch_v2(&memory, nullptr, 100, 3, 4));
  RETURNS(2, cuMemAllocPitch_v2(&memory, &pitch, SIZE_MAX, 3, 4));
  RETURNS(2, cuMemAllocPitch_v2(&memory, &pitch, std::size_t{1} << 40, std::size_t{1} << 40, 4));
}

TEST(a_rectangle_is_copied) {
  use_device();
  const auto source = numbers(6 * 4);  // rows of 6
  Buffer<unsigned char> target(8 * 5, 0xEE);
  // The middle 3 x 2 to row 1, column 2.
  CUDA_MEMCPY2D copy = from_host(source.data(), 6, target.address, 8, 3, 2);
  copy.srcXInBytes = 2;
  copy.srcY = 1;
  copy.dstXInBytes = 4;
  copy.dstY = 3;
  RETURNS(0, cuMemcpy2D_v2(&copy));
  target.download();
  for (std::size_t row = 0; row < 5; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      const bool is_copied = row >= 3 && column >= 4 && column < 7;
      const int expected = is_copied ? source[(row - 3 + 1) * 6 + (column - 4 + 2)] : 0xEE;
      CHECK_EQ(static_cast<int>(target.host[row * 8 + column]), expected);
    }
  }
  // And back, to packed rows.
  std::vector<unsigned char> result(6, 0);
  CUDA_MEMCPY2D back = {};
  back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  back.srcDevice = target.address;
  back.srcPitch = 8;
  back.srcXInBytes = 4;
  back.srcY = 3;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = result.data();
  back.WidthInBytes = 3;
  back.Height = 2;
  RETURNS(0, cuMemcpy2DUnaligned_v2(&back));
  CHECK_EQ(static_cast<int>(result[0]), static_cast<int>(source[8]));
  CHECK_EQ(static_cast<int>(result[5]), static_cast<int>(source[16]));
  CUstream stream = nullptr;
  RETURNS(0, cuStreamCreate(&stream, 1));
  back.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  back.srcXInBytes = 5;
  back.WidthInBytes = 2;
  RETURNS(0, cuMemcpy2DAsync_v2(&back, stream));
  RETURNS(0, cuStreamSynchronize(stream));
  CHECK_EQ(static_cast<int>(result[0]), static_cast<int>(source[9]));
}

TEST(rectangles_that_cannot_be_copied) {
  use_device();
  const auto source = numbers(64);
  Buffer<unsigned char> target(64);
  CUDA_MEMCPY2D copy = from_host(source.data(), 8, target.address, 8, 8, 8);
  RETURNS(0, cuMemcpy2D_v2(&copy));
  RETURNS(1, cuMemcpy2D_v2(nullptr));
  copy.Height = 9;
  RETURNS(1, cuMemcpy2D_v2(&copy));
  copy.Height = 8;
  copy.dstPitch = 7;
  RETURNS(1, cuMemcpy2D_v2(&copy));
  copy.dstPitch = 8;
  copy.dstXInBytes = 1;
  RETURNS(1, cuMemcpy2D_v2(&copy));
  copy.dstXInBytes = 0;
  copy.dstY = 1;
  RETURNS(1, cuMemcpy2D_v2(&copy));
  copy.dstY = SIZE_MAX;
  RETURNS(1, cuMemcpy2D_v2(&copy));
  copy.dstY = 0;
  copy.dstMemoryType = static_cast<CUmemorytype>(9);
  RETURNS(1, cuMemcpy2D_v2(&copy));
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  RETURNS(801, cuMemcpy2D_v2(&copy));
  // Nothing to copy.
  copy = from_host(source.data(), 8, target.address, 8, 0, 8);
  RETURNS(0, cuMemcpy2D_v2(&copy));
}

TEST(a_box_is_copied) {
  use_device();
  const auto source = numbers(4 * 3 * 2);  // 2 slices of 3 rows of 4
  Buffer<unsigned char> target(5 * 4 * 3, 0xEE);
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = source.data();
  copy.srcPitch = 4;
  copy.srcHeight = 3;
  copy.srcXInBytes = 1;
  copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = target.address;
  copy.dstPitch = 5;
  copy.dstHeight = 4;
  copy.dstZ = 1;
  copy.WidthInBytes = 3;
  copy.Height = 2;
  copy.Depth = 2;
  CUstream stream = nullptr;
  RETURNS(0, cuStreamCreate(&stream, 1));
  RETURNS(0, cuMemcpy3DAsync_v2(&copy, stream));
  target.download();
  for (std::size_t z = 0; z < 3; ++z) {
    for (std::size_t y = 0; y < 4; ++y) {
      for (std::size_t x = 0; x < 5; ++x) {
        const bool is_copied = z >= 1 && y < 2 && x < 3;
        const int expected = is_copied ? source[((z - 1) * 3 + y + 1) * 4 + x + 1] : 0xEE;
        CHECK_EQ(static_cast<int>(target.host[(z * 4 + y) * 5 + x]), expected);
      }
    }
  }
  copy.Depth = 3;
  RETURNS(1, cuMemcpy3D_v2(&copy));
  copy.Depth = 2;
  copy.dstHeight = 1;
  RETURNS(1, cuMemcpy3D_v2(&copy));
  copy.dstHeight = 4;
  copy.srcLOD = 1;
  RETURNS(1, cuMemcpy3D_v2(&copy));
}

TEST(rectangles_are_filled) {
  use_device();
  Buffer<unsigned char> memory(8 * 4, 0xEE);
  RETURNS(0, cuMemsetD2D8_v2(memory.address + 1, 8, 7, 2, 3));
  RETURNS(0, cuMemsetD2D16_v2(memory.address + 4, 8, 0x0908, 1, 2));
  RETURNS(0, cuMemsetD2D32Async(memory.address + 24, 8, 0x01010101, 2, 1, nullptr));
  memory.download();
  const int expected[4][8] = {{0xEE, 7, 7, 0xEE, 8, 9, 0xEE, 0xEE},
                              {0xEE, 7, 7, 0xEE, 8, 9, 0xEE, 0xEE},
                              {0xEE, 7, 7, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE},
                              {1, 1, 1, 1, 1, 1, 1, 1}};
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK_EQ(static_cast<int>(memory.host[i]), expected[i / 8][i % 8]);
  }
  RETURNS(1, cuMemsetD2D8_v2(memory.address, 8, 7, 8, 5));
  RETURNS(1, cuMemsetD2D8_v2(memory.address, 7, 7, 8, 2));
  RETURNS(1, cuMemsetD2D16_v2(memory.address + 1, 8, 7, 1, 1));
  RETURNS(1, cuMemsetD2D16_v2(memory.address, 7, 7, 1, 2));
  RETURNS(0, cuMemsetD2D8_v2(memory.address, 8, 7, 0, 5));
}

TEST(copies_between_contexts_and_devices, {"CULEBRA_EMU_DEVICES=2", "CULEBRA_EMU_PEER=0"}) {
  const CUcontext first = use_device();
  Buffer<unsigned char> from(64, 5);
  CUcontext second = nullptr;
  RETURNS(0, cuDevicePrimaryCtxRetain(&second, 1));
  RETURNS(0, cuCtxSetCurrent(second));
  Buffer<unsigned char> to(64, 0);
  // Peer access is not needed.
  RETURNS(0, cuMemcpyPeer(to.address, second, from.address, first, 32));
  RETURNS(0, cuMemcpyPeerAsync(to.address + 32, second, from.address, first, 16, nullptr));
  to.download();
  CHECK(to.host[31] == 5 && to.host[47] == 5 && to.host[48] == 0);
  RETURNS(1, cuMemcpyPeer(to.address, second, from.address, first, 65));
  RETURNS(201, cuMemcpyPeer(to.address, nullptr, from.address, first, 32));
  RETURNS(201,
          cuMemcpyPeer(to.address, second, from.address, reinterpret_cast<CUcontext>(0x1234), 32));
  CUDA_MEMCPY3D_PEER copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from.address;
  copy.srcContext = first;
  copy.dstDevice = to.address + 48;
  copy.dstContext = second;
  copy.WidthInBytes = 4;
  copy.Height = copy.Depth = 2;
  RETURNS(0, cuMemcpy3DPeer(&copy));
  to.download();
  CHECK(to.host[48] == 5 && to.host[63] == 5);
  copy.dstContext = nullptr;
  RETURNS(201, cuMemcpy3DPeer(&copy));
}

TEST(a_batch_of_copies) {
  use_device();
  CUstream stream = nullptr;
  RETURNS(0, cuStreamCreate(&stream, 1));
  auto source = numbers(16);
  Buffer<unsigned char> memory(32);
  std::vector<unsigned char> result(16);
  const auto address = [](std::vector<unsigned char>& bytes) {
    return reinterpret_cast<CUdeviceptr>(bytes.data());
  };
  CUdeviceptr to[] = {memory.address, memory.address + 16};
  CUdeviceptr from[] = {address(source), address(source) + 8};
  std::size_t sizes[] = {16, 8};
  CUmemcpyAttributes attributes[2] = {};
  attributes[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  attributes[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  std::size_t first[] = {0, 1};
  RETURNS(0, cuMemcpyBatchAsync_v2(to, from, sizes, 2, attributes, first, 2, stream));
  memory.download();
  CHECK(memory.host[0] == 1 && memory.host[15] == 16 && memory.host[16] == 9);
  const auto batch = [&](std::size_t count, std::size_t attribute_count, CUstream where) {
    return cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, first, attribute_count, where);
  };
  RETURNS(1, batch(0, 1, stream));
  RETURNS(1, batch(2, 0, stream));
  RETURNS(1, batch(1, 2, stream));
  RETURNS(1, batch(2, 2, nullptr));
  first[1] = 0;
  RETURNS(1, batch(2, 2, stream));
  first[1] = 1;
  attributes[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  RETURNS(1, batch(2, 2, stream));
  attributes[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
  // All or none: the second is too long, so the first is not done either.
  sizes[1] = 17;
  source[0] = 77;
  RETURNS(1, batch(2, 2, stream));
  memory.download();
  CHECK_EQ(static_cast<int>(memory.host[0]), 1);

  CUDA_MEMCPY3D_BATCH_OP operation = {};
  operation.src.type = operation.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  operation.src.op.ptr.ptr = memory.address;
  operation.src.op.ptr.rowLength = 8;
  operation.dst.op.ptr.ptr = address(result);
  operation.extent = {2, 2, 1};
  operation.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  RETURNS(0, cuMemcpy3DBatchAsync_v2(1, &operation, 0, stream));
  RETURNS(0, cuStreamSynchronize(stream));
  CHECK(result[0] == 1 && result[1] == 2 && result[2] == 9 && result[3] == 10);
  RETURNS(1, cuMemcpy3DBatchAsync_v2(1, &operation, 1, stream));
  operation.src.op.ptr.rowLength = 1;
  RETURNS(1, cuMemcpy3DBatchAsync_v2(1, &operation, 0, stream));
  operation.src.op.ptr.rowLength = 0;
  operation.extent.depth = 0;
  RETURNS(1, cuMemcpy3DBatchAsync_v2(1, &operation, 0, stream));
  operation.src.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
  RETURNS(801, cuMemcpy3DBatchAsync_v2(1, &operation, 0, stream));
}

TEST(many_attributes_of_one_address) {
  const CUcontext context = use_device();
  CUdeviceptr memory = 0;
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  CUcontext owner = nullptr;
  unsigned type = 9, synchronizes = 9;
  void* host = &owner;
  int ordinal = 9;
  std::size_t bytes = 9;
  CUpointer_attribute attributes[] = {
      CU_POINTER_ATTRIBUTE_CONTEXT,      CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
      CU_POINTER_ATTRIBUTE_HOST_POINTER, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
      CU_POINTER_ATTRIBUTE_RANGE_SIZE,   CU_POINTER_ATTRIBUTE_SYNC_MEMOPS};
  void* values[] = {&owner, &type, &host, &ordinal, &bytes, &synchronizes};
  const unsigned on = 1;
  RETURNS(0, cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
  RETURNS(0, cuPointerGetAttributes(6, attributes, values, memory + 5));
  CHECK_EQ(owner, context);
  CHECK(type == CU_MEMORYTYPE_DEVICE && host == nullptr && ordinal == 0 && bytes == 64);
  CHECK_EQ(synchronizes, 1u);
  // An address that is none of the driver's has nothing of it, and that is no error.
  RETURNS(0, cuPointerGetAttributes(6, attributes, values, reinterpret_cast<CUdeviceptr>(&type)));
  CHECK(owner == nullptr && type == 0 && ordinal == -2 && bytes == 0);
  RETURNS(1, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   reinterpret_cast<CUdeviceptr>(&type)));
  attributes[0] = static_cast<CUpointer_attribute>(99);
  RETURNS(1, cuPointerGetAttributes(6, attributes, values, memory));
  RETURNS(1, cuPointerGetAttributes(0, attributes, values, memory));
  RETURNS(1, cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
  RETURNS(1, cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0));
  // The single query knows them all.
  std::uint64_t value = 0;
  for (int which = 1; which <= 21; ++which) {
    const bool is_there = which != CU_POINTER_ATTRIBUTE_HOST_POINTER;
    const int expected = which == CU_POINTER_ATTRIBUTE_P2P_TOKENS ? 801 : is_there ? 0 : 1;
    RETURNS(expected,
            cuPointerGetAttribute(&value, static_cast<CUpointer_attribute>(which), memory));
  }
}

TEST(pinned_memory_knows_its_flags) {
  use_device();
  void* memory = nullptr;
  unsigned flags = 9;
  RETURNS(0, cuMemHostAlloc(&memory, 64, 3));
  RETURNS(0, cuMemHostGetFlags(&flags, memory));
  CHECK_EQ(flags, 3u);
  RETURNS(1, cuMemHostGetFlags(&flags, &flags));
  RETURNS(1, cuMemHostGetFlags(nullptr, memory));
  // Read only: what is mapped so may be registered so.
  static const char constants[4096] = {1};
  RETURNS(0, cuMemHostRegister_v2(const_cast<char*>(constants), sizeof constants, 8));
  RETURNS(801, cuMemHostRegister_v2(&flags, sizeof flags, 4));
}
