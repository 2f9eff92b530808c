// An emulated device: what an H200 says about itself, a budget of memory, and the failure that ends
// it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "abi.h"
#include "model/address_space.h"
#include "model/context.h"
#include "model/memory_pool.h"

namespace culebra_emu {

class Device {
 public:
  static constexpr const char* kName = "Culebra emulator (CPU)";
  static constexpr int kMaxSharedOptinBytes = 232448;
  static constexpr int kDefaultSharedBytes = 49152;

  Device(int ordinal, std::uint64_t memory_bytes);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int ordinal() const { return ordinal_; }
  CUuuid uuid() const;
  std::string pci_bus_id() const;
  std::optional<int> attribute(int attribute) const;

  Context& primary() { return primary_; }

  MemoryPool& default_pool() { return *default_pool_; }
  // What cuMemAllocAsync takes from.
  std::shared_ptr<MemoryPool> current_pool();
  void set_current_pool(std::shared_ptr<MemoryPool> pool);
  std::shared_ptr<MemoryPool> create_pool(std::uint64_t max_bytes);
  // False if the pool is not there or is the default one. Its memory stays until it is freed.
  bool destroy_pool(CUmemoryPool pool);
  // Null if the handle is of no live pool of this device.
  std::shared_ptr<MemoryPool> find_pool(CUmemoryPool handle);
  // What every synchronization does.
  void trim_pools_to_threshold();

  // Device memory, counted against the budget until unmapped. Null if there is not enough.
  std::shared_ptr<Mapping> map(std::uint64_t bytes);
  // The budget alone. False if there is not enough.
  bool take_bytes(std::uint64_t bytes);
  void give_back_bytes(std::uint64_t bytes) { used_bytes_.fetch_sub(bytes); }
  std::uint64_t total_bytes() const { return total_bytes_; }
  std::uint64_t free_bytes() const { return total_bytes_ - used_bytes_.load(); }

  // The first failure stays for the process's life, as on the real device: every later call returns
  // it.
  void fail(CUresult result, const std::string& message);
  bool failed() const { return failure() != CUDA_SUCCESS; }
  CUresult failure() const { return static_cast<CUresult>(failure_.load()); }

  std::vector<std::shared_ptr<MemoryPool>> created_pools();

 private:
  const int ordinal_;
  const std::uint64_t total_bytes_;
  std::atomic<std::uint64_t> used_bytes_ = 0;
  std::atomic<int> failure_ = CUDA_SUCCESS;
  Context primary_;

  const std::shared_ptr<MemoryPool> default_pool_;
  std::mutex pools_mutex_;
  std::shared_ptr<MemoryPool> current_pool_;
  std::vector<std::shared_ptr<MemoryPool>> created_pools_;
};

// Null if there is none of that ordinal.
Device* find_device(int ordinal);
int device_count();
// Whether CULEBRA_EMU_PEER lets one device reach the other's memory; its own it always can.
bool can_access_peer(const Device& from, const Device& to);
// The pools that users have created, of all devices, and a line for each.
std::size_t live_pool_count();
std::vector<std::string> describe_live_pools();
// The live pool of a handle, on whatever device.
std::shared_ptr<MemoryPool> find_pool(CUmemoryPool handle);

}  // namespace culebra_emu
