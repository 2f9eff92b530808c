#pragma once

#include <cstdint>
#include <string_view>

#include "abi.h"

namespace culebra_emu {

// "cuMemAlloc_v2" -> "cuMemAlloc"; the symbol itself if it is none of the driver's.
std::string_view base_name_of(std::string_view symbol);

// cuGetProcAddress_v2.
CUresult get_proc_address(const char* name, void** address, int version, std::uint64_t flags,
                          CUdriverProcAddressQueryResult* status);

}  // namespace culebra_emu
