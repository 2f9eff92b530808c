// cooperative_groups::inclusive_scan and exclusive_scan, of tiles and coalesced groups.
#pragma once

#include "culebra_emu/cooperative_groups.h"
#include "culebra_emu/cooperative_groups_reduce.h"

namespace cooperative_groups {

// Of the own value and those of lower ranks.
template <class GroupT, class T, class Operator>
std::decay_t<T> inclusive_scan(const GroupT& group, T&& value, Operator&& combine,
                               const Where& where = Where::current()) {
  std::decay_t<T> result = value;
  for (unsigned int distance = 1; distance < group.num_threads(); distance *= 2) {
    const std::decay_t<T> other = group.shfl_up(result, distance, where);
    if (group.thread_rank() >= distance) result = combine(other, result);
  }
  return result;
}
// Of those of lower ranks; rank 0 gets a zero.
template <class GroupT, class T, class Operator>
std::decay_t<T> exclusive_scan(const GroupT& group, T&& value, Operator&& combine,
                               const Where& where = Where::current()) {
  const std::decay_t<T> below =
      group.shfl_up(inclusive_scan(group, value, combine, where), 1, where);
  return group.thread_rank() == 0 ? std::decay_t<T>{} : below;
}
template <class GroupT, class T>
std::decay_t<T> inclusive_scan(const GroupT& group, T&& value,
                               const Where& where = Where::current()) {
  return inclusive_scan(group, value, plus<std::decay_t<T>>(), where);
}
template <class GroupT, class T>
std::decay_t<T> exclusive_scan(const GroupT& group, T&& value,
                               const Where& where = Where::current()) {
  return exclusive_scan(group, value, plus<std::decay_t<T>>(), where);
}

}  // namespace cooperative_groups
