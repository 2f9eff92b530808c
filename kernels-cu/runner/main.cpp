// Runs the kernels of a root through a CUDA driver and checks what they compute. Small shapes, no
// framework: made to run under compute-sanitizer as well as on the emulator.
//
//   runner ROOT [DRIVER [FAMILY...]]      DRIVER defaults to libcuda.so.1; all families unless some
//                                         are named. ptx/async is one theme of the family ptx,
//                                         softmax/bf16 the kernels of one type.
//
// Exit status: 0 if every check held, 1 if one did not, 2 if it could not run.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "checks.h"
#include "ptx_checks.h"

namespace {

struct Family {
  std::string name;
  void (*check)(runner::Bench& bench);
  bool ships;          // it must be there; one for tests only may be
  std::string type{};  // only its kernels of this type; all if empty
};

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"selftest", runner::check_selftest, false},
      {"ptx", runner::check_ptx, false},
      {"intrinsics", runner::check_intrinsics, false},
      {"reduce", runner::check_reduce, true},
      {"reduce_columns", runner::check_reduce_columns, true},
      {"reduce_segments", runner::check_reduce_segments, true},
      {"softmax", runner::check_softmax, true},
      {"softmax_fused", runner::check_softmax_fused, true},
      {"softmax_split", runner::check_softmax_split, true},
      {"softmax_additive", runner::check_softmax_additive, true},
      {"softmax_backward", runner::check_softmax_backward, true},
      {"topk", runner::check_topk, true},
      {"sampling", runner::check_sampling, true}};
  return all;
}

// What "FAMILY/TYPE" can be: the types of its kernels.
std::vector<const char*> types_of(const Family& family) {
  if (!family.ships) return {};
  const std::string& name = family.name;
  if (name == "topk" || name == "sampling") return {"f32", "f16", "bf16"};
  if (name.rfind("reduce", 0) == 0) return {"f32", "f16", "bf16", "f64", "i32", "i64"};
  return {"f32", "f16", "bf16", "f64"};
}

// What the names stand for, in the order of the names.
std::vector<Family> choose(const std::vector<std::string>& names, const runner::KernelRoot& root) {
  std::vector<Family> chosen;
  if (names.empty()) {
    for (const Family& family : families()) {
      if (family.ships || root.has_family(family.name)) chosen.push_back(family);
    }
    return chosen;
  }
  std::vector<Family> known = families();
  for (const runner::PtxTheme& theme : runner::kPtxThemes) {
    known.push_back({std::string("ptx/") + theme.name, theme.check, false});
  }
  for (const Family& family : families()) {
    for (const char* type : types_of(family)) {
      known.push_back({family.name + "/" + type, family.check, family.ships, type});
    }
  }
  for (const std::string& name : names) {
    const auto family = std::find_if(known.begin(), known.end(),
                                     [&](const Family& one) { return one.name == name; });
    if (family == known.end()) throw std::runtime_error("there are no checks of \"" + name + "\"");
    chosen.push_back(*family);
  }
  return chosen;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s ROOT [DRIVER [FAMILY...]]\n", argv[0]);
    return 2;
  }
  try {
    const runner::Driver driver(argc > 2 ? argv[2] : "libcuda.so.1");
    runner::KernelRoot root(driver, argv[1]);
    std::printf("kernel runner: %s, compute capability %d.%d\n", driver.device_name().c_str(),
                driver.compute_capability() / 10, driver.compute_capability() % 10);
    runner::Bench bench(driver, root);
    for (const Family& family : choose({argv + std::min(argc, 3), argv + argc}, root)) {
      const long before = bench.passed() + bench.failed();
      bench.only_type = family.type;
      family.check(bench);
      if (bench.passed() + bench.failed() == before) {
        throw std::runtime_error("nothing of " + family.name + " was checked");
      }
    }
    std::printf("kernel runner: %ld passed, %ld failed\n", bench.passed(), bench.failed());
    return bench.failed() == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kernel runner: %s\n", e.what());
    return 2;
  }
}
