// Where an image's code lies in memory.
#pragma once

#include <cstdint>
#include <string>

namespace culebra_emu {

struct CodeRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool contains(const void* code) const {
    return reinterpret_cast<std::uint64_t>(code) - begin < end - begin;
  }
};

// Of the ELF file `host`, loaded at `base`.
CodeRange find_code(const std::string& host, std::uint64_t base);

}  // namespace culebra_emu
