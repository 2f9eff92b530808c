// __nv_bfloat16, with the conversions of cuda_bf16.h, bit for bit (test/check_conversions.cpp
// compares).
#pragma once

#include "culebra_emu/narrow_float.h"
#include "culebra_emu/vector_types.h"

struct __nv_bfloat16;
inline __nv_bfloat16 __float2bfloat16_rn(float value);
inline __nv_bfloat16 __double2bfloat16(double value);
inline float __bfloat162float(__nv_bfloat16 value);

// The bits alone.
struct __attribute__((aligned(2))) __nv_bfloat16_raw {
  unsigned short x;
};

// What converts from and to integers is in narrow_arithmetic.h.
struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  __nv_bfloat16(float value) { *this = __float2bfloat16_rn(value); }
  __nv_bfloat16(double value) { *this = __double2bfloat16(value); }
  __nv_bfloat16(short value);
  __nv_bfloat16(unsigned short value);
  __nv_bfloat16(int value);
  __nv_bfloat16(unsigned int value);
  __nv_bfloat16(long value);
  __nv_bfloat16(unsigned long value);
  __nv_bfloat16(long long value);
  __nv_bfloat16(unsigned long long value);
  __nv_bfloat16(__nv_bfloat16_raw bits) : __x(bits.x) {}
  operator __nv_bfloat16_raw() const { return {__x}; }
  operator float() const { return __bfloat162float(*this); }
  operator short() const;
  operator unsigned short() const;
  operator int() const;
  operator unsigned int() const;
  operator long() const;
  operator unsigned long() const;
  operator long long() const;
  operator unsigned long long() const;
  operator bool() const;
};

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

namespace culebra_emu {
using Bfloat16Format = NarrowFloat<8, 7>;
}

inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  __nv_bfloat16 result;
  result.__x = bits;
  return result;
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.__x; }
inline __nv_bfloat16 __short_as_bfloat16(short bits) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(bits));
}
inline short __bfloat16_as_short(__nv_bfloat16 value) { return static_cast<short>(value.__x); }

inline __nv_bfloat16 __double2bfloat16(double value) {
  return __ushort_as_bfloat16(culebra_emu::Bfloat16Format::from_double(value));
}
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  return __ushort_as_bfloat16(culebra_emu::Bfloat16Format::from_float(value));
}
inline __nv_bfloat16 __float2bfloat16(float value) { return __float2bfloat16_rn(value); }
inline float __bfloat162float(__nv_bfloat16 value) {
  return culebra_emu::Bfloat16Format::to_float(value.__x);
}

inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 value) { return value.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 value) { return value.y; }
inline __nv_bfloat162 __float2bfloat162_rn(float value) {
  return {__float2bfloat16_rn(value), __float2bfloat16_rn(value)};
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 value) {
  return __floats2bfloat162_rn(value.x, value.y);
}
inline float2 __bfloat1622float2(__nv_bfloat162 value) {
  return {__bfloat162float(value.x), __bfloat162float(value.y)};
}
inline float __low2float(__nv_bfloat162 value) { return __bfloat162float(value.x); }
inline float __high2float(__nv_bfloat162 value) { return __bfloat162float(value.y); }
