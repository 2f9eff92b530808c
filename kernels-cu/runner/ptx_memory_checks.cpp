// Loads, stores and sums of global memory; and that what only tells the hardware something runs.
#include "elements.h"
#include "ptx_checks.h"

namespace runner {

void check_ptx_memory(Bench& bench) {
  const bool has_sm_90 = bench.driver.compute_capability() >= 90;
  constexpr unsigned kThreads = 96, kWays = 5;
  std::vector<std::uint32_t> words(4 * kThreads), expected;
  for (std::uint32_t& x : words) x = static_cast<std::uint32_t>(bench.random());
  for (unsigned way = 0; way < kWays; ++way) {
    expected.insert(expected.end(), words.begin(), words.end());
  }
  const DeviceArray<std::uint32_t> in(bench.driver, words);
  const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(expected.size()));
  bench.launch("culebra_ptx_copies", 1, kThreads, 0, out.at(0), in.at(0));
  bench.expect(out.read() == expected, "loads and stores with hints");

  constexpr unsigned kBlocks = 5;
  const float sum = kBlocks * kThreads * (kBlocks * kThreads - 1) / 2;
  std::vector<float> sums{sum, 0, 0, 0, 0, 0, 0, 0};
  if (has_sm_90) sums = {sum, 0, sum, 2 * sum, sum, 2 * sum, 3 * sum, 4 * sum};
  const DeviceArray<float> f32(bench.driver, std::vector<float>(8));
  bench.launch("culebra_ptx_red_f32", kBlocks, kThreads, 0, f32.at(0));
  bench.expect(f32.read() == sums, "red.add of f32");

  // 64 threads: bf16 has all integers up to 256.
  const DeviceArray<std::uint32_t> pairs(bench.driver, std::vector<std::uint32_t>(2));
  bench.launch("culebra_ptx_red_16", 2, 32, 0, pairs.at(0));
  const std::vector<std::uint32_t> got = pairs.read();
  bench.expect(got[0] == (F16::make(64).bits | std::uint32_t{F16::make(128).bits} << 16),
               "red.add of f16x2");
  bench.expect(
      !has_sm_90 || got[1] == (BF16::make(64).bits | std::uint32_t{BF16::make(128).bits} << 16),
      "red.add of bf16x2");

  const DeviceArray<std::uint32_t> control(bench.driver, std::vector<std::uint32_t>(384));
  bench.launch("culebra_ptx_control", 1, 384, 0, control.at(0));
  std::vector<std::uint32_t> roles(384, 2);
  std::fill_n(roles.begin(), 128, 1u);
  bench.expect(control.read() == roles, "setmaxnreg, griddepcontrol");
}

}  // namespace runner
