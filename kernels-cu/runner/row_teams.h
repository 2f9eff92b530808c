// How kernels that keep rows on chip are launched and tried, whatever they compute: by teams of
// several sizes, each with rows of several lengths.
//
// MakeRows is called as make(variant, how, shape) and gives the checks of a variant: an object with
// length(l), contracts(l) and many(rows, l).
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "checks.h"

namespace runner {

constexpr int64_t kPackBytes = 16;

// What a family keeps on chip.
struct OnChip {
  int64_t element_bytes;
  int rows = 1;  // that a team keeps at a time

  int64_t pack() const { return kPackBytes / element_bytes; }
};

// A grid of so many teams at most; 0: as many as there are rows.
using TeamShape = std::function<LaunchShape(int64_t rows, int64_t length, unsigned teams)>;

template <class Rows>
void check_lengths(Rows&& rows, const std::vector<int64_t>& lengths, int64_t many) {
  for (const int64_t length : lengths) rows.length(length);
  rows.contracts(std::min<int64_t>(lengths.back(), 601));
  rows.many(many, lengths.back());
}

template <class MakeRows>
void check_lanes(const OnChip& chip, int packs, unsigned lanes, MakeRows make) {
  const unsigned per_block = 64 / lanes;
  auto rows = make("lanes" + std::to_string(packs), "by " + std::to_string(lanes) + " lanes",
                   [=](int64_t count, int64_t, unsigned blocks) {
                     const auto needed = static_cast<unsigned>((count + per_block - 1) / per_block);
                     return LaunchShape{blocks ? blocks : needed, lanes, per_block};
                   });
  const int64_t most = lanes * packs * chip.pack();
  for (const int64_t length : {int64_t(1), chip.pack() - 1, most / 2 + 1, most - 1, most}) {
    if (length > 0) rows.length(length);
  }
  rows.contracts(most);
  rows.many(3 * 64 / lanes + 1, most - 1);
}

template <class MakeRows>
void check_block(const OnChip& chip, const std::string& variant, unsigned threads, unsigned cluster,
                 const std::vector<int64_t>& lengths, MakeRows make) {
  const bool shared = variant.rfind("registers", 0) != 0;
  const std::string how = "by " + std::to_string(cluster) + " x " + std::to_string(threads);
  check_lengths(make(variant, how,
                     [=](int64_t count, int64_t length, unsigned wanted) {
                       const int64_t team = threads * cluster;
                       const int64_t packs = (length + chip.pack() - 1) / chip.pack();
                       const int64_t bytes =
                           chip.rows * ((packs + team - 1) / team) * threads * kPackBytes;
                       const unsigned teams = wanted ? wanted : static_cast<unsigned>(count);
                       return LaunchShape{teams * cluster, threads, 1,
                                          shared ? static_cast<unsigned>(bytes) : 0, cluster};
                     }),
                lengths, 4);
}

// All variants of a family. lanes_packs and block_packs are what their names end in.
template <class MakeRows>
void check_teams(Bench& bench, const OnChip& chip, const std::vector<int>& lanes_packs,
                 int block_packs, MakeRows make) {
  for (const unsigned lanes : {1u, 8u, 32u}) {
    for (const int packs : lanes_packs) check_lanes(chip, packs, lanes, make);
  }
  const std::string registers = "registers" + std::to_string(block_packs);
  const int64_t most = block_packs * chip.pack();  // of a thread
  check_block(chip, registers, 32, 1, {1, 65, 32 * most}, make);
  check_block(chip, registers, 160, 1, {601, 160 * most - 1}, make);
  check_block(chip, "shared", 32, 1, {1, 1023, 1024}, make);
  check_block(chip, "shared", 96, 1, {2049, 4097}, make);
  if (bench.driver.compute_capability() < 90) return;
  check_block(chip, "cluster", 32, 2, {1, 31, 1025}, make);
  check_block(chip, "cluster", 64, 4, {2048, 3001}, make);
  check_block(chip, "cluster", 32, 16, {63, 8192 / chip.rows + 1}, make);
  // What a block has to ask for.
  check_block(chip, "cluster", 256, 2, {2 * 56 * 1024 / chip.element_bytes / chip.rows - 3}, make);
}

}  // namespace runner
