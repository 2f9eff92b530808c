// Host memory that stands for device memory, at places where a stray access shows.
#pragma once

#include <cstdint>
#include <memory>

namespace culebra_emu {

class Slab;

// What cuMemAlloc promises.
inline constexpr std::uint64_t kAllocationAlign = 256;

// Takes a range of the device's addresses that no allocation has had. The pages are there but may
// not be touched. Throws std::bad_alloc.
std::uint64_t reserve_addresses(std::uint64_t bytes, std::uint64_t alignment);

// Whether the address is one that reserve_addresses gives out, given or not.
bool is_reservable_address(std::uint64_t address);

// One range of device memory. The first thousands have guard pages on both sides, which make far
// accesses fault, and the memory's pages fault once it is freed. Each of these takes two of the few
// mappings that a process may have, so all beyond share slabs. Always the bytes around the data
// hold a pattern that shows near accesses.
class Mapping {
 public:
  // Throws std::bad_alloc.
  explicit Mapping(std::uint64_t bytes);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::uint64_t address() const { return address_; }
  std::uint64_t bytes() const { return bytes_; }
  // Whether the pattern around the data is whole.
  bool intact() const;

  // From now on what kernels, copies and fills write is remembered, and nothing is written yet.
  void track_writes();
  // Kernels may use it between these two, and at first. What it held is then forgotten.
  void begin_use();
  void end_use();

 private:
  // False if there is no room for guard pages.
  bool place_between_guards();
  void place_in_slab();
  void give_back_place();

  const std::uint64_t bytes_;
  std::uint64_t address_ = 0;
  // The bytes with a pattern on both sides.
  std::uint64_t before_ = 0;
  std::uint64_t behind_ = 0;
  // Of the pages, with both guards; none in a slab.
  std::uint64_t start_ = 0;
  std::uint64_t length_ = 0;
  std::shared_ptr<Slab> slab_;
  unsigned char* written_ = nullptr;
};

}  // namespace culebra_emu
