// What kernels are made of: warp and block reductions for every number of warps and ragged blocks,
// the online merge, loads and stores.
#include <algorithm>
#include <cmath>

#include "checks.h"
#include "elements.h"

namespace runner {

namespace {

// Every number of whole warps, and blocks whose last warp is short.
std::vector<unsigned> block_sizes() {
  std::vector<unsigned> sizes;
  for (unsigned lanes = 1; lanes < 32; ++lanes) sizes.push_back(lanes);
  for (unsigned warps = 1; warps <= 32; ++warps) sizes.push_back(32 * warps);
  for (const unsigned ragged : {33u, 63u, 100u, 255u, 513u, 993u, 1023u}) sizes.push_back(ragged);
  return sizes;
}

// Small integers: a sum of them is exact in any order, so that results must be equal.
template <class E>
std::vector<typename E::Storage> integers(Bench& bench, std::size_t count) {
  std::vector<typename E::Storage> result(count);
  for (auto& x : result) x = E::make(std::floor(bench.uniform(-500, 500)));
  return result;
}

template <class T>
T reduced(const std::string& op, const T* first, const T* last) {
  T result = *first;
  while (++first != last) {
    result = op == "sum"   ? result + *first
             : op == "max" ? std::max(result, *first)
                           : std::min(result, *first);
  }
  return result;
}

template <class E>
void check_reductions(Bench& bench, const std::string& op) {
  using T = typename E::Storage;
  const std::string suffix = op + "_" + E::kName;
  constexpr int64_t kRepeats = 3;
  for (const unsigned threads : block_sizes()) {
    const std::vector<T> values = integers<E>(bench, kRepeats * threads);
    const DeviceArray<T> in(bench.driver, values);
    const DeviceArray<T> out(bench.driver, poison<T>(values.size()));

    bench.launch("culebra_selftest_warp_" + suffix, 1, threads, 0, out.at(0), in.at(0));
    std::vector<T> got = out.read();
    bool equal = true;
    for (unsigned t = 0; t < threads; ++t) {
      const unsigned first = t / 32 * 32;
      const T* row = values.data();
      equal &= got[t] == reduced(op, row + first, row + std::min(first + 32, threads));
    }
    bench.expect(equal, "warp %s with %u threads", suffix.c_str(), threads);

    bench.launch("culebra_selftest_block_" + suffix, 1, threads, 0, out.at(0), in.at(0), kRepeats);
    got = out.read();
    equal = true;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const T* row = &values[i / threads * threads];
      equal &= got[i] == reduced(op, row, row + threads);
    }
    bench.expect(equal, "block %s with %u threads", suffix.c_str(), threads);
  }
}

template <class E>
void check_online(Bench& bench) {
  using T = typename E::Storage;
  const std::string suffix = E::kName;
  const T scale = T(0.75);
  for (const unsigned threads : block_sizes()) {
    std::vector<T> values(threads);
    for (T& x : values) x = E::make(bench.uniform(-50, 50));
    if (threads > 2) values[threads / 2] = -INFINITY;
    const DeviceArray<T> in(bench.driver, values);
    const DeviceArray<T> device_m(bench.driver, poison<T>(threads));
    const DeviceArray<T> device_d(bench.driver, poison<T>(threads));
    bench.launch("culebra_selftest_online_block_" + suffix, 1, threads, 0, device_m.at(0),
                 device_d.at(0), in.at(0), scale);
    const std::vector<T> m = device_m.read();
    const std::vector<T> d = device_d.read();
    const T largest = *std::max_element(values.begin(), values.end());
    long double sum = 0;
    for (const T x : values) {
      if (x != -INFINITY) sum += std::exp((long double)(scale) * ((long double)(x)-largest));
    }
    bool holds = true;
    for (unsigned t = 0; t < threads; ++t) {
      holds &= m[t] == largest && same_bits(d[t], d[0]);
    }
    holds &= std::fabs(d[0] - sum) <= 64 * E::kArithmetic * sum;
    bench.expect(holds, "online block %s with %u threads: (%g, %.9g), should be (%g, %.9Lg)",
                 suffix.c_str(), threads, double(m[0]), double(d[0]), double(largest), sum);
  }

  // Pairs, each merged both ways round: the bits must agree.
  const T inf = INFINITY;
  const T nan = NAN;
  const std::vector<T> a_m{-inf, -inf, 2, 2, 5, -3, -inf, 1, T(0.1), 700};
  const std::vector<T> a_d{0, 0, 3, 3, 2, T(1.7), nan, nan, T(1.1), 1};
  const std::vector<T> b_m{-inf, 4, -inf, 2, 1, 4, 1, 9, T(0.3), -700};
  const std::vector<T> b_d{0, 2, 0, 4, 7, T(2.3), 1, 1, T(2.7), 5};
  const int64_t count = static_cast<int64_t>(a_m.size());
  const DeviceArray<T> am(bench.driver, a_m), ad(bench.driver, a_d);
  const DeviceArray<T> bm(bench.driver, b_m), bd(bench.driver, b_d);
  const DeviceArray<T> m1(bench.driver, poison<T>(count)), d1(bench.driver, poison<T>(count));
  const DeviceArray<T> m2(bench.driver, poison<T>(count)), d2(bench.driver, poison<T>(count));
  const std::string symbol = "culebra_selftest_online_merge_" + suffix;
  bench.launch(symbol, 2, 4, 0, m1.at(0), d1.at(0), am.at(0), ad.at(0), bm.at(0), bd.at(0), count,
               T(1));
  bench.launch(symbol, 2, 4, 0, m2.at(0), d2.at(0), bm.at(0), bd.at(0), am.at(0), ad.at(0), count,
               T(1));
  const std::vector<T> m = m1.read(), d = d1.read(), m_swapped = m2.read(), d_swapped = d2.read();
  for (int64_t i = 0; i < count; ++i) {
    const long double largest = std::max(a_m[i], b_m[i]);
    const auto share = [&](T pair_m, T pair_d) -> long double {
      return pair_m == -inf ? (std::isnan(pair_d) ? nan : 0) : pair_d * std::exp(pair_m - largest);
    };
    const long double wanted = share(a_m[i], a_d[i]) + share(b_m[i], b_d[i]);
    const bool value = std::isnan(wanted) ? bool(std::isnan(d[i]))
                                          : std::fabs(d[i] - wanted) <= 4 * E::kArithmetic * wanted;
    const bool commutes =
        m[i] == m_swapped[i] && (std::isnan(d[i]) || same_bits(d[i], d_swapped[i]));
    bench.expect(m[i] == largest && value && commutes,
                 "online merge %s, pair %ld: (%g, %.9g) and swapped (%g, %.9g), should be %.9Lg",
                 suffix.c_str(), long(i), double(m[i]), double(d[i]), double(m_swapped[i]),
                 double(d_swapped[i]), wanted);
  }
}

// All 16-bit patterns, or random bits of a wider type; read and written at every alignment.
template <class E>
void check_echo(Bench& bench) {
  using T = typename E::Storage;
  for (const std::size_t offset : {0, 1, 3}) {
    std::vector<T> values(65536 + offset);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t bits = sizeof(T) == 2 ? i : bench.random();
      std::memcpy(static_cast<void*>(&values[i]), &bits, sizeof(T));
    }
    const DeviceArray<T> in(bench.driver, values);
    const DeviceArray<T> out(bench.driver, poison<T>(values.size()));
    const int64_t count = static_cast<int64_t>(values.size() - offset);
    bench.launch(std::string("culebra_selftest_echo_") + E::kName, 1, 256, 0, out.at(offset),
                 in.at(offset), count);
    const std::vector<T> got = out.read();
    std::size_t wrong = 0;
    for (std::size_t i = offset; i < values.size(); ++i) {
      const bool nan = std::isnan(E::value(values[i]));
      wrong += nan ? !std::isnan(E::value(got[i])) : !same_bits(got[i], values[i]);
    }
    bench.expect(wrong == 0, "echo %s at offset %zu: %zu elements differ", E::kName, offset, wrong);
  }
}

void check_small_kernels(Bench& bench) {
  constexpr int64_t kCount = 1000;
  const DeviceArray<float> y(bench.driver, poison<float>(kCount + 1));
  const float canary = y.read()[kCount];
  bench.launch("culebra_selftest_fill_f32", 3, 128, 0, y.at(0), 2.5f, kCount);
  std::vector<float> x(kCount);
  for (int64_t i = 0; i < kCount; ++i) x[i] = float(i);
  const DeviceArray<float> device_x(bench.driver, x);
  bench.launch("culebra_selftest_axpy_f32", 3, 128, 0, y.at(0), device_x.at(0), 0.5f, kCount);
  const std::vector<float> got = y.read();
  bool holds = same_bits(got[kCount], canary);
  for (int64_t i = 0; i < kCount; ++i) holds &= got[i] == 2.5f + 0.5f * float(i);
  bench.expect(holds, "fill and axpy");

  for (const unsigned threads : {1u, 37u, 1024u}) {
    const std::vector<float> values = integers<F32>(bench, threads);
    const DeviceArray<float> in(bench.driver, values);
    const DeviceArray<float> out(bench.driver, poison<float>(threads));
    bench.launch("culebra_selftest_reverse_f32", 1, threads, 4 * threads, out.at(0), in.at(0));
    bench.expect(out.read() == std::vector<float>(values.rbegin(), values.rend()),
                 "reverse of %u through dynamic shared memory", threads);
  }

  const DeviceArray<std::uint32_t> word(bench.driver, {0});
  bench.launch("culebra_selftest_spin_u32", 1, 1, 0, word.at(0), std::uint32_t{7},
               std::uint64_t{2'000'000});
  bench.expect(word.read()[0] == 7, "spin");
}

}  // namespace

void check_selftest(Bench& bench) {
  for (const char* op : {"sum", "max", "min"}) {
    check_reductions<F32>(bench, op);
    check_reductions<F64>(bench, op);
  }
  check_online<F32>(bench);
  check_online<F64>(bench);
  check_echo<F16>(bench);
  check_echo<BF16>(bench);
  check_echo<F32>(bench);
  check_echo<F64>(bench);
  check_small_kernels(bench);
}

}  // namespace runner
