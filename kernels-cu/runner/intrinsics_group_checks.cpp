// What a block's threads get from cooperative groups and from kinds of memory:
// ../intrinsics/groups.cuh and memory.cuh have the same lists.
#include "intrinsics_checks.h"

namespace runner {

namespace {

constexpr unsigned kThreads = 64;
constexpr unsigned kWarp = 32;
using Row = std::vector<std::uint32_t>;
using Rows = std::vector<std::pair<const char*, Row>>;
// The threads of a group, by rank.
using Members = std::vector<unsigned>;

// The group of each thread: the threads of its part of so many for which `alike` holds with it.
template <class Alike>
Members group_of(unsigned thread, unsigned part, Alike alike) {
  Members members;
  for (unsigned other = thread / part * part; other < (thread / part + 1) * part; ++other) {
    if (alike(thread, other)) members.push_back(other);
  }
  return members;
}
Members tile_of(unsigned thread, unsigned size) {
  return group_of(thread, size, [](unsigned, unsigned) { return true; });
}
unsigned rank_of(unsigned thread, const Members& members) {
  return static_cast<unsigned>(std::find(members.begin(), members.end(), thread) - members.begin());
}

// A check for each row.
void compare(Bench& bench, const char* kernel, const Row& got, const Rows& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (unsigned t = 0; t < kThreads; ++t) {
      const std::uint32_t wanted = rows[i].second[t];
      if (got[kThreads * i + t] == wanted && t + 1 < kThreads) continue;
      bench.expect(got[kThreads * i + t] == wanted, "%s, %s: thread %u has %x, should have %x",
                   kernel, rows[i].first, t, got[kThreads * i + t], wanted);
      break;
    }
  }
}

}  // namespace

void check_group_intrinsics(Bench& bench) {
  Row in(kThreads);
  for (auto& value : in) value = static_cast<std::uint32_t>(bench.random() >> 11) % 1000;
  Rows rows;
  const auto expect = [&](const char* name, auto of_thread) {
    Row row(kThreads);
    for (unsigned t = 0; t < kThreads; ++t) row[t] = static_cast<std::uint32_t>(of_thread(t));
    rows.emplace_back(name, row);
  };
  const auto sum = [&](const Members& members, std::size_t count) {
    std::uint32_t result = 0;
    for (std::size_t i = 0; i < count; ++i) result += in[members[i]];
    return result;
  };
  const auto bits = [&](const Members& members, auto holds) {
    std::uint32_t result = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      result |= static_cast<std::uint32_t>(holds(members[i])) << i;
    }
    return result;
  };
  const auto shape = [](std::size_t size, unsigned rank, unsigned meta_rank, unsigned meta_size) {
    return static_cast<std::uint32_t>(size) | rank << 8 | meta_rank << 16 | meta_size << 24;
  };
  const auto is_odd = [&](unsigned t) { return (in[t] & 1) != 0; };

  expect("thread_block", [](unsigned t) { return kThreads | t << 16; });
  expect("grid_group", [](unsigned t) { return t | kThreads << 8; });
  expect("cluster_group", [](unsigned t) { return 1 | t << 8; });
  expect("tile of 8", [&](unsigned t) { return shape(8, t % 8, t / 8, 8); });
  expect("tile of 4 of a tile", [&](unsigned t) { return shape(4, t % 4, t / 4 % 2, 2); });
  expect("shfl", [&](unsigned t) { return in[t / 8 * 8 + 3]; });
  expect("shfl_down", [&](unsigned t) { return in[t % 8 + 2 < 8 ? t + 2 : t]; });
  expect("shfl_up", [&](unsigned t) { return in[t % 8 >= 3 ? t - 3 : t]; });
  expect("shfl_xor", [&](unsigned t) { return in[t ^ 5]; });
  expect("any and all", [&](unsigned t) {
    bool any = false, all = true;
    for (const unsigned m : tile_of(t, 8)) {
      any |= in[m] % 8 == 0;
      all &= in[m] % 8 != 1;
    }
    return unsigned{any} | unsigned{all} << 1;
  });
  expect("ballot", [&](unsigned t) { return bits(tile_of(t, 8), is_odd); });
  expect("match_any", [&](unsigned t) {
    return bits(tile_of(t, 8), [&](unsigned m) { return in[m] % 3 == in[t] % 3; });
  });
  expect("reduce plus", [&](unsigned t) { return sum(tile_of(t, 8), 8); });
  expect("reduce less",
         [&](unsigned t) { return *std::min_element(&in[t / 8 * 8], &in[t / 8 * 8] + 8); });
  expect("reduce greater",
         [&](unsigned t) { return *std::max_element(&in[t / 4 * 4], &in[t / 4 * 4] + 4); });
  expect("reduce bit_xor", [&](unsigned t) {
    std::uint32_t result = 0;
    for (const unsigned m : tile_of(t, kWarp)) result ^= in[m];
    return result;
  });
  expect("inclusive_scan", [&](unsigned t) { return sum(tile_of(t, 8), t % 8 + 1); });
  expect("exclusive_scan", [&](unsigned t) { return sum(tile_of(t, kWarp), t % kWarp); });
  expect("shfl of a struct", [](unsigned t) { return t / 8 * 8 + 6; });

  const auto odd_group = [&](unsigned t) {
    return group_of(t, kWarp, [&](unsigned a, unsigned b) { return is_odd(a) == is_odd(b); });
  };
  expect("binary_partition", [&](unsigned t) {
    const Members members = odd_group(t);
    const bool both = members.size() != kWarp;
    return shape(members.size(), rank_of(t, members), both && is_odd(t), both ? 2 : 1);
  });
  expect("reduce of a part", [&](unsigned t) { return sum(odd_group(t), odd_group(t).size()); });
  const auto alike = [&](unsigned t) {
    return group_of(t, kWarp, [&](unsigned a, unsigned b) { return in[a] % 5 == in[b] % 5; });
  };
  expect("labeled_partition", [&](unsigned t) {
    // Groups are in the order of their first threads.
    Members firsts;
    for (const unsigned m : tile_of(t, kWarp)) {
      if (alike(m)[0] == m) firsts.push_back(m);
    }
    return shape(alike(t).size(), rank_of(t, alike(t)), rank_of(alike(t)[0], firsts),
                 static_cast<unsigned>(firsts.size()));
  });
  expect("scan of a part", [&](unsigned t) { return sum(alike(t), rank_of(t, alike(t)) + 1); });

  // Of the lanes that went apart; the others have zeros.
  const auto apart = [&](const char* name, auto of_thread) {
    expect(name, [=](unsigned t) {
      const Members here =
          group_of(t, kWarp, [](unsigned, unsigned other) { return other % 3 == 1; });
      return t % 3 == 1 ? of_thread(t, here) : 0u;
    });
  };
  apart("coalesced_threads", [](unsigned t, const Members& here) {
    return static_cast<std::uint32_t>(here.size()) | rank_of(t, here) << 8;
  });
  apart("shfl in a branch", [&](unsigned, const Members& here) { return in[here[2]]; });
  apart("ballot in a branch", [&](unsigned, const Members& here) { return bits(here, is_odd); });
  apart("reduce in a branch",
        [&](unsigned, const Members& here) { return sum(here, here.size()); });
  apart("tiles in a branch", [&](unsigned t, const Members& here) {
    const auto size = static_cast<unsigned>(here.size()), rank = rank_of(t, here);
    return shape(std::min(4u, size - rank / 4 * 4), rank % 4, rank / 4, (size + 3) / 4);
  });
  apart("activemask in a branch", [](unsigned, const Members& here) {
    std::uint32_t mask = 0;
    for (const unsigned m : here) mask |= 1u << m % kWarp;
    return mask;
  });
  expect("invoke_one", [](unsigned) { return 1; });
  expect("invoke_one_broadcast", [](unsigned t) { return t / kWarp + 7; });

  const DeviceArray<std::uint32_t> device_in(bench.driver, in);
  const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(kThreads * rows.size()));
  bench.launch("culebra_intrinsics_groups", 1, kThreads, 0, out.at(0), device_in.at(0));
  compare(bench, "groups", out.read(), rows);
}

void check_memory_intrinsics(Bench& bench) {
  Row in(kThreads);
  for (auto& value : in) value = static_cast<std::uint32_t>(bench.random() >> 11);
  Rows rows;
  const auto all = [&](const char* name, std::uint32_t value) {
    rows.emplace_back(name, Row(kThreads, value));
  };
  // Bits: global, shared, local.
  all("kind of global memory", 1);
  all("kind of shared memory", 2);
  all("kind of local memory", 4);
  for (const char* name : {"generic to global and back", "generic to shared and back", "ldg",
                           "ldca", "ldcg", "ldcs", "ldlu", "ldcv"}) {
    rows.emplace_back(name, in);
  }
  const char* const stores[] = {"stwb", "stcg", "stcs", "stwt"};
  for (std::uint32_t i = 0; i < 4; ++i) all(stores[i], i + 1);
  const DeviceArray<std::uint32_t> device_in(bench.driver, in);
  const DeviceArray<std::uint32_t> scratch(bench.driver, Row(4 * kThreads));
  const DeviceArray<std::uint32_t> out(bench.driver, poison<std::uint32_t>(kThreads * rows.size()));
  bench.launch("culebra_intrinsics_memory", 1, kThreads, 0, out.at(0), device_in.at(0),
               scratch.at(0));
  compare(bench, "memory", out.read(), rows);
}

}  // namespace runner
