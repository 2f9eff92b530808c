// CUDA's vector types: same sizes, same alignments, same make_ functions.
#pragma once

#include <string_view>

#include "culebra_emu/image.h"

using uint3 = culebra_emu::Index3;

struct dim3 {
  unsigned int x = 1, y = 1, z = 1;
  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

// The names by which an index calls them; see registration.h.
#define CULEBRA_EMU_NAMED(type) \
  constexpr std::string_view culebra_emu_struct_name(const type*) { return #type; }

#define CULEBRA_EMU_VECTOR2(name, type)                               \
  struct __attribute__((aligned(2 * sizeof(type)))) name##2 {         \
    type x, y;                                                        \
  };                                                                  \
  constexpr name##2 make_##name##2(type x, type y) { return {x, y}; } \
  CULEBRA_EMU_NAMED(name##2)

// CUDA aligns its 4-vectors of 8-byte elements to 16.
#define CULEBRA_EMU_VECTOR4(name, type)                                                     \
  struct __attribute__((aligned(4 * sizeof(type) < 16 ? 4 * sizeof(type) : 16))) name##4 {  \
    type x, y, z, w;                                                                        \
  };                                                                                        \
  constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; } \
  CULEBRA_EMU_NAMED(name##4)

#define CULEBRA_EMU_VECTORS(name, type) \
  CULEBRA_EMU_VECTOR2(name, type)       \
  CULEBRA_EMU_VECTOR4(name, type)

CULEBRA_EMU_VECTORS(char, signed char)
CULEBRA_EMU_VECTORS(uchar, unsigned char)
CULEBRA_EMU_VECTORS(short, short)
CULEBRA_EMU_VECTORS(ushort, unsigned short)
CULEBRA_EMU_VECTORS(int, int)
CULEBRA_EMU_VECTORS(uint, unsigned int)
CULEBRA_EMU_VECTORS(longlong, long long)
CULEBRA_EMU_VECTORS(ulonglong, unsigned long long)
CULEBRA_EMU_VECTORS(float, float)
CULEBRA_EMU_VECTORS(double, double)

#undef CULEBRA_EMU_VECTORS
#undef CULEBRA_EMU_VECTOR4
#undef CULEBRA_EMU_VECTOR2
#undef CULEBRA_EMU_NAMED
