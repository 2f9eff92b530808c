// cp.async, mbarrier, bulk copies, clusters: whatever is copied comes through bit for bit.
#include <algorithm>

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

void check_cp_async(Bench& bench) {
  const Words in = random_words(bench, 2 * 512);
  Words expected(7 * 512);
  for (unsigned t = 0; t < 128; ++t) {
    const auto copy = [&](int row, unsigned from, std::size_t bytes) {
      std::memcpy(&expected[512 * row + 4 * t], &in[from], bytes);
    };
    copy(0, 4 * t, 16);
    copy(1, 4 * t, t % 17);
    copy(2, 512 + 4 * t, 16);
    copy(3, 512 + 4 * t, t % 2 == 0 ? 16 : 0);
    copy(5, 512 + 4 * t, t % 2 == 0 ? 8 : 0);
    if (t % 3 != 0) std::memcpy(&expected[512 * 5 + 4 * t + 2], &in[512 + 4 * t + 2], 8);
    copy(6, 4 * ((t + 1) % 128), 16);
  }
  const DeviceArray<std::uint32_t> device_in(bench.driver, in);
  const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(expected.size()));
  bench.launch("culebra_ptx_cp_async", 1, 128, 0, out.at(0), device_in.at(0));
  bench.expect(out.read() == expected, "cp.async");

  Words reversed(in.begin(), in.begin() + 128);
  std::reverse(reversed.begin(), reversed.end());
  for (const char* kernel :
       {"culebra_ptx_cp_async_mbarrier_noinc", "culebra_ptx_cp_async_mbarrier"}) {
    const DeviceArray<std::uint32_t> turned(bench.driver, poison<std::uint32_t>(128));
    bench.launch(kernel, 1, 128, 0, turned.at(0), device_in.at(0));
    bench.expect(turned.read() == reversed, "%s", kernel);
  }
}

void check_mbarrier(Bench& bench, bool has_sm_90) {
  Words expected{3, 2, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0};
  if (has_sm_90) {
    const Words more{2, 0, 0, 1, 1, 0};
    std::copy(more.begin(), more.end(), expected.begin() + 8);
  }
  const DeviceArray<std::uint32_t> out(bench.driver, Words(16));
  bench.launch("culebra_ptx_mbarrier", 1, 1, 0, out.at(0));
  const Words got = out.read();
  std::string text;
  for (const std::uint32_t x : got) text += " " + std::to_string(x);
  bench.expect(got == expected, "mbarrier:%s", text.c_str());
}

void check_bulk(Bench& bench) {
  for (const unsigned tiles : {1u, 2u, 3u, 9u}) {
    const Words in = random_words(bench, 1024 * tiles);
    Words sums(1024);
    for (std::size_t i = 0; i < in.size(); ++i) {
      sums[i % 1024] += static_cast<std::uint32_t>(i / 1024 + 1) * in[i];
    }
    const DeviceArray<std::uint32_t> device_in(bench.driver, in);
    const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(1024));
    bench.launch("culebra_ptx_bulk_pipeline", 1, 128, 8192, out.at(0), device_in.at(0),
                 std::uint32_t{tiles});
    bench.expect(out.read() == sums, "a pipeline of bulk copies, %u tiles", tiles);
  }

  const Words in = random_words(bench, 512);
  Words rows(4 * 512);
  for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = in[i % 512] + i / 512;
  const DeviceArray<std::uint32_t> device_in(bench.driver, in);
  const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(rows.size()));
  bench.launch("culebra_ptx_bulk_store", 1, 128, 0, out.at(0), device_in.at(0));
  bench.expect(out.read() == rows, "bulk copies to global memory");

  constexpr unsigned kBlocks = 7;
  const DeviceArray<float> f32(bench.driver, std::vector<float>(512, 3.0f));
  const DeviceArray<std::uint32_t> f16(bench.driver, Words(512));
  const DeviceArray<std::uint32_t> bf16(bench.driver, Words(512));
  bench.launch("culebra_ptx_bulk_reduce", kBlocks, 128, 0, f32.at(0), f16.at(0), bf16.at(0));
  bench.expect(f32.read() == std::vector<float>(512, 3.0f + kBlocks), "bulk addition of f32");
  const auto pair = [](auto make) {
    return make(kBlocks).bits | static_cast<std::uint32_t>(make(2 * kBlocks).bits) << 16;
  };
  bench.expect(f16.read() == Words(512, pair(&F16::make)), "bulk addition of f16");
  bench.expect(bf16.read() == Words(512, pair(&BF16::make)), "bulk addition of bf16");
}

void check_cluster(Bench& bench) {
  const Words in = random_words(bench, 512);
  Words expected(4 * 4 * 512);
  for (unsigned block = 0; block < 4; ++block) {
    for (unsigned row = 0; row < 4; ++row) {
      for (unsigned i = 0; i < 512; ++i) {
        const bool numbered = row != 1 && i % 4 == 0;
        expected[(4 * block + row) * 512 + i] = in[i] + (numbered ? 1000 * (block % 2 ^ 1) : 0);
      }
    }
  }
  const DeviceArray<std::uint32_t> device_in(bench.driver, in);
  const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(expected.size()));
  bench.launch("culebra_ptx_cluster_copies", 4, 128, 0, out.at(0), device_in.at(0));
  bench.expect(out.read() == expected, "copies within a cluster");
}

}  // namespace

void check_ptx_async(Bench& bench) {
  const bool has_sm_90 = bench.driver.compute_capability() >= 90;
  check_cp_async(bench);
  check_mbarrier(bench, has_sm_90);
  if (!has_sm_90) return;
  check_bulk(bench);
  check_cluster(bench);
}

}  // namespace runner
