// Compares the shim's 16-bit conversions with those of NVIDIA's headers, bit for bit. Built only
// where the toolkit is.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>

// The shim defines the same names, so only its arithmetic is included.
#include "culebra_emu/narrow_float.h"

namespace {

using Half = culebra_emu::NarrowFloat<5, 10>;
using Bfloat16 = culebra_emu::NarrowFloat<8, 7>;

std::uint64_t passed = 0;
std::uint64_t failed = 0;

template <class Bits>
void check(const char* what, std::uint64_t input, Bits ours, Bits theirs) {
  if (ours == theirs) {
    ++passed;
  } else if (failed++ < 20) {
    std::printf("%s of %#llx: %#llx, NVIDIA's header gives %#llx\n", what,
                static_cast<unsigned long long>(input), static_cast<unsigned long long>(ours),
                static_cast<unsigned long long>(theirs));
  }
}

std::uint16_t bits(__half value) { return static_cast<__half_raw>(value).x; }
std::uint16_t bits(__nv_bfloat16 value) { return static_cast<__nv_bfloat16_raw>(value).x; }

void check_float(std::uint32_t pattern) {
  const auto value = std::bit_cast<float>(pattern);
  check("float to half", pattern, Half::from_float(value), bits(__float2half_rn(value)));
  check("float to bfloat16", pattern, Bfloat16::from_float(value),
        bits(__float2bfloat16_rn(value)));
}

void check_double(std::uint64_t pattern) {
  const auto value = std::bit_cast<double>(pattern);
  check("double to half", pattern, Half::from_double(value), bits(__double2half(value)));
  check("double to bfloat16", pattern, Bfloat16::from_double(value),
        bits(__double2bfloat16(value)));
}

}  // namespace

int main() {
  for (std::uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
    const auto raw = static_cast<std::uint16_t>(pattern);
    check("half to float", pattern, std::bit_cast<std::uint32_t>(Half::to_float(raw)),
          std::bit_cast<std::uint32_t>(__half2float(__half(__half_raw{raw}))));
    check("bfloat16 to float", pattern, std::bit_cast<std::uint32_t>(Bfloat16::to_float(raw)),
          std::bit_cast<std::uint32_t>(__bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{raw}))));
    // Around each float that is halfway between two narrow values: the exact tie and its
    // neighbours.
    for (const std::uint32_t base :
         {std::bit_cast<std::uint32_t>(Half::to_float(raw)), pattern << 16}) {
      for (const std::uint32_t tail :
           {0u, 1u, 0xFFFu, 0x1000u, 0x1001u, 0x7FFFu, 0x8000u, 0x8001u}) {
        check_float(base + tail);
        check_double(
            std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(base + tail))));
        check_double((static_cast<std::uint64_t>(base + tail) << 32) + 1);
      }
    }
  }
  std::mt19937_64 random(20260101);
  for (int i = 0; i < 20'000'000; ++i) {
    const std::uint64_t pattern = random();
    check_float(static_cast<std::uint32_t>(pattern));
    // Doubles in the narrow formats' ranges, where rounding happens, and anywhere.
    check_double((pattern & 0x800FFFFFFFFFFFFFull) | ((1023 - 150 + (pattern >> 52) % 300) << 52));
    check_double(pattern);
  }
  std::printf("check_conversions: %llu passed, %llu failed\n",
              static_cast<unsigned long long>(passed), static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}
