// Which call made an object, for diagnoses.
#pragma once

#include <cstdint>
#include <string>

namespace culebra_emu {

// "cuMemAlloc_v2 #3 (weights)": the third call of the function, under the label that the calling
// thread had set.
struct Origin {
  const char* symbol = nullptr;  // null if no call made it
  std::uint64_t call = 0;        // counted from 1 for each function
  const char* label = nullptr;
};

std::string to_string(const Origin& origin);

// The driver call that the OS thread is in, or was in last.
Origin current_origin();
void set_current_call(const char* symbol, std::uint64_t call);

// What the calling thread makes from now on is named so; null for no label.
void set_label(const char* label);

}  // namespace culebra_emu
