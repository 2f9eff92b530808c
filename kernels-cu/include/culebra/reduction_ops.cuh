// What a reduction computes: the state it keeps, what elements do to it, how states combine, and
// the result.
//
//   op         state                                       of nothing        NaN among the elements
//   sum        a compensated sum; of integers a 64-bit one 0                 NaN
//   mean       a 128-bit sum of integers (a mean of floats
//              is a sum with a divisor)                    NaN
//   max, min   the extremum so far                         the type's least, NaN
//                                                          greatest (-inf, +inf)
//   argmax,    the extremum and its lowest index           -1                the first NaN's index
//   argmin
//   logsumexp  the maximum m and the sum of exp(x - m)     -inf              NaN
//   l2_norm    a power of two m near the largest magnitude 0                 NaN
//              and the sum of (x / m)^2
//
// Each op<T>, for storage type T, has
//
//   Running    what a thread keeps while it reads
//   State      what threads, blocks and launches hand on; trivially copyable 32-bit words
//   Result     the type of the result
//   kPadding   an element that changes nothing
//   absorb(running, batch)       takes in a batch: batch.for_each(visit(k, x)) visits its elements,
//                                those of padding too, in the order of their indices, and
//                                batch.index(k) is the index of the k-th
//   state(running)               the state
//   operator()(a, b)             the state of both, exactly commutative
//   settle(state, first)         to be called on the state of at least one element, of which
//   `first`
//                                is the index of the first, before it is kept or finished
//   shift(state, by)             makes its indices count from `by` elements before
//   finish(state, count)         the result of `count` elements; count is looked at by means alone
#pragma once

#include <type_traits>

#include "culebra/compensated.cuh"
#include "culebra/math.cuh"
#include "culebra/online.cuh"
#include "culebra/operators.cuh"
#include "culebra/platform.cuh"
#include "culebra/types.cuh"

namespace culebra {

// A sum of 64-bit integers that cannot overflow: two's complement, 128 bits.
struct WideSum {
  uint64_t low;
  int64_t high;

  __device__ __forceinline__ void add(int64_t x) { *this = plus(*this, {uint64_t(x), x >> 63}); }

  static __device__ __forceinline__ WideSum plus(const WideSum& a, const WideSum& b) {
    const uint64_t low = a.low + b.low;
    const uint64_t carry = low < a.low ? 1 : 0;
    return {low, static_cast<int64_t>(uint64_t(a.high) + uint64_t(b.high) + carry)};
  }

  // Rounded twice where it has more than 64 bits.
  __device__ __forceinline__ double value() const {
    const int64_t narrow = static_cast<int64_t>(low);
    return high == narrow >> 63 ? static_cast<double>(narrow)
                                : static_cast<double>(high) * 0x1p64 + static_cast<double>(low);
  }
};

// An extremum and where it is. The value is wide enough for every storage type, so that a host
// reads one form, and states of f16, bf16, f32 and f64 are merged by one kernel.
template <class T>
struct IndexedValue {
  using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  Wide value;
  int64_t index;
};

namespace ops {

// What states without an index need not do.
struct NoIndex {
  template <class State>
  static __device__ __forceinline__ void settle(State&, int64_t) {}
  template <class State>
  static __device__ __forceinline__ void shift(State&, int64_t) {}
};

template <class T>
struct sum : NoIndex {
  using A = Accumulator<T>;
  using Running = std::conditional_t<std::is_integral_v<T>, int64_t, CompensatedSum<A>>;
  using State = Running;
  using Result = std::conditional_t<std::is_integral_v<T>, int64_t, A>;
  static constexpr A kPadding = A(0);

  static __device__ __forceinline__ Running empty() { return Running{}; }

  template <class Batch>
  static __device__ __forceinline__ void absorb(Running& running, const Batch& batch) {
    batch.for_each([&](int, A x) {
      if constexpr (std::is_integral_v<T>) {
        running = wrapping_add(running, x);
      } else {
        running.add(x);
      }
    });
  }

  static __device__ __forceinline__ State state(const Running& running) { return running; }

  __device__ __forceinline__ State operator()(const State& a, const State& b) const {
    if constexpr (std::is_integral_v<T>) {
      return wrapping_add(a, b);
    } else {
      return State::plus(a, b);
    }
  }

  static __device__ __forceinline__ Result finish(const State& state, double count) {
    if constexpr (std::is_integral_v<T>) {
      return state;
    } else {
      return static_cast<A>(state.total() / count);
    }
  }

 private:
  static __device__ __forceinline__ int64_t wrapping_add(int64_t a, int64_t b) {
    return static_cast<int64_t>(uint64_t(a) + uint64_t(b));
  }
};

template <class T>
struct mean : NoIndex {
  static_assert(std::is_integral_v<T>, "a mean of floats is a sum with a divisor");
  using A = Accumulator<T>;
  using Running = WideSum;
  using State = WideSum;
  using Result = double;
  static constexpr A kPadding = A(0);

  static __device__ __forceinline__ Running empty() { return {0, 0}; }

  template <class Batch>
  static __device__ __forceinline__ void absorb(Running& running, const Batch& batch) {
    batch.for_each([&](int, A x) { running.add(x); });
  }

  static __device__ __forceinline__ State state(const Running& running) { return running; }

  __device__ __forceinline__ State operator()(const State& a, const State& b) const {
    return WideSum::plus(a, b);
  }

  static __device__ __forceinline__ Result finish(const State& state, double count) {
    return state.value() / count;
  }
};

template <class T, class Op>
struct extremum : NoIndex {
  using A = Accumulator<T>;
  using Running = A;
  using State = A;
  using Result = A;
  static constexpr A kPadding = Op::kNeutral;

  static __device__ __forceinline__ Running empty() { return Op::kNeutral; }

  template <class Batch>
  static __device__ __forceinline__ void absorb(Running& running, const Batch& batch) {
    batch.for_each([&](int, A x) { running = Op()(running, x); });
  }

  static __device__ __forceinline__ State state(const Running& running) { return running; }
  __device__ __forceinline__ State operator()(State a, State b) const { return Op()(a, b); }
  static __device__ __forceinline__ Result finish(State state, double) { return state; }
};

template <class T>
using max = extremum<T, Max<Accumulator<T>>>;
template <class T>
using min = extremum<T, Min<Accumulator<T>>>;

// Whether a takes the place of b, whatever their indices.
struct Larger {
  template <class A>
  static constexpr A kNeutral = kLeast<A>;
  template <class A>
  static __device__ __forceinline__ bool beats(A a, A b) {
    // !(a <= b) also holds for a NaN on either side; before b is NaN, nothing comes.
    return !(a <= b) && b == b;
  }
};
struct Smaller {
  template <class A>
  static constexpr A kNeutral = kGreatest<A>;
  template <class A>
  static __device__ __forceinline__ bool beats(A a, A b) {
    return !(a >= b) && b == b;
  }
};

template <class T, class Order>
struct arg_extremum {
  using A = Accumulator<T>;
  using State = IndexedValue<A>;
  using Result = int64_t;
  static constexpr A kPadding = Order::template kNeutral<A>;

  struct Running {
    A value;
    int64_t index;
  };

  // The index of nothing is above all others, so that it loses every tie.
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

  static __device__ __forceinline__ Running empty() { return {kPadding, kNone}; }

  // Which of a batch it was is known by a number that a thread's registers hold anyway; its index
  // is asked for once.
  template <class Batch>
  static __device__ __forceinline__ void absorb(Running& running, const Batch& batch) {
    int best = -1;
    batch.for_each([&](int k, A x) {
      if (Order::beats(x, running.value)) {
        running.value = x;
        best = k;
      }
    });
    if (best >= 0) running.index = batch.index(best);
  }

  static __device__ __forceinline__ State state(const Running& running) {
    return {running.value, running.index};
  }

  // If nothing was beyond the neutral element, all were equal to it: the first is it.
  static __device__ __forceinline__ void settle(State& state, int64_t first) {
    if (state.index == kNone) state.index = first;
  }

  static __device__ __forceinline__ void shift(State& state, int64_t by) {
    if (state.index != kNone) state.index += by;
  }

  __device__ __forceinline__ State operator()(const State& a, const State& b) const {
    if (Order::beats(a.value, b.value)) return a;
    if (Order::beats(b.value, a.value)) return b;
    return a.index < b.index ? a : b;
  }

  static __device__ __forceinline__ Result finish(const State& state, double) {
    return state.index == kNone ? -1 : state.index;
  }
};

template <class T>
using argmax = arg_extremum<T, Larger>;
template <class T>
using argmin = arg_extremum<T, Smaller>;

// A sum whose terms are measured by a level m, the highest so far: state (m, d). A batch's level is
// found first, so that the sum is rescaled once a batch, and its terms are added up before they
// join the compensated sum of the thread.
template <class T, class Scale>
struct scaled_sum : NoIndex {
  using A = Accumulator<T>;
  using State = OnlineState<A>;
  using Result = A;
  static constexpr A kPadding = Scale::template kPadding<A>;

  struct Running {
    A m;
    CompensatedSum<A> d;
  };

  static __device__ __forceinline__ Running empty() {
    return {Scale::template kLowest<A>, CompensatedSum<A>::zero()};
  }

  template <class Batch>
  static __device__ __forceinline__ void absorb(Running& running, const Batch& batch) {
    A largest = kPadding;
    batch.for_each([&](int, A x) { largest = max_of(largest, Scale::size(x)); });
    const A m = max_of(running.m, Scale::level(largest));
    if (m != running.m) {
      const A factor = Scale::factor(running.m, m);
      running.d.sum *= factor;
      running.d.error *= factor;
      running.m = m;
    }
    const Scale scale(m);
    A terms = A(0);
    batch.for_each([&](int, A x) { terms += scale.term(x); });
    running.d.add(terms);
  }

  static __device__ __forceinline__ State state(const Running& running) {
    return {running.m, static_cast<A>(running.d.total())};
  }

  __device__ __forceinline__ State operator()(const State& a, const State& b) const {
    return State::merge_by(a, b, [](A low, A high) { return Scale::factor(low, high); });
  }

  static __device__ __forceinline__ Result finish(const State& state, double) {
    return Scale::finish(state.m, state.d);
  }
};

// m is the maximum, and d sums exp(x - m). Where m is infinite, exp(x): so +inf makes d infinite
// and NaN makes it NaN, and -inf adds 0.
template <class A>
class Exponentials {
 public:
  template <class Of>
  static constexpr Of kPadding = -kInfinity<Of>;
  template <class Of>
  static constexpr Of kLowest = -kInfinity<Of>;

  static __device__ __forceinline__ A size(A x) { return x; }
  static __device__ __forceinline__ A level(A largest) { return largest; }
  static __device__ __forceinline__ A factor(A low, A high) { return exp_of(low - base(high)); }
  static __device__ __forceinline__ A finish(A m, A d) { return m + log_of(d); }

  __device__ __forceinline__ explicit Exponentials(A m) : base_(base(m)) {}
  __device__ __forceinline__ A term(A x) const { return exp_of(x - base_); }

 private:
  static __device__ __forceinline__ A base(A m) {
    return m == kInfinity<A> || m == -kInfinity<A> ? A(0) : m;
  }

  A base_;
};

// m is a power of two, by which a product is exact, so close to the largest magnitude that no
// square overflows, and only such underflow as do not count.
template <class A>
class Squares {
 public:
  template <class Of>
  static constexpr Of kPadding = Of(0);
  template <class Of>
  static constexpr Of kLowest = std::numeric_limits<Of>::min();

  static __device__ __forceinline__ A size(A x) { return x < A(0) ? -x : x; }

  static __device__ __forceinline__ A level(A largest) {
    const A highest = A(1) / kLowest<A>;
    const A m = power_of_two(largest);
    return m < highest ? m : highest;  // that of an infinite one too
  }

  static __device__ __forceinline__ A factor(A low, A high) {
    const A ratio = low * reciprocal(high);
    return ratio * ratio;
  }

  static __device__ __forceinline__ A finish(A m, A d) {
    return static_cast<A>(static_cast<double>(m) * sqrt(static_cast<double>(d)));
  }

  __device__ __forceinline__ explicit Squares(A m) : reciprocal_(reciprocal(m)) {}
  __device__ __forceinline__ A term(A x) const {
    const A part = x * reciprocal_;
    return part * part;
  }

 private:
  // The largest that is not above; 0 for 0 and denormals.
  static __device__ __forceinline__ float power_of_two(float x) {
    return __uint_as_float(__float_as_uint(x) & 0x7f800000u);
  }
  static __device__ __forceinline__ double power_of_two(double x) {
    return __longlong_as_double(__double_as_longlong(x) & 0x7ff0000000000000ll);
  }

  // Of a power of two: its exponent with the other sign. A division would do the same by a call.
  static __device__ __forceinline__ float reciprocal(float m) {
    return __uint_as_float(0x7f000000u - __float_as_uint(m));
  }
  static __device__ __forceinline__ double reciprocal(double m) {
    return __longlong_as_double(0x7fe0000000000000ll - __double_as_longlong(m));
  }

  A reciprocal_;
};

template <class T>
using logsumexp = scaled_sum<T, Exponentials<Accumulator<T>>>;
template <class T>
using l2_norm = scaled_sum<T, Squares<Accumulator<T>>>;

}  // namespace ops
}  // namespace culebra
