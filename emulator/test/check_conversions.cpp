// Compares the shim's 16-bit and 8-bit conversions with those of NVIDIA's headers, bit for bit.
// Built only where the toolkit is.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>

// The shim defines the same names, so only its arithmetic is included.
#include "culebra_emu/fp8.h"
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
  // (PTX has one NaN, as we do; the header has others.)
  if (std::isnan(value)) return;
  const auto theirs = [&](__nv_fp8_interpretation_t format) {
    return static_cast<std::uint8_t>(__nv_cvt_float_to_fp8(value, __NV_SATFINITE, format));
  };
  check("float to e4m3", pattern, culebra_emu::E4m3Format::from_float(value), theirs(__NV_E4M3));
  check("float to e5m2", pattern, culebra_emu::E5m2Format::from_float(value), theirs(__NV_E5M2));
}

template <class Format>
void check_fp8(std::uint8_t pattern, __nv_fp8_interpretation_t format) {
  const __half_raw theirs = __nv_cvt_fp8_to_halfraw(pattern, format);
  check("fp8 to half", pattern, Half::from_float(Format::to_float(pattern)), theirs.x);
}

void check_double(std::uint64_t pattern) {
  const auto value = std::bit_cast<double>(pattern);
  check("double to half", pattern, Half::from_double(value), bits(__double2half(value)));
  check("double to bfloat16", pattern, Bfloat16::from_double(value),
        bits(__double2bfloat16(value)));
}

}  // namespace

int main() {
  for (unsigned pattern = 0; pattern < 0x100; ++pattern) {
    check_fp8<culebra_emu::E4m3Format>(static_cast<std::uint8_t>(pattern), __NV_E4M3);
    check_fp8<culebra_emu::E5m2Format>(static_cast<std::uint8_t>(pattern), __NV_E5M2);
    // Ties of neighbours, and what lies beside them.
    const float first = culebra_emu::E4m3Format::to_float(static_cast<std::uint8_t>(pattern));
    const float second = culebra_emu::E5m2Format::to_float(static_cast<std::uint8_t>(pattern));
    for (const float value : {first, second}) {
      const auto base = std::bit_cast<std::uint32_t>(value);
      for (const std::uint32_t tail :
           {0x7FFFFu, 0x80000u, 0x80001u, 0xFFFFFu, 0x100000u, 0x100001u}) {
        check_float(base + tail);
      }
    }
  }
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
