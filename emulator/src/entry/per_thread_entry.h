// The variants of functions for per-thread default streams: their names end in _ptsz or _ptds, and
// stream 0 is the calling thread's own there.
#pragma once

#include <string_view>

namespace culebra_emu {

// Whether there are any: on x86-64 only.
extern const bool kHasPerThreadFunctions;

// The variant of the function of that symbol, or null if it has none.
void* find_per_thread_function(std::string_view symbol);

}  // namespace culebra_emu
