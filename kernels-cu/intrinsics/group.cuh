// The kernel of the table CULEBRA_GROUP_FILE: out[i] = the function of that number of
// (a[i], b[i], c[i]), of which it takes as many as it needs, i < count. Any grid. Included once for
// each table.

#define CULEBRA_JOIN_(a, b) a##b
#define CULEBRA_JOIN(a, b)  CULEBRA_JOIN_(a, b)
#define CULEBRA_NUMBERS     CULEBRA_JOIN(Number_of_, CULEBRA_GROUP)
#define CULEBRA_CALL        CULEBRA_JOIN(call_, CULEBRA_GROUP)
#define CULEBRA_SYMBOL      CULEBRA_JOIN(culebra_intrinsics_, CULEBRA_GROUP)

namespace {

enum class CULEBRA_NUMBERS : uint32_t {
#define CULEBRA_INTRINSIC(name, ...) name,
#include CULEBRA_GROUP_FILE
#undef CULEBRA_INTRINSIC
};

__device__ __forceinline__ uint64_t CULEBRA_CALL(uint32_t function, [[maybe_unused]] uint64_t x,
                                                 [[maybe_unused]] uint64_t y,
                                                 [[maybe_unused]] uint64_t z) {
  switch (static_cast<CULEBRA_NUMBERS>(function)) {
#define CULEBRA_INTRINSIC(name, ...) \
  case CULEBRA_NUMBERS::name:        \
    return word_of(__VA_ARGS__);
#include CULEBRA_GROUP_FILE
#undef CULEBRA_INTRINSIC
  }
  return 0;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256)
    CULEBRA_SYMBOL(uint64_t* out, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                   uint32_t count, uint32_t function) {
  const uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) out[index] = CULEBRA_CALL(function, a[index], b[index], c[index]);
}
// Behind one more expansion, so that the symbol's own name arrives.
#define CULEBRA_DESCRIBE(symbol) CULEBRA_KERNEL(symbol, 256, out, a, b, c, count, function)
CULEBRA_DESCRIBE(CULEBRA_SYMBOL)

#undef CULEBRA_DESCRIBE
#undef CULEBRA_SYMBOL
#undef CULEBRA_CALL
#undef CULEBRA_NUMBERS
#undef CULEBRA_JOIN
#undef CULEBRA_JOIN_
#undef CULEBRA_GROUP_FILE
#undef CULEBRA_GROUP
