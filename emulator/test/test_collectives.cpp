// Warp collectives against a model of them, for odd masks: partial warps, exited lanes, sub-warps.
#include <algorithm>
#include <bit>

#include "support.h"

using namespace culebra_test;

namespace {

constexpr unsigned kRows = 28;
constexpr unsigned kUntouched = 0xABABABAB;

using Lanes = std::vector<unsigned>;

// What each row must hold for the lane: `who` are the lanes that take part.
Lanes expected_of(unsigned lane, unsigned who, unsigned live, int width) {
  const auto w = static_cast<unsigned>(width);
  const unsigned first = lane / w * w, last = first + w - 1;
  const auto value_of = [](unsigned l) { return 1000 + 7 * l; };
  // An undefined source reads as all ones.
  const auto from = [&](unsigned source) {
    return (who >> source & 1) != 0 ? value_of(source) : 0xFFFFFFFFu;
  };
  Lanes rows;
  rows.push_back(from(first + (3 * lane + 5) % w));
  rows.push_back(from(lane >= first + 3 ? lane - 3 : lane));
  rows.push_back(from(lane + 2 <= last ? lane + 2 : lane));
  rows.push_back(from((lane ^ 5) <= last ? lane ^ 5 : lane));
  const unsigned partner = (lane ^ 1) <= last ? lane ^ 1 : lane;
  const bool there = (who >> partner & 1) != 0;
  rows.push_back(from(partner));
  // (A NaN has no value as an integer: those rows are compared only where the source takes part.)
  for (const unsigned defined : {value_of(partner), partner, partner}) {
    rows.push_back(there ? defined : kUntouched);
  }
  unsigned thirds = 0, odd = 0, fifths = 0, sum = 0, low = ~0u, high = 0, xors = 0;
  int least = 1000, most = -1000;
  for (unsigned l = 0; l < 32; ++l) {
    if ((who >> l & 1) == 0) continue;
    thirds |= (l % 3 == 0 ? 1u : 0u) << l;
    odd |= (l % 2 == lane % 2 ? 1u : 0u) << l;
    fifths |= (l / 5 == lane / 5 ? 1u : 0u) << l;
    sum += value_of(l);
    low = std::min(low, value_of(l));
    high = std::max(high, value_of(l));
    least = std::min(least, 20 - static_cast<int>(l));
    most = std::max(most, -static_cast<int>(l));
    xors ^= 3u << l;
  }
  const bool has_13 = (who >> 13 & 1) != 0;
  const bool same_13 = !has_13 || std::popcount(who) == 1;
  for (const unsigned row : {thirds,
                             has_13 ? 1u : 0u,
                             has_13 ? 0u : 1u,
                             fifths,
                             odd,
                             who,
                             1u,
                             same_13 ? who : 0u,
                             same_13 ? 1u : 0u,
                             sum,
                             low,
                             high,
                             0u - sum,
                             static_cast<unsigned>(least),
                             static_cast<unsigned>(most),
                             ~who,
                             who,
                             xors,
                             static_cast<unsigned>(std::countr_zero(who)) == lane ? 1u : 0u,
                             live}) {
    rows.push_back(row);
  }
  return rows;
}

void compare(unsigned threads, unsigned mask, unsigned exited, int width) {
  const CUfunction kernel = function(load_image("collective_kernels"), "collectives_of_mask");
  Buffer<unsigned> out(32 * kRows, kUntouched);
  RETURNS(0, launch(kernel, 1, threads, 0, nullptr, out.address, mask, exited, width));
  out.download();
  const unsigned existing = threads == 32 ? ~0u : (1u << threads) - 1;
  const unsigned live_with_rest = existing & ~exited;
  const unsigned who = mask & live_with_rest;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const bool takes_part = (who >> lane & 1) != 0;
    const Lanes expected = takes_part ? expected_of(lane, who, 0, width) : Lanes(kRows, kUntouched);
    CHECK_EQ(expected.size(), kRows);
    for (unsigned row = 0; row < kRows; ++row) {
      const unsigned got = out.host[32 * row + lane];
      // Who has exited by the last row is not said, but for the lane itself.
      if (takes_part && row == kRows - 1) {
        check((got >> lane & 1) != 0 && (got & ~live_with_rest) == 0, __FILE__, __LINE__,
              "activemask is " + std::to_string(got));
        continue;
      }
      if (takes_part && row >= 5 && row <= 7 && expected[row] == kUntouched) continue;
      if (got != expected[row]) {
        check(false, __FILE__, __LINE__,
              "mask " + std::to_string(mask) + ", exited " + std::to_string(exited) + ", width " +
                  std::to_string(width) + ", row " + std::to_string(row) + ", lane " +
                  std::to_string(lane) + ": " + std::to_string(got) + ", expected " +
                  std::to_string(expected[row]));
      }
    }
  }
}

void make_mistake(int which) {
  use_device();
  const CUfunction kernel = function(load_image("collective_kernels"), "collective_mistake");
  RETURNS(0, launch(kernel, 1, 32, 0, nullptr, which));
  RETURNS(719, cuCtxSynchronize());
}

}  // namespace

TEST(collectives_of_whole_warps_in_every_width) {
  use_device();
  for (const int width : {1, 2, 4, 8, 16, 32}) compare(32, ~0u, 0, width);
}

TEST(collectives_of_some_lanes) {
  use_device();
  for (const unsigned mask :
       {0x1u, 0x80000000u, 0x55555555u, 0xFFFF0000u, 0x00FFFF00u, 0x80000001u, 0x2000u}) {
    for (const int width : {8, 32}) compare(32, mask, 0, width);
  }
}

TEST(collectives_that_name_exited_lanes) {
  use_device();
  for (const unsigned exited : {0x1u, 0xAAAAAAAAu, 0x7FFFFFFFu, 0x2000u}) {
    compare(32, ~0u, exited, 32);
    compare(32, 0xFFFF0F0Fu, exited & 0x0FFFFFFFu, 16);
  }
}

TEST(collectives_of_partial_warps) {
  use_device();
  for (const unsigned threads : {1u, 7u, 14u, 31u}) {
    compare(threads, ~0u, 0, 32);
    compare(threads, (1u << threads) - 1, 0, 4);
  }
}

TEST(collectives_of_random_masks) {
  use_device();
  unsigned state = 12345;
  const auto draw = [&] {
    state = state * 1664525 + 1013904223;
    return state ^ state >> 15;
  };
  for (int i = 0; i < 60; ++i) {
    const unsigned exited = draw() & draw();
    const unsigned mask = draw() | exited;
    if ((mask & ~exited) == 0) continue;
    compare(32, mask, exited, 1 << draw() % 6);
  }
}

TEST(masks_of_several_sizes_in_one_warp) {
  use_device();
  Buffer<unsigned> out(32);
  RETURNS(0, launch(function(load_image("collective_kernels"), "quarters"), 1, 32, 0, nullptr,
                    out.address));
  out.download();
  unsigned expected = 0;
  for (unsigned quarter = 0; quarter < 4; ++quarter) {
    unsigned sum = 8 * 8 * quarter + 28;
    for (unsigned i = 0; i < quarter; ++i) sum *= 8;
    expected += 8 * sum;
  }
  for (const unsigned value : out.host) CHECK_EQ(value, expected);
}

TEST(a_shuffle_of_an_odd_width, {}, "the width of a shuffle is not 1, 2, 4, 8, 16 or 32") {
  make_mistake(0);
}
TEST(two_votes_of_one_mask, {}, "divergent warp: lanes of one mask wait in different collectives") {
  make_mistake(1);
}
TEST(a_lane_that_never_comes, {}, "deadlock: no thread can go on; threads 0-8,10-31") {
  make_mistake(2);
}
TEST(a_lane_outside_of_its_mask, {}, "thread (16,0,0) is not in the mask of its own") {
  make_mistake(3);
}
