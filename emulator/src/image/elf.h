// The ELF container of an emulator image, as docs/decisions/0002 fixes it. Shared by the packer and
// the loader.
#pragma once

#include <elf.h>

#include <cstdint>

namespace culebra_emu {

// What nvcc 13 writes into the header of a cubin.
inline constexpr std::uint16_t kMachineCuda = 190;
inline constexpr unsigned char kOsAbiCuda = 0x41;
inline constexpr unsigned char kAbiVersionCuda = 8;
inline constexpr std::uint32_t kFlagsWithoutArchitecture = 0x06000004;

constexpr std::uint32_t flags_of_architecture(unsigned sm) {
  return kFlagsWithoutArchitecture | (sm << 8);
}
// nvcc up to 12 writes another OS/ABI, and the architecture elsewhere.
inline constexpr unsigned char kOsAbiCudaUpTo12 = 0x33;
constexpr unsigned architecture_of_flags(unsigned char os_abi, std::uint32_t flags) {
  return (os_abi == kOsAbiCudaUpTo12 ? flags : flags >> 8) & 0xFF;
}

inline constexpr const char* kAbiSection = ".culebra.abi";
inline constexpr const char* kParametersSection = ".culebra.params";
inline constexpr const char* kHostSection = ".culebra.host";
// SHA-256, in hexadecimal, of the two sections above it in a row: a damaged image must not be
// executed.
inline constexpr const char* kDigestSection = ".culebra.sha256";
inline constexpr const char* kAbiText = "1";

}  // namespace culebra_emu
