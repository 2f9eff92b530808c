// Ordered loads, stores and atomics, and the fences: nothing that threads add or pass is lost.
#include "elements.h"
#include "ptx_checks.h"

namespace runner {

namespace {

template <class Word>
void check_scope(Bench& bench, const std::string& name, Word wide) {
  constexpr Word kThreads = 64, kSum = 64 * 63 / 2;
  std::vector<Word> in(kThreads);
  for (Word& x : in) x = static_cast<Word>(bench.random());
  std::vector<Word> expected{kThreads, static_cast<Word>(wide * kSum), kSum, 2 * kSum, 0, 1};
  expected.insert(expected.end(), kThreads, 1);
  for (const Word x : in) expected.push_back(x + 1);
  for (const Word x : in) expected.push_back(x + 2);
  for (Word t = 0; t < kThreads; ++t) expected.push_back((t + 1) % kThreads + 1);

  const DeviceArray<Word> device_in(bench.driver, in);
  const DeviceArray<Word> out(bench.driver, std::vector<Word>(expected.size()));
  bench.launch("culebra_ptx_sync_" + name, 1, kThreads, 0, out.at(0), device_in.at(0));
  std::vector<Word> got = out.read();
  bench.expect(got[4] >= 1 && got[4] <= kThreads, "atom.cas of %s: nobody was first", name.c_str());
  got[4] = 0;  // whoever it was
  for (std::size_t i = 0; i < got.size(); ++i) {
    bench.expect(got[i] == expected[i], "ordered accesses of %s: [%zu] is %llx, not %llx",
                 name.c_str(), i, static_cast<unsigned long long>(got[i]),
                 static_cast<unsigned long long>(expected[i]));
  }
}

}  // namespace

void check_ptx_sync(Bench& bench) {
  for (const std::string scope : {"cta", "gpu", "sys"}) {
    check_scope<std::uint32_t>(bench, scope + "_u32", 1u << 20);
    check_scope<std::uint64_t>(bench, scope + "_u64", std::uint64_t{1} << 40);
  }
}

}  // namespace runner
