// How messages put things.
#pragma once

#include <cstdint>
#include <string>

namespace culebra_emu {

// "1 byte", "2 bytes"
inline std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// "a stream", "an event"
inline std::string with_article(const std::string& noun) {
  constexpr const char* kVowels = "aeio";  // (A user object is none.)
  const bool is_vowel = std::string(kVowels).find(noun.front()) != std::string::npos;
  return (is_vowel ? "an " : "a ") + noun;
}

}  // namespace culebra_emu
