#include "model/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "checking/memory_index.h"
#include "model/pattern.h"
#include "model/slab.h"

namespace culebra_emu {
namespace {

// Addresses that nothing else on a 47-bit machine uses, and that are not used twice: a stale
// pointer faults.
#if defined(__SANITIZE_THREAD__)
// The only large range that this sanitizer leaves free.
constexpr std::uint64_t kFirstAddress = 0x0010'0000'0000;
constexpr std::uint64_t kLastAddress = 0x0070'0000'0000;
#else
constexpr std::uint64_t kFirstAddress = 0x2000'0000'0000;
constexpr std::uint64_t kLastAddress = 0x5000'0000'0000;
#endif

// How many bytes before the data are looked at; after it, all up to the guard page.
constexpr std::uint64_t kCheckedBefore = 64;

// A process may have 65,530 mappings (vm.max_map_count), and the rest of it needs some, too: a
// JVM, the fibers' stacks, the blocks' shared memory.
constexpr std::uint64_t kMostBetweenGuards = 8192;
std::atomic<std::uint64_t> between_guards = 0;

// What is so small is remembered on the heap, byte for byte, instead of in pages of its own.
constexpr std::uint64_t kSmallestTrackedInPages = 64 * 1024;

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

char* pointer(std::uint64_t address) { return reinterpret_cast<char*>(address); }

}  // namespace

std::uint64_t reserve_addresses(std::uint64_t bytes, std::uint64_t alignment) {
  static std::atomic<std::uint64_t> next = kFirstAddress;
  if (bytes > kLastAddress - kFirstAddress || alignment > kLastAddress - kFirstAddress) {
    throw std::bad_alloc();
  }
  bool began_again = false;
  for (std::uint64_t known = next.load();;) {
    // Side by side where the alignment allows it: neighbours of one protection are one mapping for
    // the operating system, of which a process may have only so many.
    const std::uint64_t start = round_up(known, alignment);
    if (start + bytes > kLastAddress) {
      // All used once: begin again, and skip what is still in use.
      if (began_again) throw std::bad_alloc();
      began_again = next.compare_exchange_strong(known, kFirstAddress);
      if (began_again) known = kFirstAddress;
      continue;
    }
    if (!next.compare_exchange_weak(known, start + bytes)) continue;
    void* memory = mmap(pointer(start), bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != MAP_FAILED) return start;
    if (errno != EEXIST) throw std::bad_alloc();
    known = start + bytes;
  }
}

bool is_reservable_address(std::uint64_t address) {
  return address >= kFirstAddress && address < kLastAddress;
}

Mapping::Mapping(std::uint64_t bytes) : bytes_(bytes) {
  constexpr std::uint64_t kLargest = kLastAddress - kFirstAddress;
  if (bytes > kLargest) throw std::bad_alloc();
  if (!place_between_guards()) place_in_slab();
  try {
    begin_use();
  } catch (...) {
    give_back_place();
    throw;
  }
}

bool Mapping::place_between_guards() {
  if (between_guards.fetch_add(1) >= kMostBetweenGuards) {
    between_guards.fetch_sub(1);
    return false;
  }
  const std::uint64_t room = round_up(bytes_, kAllocationAlign);
  const std::uint64_t data = round_up(room, page_bytes());
  const std::uint64_t length = data + 2 * page_bytes();
  try {
    start_ = reserve_addresses(length, page_bytes());
  } catch (const std::bad_alloc&) {
    between_guards.fetch_sub(1);
    return false;
  }
  if (mprotect(pointer(start_ + page_bytes()), data, PROT_READ | PROT_WRITE) != 0) {
    munmap(pointer(start_), length);
    between_guards.fetch_sub(1);
    return false;
  }
  length_ = length;
  address_ = start_ + page_bytes() + data - room;
  before_ = std::min(kCheckedBefore, data - room);
  behind_ = room - bytes_;
  fill_with_pattern(address_ - before_, address_);
  fill_with_pattern(address_ + bytes_, address_ + bytes_ + behind_);
  return true;
}

void Mapping::place_in_slab() {
  Slab::Place place = Slab::take(bytes_);
  slab_ = std::move(place.slab);
  address_ = place.address;
  before_ = kCheckedBefore;
  behind_ = place.zone_end - (address_ + bytes_);
}

Mapping::~Mapping() {
  end_use();
  if (bytes_ < kSmallestTrackedInPages) {
    std::free(written_);
  } else if (written_ != nullptr) {
    munmap(written_, bytes_);
  }
  give_back_place();
}

void Mapping::give_back_place() {
  if (slab_ != nullptr) {
    slab_->give_back(address_, bytes_);
    return;
  }
  forget_pattern(start_, start_ + length_);
  munmap(pointer(start_), length_);
  between_guards.fetch_sub(1);
}

void Mapping::track_writes() {
  void* memory = bytes_ < kSmallestTrackedInPages
                     ? std::malloc(bytes_)
                     : mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == nullptr || memory == MAP_FAILED) throw std::bad_alloc();
  written_ = static_cast<unsigned char*>(memory);
  begin_use();
}

void Mapping::begin_use() {
  if (written_ != nullptr && bytes_ < kSmallestTrackedInPages) {
    std::memset(written_, 0, bytes_);
  } else if (written_ != nullptr) {
    // Pages that are given up read as zeros, which stands for nothing written.
    madvise(written_, bytes_, MADV_DONTNEED);
  }
  memory_index().add({address_, bytes_, written_});
}

void Mapping::end_use() { memory_index().remove(address_); }

bool Mapping::intact() const {
  const std::uint64_t end = address_ + bytes_;
  return end_of_pattern(address_ - before_, address_) == address_ &&
         end_of_pattern(end, end + behind_) == end + behind_;
}

}  // namespace culebra_emu
