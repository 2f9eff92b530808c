// What the checks of CULEBRA_EMU_CHECK have found.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace culebra_emu {

// Counts a finding. The text, if it has to end the launch or the copy; with
// CULEBRA_EMU_CHECK=...,continue it is written to standard error here, once for each key.
std::optional<std::string> add_finding(const std::string& key,
                                       const std::function<std::string()>& text);

// Counts one that ends the launch in any case.
void count_finding();

std::uint64_t finding_count();

}  // namespace culebra_emu
