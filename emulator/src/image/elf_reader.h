// Reads a whole ELF file that need not be what it says it is.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace culebra_emu {

// The I-th T behind an offset, if all of it lies in the file.
template <class T>
std::optional<T> read_element(const std::string& file, std::uint64_t offset,
                              std::uint64_t index = 0) {
  std::uint64_t at = 0;
  if (__builtin_mul_overflow(index, sizeof(T), &at) || __builtin_add_overflow(at, offset, &at) ||
      at > file.size() || sizeof(T) > file.size() - at) {
    return std::nullopt;
  }
  T value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

// The string at an offset of a table of strings; empty if it does not end within the file.
inline std::string_view read_name(const std::string& file, std::uint64_t table_offset,
                                  std::uint64_t table_bytes, std::uint32_t at) {
  std::uint64_t start = 0;
  if (at >= table_bytes || __builtin_add_overflow(table_offset, at, &start) ||
      start >= file.size()) {
    return {};
  }
  const std::size_t end = file.find('\0', start);
  if (end == std::string::npos) return {};
  return std::string_view(file).substr(start, end - start);
}

}  // namespace culebra_emu
