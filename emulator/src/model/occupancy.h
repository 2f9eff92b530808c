// How much of a kernel fits on the device that the emulator stands for.
#pragma once

#include <cstddef>

#include "culebra_emu/image.h"
#include "model/objects.h"

namespace culebra_emu {

inline constexpr std::uint32_t kPortableBlocksPerCluster = 8;

// Blocks on one multiprocessor at a time; 0 if not even one fits.
int blocks_per_multiprocessor(const Function& function, unsigned threads,
                              std::size_t dynamic_bytes);

// Clusters of `blocks` blocks on the device at a time.
int active_clusters(const Function& function, unsigned threads, std::size_t dynamic_bytes,
                    std::uint64_t blocks);

// The most blocks of a cluster that the function allows, and whether a cluster has no more.
std::uint32_t max_blocks_per_cluster(const Function& function);
bool allows_cluster(const Function& function, Index3 cluster);

// What the function demands of a launch's cluster; all zero if nothing.
Index3 required_cluster(const Function& function);

}  // namespace culebra_emu
