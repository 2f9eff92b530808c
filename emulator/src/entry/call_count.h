// The driver's functions as their calls find them: by what name, and how often each was called.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace culebra_emu {

struct CalledFunction {
  // "cuMemAlloc" of cuMemAlloc_v2; the symbol itself if it is none of the driver's.
  std::string_view base_name;
  // Several symbols of one function count apart.
  std::atomic<std::uint64_t> calls = 0;
};

// The function of an entry point. `symbol` is the entry's own literal, which stays what and where
// it is: the answer is remembered by its address, since every call asks.
CalledFunction& called_function(const char* symbol);

// How often it was called; -1 if there is no such function.
std::int64_t calls_of(const char* symbol);

}  // namespace culebra_emu
