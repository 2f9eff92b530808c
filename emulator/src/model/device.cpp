#include "model/device.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <vector>

#include "config.h"
#include "faults/faults.h"

namespace culebra_emu {
namespace {

constexpr int kMaxInt = 2147483647;

// By number of the attribute, which begins at 1. An H200's limits; but what the emulator does not
// model (IPC, sparse arrays, host memory pools ...) it says it cannot do.
constexpr std::array<int, 148> kAttributes = {
    0,                             // (there is no attribute 0)
    1024,                          // max threads per block
    1024,                          // max block dim x
    1024,                          // max block dim y
    64,                            // max block dim z
    kMaxInt,                       // max grid dim x
    65535,                         // max grid dim y
    65535,                         // max grid dim z
    Device::kDefaultSharedBytes,   // max shared memory per block
    65536,                         // total constant memory
    32,                            // warp size
    kMaxInt,                       // max pitch
    65536,                         // max registers per block
    1980000,                       // clock rate, kHz
    512,                           // texture alignment
    1,                             // gpu overlap
    132,                           // multiprocessor count
    0,                             // kernel exec timeout
    0,                             // integrated
    1,                             // can map host memory
    0,                             // compute mode: default
    131072,                        // maximum texture1d width
    131072,                        // maximum texture2d width
    65536,                         // maximum texture2d height
    16384,                         // maximum texture3d width
    16384,                         // maximum texture3d height
    16384,                         // maximum texture3d depth
    32768,                         // maximum texture2d layered width
    32768,                         // maximum texture2d layered height
    2048,                          // maximum texture2d layered layers
    512,                           // surface alignment
    1,                             // concurrent kernels
    0,                             // ecc enabled
    0,                             // pci bus id: computed
    0,                             // pci device id
    0,                             // tcc driver
    3201000,                       // memory clock rate, kHz
    6144,                          // global memory bus width
    62914560,                      // l2 cache size
    2048,                          // max threads per multiprocessor
    3,                             // async engine count
    1,                             // unified addressing
    32768,                         // maximum texture1d layered width
    2048,                          // maximum texture1d layered layers
    1,                             // can tex2d gather
    32768,                         // maximum texture2d gather width
    32768,                         // maximum texture2d gather height
    16384,                         // maximum texture3d width alternate
    16384,                         // maximum texture3d height alternate
    16384,                         // maximum texture3d depth alternate
    0,                             // pci domain id
    32,                            // texture pitch alignment
    32768,                         // maximum texturecubemap width
    32768,                         // maximum texturecubemap layered width
    2046,                          // maximum texturecubemap layered layers
    32768,                         // maximum surface1d width
    131072,                        // maximum surface2d width
    65536,                         // maximum surface2d height
    16384,                         // maximum surface3d width
    16384,                         // maximum surface3d height
    16384,                         // maximum surface3d depth
    32768,                         // maximum surface1d layered width
    2048,                          // maximum surface1d layered layers
    32768,                         // maximum surface2d layered width
    32768,                         // maximum surface2d layered height
    2048,                          // maximum surface2d layered layers
    32768,                         // maximum surfacecubemap width
    32768,                         // maximum surfacecubemap layered width
    2046,                          // maximum surfacecubemap layered layers
    268435456,                     // maximum texture1d linear width
    131072,                        // maximum texture2d linear width
    65000,                         // maximum texture2d linear height
    2097120,                       // maximum texture2d linear pitch
    32768,                         // maximum texture2d mipmapped width
    32768,                         // maximum texture2d mipmapped height
    9,                             // compute capability major
    0,                             // compute capability minor
    32768,                         // maximum texture1d mipmapped width
    1,                             // stream priorities supported
    1,                             // global l1 cache supported
    1,                             // local l1 cache supported
    233472,                        // max shared memory per multiprocessor
    65536,                         // max registers per multiprocessor
    1,                             // managed memory
    0,                             // multi gpu board
    0,                             // multi gpu board group id: computed
    0,                             // host native atomic supported
    2,                             // single to double precision perf ratio
    0,                             // pageable memory access
    1,                             // concurrent managed access
    1,                             // compute preemption supported
    1,                             // can use host pointer for registered mem
    0,                             // can use stream mem ops v1
    0,                             // can use 64 bit stream mem ops v1
    0,                             // can use stream wait value nor v1
    1,                             // cooperative launch
    0,                             // cooperative multi device launch
    Device::kMaxSharedOptinBytes,  // max shared memory per block optin
    0,                             // can flush remote writes
    1,                             // host register supported
    0,                             // pageable memory access uses host page tables
    0,                             // direct managed mem access from host
    1,                             // virtual memory management supported
    0,                             // handle type posix file descriptor supported
    0,                             // handle type win32 handle supported
    0,                             // handle type win32 kmt handle supported
    32,                            // max blocks per multiprocessor
    0,                             // generic compression supported
    0,                             // max persisting l2 cache size
    0,                             // max access policy window size
    0,                             // gpu direct rdma with cuda vmm supported
    1024,                          // reserved shared memory per block
    0,                             // sparse cuda array supported
    1,                             // read only host register supported
    0,                             // timeline semaphore interop supported
    1,                             // memory pools supported
    0,                             // gpu direct rdma supported
    0,                             // gpu direct rdma flush writes options
    0,                             // gpu direct rdma writes ordering
    0,                             // mempool supported handle types
    1,                             // cluster launch
    0,                             // deferred mapping cuda array supported
    1,                             // can use 64 bit stream mem ops
    1,                             // can use stream wait value nor
    0,                             // dma buf supported
    0,                             // ipc event supported
    4,                             // mem sync domain count
    0,                             // tensor map access supported
    0,                             // handle type fabric supported
    0,                             // unified function pointers
    0,                             // numa config: none
    -1,                            // numa id
    0,                             // multicast supported
    0,                             // mps enabled
    0,                             // host numa id
    0,                             // d3d12 cig supported
    0,                             // mem decompress algorithm mask
    0,                             // mem decompress maximum length
    0,                             // vulkan cig supported
    0,                             // gpu pci device id
    0,                             // gpu pci subsystem id
    0,                             // host numa virtual memory management supported
    0,                             // host numa memory pools supported
    0,                             // host numa multinode ipc supported
    0,                             // host memory pools supported
    0,                             // host virtual memory management supported
    0,                             // host alloc dma buf supported
    0,                             // only partial host native atomic supported
};

constexpr int kPciBusIdAttribute = 33;
constexpr int kMultiGpuBoardGroupIdAttribute = 85;

std::vector<std::unique_ptr<Device>>& devices() {
  static auto& instance = *new std::vector<std::unique_ptr<Device>>([] {
    std::vector<std::unique_ptr<Device>> result;
    for (int i = 0; i < config().devices; ++i) {
      result.push_back(std::make_unique<Device>(i, config().memory_bytes));
    }
    return result;
  }());
  return instance;
}

}  // namespace

Device::Device(int ordinal, std::uint64_t memory_bytes)
    : ordinal_(ordinal),
      total_bytes_(memory_bytes),
      primary_(*this, Context::Kind::kPrimary),
      default_pool_(std::make_shared<MemoryPool>(*this)),
      current_pool_(default_pool_) {}

CUuuid Device::uuid() const {
  CUuuid uuid = {{'C', 'u', 'l', 'e', 'b', 'r', 'a', '-', 'e', 'm', 'u', 'l', 'a', 't', 'o', 0}};
  uuid.bytes[15] = static_cast<unsigned char>(ordinal_);
  return uuid;
}

std::string Device::pci_bus_id() const {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02X:00.0", static_cast<unsigned>(ordinal_ + 1) & 0xFFu);
  return text;
}

std::optional<int> Device::attribute(int attribute) const {
  if (attribute <= 0 || attribute >= static_cast<int>(kAttributes.size())) return std::nullopt;
  if (attribute == kPciBusIdAttribute) return ordinal_ + 1;
  if (attribute == kMultiGpuBoardGroupIdAttribute) return ordinal_;
  return kAttributes[static_cast<std::size_t>(attribute)];
}

std::shared_ptr<MemoryPool> Device::current_pool() {
  const std::lock_guard lock(pools_mutex_);
  return current_pool_;
}

void Device::set_current_pool(std::shared_ptr<MemoryPool> pool) {
  const std::lock_guard lock(pools_mutex_);
  current_pool_ = std::move(pool);
}

std::shared_ptr<MemoryPool> Device::create_pool(std::uint64_t max_bytes) {
  const std::lock_guard lock(pools_mutex_);
  return created_pools_.emplace_back(std::make_shared<MemoryPool>(*this, max_bytes));
}

bool Device::destroy_pool(CUmemoryPool pool) {
  const std::lock_guard lock(pools_mutex_);
  if (current_pool_.get() == pool) current_pool_ = default_pool_;
  return std::erase_if(created_pools_,
                       [&](const auto& created) { return created.get() == pool; }) != 0;
}

std::shared_ptr<MemoryPool> Device::find_pool(CUmemoryPool handle) {
  const std::lock_guard lock(pools_mutex_);
  if (default_pool_.get() == handle) return default_pool_;
  const auto found = std::find_if(created_pools_.begin(), created_pools_.end(),
                                  [&](const auto& pool) { return pool.get() == handle; });
  return found == created_pools_.end() ? nullptr : *found;
}

std::vector<std::shared_ptr<MemoryPool>> Device::created_pools() {
  const std::lock_guard lock(pools_mutex_);
  return created_pools_;
}

void Device::trim_pools_to_threshold() {
  default_pool_->trim_to_threshold();
  for (const auto& pool : created_pools()) pool->trim_to_threshold();
}

bool Device::take_bytes(std::uint64_t bytes) {
  std::uint64_t used = used_bytes_.load();
  do {
    if (bytes > total_bytes_ - used || faults().exceeds_budget(used, bytes)) return false;
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes));
  return true;
}

std::shared_ptr<Mapping> Device::map(std::uint64_t bytes) {
  if (!take_bytes(bytes)) return nullptr;
  try {
    auto mapping = std::make_unique<Mapping>(bytes);
    if (config().checks.init) mapping->track_writes();
    return std::shared_ptr<Mapping>(mapping.release(), [this](Mapping* released) {
      give_back_bytes(released->bytes());
      delete released;
    });
  } catch (const std::bad_alloc&) {
    give_back_bytes(bytes);
    return nullptr;
  }
}

void Device::fail(CUresult result, const std::string& message) {
  int expected = CUDA_SUCCESS;
  if (failure_.compare_exchange_strong(expected, result)) {
    std::fprintf(stderr, "culebra-emulator: device %d failed with %d: %s\n", ordinal_,
                 static_cast<int>(result), message.c_str());
  }
}

Device* find_device(int ordinal) {
  auto& all = devices();
  if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= all.size()) return nullptr;
  return all[static_cast<std::size_t>(ordinal)].get();
}

bool can_access_peer(const Device& from, const Device& to) {
  return &from == &to || config().can_access_peer(from.ordinal(), to.ordinal());
}

std::shared_ptr<MemoryPool> find_pool(CUmemoryPool handle) {
  for (const auto& device : devices()) {
    if (auto pool = device->find_pool(handle)) return pool;
  }
  return nullptr;
}

std::size_t live_pool_count() { return describe_live_pools().size(); }

std::vector<std::string> describe_live_pools() {
  std::vector<std::string> lines;
  for (const auto& device : devices()) {
    for (const auto& pool : device->created_pools()) {
      lines.push_back("memory pool of device " + std::to_string(device->ordinal()) + ": made by " +
                      to_string(pool->origin()));
    }
  }
  return lines;
}

int device_count() { return static_cast<int>(devices().size()); }

}  // namespace culebra_emu
