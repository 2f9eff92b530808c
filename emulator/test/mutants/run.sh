#!/usr/bin/env bash
# Breaks our own kernels on purpose, one mistake at a time, and shows that each is found, in the words that are meant for it:
# by CULEBRA_EMU_CHECK, or by the runner that looks at the results. And that in the kernels as they are nothing is found.
# Both lists are in mutants.sh. WORK/*/seconds says what took how long.
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

# mutant NAME FAMILY FILE EXPRESSION TEXT: the sed expression makes the mistake, and the log must have the text. Only a part of a
# family may be compiled and run: a theme of ptx, as ptx/async, or the kernels of one type, as softmax/f32.
mutant() {
  [[ $wanted == '  ' || $wanted == *" $1 "* ]] || return 0
  names+=("$1") families+=("$2") files+=("$3") expressions+=("$4") texts+=("$5")
}

# The same, for one that takes long, or does what another one does in another family.
thorough() { [[ -n $quick ]] || mutant "$@"; }

# Kernels as they are: nothing is to be found in them.
unbroken() {
  [[ $wanted == '  ' || $wanted == *' unbroken '* || $wanted == *" unbroken/$1 "* ]] || return 0
  names+=("unbroken/$1") families+=("$1") files+=('') expressions+=('') texts+=('')
}

# only PLACE FAMILY PART: leaves out what the part does not need. (States of 16 bits are merged by kernels of f32.)
only() {
  local source=$1/source/$2
  if [[ $2 == ptx ]]; then
    sed -i -E "/_tests?\.cuh\"/ { /\"$3_/ !d }" "$source/ptx.cu"
  else
    sed -i -E "/^CULEBRA_/ { /^[A-Z_]*MERGE\(/ b; /^[A-Z_]+\(([a-z0-9_]+, )?(f32|f16|bf16|f64|i32|i64),/ { /^[A-Z_]+\(([a-z0-9_]+, )?$3,/ !d } }" \
      "$source/$2.def"
  fi
}

# try PLACE INDEX
try() {
  local place=$1 name=${names[$2]} checks=${families[$2]} file=${files[$2]}
  local family=${checks%/*} part='' sources='' one
  if [[ $name == unbroken/* ]]; then
    if run "$place" "$checked/kernels" "$checks"; then
      verdict "$place" passed "$name" ''
    else
      verdict "$place" failed "$name" 'the checks find something in the kernels'
    fi
    return
  fi
  rm -rf "$place/source" "$place/objects" "$place/kernels"
  mkdir -p "$place/source"
  cp -r "$kernels/include" "$kernels/write-index.sh" "$place/source/"
  [[ $checks == "$family" ]] || part=${checks#*/}
  # The states of columns are merged by kernels of the family reduce.
  local compiled=("$family")
  [[ $family != reduce_columns ]] || compiled+=(reduce)
  for one in "${compiled[@]}"; do
    cp -r "$kernels/$one" "$place/source/"
    sources+=" $place/source/$one/$one.cu"
  done
  sed -i -E "${expressions[$2]}" "$place/source/$file"
  if cmp -s "$place/source/$file" "$kernels/$file"; then
    : > "$place/log"
    verdict "$place" failed "$name" "the expression changes nothing in $file"
    return
  fi
  if [[ -n $part ]]; then
    for one in "${compiled[@]}"; do only "$place" "$one" "$part"; done
  fi
  if ! make --no-print-directory -s CHECKED=1 BUILD="$place" KERNELS="$place/source" \
    KERNEL_SOURCES="$sources" WARNINGS=-w kernels > "$place/log" 2>&1; then
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
if ((${#names[@]} == 0)); then
  echo "mutants: there is none of the names$wanted"
  exit 1
fi

# Each core has a place of its own, with the tools that are built already, and takes what nobody has taken yet.
rm -rf "$work"
mkdir -p "$work/taken"
for ((job = 0; job < jobs; ++job)); do
  place=$work/$job
  mkdir -p "$place"
  : > "$place/verdicts"
  cp -a "$checked"/{tools,checked,describe_kernels,pack_image} "$place/"
  for ((i = 0; i < ${#names[@]}; ++i)); do
    mkdir "$work/taken/$i" 2> /dev/null || continue
    SECONDS=0
    try "$place" "$i"
    echo "$SECONDS ${names[$i]}" >> "$place/seconds"
  done &
done
wait

passed=$(cat "$work"/*/verdicts | grep -c passed || true)
failed=$((${#names[@]} - passed))
printf 'mutants: %d passed, %d failed, 0 skipped\n' "$passed" "$failed"
((failed == 0))
