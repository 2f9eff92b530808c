#!/usr/bin/env bash
# Breaks our own kernels on purpose, one mistake at a time, and shows that each is found, in the words that are meant for it:
# by CULEBRA_EMU_CHECK, or by the runner that looks at the results. First, that the kernels as they are have nothing to be found.
# The mistakes are in mutants.sh.
#
#   [QUICK=1] run.sh LIBRARY CHECKED_BUILD RUNNER WORK [NAME...]     from the emulator's folder; WORK is a folder for the mutants
#
# QUICK=1 leaves out what takes long.
set -euo pipefail

library=$1 checked=$2 runner=$3 work=$4
shift 4
wanted=" $* "
kernels=../kernels-cu
jobs=$(nproc)

# verdict PLACE passed|failed NAME WHY
verdict() {
  echo "$2" >> "$1/verdicts"
  [[ $2 == passed ]] || printf 'FAILED %s: %s\n%s\n' "$3" "$4" "$(tail -n 5 "$1/log")"
}

# run PLACE ROOT FAMILY...: the runner's status, its words in PLACE/log.
run() {
  local place=$1 root=$2
  shift 2
  CULEBRA_EMU_CHECK=all "$runner" "$root" "$library" "$@" > "$place/log" 2>&1
}

quick=${QUICK:-}

names=() families=() files=() expressions=() texts=()

# mutant NAME FAMILY FILE EXPRESSION TEXT: the sed expression makes the mistake, and the log must have the text. Of the family
# ptx only a theme, as ptx/async, is compiled and run.
mutant() {
  [[ $wanted == '  ' || $wanted == *" $1 "* ]] || return 0
  names+=("$1") families+=("$2") files+=("$3") expressions+=("$4") texts+=("$5")
}

# The same, for one that takes long, or does what another one does in another family.
thorough() { [[ -n $quick ]] || mutant "$@"; }

# try PLACE INDEX
try() {
  local place=$1 name=${names[$2]} checks=${families[$2]} file=${files[$2]}
  local family=${checks%/*} theme=${checks#*/}
  rm -rf "$place/source" "$place/objects" "$place/kernels"
  mkdir -p "$place/source"
  cp -r "$kernels/include" "$kernels/$family" "$kernels/write-index.sh" "$place/source/"
  [[ $theme == "$family" ]] || sed -i -E "/_tests?\.cuh\"/ { /\"${theme}_/ !d }" "$place/source/$family/$family.cu"
  sed -i -E "${expressions[$2]}" "$place/source/$file"
  if cmp -s "$place/source/$file" "$kernels/$file"; then
    : > "$place/log"
    verdict "$place" failed "$name" "the expression changes nothing in $file"
    return
  fi
  if ! make --no-print-directory -s CHECKED=1 BUILD="$place" KERNELS="$place/source" \
    KERNEL_SOURCES="$place/source/$family/$family.cu" WARNINGS=-w kernels > "$place/log" 2>&1; then
    verdict "$place" failed "$name" 'it does not compile'
  elif run "$place" "$place/kernels" "$checks"; then
    verdict "$place" failed "$name" 'nothing was found'
  elif ! grep -qE "${texts[$2]}" "$place/log"; then
    verdict "$place" failed "$name" "the log has not \"${texts[$2]}\""
  else
    verdict "$place" passed "$name" ''
  fi
}

. test/mutants/mutants.sh

# Each core has a place of its own, with the tools that are built already.
rm -rf "$work"
for ((job = 0; job < jobs; ++job)); do
  place=$work/$job
  mkdir -p "$place"
  : > "$place/verdicts"
  cp -a "$checked"/{tools,checked,describe_kernels,pack_image} "$place/"
  for ((i = job; i < ${#names[@]}; i += jobs)); do try "$place" "$i"; done &
done
mkdir "$work/unbroken"
expected=${#names[@]}
unbroken=()
[[ -z $quick ]] || unbroken=(selftest ptx/async ptx/attention reduce softmax)
if [[ $wanted == '  ' || $wanted == *' unbroken '* ]]; then
  expected=$((expected + 1))
  if run "$work/unbroken" "$checked/kernels" ${unbroken[@]+"${unbroken[@]}"}; then
    verdict "$work/unbroken" passed unbroken ''
  else
    verdict "$work/unbroken" failed unbroken 'the checks find something in the kernels'
  fi
fi
wait

passed=$(cat "$work"/*/verdicts | grep -c passed || true)
failed=$((expected - passed))
printf 'mutants: %d passed, %d failed, 0 skipped\n' "$passed" "$failed"
((failed == 0))
