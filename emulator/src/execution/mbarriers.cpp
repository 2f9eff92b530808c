#include "execution/mbarriers.h"

#include <cstring>

#include "execution/emulated_block.h"

namespace culebra_emu {

std::string Mbarrier::describe() const {
  return "the mbarrier is in phase " + std::to_string(phase) + " and waits for " +
         std::to_string(pending) + " of " + std::to_string(expected) + " arrivals and " +
         std::to_string(bytes) + " bytes";
}

std::uint64_t Mbarriers::mark(std::size_t index) const {
  return 0x5B00'0000'0000'0000u | (group_ & 0xFFFFFFu) << 32 | index;
}

Mbarrier* Mbarriers::find(void* object, const char** wrong) {
  const auto place = by_object_.find(object);
  if (place == by_object_.end() || !barriers_[place->second].alive) {
    *wrong = "there is no initialised mbarrier object";
    return nullptr;
  }
  std::uint64_t bits;
  std::memcpy(&bits, object, sizeof bits);
  if (bits != mark(place->second)) {
    *wrong = "the mbarrier object was overwritten by an ordinary store or copy";
    return nullptr;
  }
  return &barriers_[place->second];
}

const char* Mbarriers::init(void* object, std::uint64_t count) {
  if (count == 0 || count > static_cast<std::uint64_t>(Mbarrier::kMaxCount)) {
    return "the count is not in 1 .. 2^20 - 1";
  }
  const auto [place, is_new] = by_object_.try_emplace(object, barriers_.size());
  if (is_new) barriers_.emplace_back();
  Mbarrier& barrier = barriers_[place->second];
  const std::uint64_t bits = mark(place->second);
  if (barrier.alive && std::memcmp(object, &bits, sizeof bits) == 0) {
    return "the mbarrier object is alive: mbarrier.inval must come first";
  }
  barrier = {};
  barrier.object = object;
  barrier.alive = true;
  barrier.expected = barrier.pending = static_cast<std::int64_t>(count);
  std::memcpy(object, &bits, sizeof bits);
  return nullptr;
}

const char* Mbarriers::inval(void* object) {
  const char* wrong = nullptr;
  Mbarrier* const barrier = find(object, &wrong);
  if (barrier == nullptr) return wrong;
  if (!barrier->landings.empty()) return "copies are on their way to the mbarrier";
  barrier->alive = false;
  std::memset(object, 0xFF, sizeof(std::uint64_t));
  return nullptr;
}

const char* Mbarriers::arrive(Mbarrier& barrier, std::uint64_t count, bool drop) {
  if (count == 0) return "an arrival of count 0";
  if (count > static_cast<std::uint64_t>(barrier.pending)) {
    return "more arrivals than the phase expects";
  }
  barrier.pending -= static_cast<std::int64_t>(count);
  if (drop) barrier.expected -= static_cast<std::int64_t>(count);
  end_phase_if_due(barrier);
  return nullptr;
}

const char* Mbarriers::expect(Mbarrier& barrier, std::uint64_t bytes) {
  if (bytes > static_cast<std::uint64_t>(Mbarrier::kMaxCount) ||
      barrier.bytes + static_cast<std::int64_t>(bytes) > Mbarrier::kMaxCount) {
    return "more than 2^20 - 1 bytes are expected";
  }
  barrier.bytes += static_cast<std::int64_t>(bytes);
  end_phase_if_due(barrier);
  return nullptr;
}

const char* Mbarriers::complete(Mbarrier& barrier, std::uint64_t bytes) {
  if (bytes > static_cast<std::uint64_t>(Mbarrier::kMaxCount) ||
      barrier.bytes - static_cast<std::int64_t>(bytes) < -Mbarrier::kMaxCount) {
    return "2^20 bytes or more came that nobody expected";
  }
  barrier.bytes -= static_cast<std::int64_t>(bytes);
  end_phase_if_due(barrier);
  return nullptr;
}

void Mbarriers::end_phase_if_due(Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
}

const Mbarrier* Mbarriers::find_unfinished(const EmulatedBlock& block) const {
  for (const Mbarrier& barrier : barriers_) {
    if (!barrier.alive || !block.shared.contains(barrier.object)) continue;
    for (const Landing& landing : barrier.landings) {
      if (landing.bulk.to != nullptr) return &barrier;
    }
  }
  return nullptr;
}

void Mbarriers::clear() {
  barriers_.clear();
  by_object_.clear();
  ++group_;
}

}  // namespace culebra_emu
