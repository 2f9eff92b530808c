// How fast the emulator is, through the driver's interface: from a launch to its synchronisation.
//
//   bench LIBRARY KERNELS    of the emulator, and the folder of its images
//
// One line a workload: the median of several runs, how many elements that is a second, and what the
// machine's cores spent on a run together, which tells something on a busy machine, too.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "culebra/params.h"
#include "support.h"

using namespace culebra_test;

// What does not work must not be timed.
void culebra_test::check(bool ok, const char* file, int line, const std::string& text) {
  if (ok) return;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, text.c_str());
  std::exit(1);
}

namespace {

double cpu_seconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <class Run>
void measure(const char* name, std::int64_t elements, const Run& run) {
  constexpr int kRuns = 9;
  run();  // images are loaded, stacks mapped
  std::vector<double> seconds;
  const double cpu_start = cpu_seconds();
  for (int i = 0; i < kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  const double cpu = (cpu_seconds() - cpu_start) / kRuns;
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[kRuns / 2];
  std::printf("%-40s %9.3f ms  %8.2f Melements/s  (%.3f to %.3f ms, CPU %.3f ms)\n", name,
              1e3 * median, 1e-6 * static_cast<double>(elements) / median, 1e3 * seconds.front(),
              1e3 * seconds.back(), 1e3 * cpu);
}

CUfunction shipped_kernel(const std::string& root, const char* family, const char* name) {
  const std::string image = read_file((root + "/sm_90/" + family + ".cubin").c_str());
  CUmodule module = nullptr;
  RETURNS(CUDA_SUCCESS, cuModuleLoadData(&module, image.data()));
  return function(module, name);
}

void softmax(const std::string& root, const char* variant, std::int64_t rows,
             std::int64_t row_length) {
  const std::string name = std::string("culebra_softmax_") + variant + "_f32";
  const CUfunction kernel = shipped_kernel(root, "softmax", name.c_str());
  Buffer<float> in(static_cast<std::size_t>(rows * row_length));
  Buffer<float> out(in.host.size());
  unsigned state = 1;
  for (float& x : in.host) {
    state = state * 1664525 + 1013904223;
    x = static_cast<float>(state >> 8) / (1 << 21) - 4.0f;
  }
  in.upload();
  const SoftmaxParams params = {reinterpret_cast<void*>(out.address),
                                reinterpret_cast<const void*>(in.address),
                                rows,
                                row_length,
                                row_length,
                                row_length,
                                1.0};
  const std::string line = name + " " + std::to_string(rows) + " x " + std::to_string(row_length);
  measure(line.c_str(), rows * row_length, [&] {
    RETURNS(CUDA_SUCCESS, launch(kernel, static_cast<unsigned>(rows), 256, 0, nullptr, params));
    RETURNS(CUDA_SUCCESS, cuCtxSynchronize());
  });
  out.download();
  float sum = 0;
  for (std::int64_t i = 0; i < row_length; ++i) sum += out.host[static_cast<std::size_t>(i)];
  CHECK(sum > 0.999f && sum < 1.001f);
}

void empty_launches(const std::string& root) {
  const CUfunction kernel = shipped_kernel(root, "selftest", "culebra_selftest_fill_f32");
  Buffer<float> out(1);
  constexpr int kLaunches = 1000;
  measure("launches of one thread, one after the other", kLaunches, [&] {
    for (int i = 0; i < kLaunches; ++i) {
      RETURNS(CUDA_SUCCESS, launch(kernel, 1, 1, 0, nullptr, out.address, 1.0f, std::int64_t{1}));
    }
    RETURNS(CUDA_SUCCESS, cuCtxSynchronize());
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s LIBRARY KERNELS\n", argv[0]);
    return 2;
  }
  setenv("CULEBRA_DRIVER", argv[1], 1);
  open_driver();
  use_device();
  const std::string root = argv[2];
  for (const char* variant : {"online", "safe"}) softmax(root, variant, 256, 4096);
  softmax(root, "online", 8192, 64);
  empty_launches(root);
  return 0;
}
