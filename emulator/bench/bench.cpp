// How fast the emulator is, through the driver's interface: from a launch to its synchronisation.
//
//   bench LIBRARY KERNELS    of the emulator, and the folder of its images
//
// One line a workload: the median of several runs, how many elements that is a second, and what the
// machine's cores spent on a run together, which tells something on a busy machine, too.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

// What is counted: "elements", "launches" ...
template <class Run>
void measure(const char* name, std::int64_t count, const char* of_what, const Run& run) {
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
  std::printf("%-44s %9.3f ms  %9.3f M %s/s  (%.3f to %.3f ms, CPU %.3f ms)\n", name, 1e3 * median,
              1e-6 * static_cast<double>(count) / median, of_what, 1e3 * seconds.front(),
              1e3 * seconds.back(), 1e3 * cpu);
}

class Random {
 public:
  float uniform(float low, float high) {
    state_ = state_ * 1664525 + 1013904223;
    return low + (high - low) * static_cast<float>(state_ >> 8) / (1 << 24);
  }
  int integer(int low, int high) {
    return static_cast<int>(
        std::floor(uniform(static_cast<float>(low), static_cast<float>(high) + 1)));
  }

 private:
  std::uint32_t state_ = 1;
};

// Cut off, which small integers survive.
std::uint16_t bf16_bits(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}
float bf16_value(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float x;
  std::memcpy(&x, &wide, sizeof x);
  return x;
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
  Random random;
  for (float& x : in.host) x = random.uniform(-4, 4);
  in.upload();
  const SoftmaxParams params = {reinterpret_cast<void*>(out.address),
                                reinterpret_cast<const void*>(in.address),
                                rows,
                                row_length,
                                row_length,
                                row_length,
                                1.0};
  const std::string line = name + " " + std::to_string(rows) + " x " + std::to_string(row_length);
  measure(line.c_str(), rows * row_length, "elements", [&] {
    RETURNS(CUDA_SUCCESS, launch(kernel, static_cast<unsigned>(rows), 256, 0, nullptr, params));
    RETURNS(CUDA_SUCCESS, cuCtxSynchronize());
  });
  out.download();
  float sum = 0;
  for (std::int64_t i = 0; i < row_length; ++i) sum += out.host[static_cast<std::size_t>(i)];
  CHECK(sum > 0.999f && sum < 1.001f);
}

// Products of integers, of which every sum is exact.
void mma(const std::string& root) {
  constexpr unsigned kBlocks = 32, kThreads = 128, kRepeats = 200;
  const CUfunction kernel = shipped_kernel(root, "ptx", "culebra_ptx_mma_repeated");
  Random random;
  float a[16][16], b[16][8];
  Buffer<std::uint16_t> in(32 * 12);
  for (int lane = 0; lane < 32; ++lane) {
    // Two elements a register; the PTX ISA says which.
    for (int i = 0; i < 12; ++i) {
      const int r = i / 2;
      float& element = r < 4 ? a[lane / 4 + 8 * (r % 2)][8 * (r / 2) + 2 * (lane % 4) + i % 2]
                             : b[8 * (r - 4) + 2 * (lane % 4) + i % 2][lane / 4];
      element = static_cast<float>(random.integer(-8, 8));
      in.host[static_cast<std::size_t>(12 * lane + i)] = bf16_bits(element);
    }
  }
  in.upload();
  Buffer<float> out(std::size_t{4} * kBlocks * kThreads);
  measure("mma.sync m16n8k16 f32 bf16, 128 warps",
          std::int64_t{kBlocks} * kThreads / 32 * kRepeats * 16 * 8 * 16, "multiply-adds", [&] {
            RETURNS(CUDA_SUCCESS, launch(kernel, kBlocks, kThreads, 0, nullptr, out.address,
                                         in.address, kRepeats));
            RETURNS(CUDA_SUCCESS, cuCtxSynchronize());
          });
  out.download();
  for (std::size_t i = 0; i < out.host.size(); ++i) {
    const std::size_t lane = i / 4 % 32;
    float sum = 0;
    for (std::size_t k = 0; k < 16; ++k) {
      sum += a[lane / 4 + 8 * (i % 4 / 2)][k] * b[k][2 * (lane % 4) + i % 2];
    }
    CHECK_EQ(out.host[i], kRepeats * sum);
  }
}

void attention(const std::string& root) {
  constexpr std::size_t kHeads = 4, kLength = 256, kDim = 64;
  constexpr double kScale = 0.125;
  const CUfunction kernel = shipped_kernel(root, "ptx", "culebra_ptx_attention");
  Random random;
  Buffer<std::uint16_t> q(kHeads * kLength * kDim), k(q.host.size()), v(q.host.size());
  for (auto* tensor : {&q, &k, &v}) {
    for (std::uint16_t& x : tensor->host) x = bf16_bits(random.uniform(-2, 2));
    tensor->upload();
  }
  Buffer<float> out(q.host.size());
  // Two products of each query with each key.
  measure("attention of mma.sync 1 x 4 x 256 x 256 x 64", 2 * kHeads * kLength * kLength * kDim,
          "multiply-adds", [&] {
            RETURNS(CUDA_SUCCESS,
                    launch(kernel, kHeads * kLength / 64, 128, 0, nullptr, out.address, q.address,
                           k.address, v.address, static_cast<std::uint32_t>(kLength),
                           static_cast<float>(kScale * 1.4426950408889634)));
            RETURNS(CUDA_SUCCESS, cuCtxSynchronize());
          });
  out.download();
  // The first query of the last head.
  const std::size_t head = (kHeads - 1) * kLength * kDim;
  double sum = 0, exact = 0;
  for (std::size_t key = 0; key < kLength; ++key) {
    double score = 0;
    for (std::size_t d = 0; d < kDim; ++d) {
      score += bf16_value(q.host[head + d]) * bf16_value(k.host[head + kDim * key + d]);
    }
    sum += std::exp(kScale * score);
    exact += std::exp(kScale * score) * bf16_value(v.host[head + kDim * key]);
  }
  CHECK(std::fabs(out.host[head] - exact / sum) < 0x1p-8);
}

void empty_launches(const std::string& root) {
  const CUfunction kernel = shipped_kernel(root, "selftest", "culebra_selftest_fill_f32");
  Buffer<float> out(1);
  constexpr int kLaunches = 1000;
  measure("launches of one thread, one after the other", kLaunches, "launches", [&] {
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
  attention(root);
  mma(root);
  empty_launches(root);
  return 0;
}
