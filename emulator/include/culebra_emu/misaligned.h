// What a misaligned access of a kernel calls where images are compiled with the undefined sanitizer
// (CULEBRA_EMU_NO_TRAP) or checked. The sanitizer's runtime would report the access and let it
// pass; elsewhere it traps.
#pragma once

#include <cstdint>
#include <cstdio>

#include "culebra_emu/thread.h"

namespace culebra_emu {

// As the compiler lays out what it knows of a check of a pointer.
struct PointerCheck {
  const char* file;
  std::uint32_t line;
  std::uint32_t column;
  const void* type;
  unsigned char log_2_align;
  unsigned char kind;
};

inline void check_pointer(const PointerCheck& check, std::uintptr_t pointer) {
  // Null faults by itself. So does what is too small for its type, in the address sanitizer.
  if ((pointer & ((std::uintptr_t{1} << check.log_2_align) - 1)) == 0) return;
  constexpr std::uint32_t kMisalignedAddress = 716;
  char message[512];
  std::snprintf(message, sizeof message, "misaligned address in %s:%u", check.file, check.line);
  runtime->fail(&this_thread(), kMisalignedAddress, message);
}

}  // namespace culebra_emu

// An image exports neither, so these are for its own code alone.
extern "C" inline __attribute__((used)) void __ubsan_handle_type_mismatch_v1(
    const culebra_emu::PointerCheck* check, std::uintptr_t pointer) {
  culebra_emu::check_pointer(*check, pointer);
}
extern "C" inline __attribute__((used)) void __ubsan_handle_type_mismatch_v1_abort(
    const culebra_emu::PointerCheck* check, std::uintptr_t pointer) {
  culebra_emu::check_pointer(*check, pointer);
}
