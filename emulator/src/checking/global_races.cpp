#include "checking/global_races.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "checking/word_records.h"
#include "execution/launch.h"

namespace culebra_emu {

void Ticks::learn(std::uint32_t party, std::uint32_t tick) {
  if (ticks_.size() <= party) ticks_.resize(party + std::size_t{1});
  ticks_[party] = std::max(ticks_[party], tick);
}

bool Ticks::learn(const Ticks& other) {
  if (ticks_.size() < other.ticks_.size()) ticks_.resize(other.ticks_.size());
  bool is_new = false;
  for (std::size_t i = 0; i < other.ticks_.size(); ++i) {
    is_new |= ticks_[i] < other.ticks_[i];
    ticks_[i] = std::max(ticks_[i], other.ticks_[i]);
  }
  return is_new;
}

namespace {

// One that is atomic for its block alone is as good as a plain one for the others.
bool is_atomic_for_all(std::uint32_t kind) {
  return (kind & kAccessAtomic) != 0 && (kind & kAccessWithinBlock) == 0;
}

}  // namespace

GlobalRaces::GlobalRaces(Index3 cluster, const void* code)
    : cluster_(cluster), code_(static_cast<const char*>(code)) {}
GlobalRaces::~GlobalRaces() = default;

std::shared_ptr<RaceParty> GlobalRaces::begin(Index3 first_block) {
  const std::lock_guard lock(parties_mutex_);
  first_blocks_.push_back(first_block);
  return std::make_shared<RaceParty>(static_cast<std::uint32_t>(first_blocks_.size() - 1));
}

std::optional<GlobalRaces::Race> GlobalRaces::access(RaceParty& party, std::uint32_t rank,
                                                     const Access& access, std::uint64_t address,
                                                     std::uint64_t bytes) {
  settle(party);
  party.has_accessed = true;
  const auto race = compare(party, rank, access, address, bytes);
  if (is_atomic_for_all(access.kind)) note_atomic(party, access.kind, address, bytes);
  return race;
}

bool GlobalRaces::is_before(const RaceParty& party, const Record& record, std::uint64_t word) {
  if (record.party == party.number || record.tick < floor_ ||
      party.known.of(record.party) >= record.tick) {
    return true;
  }
  if ((record.kind & kAccessAtomic) == 0) return false;
  // Who has seen an atomic store comes behind it at that place, if nowhere else: it may set back a
  // counter to which it has added last.
  const std::lock_guard lock(locations_mutex_);
  const auto found = locations_.find(word / kWordBytes);
  if (found == locations_.end()) return false;
  const Location& location = found->second;
  const auto seen = party.stores_seen.find(&location);
  if (seen == party.stores_seen.end()) return false;
  const std::uint64_t kept = std::min<std::uint64_t>(location.store_count, location.stores.size());
  for (std::uint64_t i = location.store_count - kept; i < seen->second; ++i) {
    const Location::Store& store = location.stores[i % location.stores.size()];
    if (store.party == record.party && store.tick == record.tick) return true;
  }
  return false;
}

GlobalRaces::Page& GlobalRaces::page_of(RaceParty& party, std::uint64_t number) {
  RaceParty::CachedPage& cached = party.pages[number % party.pages.size()];
  if (cached.page == nullptr || cached.number != number) {
    Shard& shard = shards_[number % shards_.size()];
    const std::lock_guard lock(shard.mutex);
    std::unique_ptr<Page>& page = shard.pages[number];
    if (page == nullptr) page = std::make_unique<Page>();
    cached = {number, page.get()};
  }
  return *cached.page;
}

std::optional<GlobalRaces::Race> GlobalRaces::compare(RaceParty& party, std::uint32_t rank,
                                                      const Access& access, std::uint64_t address,
                                                      std::uint64_t bytes) {
  std::optional<Race> race;
  const std::ptrdiff_t code = static_cast<const char*>(access.code) - code_;
  const bool is_near = code >= std::numeric_limits<std::int32_t>::min() &&
                       code <= std::numeric_limits<std::int32_t>::max();
  Record mine;
  mine.party = party.number;
  mine.tick = party.tick;
  mine.code = is_near ? static_cast<std::int32_t>(code) : 0;
  mine.thread = static_cast<std::uint16_t>(access.thread);
  mine.kind = access.kind &
              (kAccessRead | kAccessWrite | (is_atomic_for_all(access.kind) ? kAccessAtomic : 0));
  mine.within_block = (access.kind & kAccessWithinBlock) != 0;
  mine.rank = rank & 15;
  const std::uint64_t end = address + bytes;
  for (std::uint64_t at = address - address % kWordBytes; at < end;) {
    Page& page = page_of(party, at / kPageBytes);
    const std::uint64_t page_end = (at / kPageBytes + 1) * kPageBytes;
    const std::lock_guard lock(page.mutex);
    for (; at < end && at < page_end; at += kWordBytes) {
      mine.mask = static_cast<std::uint8_t>(bytes_in_word(at, kWordBytes, address, end));
      Record* place = nullptr;
      const auto other = compare_with_word(
          page.words[at % kPageBytes / kWordBytes], mine.mask, mine.kind,
          [](const Record& record) { return record.tick != 0; },
          [&](const Record& record) {
            // Two atomic ones come one after the other, and the later one stands for both.
            return (record.kind & mine.kind & kAccessAtomic) != 0 || is_before(party, record, at);
          },
          // Rather a load goes than a store, which makes races with more.
          [](const Record& a, const Record& b) {
            return (a.kind & kAccessWrite) < (b.kind & kAccessWrite);
          },
          place);
      *place = mine;
      if (!other || race) continue;
      const int byte = __builtin_ctz(static_cast<unsigned>(other->mask & mine.mask));
      race = Race{access_of(*other), at + static_cast<std::uint64_t>(byte),
                  what_is_missing(party, *other)};
    }
  }
  return race;
}

GlobalRaces::Access GlobalRaces::access_of(const Record& record) {
  const std::lock_guard lock(parties_mutex_);
  const Index3 first = first_blocks_[record.party];
  const Index3 inside = index_at(record.rank, cluster_);
  return {{first.x + inside.x, first.y + inside.y, first.z + inside.z},
          record.thread,
          record.kind | (record.within_block != 0 ? kAccessAtomic | kAccessWithinBlock : 0),
          code_ + record.code};
}

// By now the party's last access has happened.
void GlobalRaces::settle(RaceParty& party) {
  if (party.accessed.empty()) return;
  const std::lock_guard lock(locations_mutex_);
  for (const Location* location : party.accessed) {
    party.stores_seen[location] = location->store_count;
    if (party.acquires) party.has_news |= party.known.learn(location->published);
  }
  party.accessed.clear();
}

void GlobalRaces::note_atomic(RaceParty& party, std::uint32_t kind, std::uint64_t address,
                              std::uint64_t bytes) {
  const std::lock_guard lock(locations_mutex_);
  const bool writes = (kind & kAccessWrite) != 0;
  if (writes) party.known.learn(party.number, party.tick);
  party.acquires = (kind & kAccessDeviceAcquire) != 0;
  for (std::uint64_t at = address / kWordBytes; at <= (address + bytes - 1) / kWordBytes; ++at) {
    Location& location = locations_[at];
    if (writes) {
      // (What was published here before stays: an update passes it on, and a store that does not
      // would have to be known to have come later.)
      location.published.learn((kind & kAccessDeviceRelease) != 0 ? party.known : party.fenced);
      location.stores[location.store_count++ % location.stores.size()] = {party.number, party.tick};
    }
    party.accessed.push_back(&location);
    if ((kind & kAccessRead) == 0) continue;
    if (!party.acquires) party.looked_at.insert(&location);
    if (party.recent[(party.next_recent + party.recent.size() - 1) % party.recent.size()] !=
        &location) {
      party.recent[party.next_recent++ % party.recent.size()] = &location;
      party.next_recent %= party.recent.size();
    }
  }
  // What comes behind is not part of it.
  if (writes) ++party.tick;
}

void GlobalRaces::fence(RaceParty& party) {
  settle(party);
  if (!party.looked_at.empty()) {
    const std::lock_guard lock(locations_mutex_);
    for (const Location* location : party.looked_at) {
      party.has_news |= party.known.learn(location->published);
    }
    party.looked_at.clear();
  }
  // Each thread of a block may come here.
  if (std::exchange(party.has_news, false)) party.fenced = party.known;
  if (std::exchange(party.has_accessed, false)) party.fenced.learn(party.number, party.tick++);
}

void GlobalRaces::barrier(std::span<RaceParty* const> parties) {
  for (RaceParty* party : parties) floor_ = std::max(floor_, party->tick + 1);
  for (RaceParty* party : parties) party->tick = floor_;
}

// A page's lock is held: nobody takes one while it holds that of the locations.
GlobalRaces::Missing GlobalRaces::what_is_missing(const RaceParty& party, const Record& earlier) {
  const std::lock_guard lock(locations_mutex_);
  const auto knows = [&](const Location* location) {
    return location->published.of(earlier.party) >= earlier.tick;
  };
  if (std::any_of(party.looked_at.begin(), party.looked_at.end(), knows)) return Missing::kAcquire;
  for (const Location* location : party.recent) {
    if (location == nullptr) continue;
    for (const Location::Store& store : location->stores) {
      if (store.party == earlier.party && store.tick >= earlier.tick) return Missing::kRelease;
    }
  }
  return Missing::kEverything;
}

}  // namespace culebra_emu
