// Runs the kernels of a root through a CUDA driver and checks what they compute. Small shapes, no
// framework: made to run under compute-sanitizer as well as on the emulator.
//
//   runner ROOT [DRIVER]      DRIVER defaults to libcuda.so.1
//
// Exit status: 0 if every check held, 1 if one did not, 2 if it could not run.
#include <cstdio>
#include <exception>

#include "checks.h"

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: %s ROOT [DRIVER]\n", argv[0]);
    return 2;
  }
  try {
    const runner::Driver driver(argc == 3 ? argv[2] : "libcuda.so.1");
    runner::KernelRoot root(driver, argv[1]);
    std::printf("kernel runner: %s, compute capability %d.%d\n", driver.device_name().c_str(),
                driver.compute_capability() / 10, driver.compute_capability() % 10);
    runner::Bench bench(driver, root);
    if (root.has_family("selftest")) runner::check_selftest(bench);
    if (root.has_family("ptx")) runner::check_ptx(bench);
    runner::check_reduce(bench);
    runner::check_softmax(bench);
    std::printf("kernel runner: %ld passed, %ld failed\n", bench.passed(), bench.failed());
    return bench.failed() == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kernel runner: %s\n", e.what());
    return 2;
  }
}
