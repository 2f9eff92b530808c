// Allocation, copies, fills, pools, registration.
#include <sys/mman.h>

#include <vector>

#include "case.h"

namespace differential {
namespace {

constexpr DriverFunction<CUdeviceptr, unsigned short, std::size_t> cuMemsetD16{"cuMemsetD16_v2"};
constexpr std::size_t kHuge = std::size_t{1} << 60;

void pool_state(Answer& answer, CUmemoryPool pool) {
  std::uint64_t reserved = 0, used = 0;
  NEED(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
  NEED(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  answer.word(std::to_string(reserved >> 20) + "/" + std::to_string(used >> 20));
}

const Cases all({
    {"copy-from-nowhere", "64 bytes from host address 0x10 to the device", "",
     [](Answer& answer) {
       use_device(answer);
       answer(cuMemcpyHtoD_v2(new_memory(answer, 64), reinterpret_cast<const void*>(0x10), 64));
     }},
    {"copy-much-from-nowhere", "1 MiB from host address 0x10 to the device", "",
     [](Answer& answer) {
       use_device(answer);
       constexpr std::size_t kBytes = 1 << 20;
       answer(cuMemcpyHtoD_v2(new_memory(answer, kBytes), reinterpret_cast<const void*>(0x10),
                              kBytes));
     }},
    {"copy-to-nowhere", "64 bytes from the device to host address 0x10", "",
     [](Answer& answer) {
       use_device(answer);
       answer(cuMemcpyDtoH_v2(reinterpret_cast<void*>(0x10), new_memory(answer, 64), 64));
     }},
    {"free-twice", "cuMemFree twice, of an interior pointer, of 0", "1 1 0",
     [](Answer& answer) {
       use_device(answer);
       const CUdeviceptr once = new_memory(answer, 4096), other = new_memory(answer, 4096);
       NEED(cuMemFree_v2(once));
       answer(cuMemFree_v2(once));
       answer(cuMemFree_v2(other + 64));
       answer(cuMemFree_v2(0));
     }},
    {"free-mixed", "cuMemFree of an async allocation, cuMemFreeAsync of a plain one, both again",
     "0 0 1 1",
     [](Answer& answer) {
       use_device(answer);
       const CUstream stream = new_stream(answer);
       CUdeviceptr ordered = 0;
       NEED(cuMemAllocAsync(&ordered, 4096, stream));
       NEED(cuStreamSynchronize(stream));
       const CUdeviceptr plain = new_memory(answer, 4096);
       answer(cuMemFree_v2(ordered));
       answer(cuMemFreeAsync(plain, stream));
       NEED(cuStreamSynchronize(stream));
       answer(cuMemFree_v2(ordered));
       answer(cuMemFreeAsync(plain, stream));
     }},
    {"alloc-sizes", "alloc of 0, async of 0 (and its address), 2^60, 2^64-1, then 64",
     "1 0 null 2 2 0",
     [](Answer& answer) {
       use_device(answer);
       const CUstream stream = new_stream(answer);
       CUdeviceptr address = 1;
       answer(cuMemAlloc_v2(&address, 0));
       address = 1;
       answer(cuMemAllocAsync(&address, 0, stream));
       answer.word(address == 0 ? "null" : "set");
       answer(cuMemAlloc_v2(&address, kHuge));
       answer(cuMemAlloc_v2(&address, ~std::size_t{0}));
       answer(cuMemAlloc_v2(&address, 64));
     }},
    {"copy-range", "copy a byte past 4096, fill past the end, copy 4 GiB into 4 KiB", "1 1 1",
     [](Answer& answer) {
       use_device(answer);
       const CUdeviceptr to = new_memory(answer, 4096), from = new_memory(answer, 8192);
       answer(cuMemcpyDtoD_v2(to, from, 4097));
       answer(cuMemsetD8_v2(to, 0, 4097));
       answer(cuMemcpyDtoD_v2(to, from, std::size_t{4} << 30));
     }},
    {"copy-harmless", "overlapping copy, 0 bytes, fill of 0", "0 0 0",
     [](Answer& answer) {
       use_device(answer);
       const CUdeviceptr memory = new_memory(answer, 4096);
       answer(cuMemcpyDtoD_v2(memory + 64, memory, 1024));
       answer(cuMemcpyDtoD_v2(memory, memory + 64, 0));
       answer(cuMemsetD8_v2(memory, 0, 0));
     }},
    {"fill-address", "fill of 2 and 4 bytes at an odd address, at 0, at 8", "1 1 1 1",
     [](Answer& answer) {
       use_device(answer);
       const CUdeviceptr memory = new_memory(answer, 4096);
       answer(cuMemsetD16(memory + 1, 0, 4));
       answer(cuMemsetD32_v2(memory + 1, 0, 4));
       answer(cuMemsetD8_v2(0, 0, 4));
       answer(cuMemsetD8_v2(8, 0, 4));
     }},
    {"register", "register twice, overlapping; unregister twice", "712 712 0 713",
     [](Answer& answer) {
       use_device(answer);
       auto* memory = static_cast<char*>(
           mmap(nullptr, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
       NEED(cuMemHostRegister_v2(memory, 8192, 0));
       answer(cuMemHostRegister_v2(memory, 8192, 0));
       answer(cuMemHostRegister_v2(memory + 4096, 8192, 0));
       answer(cuMemHostUnregister(memory));
       answer(cuMemHostUnregister(memory));
     }},
    {"register-odd", "register 0 bytes, unmapped memory, an unaligned range", "1 1 0",
     [](Answer& answer) {
       use_device(answer);
       auto* memory = static_cast<char*>(
           mmap(nullptr, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
       auto* hole = static_cast<char*>(
           mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
       munmap(hole, 8192);
       answer(cuMemHostRegister_v2(memory, 0, 0));
       answer(cuMemHostRegister_v2(hole, 8192, 0));
       answer(cuMemHostRegister_v2(memory + 100, 1000, 0));
     }},
    {"pool-threshold", "default pool: its threshold; 4 x 64 MiB reserved/used, freed, synchronized",
     "0 256/256 256/0 0/0",
     [](Answer& answer) {
       use_device(answer);
       CUmemoryPool pool = nullptr;
       NEED(cuDeviceGetDefaultMemPool(&pool, 0));
       std::uint64_t threshold = 1;
       NEED(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
       answer.word(std::to_string(threshold));
       const CUstream stream = new_stream(answer);
       CUdeviceptr blocks[4];
       for (CUdeviceptr& block : blocks) NEED(cuMemAllocAsync(&block, 64 << 20, stream));
       pool_state(answer, pool);
       for (const CUdeviceptr block : blocks) NEED(cuMemFreeAsync(block, stream));
       pool_state(answer, pool);
       NEED(cuStreamSynchronize(stream));
       pool_state(answer, pool);
     }},
});

}  // namespace
}  // namespace differential
