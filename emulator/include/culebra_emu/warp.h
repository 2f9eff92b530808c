// Warp collectives: the lanes named by a mask meet, then each gets its result.
#pragma once

#include <cstring>
#include <type_traits>

#include "culebra_emu/thread.h"

namespace culebra_emu {

template <class Operand>
void warp_collective(const std::source_location& where, const char* operation, unsigned mask,
                     Operand& operand, CompleteCollective complete) {
  const Site at = site(where, operation);
  runtime->warp_collective(&this_thread(), &at, mask, &operand, complete);
}

// A lane's value, and the lane whose value it wants.
template <class T>
struct Shuffle {
  T value;
  T result;
  unsigned source;

  static void complete(void* const operands[kWarpSize]) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (operands[lane] == nullptr) continue;
      auto& mine = *static_cast<Shuffle*>(operands[lane]);
      const auto* other = static_cast<const Shuffle*>(operands[mine.source]);
      if (other != nullptr) {
        mine.result = other->value;
      } else {
        // The hardware gives an undefined value when the source does not take part: make that
        // visible.
        std::memset(static_cast<void*>(&mine.result), 0xFF, sizeof(T));
      }
    }
  }
};

template <class T>
T shuffle(const std::source_location& where, const char* operation, unsigned mask, T value,
          unsigned source) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8,
                "a shuffle moves values of at most 8 bytes");
  Shuffle<T> operand{value, value, source};
  warp_collective(where, operation, mask, operand, &Shuffle<T>::complete);
  return operand.result;
}

// The collectives that are a vote. Each is a type of its own, so that lanes of one mask that are in
// different ones are found.
enum class VoteKind { kBallot, kAny, kAll, kSync };

template <VoteKind kKind>
struct Vote {
  bool predicate;
  unsigned ballot;

  static void complete(void* const operands[kWarpSize]) {
    unsigned ballot = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const auto* vote = static_cast<const Vote*>(operands[lane]);
      if (vote != nullptr && vote->predicate) ballot |= 1u << lane;
    }
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (operands[lane] != nullptr) static_cast<Vote*>(operands[lane])->ballot = ballot;
    }
  }
};

template <VoteKind kKind>
unsigned vote(const std::source_location& where, const char* operation, unsigned mask,
              bool predicate) {
  Vote<kKind> operand{predicate, 0};
  warp_collective(where, operation, mask, operand, &Vote<kKind>::complete);
  return operand.ballot;
}

// Who of the lanes leads: the lowest that has not exited. A device promises only that it is always
// the same one.
struct Elect {
  unsigned leader;

  static void complete(void* const operands[kWarpSize]) {
    unsigned leader = 0;
    while (operands[leader] == nullptr) ++leader;
    for (unsigned lane = leader; lane < kWarpSize; ++lane) {
      if (operands[lane] != nullptr) static_cast<Elect*>(operands[lane])->leader = leader;
    }
  }
};

inline bool elect_sync(unsigned mask,
                       const std::source_location& where = std::source_location::current()) {
  Elect operand{0};
  warp_collective(where, "elect.sync", mask, operand, &Elect::complete);
  return operand.leader == this_thread().lane;
}

// kAll: the answer is the mask of all lanes, or 0 if one lane has another value.
template <class T, bool kAll>
struct Match {
  T value;
  unsigned same;

  static void complete(void* const operands[kWarpSize]) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (operands[lane] == nullptr) continue;
      auto& mine = *static_cast<Match*>(operands[lane]);
      mine.same = 0;
      for (unsigned other = 0; other < kWarpSize; ++other) {
        const auto* theirs = static_cast<const Match*>(operands[other]);
        if (theirs == nullptr) continue;
        if (std::memcmp(&theirs->value, &mine.value, sizeof(T)) == 0) {
          mine.same |= 1u << other;
        } else if (kAll) {
          mine.same = 0;
          break;
        }
      }
    }
  }
};

// A reduction over the mask's lanes, every lane getting the result.
template <class T, class Combine>
struct Reduce {
  T value;

  static void complete(void* const operands[kWarpSize]) {
    bool first = true;
    T total{};
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (operands[lane] == nullptr) continue;
      const T value = static_cast<const Reduce*>(operands[lane])->value;
      total = first ? value : Combine{}(total, value);
      first = false;
    }
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      if (operands[lane] != nullptr) static_cast<Reduce*>(operands[lane])->value = total;
    }
  }
};

template <class T, class Combine>
T warp_reduce(const std::source_location& where, const char* operation, unsigned mask, T value,
              Combine) {
  Reduce<T, Combine> operand{value};
  warp_collective(where, operation, mask, operand, &Reduce<T, Combine>::complete);
  return operand.value;
}

// A sub-warp has a power of two of lanes.
inline void require_width(int width) {
  constexpr std::uint32_t kLaunchFailed = 719;
  if (width <= 0 || width > static_cast<int>(kWarpSize) || (width & (width - 1)) != 0) {
    runtime->fail(&this_thread(), kLaunchFailed,
                  "the width of a shuffle is not 1, 2, 4, 8, 16 or 32");
  }
}

// The bounds that `width` gives a lane: sub-warps of `width` lanes shuffle among themselves.
inline unsigned sub_warp_first(unsigned lane, int width) {
  return lane & ~(static_cast<unsigned>(width) - 1);
}
inline unsigned sub_warp_last(unsigned lane, int width) {
  return sub_warp_first(lane, width) + static_cast<unsigned>(width) - 1;
}

}  // namespace culebra_emu

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              std::source_location where = std::source_location::current()) {
  culebra_emu::require_width(width);
  const unsigned lane = culebra_emu::this_thread().lane;
  const unsigned from = culebra_emu::sub_warp_first(lane, width) +
                        (static_cast<unsigned>(source) & (static_cast<unsigned>(width) - 1));
  return culebra_emu::shuffle(where, "__shfl_sync", mask, value, from);
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 std::source_location where = std::source_location::current()) {
  culebra_emu::require_width(width);
  const unsigned lane = culebra_emu::this_thread().lane;
  const bool inside = lane >= culebra_emu::sub_warp_first(lane, width) + delta;
  return culebra_emu::shuffle(where, "__shfl_up_sync", mask, value, inside ? lane - delta : lane);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   std::source_location where = std::source_location::current()) {
  culebra_emu::require_width(width);
  const unsigned lane = culebra_emu::this_thread().lane;
  const bool inside = lane + delta <= culebra_emu::sub_warp_last(lane, width);
  return culebra_emu::shuffle(where, "__shfl_down_sync", mask, value, inside ? lane + delta : lane);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                  std::source_location where = std::source_location::current()) {
  culebra_emu::require_width(width);
  const unsigned lane = culebra_emu::this_thread().lane;
  const unsigned other = lane ^ static_cast<unsigned>(lane_mask);
  const bool inside = other <= culebra_emu::sub_warp_last(lane, width);
  return culebra_emu::shuffle(where, "__shfl_xor_sync", mask, value, inside ? other : lane);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              std::source_location where = std::source_location::current()) {
  return culebra_emu::vote<culebra_emu::VoteKind::kBallot>(where, "__ballot_sync", mask,
                                                           predicate != 0);
}

inline int __any_sync(unsigned mask, int predicate,
                      std::source_location where = std::source_location::current()) {
  return culebra_emu::vote<culebra_emu::VoteKind::kAny>(where, "__any_sync", mask,
                                                        predicate != 0) != 0;
}

inline int __all_sync(unsigned mask, int predicate,
                      std::source_location where = std::source_location::current()) {
  return culebra_emu::vote<culebra_emu::VoteKind::kAll>(where, "__all_sync", mask,
                                                        predicate == 0) == 0;
}

inline void __syncwarp(unsigned mask = 0xFFFFFFFFu,
                       std::source_location where = std::source_location::current()) {
  culebra_emu::vote<culebra_emu::VoteKind::kSync>(where, "__syncwarp", mask, false);
}

// The lanes that came to this place together; see Runtime::converged_lanes.
inline unsigned __activemask(std::source_location where = std::source_location::current()) {
  const culebra_emu::Site at = culebra_emu::site(where, "__activemask");
  return culebra_emu::runtime->converged_lanes(&culebra_emu::this_thread(), &at);
}

template <class T>
unsigned __match_any_sync(unsigned mask, T value,
                          std::source_location where = std::source_location::current()) {
  culebra_emu::Match<T, false> operand{value, 0};
  culebra_emu::warp_collective(where, "__match_any_sync", mask, operand,
                               &culebra_emu::Match<T, false>::complete);
  return operand.same;
}

template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* predicate,
                          std::source_location where = std::source_location::current()) {
  culebra_emu::Match<T, true> operand{value, 0};
  culebra_emu::warp_collective(where, "__match_all_sync", mask, operand,
                               &culebra_emu::Match<T, true>::complete);
  *predicate = operand.same != 0;
  return operand.same;
}

#define CULEBRA_EMU_REDUCE_SYNC(name, type, expression)                                          \
  inline type __reduce_##name##_sync(                                                            \
      unsigned mask, type value, std::source_location where = std::source_location::current()) { \
    return culebra_emu::warp_reduce(where, "__reduce_" #name "_sync", mask, value,               \
                                    [](type a, type b) -> type { return expression; });          \
  }
CULEBRA_EMU_REDUCE_SYNC(add, unsigned, a + b)
CULEBRA_EMU_REDUCE_SYNC(min, unsigned, a < b ? a : b)
CULEBRA_EMU_REDUCE_SYNC(max, unsigned, a < b ? b : a)
CULEBRA_EMU_REDUCE_SYNC(and, unsigned, (a & b))
CULEBRA_EMU_REDUCE_SYNC(or, unsigned, a | b)
CULEBRA_EMU_REDUCE_SYNC(xor, unsigned, a ^ b)
CULEBRA_EMU_REDUCE_SYNC(add, int,
                        static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
CULEBRA_EMU_REDUCE_SYNC(min, int, a < b ? a : b)
CULEBRA_EMU_REDUCE_SYNC(max, int, a < b ? b : a)
#undef CULEBRA_EMU_REDUCE_SYNC
