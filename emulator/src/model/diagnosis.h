// CULEBRA_EMU_DIAGNOSE: a line on standard error for what a driver only answers with a code. And,
// always, one for what a driver crashes of.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "model/origin.h"

namespace culebra_emu {

// "culebra-emulator: cuEventRecord #3: ...", if diagnoses are wanted.
void diagnose(const std::string& what);

// Ends the process where the real driver crashes, but says which call it was, and why.
[[noreturn]] void die_of_misuse(const char* symbol, const char* what);

// Says what an address that no allocation holds was, or is near to.
void diagnose_address(std::uint64_t address, std::uint64_t bytes);

// Handles that are no more, and what became of them.
class HandleHistory {
 public:
  void remember(const void* handle, const Origin& origin);
  // "made by cuStreamCreate #1, destroyed by cuStreamDestroy_v2 #1"; the latest of that handle.
  std::optional<std::string> describe(const void* handle) const;

 private:
  struct Destroyed {
    const void* handle;
    Origin origin;
    Origin destroyed_by;
  };
  std::deque<Destroyed> destroyed_;
};

}  // namespace culebra_emu
