// Runs the kernels of a root through a CUDA driver and checks what they compute. Small shapes, no
// framework: made to run under compute-sanitizer as well as on the emulator.
//
//   runner ROOT [DRIVER [FAMILY...]]      DRIVER defaults to libcuda.so.1; all families unless some
//   are named
//
// Exit status: 0 if every check held, 1 if one did not, 2 if it could not run.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "checks.h"

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
    const std::vector<std::string> named(argv + std::min(argc, 3), argv + argc);
    // What ships must be there; families for tests only may be.
    const auto wanted = [&](const char* family, bool ships) {
      return named.empty() ? ships || root.has_family(family)
                           : std::find(named.begin(), named.end(), family) != named.end();
    };
    if (wanted("selftest", false)) runner::check_selftest(bench);
    if (wanted("ptx", false)) runner::check_ptx(bench);
    if (wanted("intrinsics", false)) runner::check_intrinsics(bench);
    if (wanted("reduce", true)) runner::check_reduce(bench);
    if (wanted("softmax", true)) runner::check_softmax(bench);
    if (wanted("softmax_fused", true)) runner::check_softmax_fused(bench);
    if (wanted("softmax_split", true)) runner::check_softmax_split(bench);
    if (wanted("softmax_backward", true)) runner::check_softmax_backward(bench);
    if (wanted("topk", true)) runner::check_topk(bench);
    std::printf("kernel runner: %ld passed, %ld failed\n", bench.passed(), bench.failed());
    return bench.failed() == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kernel runner: %s\n", e.what());
    return 2;
  }
}
