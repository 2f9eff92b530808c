// The index lines of a host build of kernels, as docs/decisions/0002 fixes them.
#pragma once

#include <string>

namespace culebra_emu {

// Loads a shared object of kernels and returns its kernel, param and field lines. Throws
// std::runtime_error.
std::string describe_kernels(const char* shared_object);

}  // namespace culebra_emu
