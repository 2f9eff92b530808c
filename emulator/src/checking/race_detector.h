// Data races in the shared memory of one block: two accesses of different threads to the same byte,
// at least one of them a store and not both atomic, with nothing that orders them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "culebra_emu/image.h"

namespace culebra_emu {

// Besides the bits of culebra_emu/access.h: by a copy of the asynchronous proxy, which sees its own
// stores without a fence.
inline constexpr std::uint32_t kAccessProxy = 128;

// Threads are numbered as the block's linear index has them. What orders accesses: the block's
// barrier, whatever makes threads meet() or hand over through an object (release and acquire). The
// threads of other blocks are not followed: what one was told, all may know.
class RaceDetector {
 public:
  struct Access {
    std::uint32_t thread = 0;
    std::uint32_t kind = 0;  // bits of culebra_emu/access.h
    const void* code = nullptr;
  };
  struct Race {
    Access earlier;
    Access later;
    std::uint64_t offset = 0;  // of the first byte that both touch
  };

  explicit RaceDetector(std::uint64_t bytes);
  ~RaceDetector();
  RaceDetector(const RaceDetector&) = delete;
  RaceDetector& operator=(const RaceDetector&) = delete;

  // Forgets everything.
  void begin_block();

  // The first race that the access makes, if it makes one.
  std::optional<Race> access(const Access& access, std::uint64_t offset, std::uint64_t bytes);

  // All threads that have not exited were here.
  void barrier();
  // The lanes of `mask` of a warp were here: what each did before comes before what each does
  // after. In between, whatever a lane does counts as done by all.
  void meet(std::uint32_t warp, std::uint32_t mask);
  void part(std::uint32_t warp, std::uint32_t mask);

  // What the thread did comes before what they do who acquire the object later; `to_peers`: also
  // before what they do who hear from other blocks later.
  void release(std::uint32_t thread, const void* object, bool to_peers);
  void acquire(std::uint32_t thread, const void* object);
  // Another block may have passed on whatever it was told.
  void hear_from_peers(std::uint32_t thread);

  // What the thread knows of is there for copies of the asynchronous proxy.
  void proxy_fence(std::uint32_t thread);
  // A store that no fence came behind, if there is one: for a copy that is issued now.
  std::optional<Access> find_unfenced(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  static constexpr std::uint32_t kWarps = 32;
  static constexpr std::uint32_t kThreads = kWarps * kWarpSize;

  // For each thread, up to which of its clock's ticks it is known. Most threads know of their own
  // warp only, so that the warps that are known are remembered.
  struct Knowledge {
    std::uint32_t generation = 0;
    std::uint32_t known_warps = 0;
    std::array<std::array<std::uint32_t, kWarpSize>, kWarps> ticks;

    void forget(std::uint32_t current_generation);
    std::uint32_t of(std::uint32_t thread) const;
    void learn(const Knowledge& other);
    void learn(std::uint32_t thread, std::uint32_t tick);
  };

  // Kept for each word of four bytes. A thread's earlier access is replaced by a later one that
  // stands for it in every comparison; if there are more than these, the oldest goes.
  struct Record {
    std::uint32_t generation = 0;  // 0: none
    std::uint32_t tick = 0;
    std::uint16_t thread = 0;
    std::uint8_t mask = 0;  // of the word's bytes
    std::uint8_t kind = 0;
    std::uint32_t code = 0;  // an index
  };
  static constexpr std::size_t kRecords = 8;
  using Word = std::array<Record, kRecords>;

  Knowledge& knowledge(std::uint32_t thread);
  void hand_over(std::uint32_t thread, Knowledge& held);
  void take_over(std::uint32_t thread, const Knowledge& held);
  bool is_before(const Record& record, std::uint32_t thread);
  bool exists(const Record& record) const { return record.generation >= first_generation_; }
  std::optional<Race> access_word(const Access& access, std::uint32_t code, std::uint64_t word,
                                  std::uint8_t mask);
  std::uint32_t index_of(const void* code);

  std::uint64_t words_;
  Word* shadow_;  // mapped, so that only what is used takes memory
  struct Free {
    void operator()(Knowledge* knowledge) const;
  };
  // Of each thread; all zero, which is of no generation, until the thread learns something.
  std::unique_ptr<Knowledge, Free> knowledge_;
  std::array<std::uint32_t, kThreads> clock_;
  std::unordered_map<const void*, Knowledge> objects_;
  Knowledge peers_;  // what any of the other blocks may know
  // Of the last generation with a fence; what was before that is fenced as well.
  Knowledge fenced_;

  // Raised at each barrier and never set back: a record of an earlier one is ordered before all
  // that happens now, and one of an earlier block is none.
  std::uint32_t generation_ = 1;
  std::uint32_t first_generation_ = 1;

  std::vector<const void*> codes_;
  std::unordered_map<const void*, std::uint32_t> code_indices_;
};

}  // namespace culebra_emu
