// How often each function of the driver was called.
#pragma once

#include <cstdint>

namespace culebra_emu {

// Counts a call: 1 for the function's first. Several symbols of one function count apart.
std::uint64_t count_call(const char* symbol);

// How often it was called; -1 if there is no such function.
std::int64_t calls_of(const char* symbol);

}  // namespace culebra_emu
