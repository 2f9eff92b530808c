// A whole attention of cp.async, ldmatrix and mma.sync against float64, and how long it takes.
#include <chrono>

#include "elements.h"
#include "ptx_checks.h"

namespace runner {

void check_ptx_attention(Bench& bench) {
  constexpr unsigned kHeads = 4, kLength = 256, kDim = 64;
  constexpr float kScale = 0.125f;
  std::vector<BF16::Storage> q(kHeads * kLength * kDim), k(q.size()), v(q.size());
  for (auto* tensor : {&q, &k, &v}) {
    for (BF16::Storage& x : *tensor) x = BF16::make(bench.uniform(-2, 2));
  }
  const DeviceArray<BF16::Storage> device_q(bench.driver, q), device_k(bench.driver, k);
  const DeviceArray<BF16::Storage> device_v(bench.driver, v);
  const DeviceArray<float> out(bench.driver, poison<float>(q.size()));
  double seconds = INFINITY;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    bench.launch("culebra_ptx_attention", kHeads * kLength / 64, 128, 0, out.at(0), device_q.at(0),
                 device_k.at(0), device_v.at(0), std::uint32_t{kLength}, kScale * 1.44269504f);
    seconds = std::min(
        seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  const std::vector<float> got = out.read();
  double worst = 0;
  std::vector<double> weights(kLength);
  for (unsigned row = 0; row < kHeads * kLength; ++row) {
    const std::size_t head = std::size_t{row / kLength} * kLength * kDim;
    double largest = -INFINITY;
    for (unsigned key = 0; key < kLength; ++key) {
      double score = 0;
      for (unsigned d = 0; d < kDim; ++d) {
        score += q[kDim * row + d].value() * k[head + kDim * key + d].value();
      }
      weights[key] = kScale * score;
      largest = std::max(largest, weights[key]);
    }
    double sum = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    for (unsigned d = 0; d < kDim; ++d) {
      double exact = 0;
      for (unsigned key = 0; key < kLength; ++key) {
        exact += weights[key] / sum * v[head + kDim * key + d].value();
      }
      const double error = std::fabs(got[kDim * row + d] - exact);
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  }
  // Each weight is rounded to 8 bits, and the values are at most 2.
  bench.expect(worst <= 0x1p-8, "attention: the largest error is %.3g", worst);
  std::printf("attention 1 x 4 x 256 x 256 x 64 in bf16: %.4f s, largest error %.2g\n", seconds,
              worst);
}

}  // namespace runner
