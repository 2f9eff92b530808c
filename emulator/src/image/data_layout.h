// Where an image's variables lie in memory: what one access of a kernel may touch there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace culebra_emu {

class DataLayout {
 public:
  // Of the ELF file `host`, loaded at `base`.
  DataLayout(const std::string& host, std::uint64_t base);

  // Whether the address lies in the image at all.
  bool contains(std::uint64_t address) const { return address - begin_ < end_ - begin_; }

  // Within one variable, or where there are none: constants that the compiler made have no name.
  bool allows(std::uint64_t address, std::uint64_t bytes) const;

  // "right behind the variable table of 16 bytes": for what is not allowed.
  std::string describe(std::uint64_t address, std::uint64_t bytes) const;

 private:
  struct Object {
    std::uint64_t begin;
    std::uint64_t end;
    std::string name;  // as the symbol table has it
  };
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    bool contains(std::uint64_t address) const { return address - begin < end - begin; }
  };

  // The last one that begins at or before the address; null if none does.
  const Object* before(std::uint64_t address) const;
  bool is_writable(std::uint64_t address) const;

  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::vector<Range> writable_;
  std::vector<Range> read_only_after_loading_;
  std::vector<Object> objects_;  // by address; none overlaps another
};

}  // namespace culebra_emu
