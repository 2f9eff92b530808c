// What kernels see: coordinates, parameters, collectives, barriers, shared memory, atomics.
#include <bit>
#include <cstring>
#include <set>

#include "support.h"

using namespace culebra_test;

TEST(axpy_computes) {
  use_device();
  const CUfunction axpy = function(load_test_module(), "axpy");
  constexpr std::size_t kCount = 10'007;
  Buffer<float> x(kCount), y(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    x.host[i] = static_cast<float>(i);
    y.host[i] = 1.0f;
  }
  x.upload();
  y.upload();
  RETURNS(0, launch(axpy, 40, 256, 0, nullptr, y.address, x.address, 2.0f,
                    static_cast<long long>(kCount)));
  y.download();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kCount; ++i)
    wrong += y.host[i] != 1.0f + 2.0f * static_cast<float>(i);
  CHECK_EQ(wrong, 0u);
}

TEST(threads_know_their_coordinates) {
  use_device();
  const CUfunction kernel = function(load_test_module(), "coordinates");
  Buffer<unsigned long long> out(3 * 4 * 5 * 7 * 3 * 2);
  void* arguments[] = {&out.address};
  RETURNS(0, cuLaunchKernel(kernel, 3, 4, 5, 7, 3, 2, 0, nullptr, arguments, nullptr));
  out.download();
  std::size_t wrong = 0, i = 0;
  for (unsigned long long bz = 0; bz < 5; ++bz)
    for (unsigned long long by = 0; by < 4; ++by)
      for (unsigned long long bx = 0; bx < 3; ++bx)
        for (unsigned long long tz = 0; tz < 2; ++tz)
          for (unsigned long long ty = 0; ty < 3; ++ty)
            for (unsigned long long tx = 0; tx < 7; ++tx)
              wrong += out.host[i++] !=
                       ((bx << 40) | (by << 32) | (bz << 24) | (tx << 12) | (ty << 6) | tz);
  CHECK_EQ(wrong, 0u);
}

// As test_kernels.cu declares it, without the shim.
struct Everything {
  signed char i8;
  short i16;
  int i32;
  long long i64;
  unsigned char u8;
  float f32;
  double f64;
  unsigned short f16;
  unsigned short bf16;
  std::uint64_t pointer;
};

TEST(a_struct_parameter_arrives_bit_by_bit) {
  use_device();
  const CUfunction echo = function(load_test_module(), "echo");
  std::size_t offset = 0, bytes = 0;
  RETURNS(0, cuFuncGetParamInfo(echo, 1, &offset, &bytes));
  CHECK_EQ(offset, 8u);
  CHECK_EQ(bytes, sizeof(Everything));
  Everything in;
  std::memset(&in, 0, sizeof in);
  in = {-128,
        -32768,
        -2147483647 - 1,
        -9'223'372'036'854'775'807 - 1,
        255,
        -0.0f,
        std::bit_cast<double>(0x7FF8DEADBEEF0001ull),
        0xFE01,
        0x0001,
        0x123456789ABCDEF0};
  Buffer<unsigned char> out(sizeof in);
  RETURNS(0, launch(echo, 1, 1, 0, nullptr, out.address, in));
  out.download();
  Everything got;
  std::memcpy(&got, out.host.data(), sizeof got);
  CHECK_EQ(got.i8, in.i8);
  CHECK_EQ(got.i16, in.i16);
  CHECK_EQ(got.i32, in.i32);
  CHECK_EQ(got.i64, in.i64);
  CHECK_EQ(got.u8, in.u8);
  CHECK_EQ(std::bit_cast<std::uint32_t>(got.f32), std::bit_cast<std::uint32_t>(in.f32));
  CHECK_EQ(std::bit_cast<std::uint64_t>(got.f64), std::bit_cast<std::uint64_t>(in.f64));
  CHECK_EQ(got.f16, in.f16);
  CHECK_EQ(got.bf16, in.bf16);
  CHECK_EQ(got.pointer, in.pointer);
}

TEST(warp_collectives_give_each_lane_its_result) {
  use_device();
  const CUfunction kernel = function(load_test_module(), "collectives");
  constexpr unsigned kRows = 23;
  Buffer<unsigned> out(32 * kRows, 0xABABABAB);
  RETURNS(0, launch(kernel, 1, 32, 0, nullptr, out.address));
  out.download();
  using Expected = unsigned (*)(unsigned lane);
  const Expected expected[kRows] = {
      [](unsigned) { return 50u; },
      [](unsigned l) { return (l + 1) % 32 * 10; },
      [](unsigned l) { return (l / 8 * 8 + 2) * 10; },
      [](unsigned l) { return (l >= 3 ? l - 3 : l) * 10; },
      [](unsigned l) { return (l + 3 < 32 ? l + 3 : l) * 10; },
      [](unsigned l) { return (l % 4 != 0 ? l - 1 : l) * 10; },
      [](unsigned l) { return (l % 4 != 3 ? l + 1 : l) * 10; },
      [](unsigned l) { return (l ^ 7) * 10; },
      [](unsigned) { return 0x49249249u; },
      [](unsigned) { return 1u; },
      [](unsigned) { return 0u; },
      [](unsigned) { return 1u; },
      [](unsigned) { return 0u; },
      [](unsigned l) { return 0xFFu << (l / 8 * 8); },
      [](unsigned) { return 496u; },
      [](unsigned) { return static_cast<unsigned>(-7); },
      [](unsigned) { return 0xFFFFFFFFu; },
      [](unsigned l) { return l < 16 ? l ^ 1 : 0xAAAA0000u; },
      [](unsigned) { return 1u; },
      [](unsigned) { return 0xFFFFFFFFu; },
      [](unsigned) { return 5u; },
      [](unsigned) { return 0u; },
      [](unsigned) { return 1u; },
  };
  for (unsigned row = 0; row < kRows; ++row) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (out.host[32 * row + lane] != expected[row](lane)) {
        check(false, __FILE__, __LINE__,
              "row " + std::to_string(row) + ", lane " + std::to_string(lane) + ": " +
                  std::to_string(out.host[32 * row + lane]) + ", expected " +
                  std::to_string(expected[row](lane)));
      }
    }
  }
}

TEST(block_sums_for_every_warp_count) {
  use_device();
  const CUfunction kernel = function(load_test_module(), "block_sums");
  for (unsigned warps = 1; warps <= 32; ++warps) {
    const unsigned threads = 32 * warps;
    Buffer<float> in(threads), out(3 * threads);
    float sum = 0;
    for (unsigned i = 0; i < threads; ++i) sum += in.host[i] = static_cast<float>(i % 13);
    in.upload();
    RETURNS(0, launch(kernel, 3, threads, 0, nullptr, out.address, in.address, 4));
    out.download();
    std::size_t wrong = 0;
    for (const float value : out.host) wrong += value != 2 * sum;
    CHECK_EQ(wrong, 0u);
  }
}

// Many blocks on few stacks: nothing of one block may show in the next.
TEST(fibers_are_used_again) {
#if defined(__SANITIZE_THREAD__)
  constexpr unsigned kBlocks = 10;  // a switch of fibers takes a thousand times as long
#else
  constexpr unsigned kBlocks = 500;
#endif
  use_device();
  const CUfunction kernel = function(load_test_module(), "block_sums");
  Buffer<float> in(1024, 1.0f), out(1024 * kBlocks);
  for (int round = 0; round < 3; ++round) {
    const unsigned threads = round == 1 ? 96 : 1024;
    RETURNS(0, launch(kernel, kBlocks, threads, 0, nullptr, out.address, in.address, 1));
    out.download();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < std::size_t{kBlocks} * threads; ++i)
      wrong += out.host[i] != 2.0f * static_cast<float>(threads);
    CHECK_EQ(wrong, 0u);
  }
}

TEST(atomics_lose_nothing) {
  use_device();
  const CUfunction kernel = function(load_test_module(), "atomics");
  Buffer<unsigned> counters(6);
  counters.host[3] = 5000;
  counters.upload();
  Buffer<float> sum(1);
  RETURNS(0, launch(kernel, 300, 256, 0, nullptr, counters.address, sum.address));
  counters.download();
  sum.download();
  CHECK_EQ(counters.host[0], 300u * 256);
  CHECK_EQ(counters.host[1], 300u * 256 - 1);
  CHECK_EQ(counters.host[2], 300u * 256 % 10);
  CHECK_EQ(counters.host[3], 1000u - 255);
  CHECK_EQ(counters.host[4], 7u);
  CHECK_EQ(counters.host[5], 3u);
  CHECK_EQ(sum.host[0], 300 * 256 * 0.5f);
}

TEST(shared_memory_is_poisoned_for_each_block) {
  use_device();
  const CUfunction kernel = function(load_test_module(), "shared_poison");
  constexpr unsigned kBytes = 232448 - 256;
  RETURNS(0, cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kBytes));
  Buffer<unsigned> out(4 * 8);
  RETURNS(0, launch(kernel, 8, 1, kBytes, nullptr, out.address, kBytes / 4));
  out.download();
  for (unsigned block = 0; block < 8; ++block) {
    CHECK_EQ(out.host[4 * block], 0xFFFFFFFFu);
    CHECK_EQ(out.host[4 * block + 1], 0xFFFFFFFFu);
    CHECK_EQ(out.host[4 * block + 2], 1u);
    CHECK_EQ(out.host[4 * block + 3], 2u);
  }
  int bytes = 0;
  RETURNS(0, cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel));
  CHECK_EQ(bytes, 256);
}

TEST(static_and_dynamic_shared_memory_share_the_default_limit, {},
     "256 bytes static and 49152 dynamic, exceeds 49152 bytes: a device refuses the launch") {
  use_device();
  const CUfunction kernel = function(load_test_module(), "shared_poison");
  Buffer<unsigned> out(4);
  RETURNS(0, launch(kernel, 1, 1, 49152, nullptr, out.address, 49152u / 4));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
}

TEST(static_and_dynamic_shared_memory_share_the_largest_limit, {},
     "256 bytes static and 232448 dynamic, exceeds 232448 bytes: a device refuses the launch") {
  use_device();
  const CUfunction kernel = function(load_test_module(), "shared_poison");
  RETURNS(0, cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
  Buffer<unsigned> out(4);
  RETURNS(0, launch(kernel, 1, 1, 232448, nullptr, out.address, 232448u / 4));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
}

TEST(known_static_shared_memory_counts_before_the_launch) {
  use_device();
  const CUfunction kernel = function(load_test_module(), "shared_poison");
  Buffer<unsigned> out(4);
  RETURNS(0, launch(kernel, 1, 1, 1024, nullptr, out.address, 256u));
  RETURNS(0, cuCtxSynchronize());
  RETURNS(1, launch(kernel, 1, 1, 49152 - 252, nullptr, out.address, 256u));
  RETURNS(0, launch(kernel, 1, 1, 49152 - 256, nullptr, out.address, 256u));
  // The attribute alone lets a block have more.
  RETURNS(1, cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
  RETURNS(0, cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 49152));
  RETURNS(0, launch(kernel, 1, 1, 49152, nullptr, out.address, 256u));
  RETURNS(0, cuCtxSynchronize());
}

TEST(a_launch_that_sees_fewer_static_arrays_takes_none_away) {
  use_device();
  const CUfunction kernel = function(load_test_module(), "shared_in_branches");
  int bytes = 0;
  for (const unsigned both : {1u, 0u}) {
    Buffer<unsigned> out(4);
    RETURNS(0, launch(kernel, 1, 1, 0, nullptr, out.address, both));
    // Another kernel makes the executor forget.
    RETURNS(0, launch(function(load_test_module(), "shared_poison"), 1, 1, 16, nullptr, out.address,
                      4u));
    RETURNS(0, cuCtxSynchronize());
    RETURNS(0, cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel));
    CHECK_EQ(bytes, 1200);
  }
}

TEST(exited_threads_are_not_waited_for) {
  use_device();
  const CUfunction kernel = function(load_test_module(), "early_exit");
  Buffer<unsigned> out(128);
  RETURNS(0, launch(kernel, 1, 128, 0, nullptr, out.address));
  out.download();
  for (unsigned i = 0; i < 128; i += 2) {
    CHECK_EQ(out.host[i], 64u);
    CHECK_EQ(out.host[i + 1], 0x55555555u);
  }
}

TEST(a_polling_thread_lets_the_others_run) {
  use_device();
  const CUfunction kernel = function(load_test_module(), "poll");
  Buffer<unsigned> flag(1);
  RETURNS(0, launch(kernel, 1, 1024, 0, nullptr, flag.address));
  flag.download();
  CHECK_EQ(flag.host[0], 2u);
}

TEST(a_ragged_last_warp_works) {
  use_device();
  const CUfunction kernel = function(load_test_module(), "early_exit");
  Buffer<unsigned> out(38);
  RETURNS(0, launch(kernel, 1, 37, 0, nullptr, out.address));
  out.download();
  CHECK_EQ(out.host[0], 19u);
  CHECK_EQ(out.host[36], 19u);
  CHECK_EQ(out.host[37], 0x15u);
}
