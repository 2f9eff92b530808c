// An emulated device: what an H200 says about itself, a budget of memory, and the failure that ends
// it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

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
  MemoryPool& default_pool() { return default_pool_; }

  // Device memory, counted against the budget until unmapped. Null if there is not enough.
  std::shared_ptr<Mapping> map(std::uint64_t bytes);
  std::uint64_t total_bytes() const { return total_bytes_; }
  std::uint64_t free_bytes() const { return total_bytes_ - used_bytes_.load(); }

  // The first failure stays for the process's life, as on the real device: every later call returns
  // it.
  void fail(CUresult result, const std::string& message);
  bool failed() const { return failure() != CUDA_SUCCESS; }
  CUresult failure() const { return static_cast<CUresult>(failure_.load()); }

 private:
  const int ordinal_;
  const std::uint64_t total_bytes_;
  std::atomic<std::uint64_t> used_bytes_ = 0;
  std::atomic<int> failure_ = CUDA_SUCCESS;
  Context primary_;
  MemoryPool default_pool_;
};

// Null if there is none of that ordinal.
Device* find_device(int ordinal);
int device_count();

}  // namespace culebra_emu
