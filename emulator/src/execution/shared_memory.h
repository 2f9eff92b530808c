// The shared memory of one block, at places where a stray access shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "execution/launch.h"

namespace culebra_emu {

// Where the static shared arrays of a kernel lie in a block's window. The same for all blocks that
// run together, since a block finds its peers' variables by its own offsets. An array is known from
// its first use on.
class SharedLayout {
 public:
  // As CUDA aligns a shared array of any type that kernels access as vectors.
  static constexpr std::uint64_t kAlign = 16;
  static constexpr std::size_t kMaxArrays = 256;

  struct Array {
    const void* key = nullptr;
    std::uint64_t bytes = 0;
    // In the window: the pages that are the array's own, and the array at their end.
    std::uint64_t first_page = 0;
    std::uint64_t offset = 0;
    std::uint64_t end_page = 0;
  };

  SharedLayout();

  void clear();
  const Array* find(const void* key) const;
  // Null if the kernel then has more than a device gives it.
  const Array* add(const void* key, std::uint64_t bytes, std::uint64_t align);
  const std::vector<Array>& arrays() const { return arrays_; }
  // Changes when the layout is cleared.
  std::uint64_t generation() const { return generation_; }

  // As a device counts them: packed.
  std::uint32_t used_bytes() const { return static_cast<std::uint32_t>(used_bytes_); }

  // Where the arrays' pages begin in the window, and where they end at the latest.
  std::uint64_t begin() const { return page_; }
  std::uint64_t end() const;

 private:
  const std::uint64_t page_;
  std::vector<Array> arrays_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t next_page_ = 0;
  std::uint64_t generation_ = 0;
};

// Every byte is poisoned (it reads as NaN, or as -1) before a block sees it. Each array ends at a
// page that faults; what lies between an array and its pages' edges holds a pattern that shows a
// store there.
class SharedMemory {
 public:
  // As strict as any use of dynamic shared memory demands, and what culebra/platform.cuh promises.
  static constexpr std::uint64_t kDynamicAlign = 1024;

  // Without guard pages each block takes one mapping of the few that a process may have.
  SharedMemory(const SharedLayout& layout, bool guarded);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Poisons the dynamic memory and all arrays of the layout.
  void begin_block(std::uint32_t dynamic_bytes);
  // Poisons one that came later.
  void begin_array(const SharedLayout::Array& array);
  // From now on every access faults.
  void close();
  bool closed() const { return closed_; }

  char* window() const { return memory_; }
  std::uint32_t window_bytes() const { return static_cast<std::uint32_t>(bytes_); }
  void* dynamic() const { return dynamic_.address; }
  bool contains(const void* address) const {
    return static_cast<const char*>(address) - memory_ >= 0 &&
           static_cast<const char*>(address) < memory_ + bytes_;
  }

  // Whether the whole range lies in the dynamic memory or in one array.
  bool holds(const void* address, std::uint64_t bytes) const;

  // What the block wrote outside of, if it did: "beyond the end of a shared array of 16 bytes".
  std::optional<std::string> find_damage() const;
  // Where an address in the window lies: "4 bytes behind the end of a shared array of 16 bytes".
  std::string describe(const void* address) const;

 private:
  // Memory that a block may use, and what lies before and behind it up to the next guard page.
  struct Region {
    char* first = nullptr;
    char* address = nullptr;
    char* last = nullptr;
    std::uint64_t bytes = 0;
    bool is_dynamic = false;

    void prepare();
    bool intact_before() const;
    bool intact_behind() const;
    std::string describe() const;
  };

  Region region_of(const SharedLayout::Array& array) const;
  void open(char* first, char* last);
  void close_arrays();

  const SharedLayout& layout_;
  const bool guarded_;
  const std::uint64_t page_;
  const std::uint64_t bytes_;
  char* memory_;
  Region dynamic_;
  std::vector<Region> arrays_;
  std::uint64_t generation_ = 0;
  bool dynamic_opened_ = false;
  bool closed_ = false;
};

}  // namespace culebra_emu
