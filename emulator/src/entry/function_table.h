#pragma once

#include <cstdint>

#include "abi.h"

namespace culebra_emu {

// cuGetProcAddress_v2.
CUresult get_proc_address(const char* name, void** address, int version, std::uint64_t flags,
                          CUdriverProcAddressQueryResult* status);

}  // namespace culebra_emu
