// A sum that carries its own rounding error.
//
// Neumaier's form of Kahan's summation with Knuth's branch-free two-sum: the error of every
// addition is found exactly and added up apart. The bound no longer grows with the number of terms
// (to first order), for six additions more an element, which hide behind the memory's time but for
// types of 16 bits.
#pragma once

#include "culebra/math.cuh"
#include "culebra/platform.cuh"

namespace culebra {

template <class A>
struct CompensatedSum {
  A sum;
  A error;  // what `sum` lacks; meaningless once `sum` is not finite

  static __device__ __forceinline__ CompensatedSum zero() { return {A(0), A(0)}; }

  __device__ __forceinline__ void add(A x) {
    const A before = sum;
    sum = add_rn(before, x);
    error = add_rn(error, lost(before, x, sum));
  }

  // Exactly commutative, as what is lost is symmetric in a and b.
  static __device__ __forceinline__ CompensatedSum plus(const CompensatedSum& a,
                                                        const CompensatedSum& b) {
    const A sum = add_rn(a.sum, b.sum);
    return {sum, add_rn(add_rn(a.error, b.error), lost(a.sum, b.sum, sum))};
  }

  // The whole sum in double, where both parts of a float sum fit. An infinite sum stays infinite:
  // its error is inf - inf.
  __device__ __forceinline__ double total() const {
    const bool finite = sum - sum == A(0);
    return finite ? static_cast<double>(sum) + static_cast<double>(error)
                  : static_cast<double>(sum);
  }

 private:
  // The exact error of a + b, which was rounded to `sum`.
  static __device__ __forceinline__ A lost(A a, A b, A sum) {
    const A b_share = add_rn(sum, -a);
    const A a_share = add_rn(sum, -b_share);
    return add_rn(add_rn(a, -a_share), add_rn(b, -b_share));
  }
};

}  // namespace culebra
