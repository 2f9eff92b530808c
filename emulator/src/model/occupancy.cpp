#include "model/occupancy.h"

#include <algorithm>
#include <array>

#include "execution/launch.h"
#include "model/device.h"

namespace culebra_emu {

int blocks_per_multiprocessor(const Function& function, unsigned threads,
                              std::size_t dynamic_bytes) {
  constexpr unsigned kMaxThreads = 2048;
  constexpr unsigned kMaxBlocks = 32;
  constexpr std::size_t kSharedBytes = 233472;
  constexpr std::size_t kReservedBytesPerBlock = 1024;
  if (threads > function.kernel().max_threads) return 0;
  const unsigned rounded = (threads + kWarpSize - 1) / kWarpSize * kWarpSize;
  const std::size_t shared = function.settings()->static_shared_bytes.load() + dynamic_bytes;
  if (shared > Device::kMaxSharedOptinBytes) return 0;
  return static_cast<int>(std::min<std::size_t>(std::min(kMaxThreads / rounded, kMaxBlocks),
                                                kSharedBytes / (shared + kReservedBytesPerBlock)));
}

int active_clusters(const Function& function, unsigned threads, std::size_t dynamic_bytes,
                    std::uint64_t blocks) {
  // A cluster lies within one of these processing clusters.
  constexpr std::array<std::uint64_t, 8> kMultiprocessorsOfEach = {18, 18, 16, 16, 16, 16, 16, 16};
  const auto fitting =
      static_cast<std::uint64_t>(blocks_per_multiprocessor(function, threads, dynamic_bytes));
  std::uint64_t clusters = 0;
  for (const std::uint64_t multiprocessors : kMultiprocessorsOfEach) {
    clusters += multiprocessors * fitting / blocks;
  }
  return static_cast<int>(clusters);
}

std::uint32_t max_blocks_per_cluster(const Function& function) {
  return function.settings()->non_portable_cluster.load() != 0 ? kMaxBlocksPerCluster
                                                               : kPortableBlocksPerCluster;
}

bool allows_cluster(const Function& function, Index3 cluster) {
  const auto [x, y, z] = cluster;
  return x != 0 && y != 0 && z != 0 && x <= kMaxBlocksPerCluster && y <= kMaxBlocksPerCluster &&
         z <= kMaxBlocksPerCluster && count_of(cluster) <= max_blocks_per_cluster(function);
}

Index3 required_cluster(const Function& function) {
  const Index3 compiled = function.kernel().required_cluster;
  if (compiled.x != 0) return compiled;
  const auto& chosen = function.settings()->required_cluster;
  return {static_cast<unsigned>(chosen[0].load()), static_cast<unsigned>(chosen[1].load()),
          static_cast<unsigned>(chosen[2].load())};
}

}  // namespace culebra_emu
