// CULEBRA_EMU_CHECK=init: which bytes of device memory somebody has written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace culebra_emu {

// A copy of one row of bytes, which takes the knowledge along. The offset of the first byte that
// nobody has written, if the copy takes it out of the device's memory.
std::optional<std::uint64_t> note_copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);

void note_fill(std::uint64_t to, std::uint64_t bytes);

}  // namespace culebra_emu
