#include "model/diagnosis.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "config.h"
#include "model/address_space.h"
#include "words.h"

namespace culebra_emu {

void diagnose(const std::string& what) {
  if (!config().diagnose) return;
  std::fprintf(stderr, "culebra-emulator: %s: %s\n", to_string(current_origin()).c_str(),
               what.c_str());
}

void die_of_misuse(const char* symbol, const char* what) {
  std::fprintf(stderr, "culebra-emulator: %s: %s (the real driver crashes here)\n", symbol, what);
  std::abort();
}

void diagnose_address(std::uint64_t address, std::uint64_t bytes) {
  if (!config().diagnose) return;
  char text[64];
  std::snprintf(text, sizeof text, " at 0x%llx: ", static_cast<unsigned long long>(address));
  const std::string where = address_space().describe(address, bytes);
  diagnose(bytes_text(bytes) + text + (where.empty() ? "no allocation is there or near" : where));
}

void HandleHistory::remember(const void* handle, const Origin& origin) {
  constexpr std::size_t kRemembered = 4096;
  if (destroyed_.size() == kRemembered) destroyed_.pop_front();
  destroyed_.push_back({handle, origin, current_origin()});
}

std::optional<std::string> HandleHistory::describe(const void* handle) const {
  const auto found = std::find_if(destroyed_.rbegin(), destroyed_.rend(),
                                  [&](const Destroyed& entry) { return entry.handle == handle; });
  if (found == destroyed_.rend()) return std::nullopt;
  return "made by " + to_string(found->origin) + ", destroyed by " + to_string(found->destroyed_by);
}

}  // namespace culebra_emu
