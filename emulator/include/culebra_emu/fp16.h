// __half: IEEE 754 binary16, with the conversions of cuda_fp16.h, bit for bit
// (test/check_conversions.cpp compares).
#pragma once

#include "culebra_emu/narrow_float.h"
#include "culebra_emu/vector_types.h"

struct __half;
inline __half __float2half_rn(float value);
inline __half __double2half(double value);
inline float __half2float(__half value);

// The bits alone.
struct __attribute__((aligned(2))) __half_raw {
  unsigned short x;
};

// What converts from and to integers is in narrow_arithmetic.h.
struct __attribute__((aligned(2))) __half {
  unsigned short __x;
  __half() = default;
  __half(float value) { *this = __float2half_rn(value); }
  __half(double value) { *this = __double2half(value); }
  __half(short value);
  __half(unsigned short value);
  __half(int value);
  __half(unsigned int value);
  __half(long value);
  __half(unsigned long value);
  __half(long long value);
  __half(unsigned long long value);
  __half(__half_raw bits) : __x(bits.x) {}
  operator __half_raw() const { return {__x}; }
  operator float() const { return __half2float(*this); }
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

struct __attribute__((aligned(4))) __half2 {
  __half x, y;
};

using half = __half;
using half2 = __half2;

namespace culebra_emu {
using HalfFormat = NarrowFloat<5, 10>;
}

inline __half __ushort_as_half(unsigned short bits) {
  __half result;
  result.__x = bits;
  return result;
}
inline unsigned short __half_as_ushort(__half value) { return value.__x; }
inline __half __short_as_half(short bits) {
  return __ushort_as_half(static_cast<unsigned short>(bits));
}
inline short __half_as_short(__half value) { return static_cast<short>(value.__x); }

inline __half __double2half(double value) {
  return __ushort_as_half(culebra_emu::HalfFormat::from_double(value));
}
inline __half __float2half_rn(float value) {
  return __ushort_as_half(culebra_emu::HalfFormat::from_float(value));
}
inline __half __float2half(float value) { return __float2half_rn(value); }
inline float __half2float(__half value) { return culebra_emu::HalfFormat::to_float(value.__x); }

inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half __low2half(__half2 value) { return value.x; }
inline __half __high2half(__half2 value) { return value.y; }
inline __half2 __float2half2_rn(float value) {
  return {__float2half_rn(value), __float2half_rn(value)};
}
inline __half2 __floats2half2_rn(float x, float y) {
  return {__float2half_rn(x), __float2half_rn(y)};
}
inline __half2 __float22half2_rn(float2 value) { return __floats2half2_rn(value.x, value.y); }
inline float2 __half22float2(__half2 value) {
  return {__half2float(value.x), __half2float(value.y)};
}
inline float __low2float(__half2 value) { return __half2float(value.x); }
inline float __high2float(__half2 value) { return __half2float(value.y); }
