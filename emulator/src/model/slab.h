// Memory that many small allocations share, since a process may have only so many mappings.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace culebra_emu {

// Each allocation of a slab has a zone with a pattern behind it, and finds that of its neighbour
// before it. What is freed holds the pattern, too, until the whole slab is free: then its pages
// fault. No place is used twice.
class Slab {
 public:
  static constexpr std::uint64_t kZoneBytes = 256;

  // A place for so many bytes, in a slab that has room or in a new one, whose zone behind
  // begins right after the bytes. Throws std::bad_alloc.
  struct Place {
    std::shared_ptr<Slab> slab;
    std::uint64_t address;
    std::uint64_t zone_end;
  };
  static Place take(std::uint64_t bytes);

  // From now on the memory must not be touched.
  void give_back(std::uint64_t address, std::uint64_t bytes);

  // An address in freed memory of any slab that something has written to.
  static std::optional<std::uint64_t> find_damage();

  // For take() alone.
  explicit Slab(std::uint64_t bytes);
  ~Slab();
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  struct All;
  static All& all();

  bool has_room(std::uint64_t bytes) const;

  const std::uint64_t start_;
  const std::uint64_t length_;
  std::uint64_t next_;
  std::uint64_t live_ = 0;
  std::vector<Range> freed_;
};

}  // namespace culebra_emu
