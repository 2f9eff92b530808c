// What the checks of CULEBRA_EMU_CHECK have found.
#pragma once

#include <cstdint>
#include <string>

namespace culebra_emu {

// Counts a finding. True if it ends the launch or the copy (the caller says so with `text`); with
// CULEBRA_EMU_CHECK=...,continue it is printed here, once for each text.
bool add_finding(const std::string& text);

std::uint64_t finding_count();

}  // namespace culebra_emu
