// Which names are the driver's: a name that is misspelt in a switch must not be one that never
// comes.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace culebra_emu {

// A C symbol (cuMemAlloc_v2) or a base name (cuMemAlloc).
inline bool is_driver_function(std::string_view name) {
  static constexpr std::string_view kNames[] = {
#define DRIVER_FUNCTION(symbol, base, version) #symbol, #base,
#include "driver_functions.inc"
#undef DRIVER_FUNCTION
  };
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace culebra_emu
