// What a race detector keeps of the accesses to one word of memory, and what a new one does to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "culebra_emu/access.h"

namespace culebra_emu {

// Compares an access to the bytes of `mask` with the records of a word. The answer is a record that
// it makes a race with, if there is one; `place` becomes where the access's own record goes. A
// Record has the members `mask` and `kind` (bits of culebra_emu/access.h).
//
//   exists(record)       whether it says anything
//   is_before(record)    whether something orders it before the access
//   is_older(a, b)       which of two to give up where all places are taken
template <class Record, std::size_t kCount, class Exists, class IsBefore, class IsOlder>
std::optional<Record> compare_with_word(std::array<Record, kCount>& records, std::uint32_t mask,
                                        std::uint32_t kind, const Exists& exists,
                                        const IsBefore& is_before, const IsOlder& is_older,
                                        Record*& place) {
  std::optional<Record> race;
  const bool writes = (kind & kAccessWrite) != 0;
  place = nullptr;
  Record* oldest = &records[0];
  for (Record& record : records) {
    if (!exists(record)) {
      record = {};
      if (place == nullptr) place = &record;
      continue;
    }
    const bool before = is_before(record);
    const bool record_writes = (record.kind & kAccessWrite) != 0;
    if ((record.mask & mask) != 0 && !before && (writes || record_writes) &&
        (record.kind & kind & kAccessAtomic) == 0 && !race) {
      race = record;
    }
    // Whoever is unordered with the old access, and would make a race with it, is unordered with
    // this one too, and makes a race with it. (Only a plain access stands for a plain one.)
    const bool same_or_stronger = writes || !record_writes;
    const bool same_or_plainer = (kind & kAccessAtomic) == 0 || (record.kind & kAccessAtomic) != 0;
    if (before && same_or_stronger && same_or_plainer && (record.mask & ~mask) == 0) {
      record = {};
      place = &record;
    } else if (is_older(record, *oldest)) {
      oldest = &record;
    }
  }
  if (place == nullptr) {
    // Of equal age: a load rather than a store, which makes races with more.
    place = oldest;
    for (Record& record : records) {
      if (!is_older(*oldest, record) && (record.kind & kAccessWrite) == 0) {
        place = &record;
        break;
      }
    }
  }
  return race;
}

// Of the bytes [first, end) of memory, those that lie in the word that begins at `word`.
inline std::uint32_t bytes_in_word(std::uint64_t word, std::uint64_t word_bytes,
                                   std::uint64_t first, std::uint64_t end) {
  const std::uint64_t from = first > word ? first - word : 0;
  const std::uint64_t to = end - word < word_bytes ? end - word : word_bytes;
  return (std::uint32_t{1} << to) - (std::uint32_t{1} << from);
}

}  // namespace culebra_emu
