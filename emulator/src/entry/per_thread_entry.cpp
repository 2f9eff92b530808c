#include "entry/per_thread_entry.h"

#include "entry/call.h"

namespace culebra_emu {

#if defined(__x86_64__)

// Called from below, where the compiler sees no use of it.
extern "C" __attribute__((used, visibility("hidden"))) void culebra_emu_ask_for_thread_stream() {
  ask_for_thread_stream();
}

// Whatever the function takes is left where it is: the variant asks, and goes on as the function
// itself. (No function takes a floating-point number in a register.)
#define PER_THREAD_FUNCTION(symbol, suffix)                            \
  __asm__(                                                             \
      ".pushsection .text\n"                                           \
      ".balign 16\n"                                                   \
      ".globl " #symbol "_" #suffix                                    \
      "\n"                                                             \
      ".type " #symbol "_" #suffix ", @function\n" #symbol "_" #suffix \
      ":\n"                                                            \
      ".cfi_startproc\n"                                               \
      "endbr64\n"                                                      \
      "pushq %rdi\n.cfi_adjust_cfa_offset 8\n"                         \
      "pushq %rsi\n.cfi_adjust_cfa_offset 8\n"                         \
      "pushq %rdx\n.cfi_adjust_cfa_offset 8\n"                         \
      "pushq %rcx\n.cfi_adjust_cfa_offset 8\n"                         \
      "pushq %r8\n.cfi_adjust_cfa_offset 8\n"                          \
      "pushq %r9\n.cfi_adjust_cfa_offset 8\n"                          \
      "subq $8, %rsp\n.cfi_adjust_cfa_offset 8\n"                      \
      "call culebra_emu_ask_for_thread_stream\n"                       \
      "addq $8, %rsp\n.cfi_adjust_cfa_offset -8\n"                     \
      "popq %r9\n.cfi_adjust_cfa_offset -8\n"                          \
      "popq %r8\n.cfi_adjust_cfa_offset -8\n"                          \
      "popq %rcx\n.cfi_adjust_cfa_offset -8\n"                         \
      "popq %rdx\n.cfi_adjust_cfa_offset -8\n"                         \
      "popq %rsi\n.cfi_adjust_cfa_offset -8\n"                         \
      "popq %rdi\n.cfi_adjust_cfa_offset -8\n"                         \
      "jmp " #symbol                                                   \
      "@PLT\n"                                                         \
      ".cfi_endproc\n"                                                 \
      ".size " #symbol "_" #suffix ", . - " #symbol "_" #suffix        \
      "\n"                                                             \
      ".popsection\n");                                                \
  extern "C" void symbol##_##suffix();
#include "per_thread_functions.inc"
#undef PER_THREAD_FUNCTION

const bool kHasPerThreadFunctions = true;

void* find_per_thread_function(std::string_view symbol) {
  struct Variant {
    std::string_view symbol;
    void* address;
  };
  static const Variant kVariants[] = {
#define PER_THREAD_FUNCTION(symbol, suffix) {#symbol, reinterpret_cast<void*>(&symbol##_##suffix)},
#include "per_thread_functions.inc"
#undef PER_THREAD_FUNCTION
  };
  for (const Variant& variant : kVariants) {
    if (variant.symbol == symbol) return variant.address;
  }
  return nullptr;
}

#else

const bool kHasPerThreadFunctions = false;

void* find_per_thread_function(std::string_view) { return nullptr; }

#endif

}  // namespace culebra_emu
