// Special registers, numbered barriers, and shared memory by its 32-bit addresses.
#include "elements.h"
#include "ptx_checks.h"

namespace runner {

namespace {

using Words = std::vector<std::uint32_t>;

Words random_words(Bench& bench, std::size_t count) {
  Words result(count);
  for (std::uint32_t& x : result) x = static_cast<std::uint32_t>(bench.random() >> 17);
  return result;
}

void check_special_registers(Bench& bench, bool has_sm_90) {
  constexpr unsigned kThreads = 3 * 96, kDynamicBytes = 2048;
  const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(14 * kThreads));
  bench.launch("culebra_ptx_special_registers", 3, 96, kDynamicBytes, out.at(0));
  const Words got = out.read();
  for (unsigned warp = 0; warp < kThreads; warp += 32) {
    unsigned elected = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      const auto row = [&](unsigned i) { return got[i * kThreads + warp + lane]; };
      const std::uint32_t bit = 1u << lane;
      bench.expect(row(0) == lane && row(1) == bit && row(2) == bit - 1 &&
                       row(3) == (bit | (bit - 1)) && row(4) == ~(bit | (bit - 1)) &&
                       row(5) == ~(bit - 1),
                   "lane and masks of lane %u", lane);
      bench.expect(row(6) == kDynamicBytes, "dynamic_smem_size: %u", row(6));
      bench.expect(row(7) < row(8), "warpid %u of %u", row(7), row(8));
      bench.expect(row(9) < row(10), "smid %u of %u", row(9), row(10));
      bench.expect(row(12) == 1 && row(13) == 1, "a clock of lane %u goes back", lane);
      elected += row(11) == 1;
      bench.expect(!has_sm_90 || row(11) <= 1, "elect.sync of lane %u: %u", lane, row(11));
    }
    bench.expect(elected == (has_sm_90 ? 1 : 0), "elect.sync: %u lanes", elected);
  }
}

void check_barriers(Bench& bench) {
  Words expected(5 * 128);
  for (unsigned t = 0; t < 128; ++t) {
    const bool second = t >= 64;
    expected[t] = 10 * (127 - t);
    expected[128 + t] = second ? 10 * (t - 64) + 1 : 0;
    expected[256 + t] = second ? 21 : 22;
    expected[384 + t] = 3;
    expected[512 + t] = second ? 0 : 2;
  }
  const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(expected.size()));
  bench.launch("culebra_ptx_barriers", 1, 128, 0, out.at(0));
  bench.expect(out.read() == expected, "numbered barriers");
}

void check_shared(Bench& bench) {
  const Words in = random_words(bench, 512);
  Words expected(512);
  for (unsigned t = 0; t < 128; ++t) {
    for (unsigned i = 0; i < 4; ++i) expected[4 * t + i] = in[4 * ((t + 1) % 128) + i];
    expected[4 * t + 1] += 1;
    expected[4 * t + 3] += in[4 * ((t + 2) % 128) + 3];
  }
  const DeviceArray<std::uint32_t> device_in(bench.driver, in);
  const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(512));
  bench.launch("culebra_ptx_shared", 1, 128, 0, out.at(0), device_in.at(0));
  bench.expect(out.read() == expected, "loads and stores of shared memory");
}

void check_cluster_stores(Bench& bench) {
  const Words in = random_words(bench, 512);
  Words expected(4 * 3 * 512);
  for (unsigned block = 0; block < 4; ++block) {
    const unsigned rank = block % 2;
    std::uint32_t* const rows = &expected[block * 3 * 512];
    for (unsigned i = 0; i < 512; ++i) {
      rows[i] = in[i] + (i % 4 == 2 ? 1 + (rank ^ 1) : 0);
      rows[512 + i] = in[i];
    }
    for (unsigned t = 0; t < 128; ++t) {
      rows[1024 + 4 * t] = 2;
      rows[1024 + 4 * t + 1] = rank;
      rows[1024 + 4 * t + 2] = in[4 * t + 1];
    }
  }
  const DeviceArray<std::uint32_t> device_in(bench.driver, in);
  const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(expected.size()));
  bench.launch("culebra_ptx_cluster_stores", 4, 128, 0, out.at(0), device_in.at(0));
  bench.expect(out.read() == expected, "stores to a peer of the cluster");
}

}  // namespace

void check_ptx_block(Bench& bench) {
  const bool has_sm_90 = bench.driver.compute_capability() >= 90;
  check_special_registers(bench, has_sm_90);
  check_barriers(bench);
  check_shared(bench);
  if (has_sm_90) check_cluster_stores(bench);
}

}  // namespace runner
