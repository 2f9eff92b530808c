// cooperative_groups::reduce, of tiles and coalesced groups.
#pragma once

#include "culebra_emu/cooperative_groups.h"

namespace cooperative_groups {

#define CULEBRA_EMU_OPERATOR(name, expression)                          \
  template <class T>                                                    \
  struct name {                                                         \
    T operator()(T a, T b) const { return static_cast<T>(expression); } \
  };
CULEBRA_EMU_OPERATOR(plus, a + b)
CULEBRA_EMU_OPERATOR(less, b < a ? b : a)
CULEBRA_EMU_OPERATOR(greater, a < b ? b : a)
CULEBRA_EMU_OPERATOR(bit_and, (a & b))
CULEBRA_EMU_OPERATOR(bit_or, a | b)
CULEBRA_EMU_OPERATOR(bit_xor, a ^ b)
#undef CULEBRA_EMU_OPERATOR

// Every thread gets the result. As a tree over the ranks, so that what is not associative, as a sum
// of floats, need not have a device's last bits.
template <unsigned int Size, class ParentT, class T, class Operator>
std::decay_t<T> reduce(const thread_block_tile<Size, ParentT>& group, T&& value, Operator&& combine,
                       const Where& where = Where::current()) {
  std::decay_t<T> result = value;
  for (unsigned int distance = Size / 2; distance != 0; distance /= 2) {
    result = combine(result, group.shfl_xor(result, distance, where));
  }
  return result;
}
template <class T, class Operator>
std::decay_t<T> reduce(const coalesced_group& group, T&& value, Operator&& combine,
                       const Where& where = Where::current()) {
  std::decay_t<T> result = value;
  for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
    const std::decay_t<T> other = group.shfl_down(result, distance, where);
    if (group.thread_rank() + distance < group.size()) result = combine(result, other);
  }
  return group.shfl(result, 0, where);
}

}  // namespace cooperative_groups
