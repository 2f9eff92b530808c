#!/usr/bin/env bash
# Whether each expression of mutants.sh still finds its line, and whether no family of kernels is left out: a second, where run.sh
# takes many minutes. From the emulator's folder.
set -euo pipefail

kernels=../kernels-cu
passed=0 failed=0
seen=' '

# fail WHY
fail() {
  echo "FAILED $1"
  failed=$((failed + 1))
}

mutant() {
  local name=$1 file=$kernels/$3
  seen+="mutant/${2%/*} "
  if sed -E "$4" "$file" | cmp -s - "$file"; then
    fail "$name: the expression changes nothing in $3"
  else
    passed=$((passed + 1))
  fi
}
thorough() { mutant "$@"; }
unbroken() { seen+="unbroken/${1%/*} "; }

. test/mutants/mutants.sh

# (ceilings measures, and computes nothing that could be checked.)
for source in "$kernels"/*/*.cu; do
  family=$(basename "$source" .cu)
  [[ $family != ceilings ]] || continue
  for kind in unbroken mutant; do
    [[ $seen == *" $kind/$family "* ]] || fail "$family: mutants.sh has no $kind of it"
  done
done

echo "expressions of mutants: $passed passed, $failed failed"
((failed == 0))
