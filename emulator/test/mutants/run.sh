#!/usr/bin/env bash
# Breaks our own kernels on purpose, one mistake at a time, and shows that the checks find each: the one that it is meant
# for, by its words. First, that the kernels as they are have nothing to be found.
#
#   run.sh LIBRARY CHECKED_ROOT RUNNER WORK      from the emulator's folder; WORK is a folder for the mutants
set -euo pipefail

library=$1 checked=$2 runner=$3 work=$4
kernels=../kernels-cu
passed=0 failed=0

verdict() {
  if [[ $1 == passed ]]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  [[ $1 == passed ]] || printf 'FAILED %s: %s\n%s\n' "$2" "$3" "$(tail -n 5 "$work/log")"
}

# run ROOT FAMILY...: the runner's status, its words in $work/log.
run() {
  local root=$1
  shift
  CULEBRA_EMU_CHECK=all "$runner" "$root" "$library" "$@" > "$work/log" 2>&1
}

# mutant NAME FAMILY FILE EXPRESSION TEXT: the sed expression makes the mistake, and the log must have the text.
mutant() {
  local name=$1 family=$2 file=$3 expression=$4 text=$5
  rm -rf "$work/source" "$work/objects" "$work/kernels"
  mkdir -p "$work/source"
  cp -r "$kernels/include" "$kernels/$family" "$kernels/write-index.sh" "$work/source/"
  sed -i -E "$expression" "$work/source/$file"
  if cmp -s "$work/source/$file" "$kernels/$file"; then
    : > "$work/log"
    verdict failed "$name" "the expression changes nothing in $file"
    return
  fi
  make --no-print-directory -s CHECKED=1 BUILD="$work" KERNELS="$work/source" \
    KERNEL_SOURCES="$work/source/$family/$family.cu" WARNINGS=-w kernels > /dev/null
  if run "$work/kernels" "$family"; then
    verdict failed "$name" 'nothing was found'
  elif ! grep -qE "$text" "$work/log"; then
    verdict failed "$name" "the log has not \"$text\""
  else
    verdict passed "$name" ''
  fi
}

mkdir -p "$work"
if run "$checked"; then verdict passed unbroken ''; else verdict failed unbroken 'the checks find something in the kernels'; fi

mutant no_barrier_before_the_first_warp_reads reduce include/culebra/block.cuh \
  '/waits for the partial result of every warp/,+1 s/__syncthreads\(\);//' 'race between this|that nobody has written'
mutant no_barrier_before_all_read_the_result reduce include/culebra/block.cuh \
  '/from overwriting `result` while/,+1 s/__syncthreads\(\);//' 'race between this|that nobody has written'
mutant one_partial_too_many reduce include/culebra/block.cuh \
  's/self\.lane < warps/self.lane <= warps/' 'init: read of .* that nobody has written, in a shared array'
mutant load_one_beyond_the_row reduce include/culebra/vec.cuh \
  's/first \+ i < length_ \?/first + i <= length_ ?/' 'invalid global read'
mutant store_one_beyond_the_row softmax include/culebra/vec.cuh \
  's/if \(first \+ i < length_\)/if (first + i <= length_)/' 'invalid global write|wrote [0-9]+ elements outside'
mutant pack_beyond_the_row softmax include/culebra/vec.cuh \
  's/first \+ kPackSize<T> <= length_/first < length_/' 'invalid global (read|write)'
mutant no_barrier_in_reverse selftest selftest/selftest.cu \
  '/selftest_reverse_f32\(/,/^}/ s/__syncthreads\(\);//' 'race between this|that nobody has written'
mutant reverse_one_too_far selftest selftest/selftest.cu \
  '/selftest_reverse_f32\(/,/^}/ s/blockDim\.x - 1 - /blockDim.x - /' 'invalid (shared|global) (read|write)'

printf 'mutants: %d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[[ $failed == 0 ]]
