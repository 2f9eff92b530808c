#include "checking/race_detector.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "checking/word_records.h"
#include "culebra_emu/access.h"

namespace culebra_emu {
namespace {

constexpr std::uint64_t kWordBytes = 4;

}  // namespace

void RaceDetector::Knowledge::forget(std::uint32_t current_generation) {
  generation = current_generation;
  known_warps = 0;
}

std::uint32_t RaceDetector::Knowledge::of(std::uint32_t thread) const {
  const std::uint32_t warp = thread / kWarpSize;
  return (known_warps >> warp & 1) == 0 ? 0 : ticks[warp][thread % kWarpSize];
}

void RaceDetector::Knowledge::learn(const Knowledge& other) {
  for (std::uint32_t rest = other.known_warps; rest != 0; rest &= rest - 1) {
    const auto warp = static_cast<std::uint32_t>(__builtin_ctz(rest));
    if ((known_warps >> warp & 1) == 0) {
      ticks[warp] = other.ticks[warp];
    } else {
      for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
        ticks[warp][lane] = std::max(ticks[warp][lane], other.ticks[warp][lane]);
      }
    }
  }
  known_warps |= other.known_warps;
}

void RaceDetector::Knowledge::learn(std::uint32_t thread, std::uint32_t tick) {
  const std::uint32_t warp = thread / kWarpSize;
  if ((known_warps >> warp & 1) == 0) ticks[warp].fill(0);
  known_warps |= 1u << warp;
  std::uint32_t& known = ticks[warp][thread % kWarpSize];
  known = std::max(known, tick);
}

RaceDetector::RaceDetector(std::uint64_t bytes)
    : words_((bytes + kWordBytes - 1) / kWordBytes),
      knowledge_(static_cast<Knowledge*>(std::calloc(kThreads, sizeof(Knowledge)))) {
  void* memory = mmap(nullptr, words_ * sizeof(Word), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || knowledge_ == nullptr) throw std::bad_alloc();
  // All zero, which is a word without records.
  shadow_ = static_cast<Word*>(memory);
  begin_block();
}

RaceDetector::~RaceDetector() { munmap(shadow_, words_ * sizeof(Word)); }

void RaceDetector::Free::operator()(Knowledge* knowledge) const { std::free(knowledge); }

void RaceDetector::begin_block() {
  barrier();
  first_generation_ = generation_;
  clock_.fill(1);
  objects_.clear();
  peers_.generation = 0;
  fenced_.generation = 0;
}

void RaceDetector::barrier() { ++generation_; }

RaceDetector::Knowledge& RaceDetector::knowledge(std::uint32_t thread) {
  Knowledge& known = knowledge_.get()[thread];
  if (known.generation != generation_) known.forget(generation_);
  return known;
}

bool RaceDetector::is_before(const Record& record, std::uint32_t thread) {
  return record.thread == thread || record.generation != generation_ ||
         knowledge(thread).of(record.thread) >= record.tick;
}

void RaceDetector::meet(std::uint32_t warp, std::uint32_t mask) {
  Knowledge joined;
  joined.forget(generation_);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint32_t thread = warp * kWarpSize + static_cast<std::uint32_t>(__builtin_ctz(rest));
    joined.learn(knowledge(thread));
    joined.learn(thread, clock_[thread]);
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    knowledge(warp * kWarpSize + static_cast<std::uint32_t>(__builtin_ctz(rest))).learn(joined);
  }
}

void RaceDetector::part(std::uint32_t warp, std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    ++clock_[warp * kWarpSize + static_cast<std::uint32_t>(__builtin_ctz(rest))];
  }
}

void RaceDetector::hand_over(std::uint32_t thread, Knowledge& held) {
  if (held.generation != generation_) held.forget(generation_);
  held.learn(knowledge(thread));
  held.learn(thread, clock_[thread]);
}

void RaceDetector::take_over(std::uint32_t thread, const Knowledge& held) {
  if (held.generation == generation_) knowledge(thread).learn(held);
}

void RaceDetector::release(std::uint32_t thread, const void* object, bool to_peers) {
  hand_over(thread, objects_[object]);
  if (to_peers) hand_over(thread, peers_);
  ++clock_[thread];
}

void RaceDetector::acquire(std::uint32_t thread, const void* object) {
  const auto found = objects_.find(object);
  if (found != objects_.end()) take_over(thread, found->second);
}

void RaceDetector::hear_from_peers(std::uint32_t thread) { take_over(thread, peers_); }

void RaceDetector::proxy_fence(std::uint32_t thread) {
  hand_over(thread, fenced_);
  ++clock_[thread];
}

std::optional<RaceDetector::Access> RaceDetector::find_unfenced(std::uint64_t offset,
                                                                std::uint64_t bytes) const {
  // (Such copies move multiples of 16 bytes.)
  for (std::uint64_t word = offset / kWordBytes; word < (offset + bytes) / kWordBytes; ++word) {
    for (const Record& record : shadow_[word]) {
      if (!exists(record) || (record.kind & kAccessWrite) == 0) continue;
      if ((record.kind & kAccessProxy) != 0) continue;
      const bool fenced =
          record.generation < fenced_.generation ||
          (record.generation == fenced_.generation && fenced_.of(record.thread) >= record.tick);
      if (!fenced) return Access{record.thread, record.kind, codes_[record.code]};
    }
  }
  return std::nullopt;
}

std::uint32_t RaceDetector::index_of(const void* code) {
  const auto [entry, is_new] =
      code_indices_.try_emplace(code, static_cast<std::uint32_t>(codes_.size()));
  if (is_new) codes_.push_back(code);
  return entry->second;
}

std::optional<RaceDetector::Race> RaceDetector::access(const Access& access, std::uint64_t offset,
                                                       std::uint64_t bytes) {
  std::optional<Race> race;
  const std::uint32_t code = index_of(access.code);
  const std::uint64_t end = offset + bytes;
  for (std::uint64_t word = offset / kWordBytes; word * kWordBytes < end; ++word) {
    const std::uint32_t mask = bytes_in_word(word * kWordBytes, kWordBytes, offset, end);
    auto found = access_word(access, code, word, static_cast<std::uint8_t>(mask));
    if (found && !race) race = found;
  }
  return race;
}

std::optional<RaceDetector::Race> RaceDetector::access_word(const Access& access,
                                                            std::uint32_t code, std::uint64_t word,
                                                            std::uint8_t mask) {
  Record* place = nullptr;
  const auto other = compare_with_word(
      shadow_[word], mask, access.kind, [this](const Record& record) { return exists(record); },
      [&](const Record& record) { return is_before(record, access.thread); },
      [](const Record& a, const Record& b) { return a.generation < b.generation; }, place);
  *place = {generation_,
            clock_[access.thread],
            static_cast<std::uint16_t>(access.thread),
            mask,
            static_cast<std::uint8_t>(access.kind),
            code};
  if (!other) return std::nullopt;
  const int byte = __builtin_ctz(static_cast<unsigned>(other->mask & mask));
  return Race{{other->thread, other->kind, codes_[other->code]},
              access,
              word * kWordBytes + static_cast<std::uint64_t>(byte)};
}

}  // namespace culebra_emu
