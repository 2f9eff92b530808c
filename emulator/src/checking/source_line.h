// Where in a kernel's source an address of its code is.
#pragma once

#include <string>

namespace culebra_emu {

// "reduce.cu:40", or "block.cuh:33, called in reduce.cu:40" for inlined code, by the program
// addr2line and the image's debug information; without them, the offset in the image.
std::string source_line(const void* return_address);

}  // namespace culebra_emu
