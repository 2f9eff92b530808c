// What assert() and the compiler's trap do in a kernel: the launch ends, and not the process.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "culebra_emu/thread.h"

// What the C library's assert() calls. An image exports nothing, so this one is for its own code
// alone. The line on standard error is the one that a device writes.
extern "C" [[noreturn]] inline __attribute__((used)) void __assert_fail(
    const char* assertion, const char* file, unsigned int line, const char* function) noexcept {
  if (culebra_emu::current_thread == nullptr) {
    // The image is being loaded: no kernel runs.
    std::fprintf(stderr, "%s:%u: %s: Assertion `%s` failed.\n", file, line, function, assertion);
    std::abort();
  }
  const culebra_emu::Thread& thread = culebra_emu::this_thread();
  const culebra_emu::Index3 block = thread.block->index;
  std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
               file, line, function, block.x, block.y, block.z, thread.index.x, thread.index.y,
               thread.index.z, assertion);
  constexpr std::uint32_t kAssert = 710;
  char message[512];
  std::snprintf(message, sizeof message, "assertion `%s` failed in %s:%u", assertion, file, line);
  culebra_emu::runtime->fail(&culebra_emu::this_thread(), kAssert, message);
  __builtin_unreachable();
}

// Its instruction is also that of the compiler's own check of alignments: here they are told apart.
#define __builtin_trap() ::culebra_emu::trap("__builtin_trap()")
