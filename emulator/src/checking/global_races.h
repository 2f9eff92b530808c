// Data races in global memory between the blocks of one launch: two accesses to the same byte, at
// least one of them a store and not both atomic, with nothing that orders them.
//
// Told of from several OS threads at once, about accesses that have not happened yet. So what a
// party has learned by an access is looked up at its next one: whoever published in between is then
// believed to be heard, which may hide a race and never makes one up.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "culebra_emu/image.h"

namespace culebra_emu {

// Up to which tick of its clock each party is known.
class Ticks {
 public:
  std::uint32_t of(std::uint32_t party) const { return party < ticks_.size() ? ticks_[party] : 0; }
  void learn(std::uint32_t party, std::uint32_t tick);
  // Whether that was new.
  bool learn(const Ticks& other);

 private:
  std::vector<std::uint32_t> ticks_;
};

struct RaceParty;

class GlobalRaces {
 public:
  struct Access {
    Index3 block = {};
    std::uint32_t thread = 0;  // the block's linear index of it
    std::uint32_t kind = 0;    // bits of culebra_emu/access.h
    const void* code = nullptr;
  };
  // What would have ordered the two.
  enum class Missing {
    kEverything,
    kRelease,  // the earlier one's block told the later one's, without a fence before that
    kAcquire,  // the later one's block was told, but has no fence behind that
  };
  struct Race {
    Access earlier;
    std::uint64_t address = 0;  // of the first byte that both touch
    Missing missing = Missing::kEverything;
  };

  // `code` is somewhere in the image of the kernel.
  GlobalRaces(Index3 cluster, const void* code);
  ~GlobalRaces();
  GlobalRaces(const GlobalRaces&) = delete;
  GlobalRaces& operator=(const GlobalRaces&) = delete;

  // What is not compared with itself: a cluster, or a block where there are none. All that its
  // threads do counts as done one after the other.
  std::shared_ptr<RaceParty> begin(Index3 first_block);

  // The first race that the access makes, if it makes one. `rank` is that of the block in the
  // cluster.
  std::optional<Race> access(RaceParty& party, std::uint32_t rank, const Access& access,
                             std::uint64_t address, std::uint64_t bytes);

  // A thread has passed a fence for the whole device: what its block did until now comes before
  // what those do who see a later atomic store of the block, and look no sooner than at a fence of
  // their own; and the other way round.
  void fence(RaceParty& party);

  // The barrier of a cooperative launch, of which these are all parties.
  void barrier(std::span<RaceParty* const> parties);

 private:
  friend struct RaceParty;

  // Of an access to a word of eight bytes.
  struct Record {
    std::uint32_t party = 0;
    std::uint32_t tick = 0;  // 0: no record
    std::int32_t code = 0;   // from code_ on
    std::uint16_t thread = 0;
    std::uint8_t mask = 0;              // of the word's bytes
    std::uint8_t kind : 3 = 0;          // kAccessRead, kAccessWrite, kAccessAtomic
    std::uint8_t within_block : 1 = 0;  // it was atomic for its block alone
    std::uint8_t rank : 4 = 0;
  };
  static constexpr std::uint64_t kWordBytes = 8;
  static constexpr std::uint64_t kPageBytes = 4096;
  static constexpr std::size_t kRecords = 4;
  using Word = std::array<Record, kRecords>;
  struct Page {
    std::mutex mutex;
    std::array<Word, kPageBytes / kWordBytes> words;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages;
  };

  // Eight bytes that somebody accesses by atomics.
  struct Location {
    // What those know who acquire here.
    Ticks published;
    // Who stored here last, and when.
    struct Store {
      std::uint32_t party = 0;
      std::uint32_t tick = 0;
    };
    std::array<Store, 8> stores = {};
    std::uint64_t store_count = 0;
  };

  Page& page_of(RaceParty& party, std::uint64_t number);
  std::optional<Race> compare(RaceParty& party, std::uint32_t rank, const Access& access,
                              std::uint64_t address, std::uint64_t bytes);
  void settle(RaceParty& party);
  bool is_before(const RaceParty& party, const Record& record, std::uint64_t word);
  void note_atomic(RaceParty& party, std::uint32_t kind, std::uint64_t address,
                   std::uint64_t bytes);
  Missing what_is_missing(const RaceParty& party, const Record& earlier);
  Access access_of(const Record& record);

  const Index3 cluster_;
  const char* const code_;

  std::array<Shard, 64> shards_;

  std::mutex parties_mutex_;
  std::deque<Index3> first_blocks_;  // by the party's number

  std::mutex locations_mutex_;
  std::unordered_map<std::uint64_t, Location> locations_;

  // What happened before this tick, by whomever, comes before all that happens now. Raised by the
  // barrier alone, for which all parties are on one OS thread.
  std::uint32_t floor_ = 0;
};

// What one party has done and knows. Used by one OS thread at a time.
struct RaceParty {
  explicit RaceParty(std::uint32_t its_number) : number(its_number) {}

  const std::uint32_t number;
  std::uint32_t tick = 1;
  Ticks known;
  // What was known at its last fence, and done until then: what a relaxed store passes on.
  Ticks fenced;
  bool has_news = false;     // since then: of others,
  bool has_accessed = true;  // or of its own
  // By the access that was told of last.
  std::vector<GlobalRaces::Location*> accessed;
  bool acquires = false;
  // Of each location that it has accessed: how many stores it came behind.
  std::unordered_map<const GlobalRaces::Location*, std::uint64_t> stores_seen;
  // Looked at by relaxed loads since the last fence.
  std::unordered_set<GlobalRaces::Location*> looked_at;
  // Looked at somehow, for diagnoses.
  std::array<const GlobalRaces::Location*, 16> recent = {};
  std::size_t next_recent = 0;

  struct CachedPage {
    std::uint64_t number = 0;
    GlobalRaces::Page* page = nullptr;
  };
  std::array<CachedPage, 16> pages = {};
};

}  // namespace culebra_emu
