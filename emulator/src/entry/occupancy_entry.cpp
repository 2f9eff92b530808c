// Occupancy: how many blocks, and how many clusters, run at a time.
#include <algorithm>

#include "entry/call.h"
#include "execution/launch.h"
#include "model/objects.h"
#include "model/occupancy.h"

using namespace culebra_emu;

namespace {

CUresult max_active_blocks(const char* symbol, int* blocks, CUfunction handle, int threads,
                           std::size_t dynamic_bytes) {
  return call(symbol, kNeedsContext, [&] {
    const std::shared_ptr<Function> function = objects().functions.find(handle);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (blocks == nullptr || threads <= 0 || threads > static_cast<int>(kMaxThreadsPerBlock)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *blocks = blocks_per_multiprocessor(*function, static_cast<unsigned>(threads), dynamic_bytes);
    return CUDA_SUCCESS;
  });
}

using SharedBytesOfBlock = std::size_t (*)(int threads);

// The largest block with which the most threads run at a time, and the blocks that fill the device
// then.
CUresult potential_block(const char* symbol, int* blocks, int* threads, CUfunction handle,
                         SharedBytesOfBlock shared_bytes, std::size_t dynamic_bytes,
                         int most_threads) {
  return call(symbol, kNeedsContext, [&] {
    const std::shared_ptr<Function> function = objects().functions.find(handle);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (blocks == nullptr || threads == nullptr || most_threads < 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    constexpr int kWarp = static_cast<int>(kWarpSize);
    const auto limit = static_cast<int>(function->kernel().max_threads);
    const int multiprocessors =
        current_context()->device().attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).value_or(1);
    int best = 0;
    // Whole warps, but for the limit itself.
    for (int size = most_threads == 0 ? limit : std::min(most_threads, limit); size > 0;
         size = (size - 1) / kWarp * kWarp) {
      const std::size_t bytes = shared_bytes == nullptr ? dynamic_bytes : shared_bytes(size);
      const int running = blocks_per_multiprocessor(*function, static_cast<unsigned>(size), bytes);
      if (running * size > best) {
        best = running * size;
        *threads = size;
        *blocks = running * multiprocessors;
      }
    }
    return best == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

// A function, and a launch of it that was meant to be measured only.
template <class Body>
CUresult with_cluster_launch(const char* symbol, int* answer, CUfunction handle,
                             const CUlaunchConfig* config, Body body) {
  return call(symbol, kNeedsContext, [&] {
    const std::shared_ptr<Function> function = objects().functions.find(handle);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (answer == nullptr || config == nullptr ||
        (config->numAttrs != 0 && config->attrs == nullptr)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const std::uint64_t threads =
        count_of({config->blockDimX, config->blockDimY, config->blockDimZ});
    if (threads == 0 || threads > kMaxThreadsPerBlock) return CUDA_ERROR_INVALID_VALUE;
    return body(*function, static_cast<unsigned>(threads));
  });
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                        CUfunction function,
                                                                        int threads,
                                                                        std::size_t dynamic_bytes) {
  return max_active_blocks("cuOccupancyMaxActiveBlocksPerMultiprocessor", blocks, function, threads,
                           dynamic_bytes);
}

CULEBRA_EMU_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, CUfunction function, int threads, std::size_t dynamic_bytes, unsigned flags) {
  constexpr const char* kSymbol = "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags";
  if (flags > 1) return call(kSymbol, kNeedsContext, [] { return CUDA_ERROR_INVALID_VALUE; });
  return max_active_blocks(kSymbol, blocks, function, threads, dynamic_bytes);
}

CULEBRA_EMU_EXPORT CUresult cuOccupancyMaxPotentialBlockSize(int* blocks, int* threads,
                                                             CUfunction function,
                                                             SharedBytesOfBlock shared_bytes,
                                                             std::size_t dynamic_bytes,
                                                             int most_threads) {
  return potential_block("cuOccupancyMaxPotentialBlockSize", blocks, threads, function,
                         shared_bytes, dynamic_bytes, most_threads);
}

CULEBRA_EMU_EXPORT CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(
    int* blocks, int* threads, CUfunction function, SharedBytesOfBlock shared_bytes,
    std::size_t dynamic_bytes, int most_threads, unsigned flags) {
  constexpr const char* kSymbol = "cuOccupancyMaxPotentialBlockSizeWithFlags";
  if (flags > 1) return call(kSymbol, kNeedsContext, [] { return CUDA_ERROR_INVALID_VALUE; });
  return potential_block(kSymbol, blocks, threads, function, shared_bytes, dynamic_bytes,
                         most_threads);
}

CULEBRA_EMU_EXPORT CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes,
                                                                    CUfunction handle, int blocks,
                                                                    int threads) {
  return call("cuOccupancyAvailableDynamicSMemPerBlock", kNeedsContext, [&] {
    const std::shared_ptr<Function> function = objects().functions.find(handle);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (bytes == nullptr || blocks <= 0 || threads <= 0 ||
        threads > static_cast<int>(kMaxThreadsPerBlock)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const auto fits = [&](std::size_t dynamic_bytes) {
      return blocks_per_multiprocessor(*function, static_cast<unsigned>(threads), dynamic_bytes) >=
             blocks;
    };
    if (!fits(0)) return CUDA_ERROR_INVALID_VALUE;
    // The most with which so many blocks still run.
    std::size_t most = 0;
    for (std::size_t step = std::size_t{1} << 20; step != 0; step /= 2) {
      if (fits(most + step)) most += step;
    }
    *bytes = most;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle,
                                                         const CUlaunchConfig* config) {
  return with_cluster_launch("cuOccupancyMaxActiveClusters", clusters, handle, config,
                             [&](const Function& function, unsigned threads) {
                               Index3 cluster = required_cluster(function);
                               for (unsigned i = 0; i < config->numAttrs; ++i) {
                                 if (config->attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
                                   continue;
                                 const auto [x, y, z] = config->attrs[i].value.clusterDim;
                                 cluster = {x, y, z};
                               }
                               // Neither the launch nor the function names a cluster.
                               if (cluster.x == 0 && cluster.y == 0 && cluster.z == 0)
                                 cluster = {1, 1, 1};
                               if (!allows_cluster(function, cluster))
                                 return CUDA_ERROR_INVALID_CLUSTER_SIZE;
                               *clusters = active_clusters(
                                   function, threads, config->sharedMemBytes, count_of(cluster));
                               return CUDA_SUCCESS;
                             });
}

CULEBRA_EMU_EXPORT CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction handle,
                                                               const CUlaunchConfig* config) {
  return with_cluster_launch(
      "cuOccupancyMaxPotentialClusterSize", blocks, handle, config,
      [&](const Function& function, unsigned threads) {
        std::uint32_t size = max_blocks_per_cluster(function);
        while (size > 1 && active_clusters(function, threads, config->sharedMemBytes, size) == 0) {
          size /= 2;
        }
        *blocks = static_cast<int>(size);
        return CUDA_SUCCESS;
      });
}
