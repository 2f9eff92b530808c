#include "execution/shared_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "words.h"

namespace culebra_emu {
namespace {

constexpr unsigned char kPoison = 0xFF;
constexpr unsigned char kPattern = 0xC5;
// How much of the pattern is kept on each side of an array.
constexpr std::ptrdiff_t kPatternBytes = 256;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

bool holds_pattern(const char* first, const char* last) {
  return std::all_of(first, last,
                     [](char byte) { return static_cast<unsigned char>(byte) == kPattern; });
}

}  // namespace

SharedLayout::SharedLayout() : page_(page_bytes()) { clear(); }

void SharedLayout::clear() {
  arrays_.clear();
  used_bytes_ = 0;
  next_page_ = begin();
  ++generation_;
}

std::uint64_t SharedLayout::end() const {
  // Each array has at most one page that is not full, and a guard page behind it.
  return begin() + round_up(kMaxStaticSharedBytes, page_) + kMaxArrays * 2 * page_;
}

const SharedLayout::Array* SharedLayout::find(const void* key) const {
  for (const Array& array : arrays_) {
    if (array.key == key) return &array;
  }
  return nullptr;
}

const SharedLayout::Array* SharedLayout::add(const void* key, std::uint64_t bytes,
                                             std::uint64_t align) {
  align = std::max(align, kAlign);
  const std::uint64_t packed = round_up(used_bytes_, align);
  if (packed + bytes > kMaxStaticSharedBytes || arrays_.size() == kMaxArrays || align > page_) {
    return nullptr;
  }
  const std::uint64_t room = round_up(bytes, align);
  const std::uint64_t end = next_page_ + round_up(room, page_);
  arrays_.push_back({key, bytes, next_page_, end - room, end});
  used_bytes_ = packed + bytes;
  next_page_ = end + page_;
  return &arrays_.back();
}

SharedMemory::SharedMemory(const SharedLayout& layout, bool guarded)
    : layout_(layout),
      guarded_(guarded),
      page_(page_bytes()),
      // Behind the arrays: a page for the pattern, the dynamic memory, a guard page.
      bytes_(layout.end() + 2 * page_ + round_up(kMaxDynamicSharedBytes, page_)) {
  void* memory = mmap(nullptr, bytes_, guarded ? PROT_NONE : PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || bytes_ >> kSharedWindowBits != 0) throw std::bad_alloc();
  memory_ = static_cast<char*>(memory);
}

SharedMemory::~SharedMemory() { munmap(memory_, bytes_); }

void SharedMemory::open(char* first, char* last) {
  if (!guarded_) return;
  if (mprotect(first, static_cast<std::size_t>(last - first), PROT_READ | PROT_WRITE) != 0) {
    throw std::bad_alloc();
  }
}

SharedMemory::Region SharedMemory::region_of(const SharedLayout::Array& array) const {
  return {memory_ + array.first_page, memory_ + array.offset, memory_ + array.end_page, array.bytes,
          false};
}

void SharedMemory::begin_block(std::uint32_t dynamic_bytes) {
  closed_ = false;
  char* const last = memory_ + bytes_ - page_;
  if (!dynamic_opened_) {
    open(memory_ + layout_.end(), last);
    dynamic_opened_ = true;
  }
  char* const address = last - round_up(dynamic_bytes, kDynamicAlign);
  dynamic_ = {address - kPatternBytes, address, last, dynamic_bytes, true};
  dynamic_.prepare();
  if (generation_ != layout_.generation()) {
    // Another kernel's arrays were here.
    close_arrays();
    generation_ = layout_.generation();
  }
  for (Region& region : arrays_) region.prepare();
  const std::vector<SharedLayout::Array>& arrays = layout_.arrays();
  while (arrays_.size() < arrays.size()) begin_array(arrays[arrays_.size()]);
}

void SharedMemory::begin_array(const SharedLayout::Array& array) {
  arrays_.push_back(region_of(array));
  open(arrays_.back().first, arrays_.back().last);
  arrays_.back().prepare();
}

void SharedMemory::close_arrays() {
  arrays_.clear();
  if (guarded_) mprotect(memory_, layout_.end(), PROT_NONE);
}

void SharedMemory::close() {
  close_arrays();
  if (guarded_) mprotect(memory_ + layout_.end(), bytes_ - layout_.end(), PROT_NONE);
  dynamic_opened_ = false;
  closed_ = true;
}

bool SharedMemory::holds(const void* address, std::uint64_t bytes) const {
  const auto inside = [&](const Region& region) {
    const std::ptrdiff_t offset = static_cast<const char*>(address) - region.address;
    return offset >= 0 && static_cast<std::uint64_t>(offset) + bytes <= region.bytes;
  };
  return inside(dynamic_) || std::any_of(arrays_.begin(), arrays_.end(), inside);
}

std::optional<std::string> SharedMemory::find_damage() const {
  const auto damage = [](const Region& region) -> std::optional<std::string> {
    if (!region.intact_behind()) return "beyond the end of " + region.describe();
    if (!region.intact_before()) return "before the start of " + region.describe();
    return std::nullopt;
  };
  if (auto found = damage(dynamic_)) return found;
  for (const Region& region : arrays_) {
    if (auto found = damage(region)) return found;
  }
  return std::nullopt;
}

std::string SharedMemory::describe(const void* address) const {
  const auto* const place = static_cast<const char*>(address);
  const Region* nearest = &dynamic_;
  std::uint64_t distance = ~std::uint64_t{0};
  const auto consider = [&](const Region& region) {
    const char* const end = region.address + region.bytes;
    const auto away =
        static_cast<std::uint64_t>(place >= end              ? place - end
                                   : place >= region.address ? 0
                                                             : region.address - place);
    if (away < distance) {
      distance = away;
      nearest = &region;
    }
  };
  consider(dynamic_);
  for (const Region& region : arrays_) consider(region);
  if (place >= nearest->address + nearest->bytes) {
    return (distance == 0 ? "right" : bytes_text(distance)) + " behind the end of " +
           nearest->describe();
  }
  if (place < nearest->address) return bytes_text(distance) + " before " + nearest->describe();
  return "in " + nearest->describe();
}

void SharedMemory::Region::prepare() {
  std::memset(address, kPoison, bytes);
  char* const before = std::max(first, address - kPatternBytes);
  std::memset(before, kPattern, static_cast<std::size_t>(address - before));
  std::memset(address + bytes, kPattern, static_cast<std::size_t>(last - address) - bytes);
}

bool SharedMemory::Region::intact_before() const {
  return holds_pattern(std::max(first, address - kPatternBytes), address);
}

bool SharedMemory::Region::intact_behind() const { return holds_pattern(address + bytes, last); }

std::string SharedMemory::Region::describe() const {
  return (is_dynamic ? "its dynamic shared memory of " : "a shared array of ") + bytes_text(bytes);
}

}  // namespace culebra_emu
