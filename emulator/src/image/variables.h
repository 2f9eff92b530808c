// The device variables of an image: __device__ and __constant__ become plain variables of its host
// code, and are found in that code's symbol table.
#pragma once

#include <cstdint>
#include <functional>
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

// Shows each data object, until `visit` returns false.
void visit_variables(const std::string& host,
                     const std::function<bool(const Variable&, std::string_view name)>& visit);

}  // namespace culebra_emu
