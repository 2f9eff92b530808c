// What lies around device memory and in freed memory, so that a stray store shows.
#pragma once

#include <cstdint>

namespace culebra_emu {

// Both also tell the AddressSanitizer, which then sees the access itself.
void fill_with_pattern(std::uint64_t begin, std::uint64_t end);
void forget_pattern(std::uint64_t begin, std::uint64_t end);

// The first byte that is something else; `end` if there is none.
std::uint64_t end_of_pattern(std::uint64_t begin, std::uint64_t end);

}  // namespace culebra_emu
