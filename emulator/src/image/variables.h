// The device variables of an image: __device__ and __constant__ become plain variables of its host
// code, and are found by name in that code's symbol table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace culebra_emu {

struct Variable {
  std::uint64_t offset;  // from where the host code is loaded
  std::uint64_t bytes;
};

// Nothing if the code has no data object of that name. `host` is a whole ELF file.
std::optional<Variable> find_variable(const std::string& host, std::string_view name);

}  // namespace culebra_emu
