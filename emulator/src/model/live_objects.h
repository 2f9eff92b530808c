// What a program has made and not given back: one list of kinds for the report at the exit and for
// culebraEmuLiveCount.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace culebra_emu {

struct LiveKind {
  const char* word;  // "device memory", as culebraEmuLiveCount knows it
  const char* one;   // "device allocation", as the report has it
  const char* many;
  std::size_t (*count)();
  // A line for each, with what made it.
  std::vector<std::string> (*describe_each)();
};

std::span<const LiveKind> live_kinds();

// "1 stream, 2 events"; empty if nothing is left.
std::string describe_live();

}  // namespace culebra_emu
