// Clusters: their shape, their barrier, each other's shared memory, and what is wrong with them.
#include "support.h"

using namespace culebra_test;

namespace {

CUfunction cluster_kernel(const char* name) {
  return function(load_image("cluster_kernels"), name);
}

void allow_sixteen(CUfunction kernel) {
  RETURNS(0, cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
}

}  // namespace

TEST(blocks_know_their_place_in_a_cluster) {
  use_device();
  const CUfunction kernel = cluster_kernel("cluster_coordinates");
  Buffer<unsigned> out(6 * 4 * 2 * 8);
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {3, 2, 1};
  const CUlaunchConfig config = {6, 4, 2, 33, 1, 1, 0, nullptr, &attribute, 1};
  void* arguments[] = {&out.address};
  RETURNS(0, cuLaunchKernelEx(&config, kernel, arguments, nullptr));
  out.download();
  std::size_t wrong = 0;
  for (unsigned z = 0; z < 2; ++z)
    for (unsigned y = 0; y < 4; ++y)
      for (unsigned x = 0; x < 6; ++x) {
        const unsigned* const got = &out.host[8 * (x + 6 * (y + 4 * z))];
        const unsigned expected[8] = {x % 3 + 3 * (y % 2),
                                      6,
                                      x % 3 | (y % 2) << 8,
                                      3 | 2 << 8 | 1 << 16,
                                      x / 3 | (y / 2) << 8 | z << 16,
                                      2 | 2 << 8 | 2 << 16,
                                      1,
                                      x | y << 8 | z << 16};
        for (int i = 0; i < 8; ++i) wrong += got[i] != expected[i];
      }
  CHECK_EQ(wrong, 0u);
}

TEST(a_launch_without_a_cluster_has_clusters_of_one) {
  use_device();
  Buffer<unsigned> out(8 * 2);
  RETURNS(0, launch(cluster_kernel("cluster_coordinates"), 2, 1, 0, nullptr, out.address));
  out.download();
  CHECK_EQ(out.host[8], 0u);
  CHECK_EQ(out.host[9], 1u);
  CHECK_EQ(out.host[12], 1u);
  CHECK_EQ(out.host[13], 2u | 1 << 8 | 1 << 16);
  CHECK_EQ(out.host[14], 0u);
}

TEST(blocks_of_a_cluster_read_each_others_shared_memory) {
  use_device();
  const CUfunction kernel = cluster_kernel("cluster_exchange");
  allow_sixteen(kernel);
  for (const unsigned cluster : {1u, 2u, 4u, 8u, 16u}) {
    constexpr unsigned kRounds = 5;
    const unsigned blocks = 3 * cluster;
    Buffer<unsigned> out(blocks * 64);
    RETURNS(0, launch_clusters(kernel, blocks, 64, 64 * 4, cluster, out.address, kRounds));
    out.download();
    std::size_t wrong = 0;
    for (unsigned block = 0; block < blocks; ++block) {
      const unsigned peer = block / cluster * cluster + (block + 1) % cluster;
      for (unsigned thread = 0; thread < 64; ++thread) {
        wrong += out.host[64 * block + thread] !=
                 kRounds * (1000 * peer + thread + 7 * peer) + kRounds * (kRounds - 1);
      }
    }
    CHECK_EQ(wrong, 0u);
  }
}

TEST(the_cluster_barrier_comes_in_two_halves) {
#if defined(__SANITIZE_THREAD__)
  skip("the thread sanitizer has fewer fibers than this needs");
#endif
  use_device();
  const CUfunction kernel = cluster_kernel("cluster_split");
  for (const unsigned threads : {1u, 33u, 1024u}) {
    Buffer<unsigned> out(8 * threads);
    RETURNS(0, launch_clusters(kernel, 8, threads, 0, 4, out.address));
    out.download();
    std::size_t wrong = 0;
    for (const unsigned value : out.host) wrong += value != 43 + 100 * threads;
    CHECK_EQ(wrong, 0u);
  }
}

TEST(the_cluster_barrier_does_not_wait_for_exited_threads) {
  use_device();
  Buffer<unsigned> out(4 * 64);
  RETURNS(0, launch_clusters(cluster_kernel("cluster_early_exit"), 4, 64, 0, 2, out.address));
  out.download();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < out.host.size(); ++i) wrong += out.host[i] != (i % 64 > 1);
  CHECK_EQ(wrong, 0u);
}

TEST(shared_addresses_have_the_rank_above_the_offset) {
  use_device();
  const CUfunction kernel = cluster_kernel("cluster_addresses");
  allow_sixteen(kernel);
  for (const unsigned cluster : {0u, 1u, 2u, 16u}) {
    Buffer<unsigned> out(16);
    RETURNS(0, launch_clusters(kernel, 16, 1, 0, cluster, out.address));
    out.download();
    for (const unsigned ok : out.host) CHECK_EQ(ok, 1u);
  }
}

TEST(a_cluster_must_divide_the_grid_and_be_allowed) {
  use_device();
  const CUfunction kernel = cluster_kernel("cluster_coordinates");
  Buffer<unsigned> out(32 * 8);
  RETURNS(912, launch_clusters(kernel, 3, 1, 0, 2, out.address));
  RETURNS(912, launch_clusters(kernel, 32, 1, 0, 16, out.address));
  allow_sixteen(kernel);
  RETURNS(0, launch_clusters(kernel, 32, 1, 0, 16, out.address));
  RETURNS(912, launch_clusters(kernel, 32, 1, 0, 32, out.address));
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {0, 1, 1};
  const CUlaunchConfig config = {2, 1, 1, 1, 1, 1, 0, nullptr, &attribute, 1};
  void* arguments[] = {&out.address};
  RETURNS(912, cuLaunchKernelEx(&config, kernel, arguments, nullptr));
  RETURNS(0, cuCtxSynchronize());
  int answer = 0;
  RETURNS(0, cuDeviceGetAttribute(&answer, 120, 0));
  CHECK_EQ(answer, 1);
}

TEST(a_kernel_may_demand_its_cluster) {
  use_device();
  const CUfunction kernel = cluster_kernel("cluster_of_two");
  Buffer<unsigned> out(4);
  int value = 0;
  RETURNS(0, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, kernel));
  CHECK_EQ(value, 2);
  RETURNS(0, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, kernel));
  CHECK_EQ(value, 1);
  RETURNS(800, cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
  RETURNS(0, launch(kernel, 4, 1, 0, nullptr, out.address));
  RETURNS(0, launch_clusters(kernel, 4, 1, 0, 2, out.address));
  RETURNS(912, launch_clusters(kernel, 4, 1, 0, 4, out.address));
  RETURNS(912, launch(kernel, 3, 1, 0, nullptr, out.address));
  out.download();
  for (const unsigned blocks : out.host) CHECK_EQ(blocks, 2u);
}

TEST(a_function_may_be_given_a_cluster) {
  use_device();
  const CUfunction kernel = cluster_kernel("cluster_coordinates");
  Buffer<unsigned> out(4 * 8);
  RETURNS(0, cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
  RETURNS(912, launch(kernel, 4, 1, 0, nullptr, out.address));  // height and depth are still 0
  RETURNS(0, cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1));
  RETURNS(0, cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1));
  RETURNS(0, launch(kernel, 4, 1, 0, nullptr, out.address));
  out.download();
  CHECK_EQ(out.host[1], 4u);
}

TEST(cluster_occupancy_is_told) {
  use_device();
  const CUfunction kernel = cluster_kernel("cluster_exchange");
  RETURNS(0, cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200'000));
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config = {64, 1, 1, 64, 1, 1, 200'000, nullptr, &attribute, 1};
  int answer = 0;
  RETURNS(0, cuOccupancyMaxActiveClusters(&answer, kernel, &config));
  CHECK_EQ(answer, 66);  // one block a multiprocessor
  RETURNS(0, cuOccupancyMaxPotentialClusterSize(&answer, kernel, &config));
  CHECK_EQ(answer, 8);
  attribute.value.clusterDim = {16, 1, 1};
  RETURNS(912, cuOccupancyMaxActiveClusters(&answer, kernel, &config));
  allow_sixteen(kernel);
  RETURNS(0, cuOccupancyMaxActiveClusters(&answer, kernel, &config));
  CHECK_EQ(answer, 8);
  RETURNS(0, cuOccupancyMaxPotentialClusterSize(&answer, kernel, &config));
  CHECK_EQ(answer, 16);
  RETURNS(1, cuOccupancyMaxActiveClusters(nullptr, kernel, &config));
  RETURNS(1, cuOccupancyMaxActiveClusters(&answer, kernel, nullptr));
  RETURNS(400, cuOccupancyMaxActiveClusters(&answer, nullptr, &config));
}

TEST(a_wait_without_an_arrival_is_told, {},
     "waits at the cluster's barrier without having arrived: "
     "barrier.cluster.wait in cluster_kernels.cu:") {
  use_device();
  RETURNS(0, launch_clusters(cluster_kernel("cluster_wait_without_arrive"), 2, 64, 0, 2));
  RETURNS(719, cuCtxSynchronize());
}

TEST(a_second_arrival_is_told, {}, "a second time without having waited") {
  use_device();
  RETURNS(0, launch_clusters(cluster_kernel("cluster_arrive_twice"), 2, 64, 0, 2));
  RETURNS(719, cuCtxSynchronize());
}

TEST(a_deadlock_across_blocks_names_them, {},
     "block (0,0,0): threads 0-63 (64 of them) wait at "
     "barrier.cluster.wait in cluster_kernels.cu") {
  use_device();
  RETURNS(0, launch_clusters(cluster_kernel("cluster_deadlock"), 2, 64, 0, 2));
  RETURNS(719, cuCtxSynchronize());
}

TEST(an_exited_peers_memory_is_gone, {},
     ": in the shared memory of block (1,0,0), rank 1 of its cluster, which has exited") {
  use_device();
  Buffer<unsigned> out(2);
  RETURNS(0, launch_clusters(cluster_kernel("cluster_read_after_exit"), 2, 1, 0, 2, out.address));
  RETURNS(700, cuCtxSynchronize());
}

TEST(a_rank_beyond_the_cluster_is_told, {}, "no block of that rank") {
  use_device();
  Buffer<unsigned> out(1);
  RETURNS(0, launch_clusters(cluster_kernel("cluster_bad_rank"), 2, 1, 0, 2, out.address));
  RETURNS(700, cuCtxSynchronize());
}

TEST(mapa_of_global_memory_is_told, {}, "not in shared memory") {
  use_device();
  Buffer<unsigned> out(1);
  RETURNS(0, launch_clusters(cluster_kernel("cluster_not_shared"), 2, 1, 0, 2, out.address));
  RETURNS(717, cuCtxSynchronize());
}

TEST(a_store_behind_a_peers_array_is_told, {},
     ": outside of the shared memory of block (1,0,0), rank 1 of its "
     "cluster, right behind the end of a shared array of 16 bytes") {
  use_device();
  RETURNS(0, launch_clusters(cluster_kernel("cluster_store_behind"), 2, 1, 0, 2));
  RETURNS(700, cuCtxSynchronize());
}
