// What a grid is launched with, and how it ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "abi.h"
#include "culebra_emu/image.h"
#include "image/code_range.h"

namespace culebra_emu {

class DataLayout;

inline constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
inline constexpr std::uint32_t kMaxStaticSharedBytes = 48 * 1024;
inline constexpr std::uint32_t kMaxDynamicSharedBytes = 227 * 1024;
inline constexpr std::uint32_t kMultiprocessors = 132;

inline std::uint64_t count_of(Index3 extent) {
  return std::uint64_t{extent.x} * extent.y * extent.z;
}

// The coordinates of element `i` of an extent, x running fastest.
inline Index3 index_at(std::uint64_t i, Index3 extent) {
  return {static_cast<unsigned>(i % extent.x), static_cast<unsigned>(i / extent.x % extent.y),
          static_cast<unsigned>(i / extent.x / extent.y)};
}

// What is the same for all blocks of a launch.
struct Launch {
  const Kernel* kernel = nullptr;
  // No two loaded images have the same.
  std::uint64_t image_serial = 0;
  Thread** (*current_thread)() = nullptr;
  Index3 grid = {1, 1, 1};  // in blocks
  Index3 block = {1, 1, 1};
  Index3 cluster = {1, 1, 1};  // divides the grid
  bool has_cluster = false;    // a cluster of one block is one, too
  bool cooperative = false;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t max_shared_bytes = kMaxDynamicSharedBytes;  // with the static ones
  std::vector<std::byte> parameters;
  CodeRange code;
  // Of the kernel's image; null if nothing is checked.
  std::shared_ptr<const DataLayout> data_layout;

  // The grid in clusters.
  Index3 clusters() const { return {grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z}; }
};

// How a launch ended: `message` says what, where, which thread.
struct Outcome {
  CUresult result = CUDA_SUCCESS;
  std::string message;
};

}  // namespace culebra_emu
