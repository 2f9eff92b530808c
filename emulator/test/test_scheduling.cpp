// Who runs when: drawn orders, threads that poll, time limits, cooperative grids, atomics.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "culebra/params.h"
#include "support.h"

using namespace culebra_test;

namespace {

CUfunction scheduling_kernel(const char* name) {
  return function(load_image("scheduling_kernels"), name);
}

// What another case of this program writes, under another environment.
std::string output_of(const char* name, const std::string& environment) {
  std::array<char, 4096> self = {};
  CHECK(readlink("/proc/self/exe", self.data(), self.size() - 1) > 0);
  const std::string command = "env " + environment + " '" + self.data() + "' " + name + " 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  CHECK(pipe != nullptr);
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  CHECK_EQ(pclose(pipe), 0);
  return text;
}

template <class T>
void print_hash(const std::vector<T>& values) {
  std::uint64_t hash = 14695981039346656037u;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (std::size_t i = 0; i < values.size() * sizeof(T); ++i) {
    hash = (hash ^ bytes[i]) * 1099511628211u;
  }
  std::fprintf(stderr, "%016llx\n", static_cast<unsigned long long>(hash));
}

CUfunction shipped_kernel(const char* family, const char* name) {
  const std::string path =
      std::string(std::getenv("CULEBRA_TEST_IMAGES")) + "/../kernels/sm_90/" + family + ".cubin";
  const std::string image = read_file(path.c_str());
  CUmodule module = nullptr;
  RETURNS(CUDA_SUCCESS, cuModuleLoadData(&module, image.data()));
  return function(module, name);
}

constexpr std::int64_t kRows = 7, kRowLength = 1234;

void fill(Buffer<float>& in) {
  unsigned state = 1;
  for (float& x : in.host) {
    state = state * 1664525 + 1013904223;
    x = static_cast<float>(state >> 8) / (1 << 20) - 8.0f;
  }
  in.upload();
}

// Numbers from 1 to 2 of either sign: a sum of them depends on their order. `sign` is the type's
// sign bit, `one` the bits of 1.
template <class Bits>
void fill_from_one_to_two(Buffer<Bits>& in, Bits sign, Bits one) {
  const Bits fraction = static_cast<Bits>(one & -one) - 1;
  std::uint64_t state = 1;
  for (Bits& x : in.host) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto drawn = static_cast<Bits>(state >> (64 - 8 * sizeof(Bits)));
    x = static_cast<Bits>((drawn & (sign | fraction)) | one);
  }
  in.upload();
}

// Larger than any result or state of a row.
constexpr std::size_t kBytesPerRow = 32;

void reduce(const std::string& kernel, CUdeviceptr in, std::int64_t rows, std::int64_t row_length,
            CUdeviceptr out) {
  const ReduceParams params = {reinterpret_cast<void*>(out),
                               reinterpret_cast<const void*>(in),
                               rows,
                               row_length,
                               row_length,
                               row_length,
                               1,
                               1.0};
  RETURNS(0, launch(shipped_kernel("reduce", kernel.c_str()), static_cast<unsigned>(rows), 128, 0,
                    nullptr, params));
}

template <class Bits>
void print_reductions(const std::string& type, Bits sign, Bits one) {
  Buffer<Bits> in(kRows * kRowLength);
  fill_from_one_to_two(in, sign, one);
  Buffer<unsigned char> out(kRows * kBytesPerRow);
  for (const char* op : {"sum_", "max_", "min_", "sum_states_"}) {
    reduce("culebra_reduce_" + (op + type), in.address, kRows, kRowLength, out.address);
    out.download();
    CHECK(out.host != std::vector<unsigned char>(out.host.size()));
    print_hash(out.host);
  }
  if (sizeof(Bits) < 4) return;
  Buffer<unsigned char> total(kBytesPerRow);
  reduce("culebra_reduce_sum_merge_" + type, out.address, 1, kRows, total.address);
  total.download();
  CHECK(total.host != std::vector<unsigned char>(kBytesPerRow));
  print_hash(total.host);
}

}  // namespace

TEST(print_order_of_threads) {
  use_device();
  constexpr unsigned kBlocks = 5, kThreads = 70;
  Buffer<unsigned> counters(2), order(2 * kBlocks * kThreads);
  RETURNS(0, launch(scheduling_kernel("order_of_threads"), kBlocks, kThreads, 0, nullptr,
                    counters.address, order.address));
  order.download();
  // Whatever the order, everybody comes once.
  std::vector<int> seen(kBlocks * kThreads);
  for (const unsigned thread : order.host) ++seen[thread];
  for (const int times : seen) CHECK_EQ(times, 2);
  print_hash(order.host);
}

TEST(a_seed_gives_an_order) {
  const std::string seven = output_of("print_order_of_threads", "CULEBRA_EMU_SHUFFLE=7");
  CHECK_EQ(output_of("print_order_of_threads", "CULEBRA_EMU_SHUFFLE=7"), seven);
  CHECK(output_of("print_order_of_threads", "CULEBRA_EMU_SHUFFLE=8") != seven);
  CHECK(output_of("print_order_of_threads", "CULEBRA_EMU_SHUFFLE=9") != seven);
}

TEST(print_softmax_bits) {
  use_device();
  Buffer<float> in(kRows * kRowLength), out(kRows * kRowLength);
  fill(in);
  const SoftmaxParams params = {reinterpret_cast<void*>(out.address),
                                reinterpret_cast<const void*>(in.address),
                                kRows,
                                kRowLength,
                                kRowLength,
                                kRowLength,
                                1.0};
  RETURNS(0, launch(shipped_kernel("softmax", "culebra_softmax_online_f32"), kRows, 256, 0, nullptr,
                    params));
  out.download();
  float sum = 0;
  for (std::int64_t i = 0; i < kRowLength; ++i) sum += out.host[static_cast<std::size_t>(i)];
  CHECK(sum > 0.999f && sum < 1.001f);
  print_hash(out.host);
}

TEST(our_softmax_does_not_depend_on_the_order) {
  const std::string usual = output_of("print_softmax_bits", "CULEBRA_EMU_SHUFFLE=0");
  for (const char* seed : {"CULEBRA_EMU_SHUFFLE=1", "CULEBRA_EMU_SHUFFLE=2"}) {
    CHECK_EQ(output_of("print_softmax_bits", seed), usual);
  }
}

TEST(print_reduce_bits) {
  use_device();
  print_reductions<std::uint16_t>("f16", 0x8000, 0x3C00);
  print_reductions<std::uint16_t>("bf16", 0x8000, 0x3F80);
  print_reductions<std::uint32_t>("f32", 0x80000000, 0x3F800000);
  print_reductions<std::uint64_t>("f64", std::uint64_t{1} << 63, std::uint64_t{0x3FF} << 52);
}

TEST(our_reductions_do_not_depend_on_the_order) {
  const std::string usual = output_of("print_reduce_bits", "CULEBRA_EMU_SHUFFLE=0");
  CHECK_EQ(std::count(usual.begin(), usual.end(), '\n'), 18);
  for (const char* seed : {"CULEBRA_EMU_SHUFFLE=1", "CULEBRA_EMU_SHUFFLE=2"}) {
    CHECK_EQ(output_of("print_reduce_bits", seed), usual);
  }
}

TEST(spin_locks_make_progress) {
  use_device();
  const CUfunction kernel = scheduling_kernel("spin_lock");
  Buffer<unsigned> lock(1), count(1);
  RETURNS(0, launch(kernel, 4, 200, 0, nullptr, lock.address, count.address));
  count.download();
  CHECK_EQ(count.host[0], 800u);
}

TEST(acquiring_loads_let_others_run) {
  use_device();
  Buffer<std::uint64_t> flags(3);
  Buffer<unsigned> out(3);
  RETURNS(0, launch(scheduling_kernel("acquire_flag"), 3, 1024, 0, nullptr, flags.address,
                    out.address));
  out.download();
  for (const unsigned value : out.host) CHECK_EQ(value, 42u);
}

// (In the emulator or in its own code.)
TEST(a_poll_without_end_meets_the_time_limit, {"CULEBRA_EMU_TIMEOUT_S=1"},
     "; threads 0-2,4-63 (63 of them) wait at __syncthreads in scheduling_kernels.cu:") {
  use_device();
  Buffer<unsigned> flag(1);
  RETURNS(0, launch(scheduling_kernel("poll_forever"), 1, 64, 0, nullptr, flag.address));
  RETURNS(702, cuCtxSynchronize());
}

namespace {

void expect_an_end(unsigned how) {
#if defined(__SANITIZE_THREAD__)
  skip("the thread sanitizer keeps signals back as long as a kernel runs");
#endif
  use_device();
  const CUfunction kernel = function(load_image("scheduling_kernels"), "loop_forever");
  Buffer<std::uint32_t> flag(1);
  Buffer<float> out(1);
  // Some blocks wait for a core until the time of others is over.
  RETURNS(0, launch(kernel, 9, 64, 0, nullptr, flag.address, out.address, how));
  RETURNS(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
  // As any failure it stays; the process goes on.
  RETURNS(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
}

}  // namespace

TEST(a_loop_over_a_volatile_load_meets_the_time_limit, {"CULEBRA_EMU_TIMEOUT_S=1"},
     "thread (0,0,0): not done after 1 s; it runs at ") {
  expect_an_end(0);
}
TEST(a_loop_over_arithmetic_meets_the_time_limit, {"CULEBRA_EMU_TIMEOUT_S=1"},
     "not done after 1 s") {
  expect_an_end(1);
}
TEST(a_loop_in_the_c_library_meets_the_time_limit, {"CULEBRA_EMU_TIMEOUT_S=1"},
     "not done after 1 s") {
  expect_an_end(2);
}
TEST(a_loop_that_keeps_others_from_running_meets_the_time_limit, {"CULEBRA_EMU_TIMEOUT_S=1"},
     "threads 1-63 (63 of them) have not started") {
  expect_an_end(3);
}

TEST(collectives_without_end_meet_the_time_limit, {"CULEBRA_EMU_TIMEOUT_S=1"},
     "not done after 1 s; ") {
  use_device();
  Buffer<unsigned> out(1);
  RETURNS(0, launch(scheduling_kernel("meet_forever"), 1, 32, 0, nullptr, out.address));
  RETURNS(702, cuCtxSynchronize());
}

TEST(a_cooperative_grid_meets) {
  use_device();
  const CUfunction kernel = scheduling_kernel("rounds_of_grid");
  for (const unsigned blocks : {1u, 7u, 132u, 600u}) {
    constexpr unsigned kRounds = 10;
    Buffer<unsigned> values(2 * blocks);
    values.host[0] = 1;
    values.upload();
    Buffer<std::uint64_t> arrived(1);
    unsigned rounds = kRounds;
    void* arguments[] = {&values.address, &arrived.address, &rounds};
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    const CUlaunchConfig config = {blocks, 1, 1, 96, 1, 1, 0, nullptr, &attribute, 1};
    // The barrier may be used again.
    for (int launches = 0; launches < 2; ++launches) {
      RETURNS(0, cuLaunchKernelEx(&config, kernel, arguments, nullptr));
    }
    values.download();
    std::vector<unsigned> now(blocks), next(blocks);
    now[0] = 1;
    for (unsigned round = 0; round < 2 * kRounds; ++round) {
      for (unsigned b = 0; b < blocks; ++b) next[b] = now[b] + now[(b + 1) % blocks];
      now = next;
    }
    std::size_t wrong = 0;
    for (unsigned b = 0; b < blocks; ++b) wrong += values.host[b] != now[b];
    CHECK_EQ(wrong, 0u);
  }
}

TEST(special_registers_tell_who_and_where) {
  use_device();
  Buffer<unsigned> out(9 * 2 * 100);
  RETURNS(0, launch(scheduling_kernel("special_registers"), 2, 100, 640, nullptr, out.address));
  out.download();
  std::size_t wrong = 0;
  for (unsigned i = 0; i < 200; ++i) {
    const unsigned lane = i % 100 % 32, bit = 1u << lane, below = bit - 1;
    const unsigned expected[9] = {lane,           i % 100 / 32, bit, below, below | bit,
                                  ~(below | bit), ~below,       640, 1};
    for (unsigned k = 0; k < 9; ++k) wrong += out.host[9 * i + k] != expected[k];
  }
  CHECK_EQ(wrong, 0u);
}

TEST(atomics_of_every_type) {
  use_device();
  Buffer<unsigned char> place(112);
  constexpr unsigned kThreads = 5 * 100;
  RETURNS(0, launch(scheduling_kernel("atomic_types"), 5, 100, 0, nullptr, place.address));
  place.download();
  const auto at = [&]<class T>(std::size_t offset, T) {
    T value;
    std::memcpy(&value, &place.host[offset], sizeof value);
    return value;
  };
  CHECK_EQ(at(0, int{}), -static_cast<int>(kThreads));
  CHECK_EQ(at(8, std::uint64_t{}), std::uint64_t{kThreads} << 33);
  CHECK_EQ(at(16, double{}), kThreads * 0.5);
  CHECK_EQ(at(24, std::int64_t{}), -(std::int64_t{99} << 32));
  CHECK_EQ(at(32, int{}), 94);
  CHECK_EQ(at(36, std::uint16_t{}), 0x5FD0);  // 500 in binary16
  CHECK_EQ(at(40, std::uint16_t{}), 0x5FD0);
  CHECK_EQ(at(42, std::uint16_t{}), 0x63D0);  // 1000
  CHECK_EQ(at(44, std::uint16_t{}), 0x4380);  // 256 in bfloat16, where 1 more rounds away
  CHECK_EQ(at(48, float{}), 500.0f);
  CHECK_EQ(at(60, float{}), 2000.0f);
  CHECK_EQ(at(64, unsigned{}), 3 * kThreads);
  CHECK_EQ(at(72, std::uint64_t{}), 5 * kThreads);
  CHECK_EQ(at(80, std::uint64_t{}), kThreads);
  CHECK_EQ(at(88, std::uint64_t{}), 2 * kThreads);
  CHECK_EQ(at(96, std::uint64_t{}), 7u);
  CHECK_EQ(at(104, std::uint64_t{}), 8u);
}

TEST(a_misaligned_atomic, {}, "misaligned address of an atomic access") {
  use_device();
  Buffer<unsigned> place(2);
  RETURNS(0, launch(scheduling_kernel("misaligned_atomic"), 1, 1, 0, nullptr, place.address));
  RETURNS(716, cuCtxSynchronize());
}
