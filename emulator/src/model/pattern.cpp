#include "model/pattern.h"

#include <algorithm>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace culebra_emu {
namespace {

constexpr unsigned char kPattern = 0xC5;

unsigned char* pointer(std::uint64_t address) { return reinterpret_cast<unsigned char*>(address); }

}  // namespace

void fill_with_pattern(std::uint64_t begin, std::uint64_t end) {
  if (begin == end) return;
  std::memset(pointer(begin), kPattern, end - begin);
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(pointer(begin), end - begin);
#endif
}

void forget_pattern([[maybe_unused]] std::uint64_t begin, [[maybe_unused]] std::uint64_t end) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(pointer(begin), end - begin);
#endif
}

std::uint64_t end_of_pattern([[maybe_unused]] std::uint64_t begin, std::uint64_t end) {
#if defined(__SANITIZE_ADDRESS__)
  return end;  // The sanitizer has seen the write itself.
#else
  if (begin == end) return end;
  // All bytes are the pattern if the first one is and each is as the one before it: a comparison
  // that the C library does in large steps. It matters: this is asked after each kernel.
  if (*pointer(begin) == kPattern &&
      std::memcmp(pointer(begin), pointer(begin) + 1, end - begin - 1) == 0) {
    return end;
  }
  return reinterpret_cast<std::uint64_t>(std::find_if(
      pointer(begin), pointer(end), [](unsigned char byte) { return byte != kPattern; }));
#endif
}

}  // namespace culebra_emu
