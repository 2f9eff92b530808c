#!/usr/bin/env bash
# Whether each expression of mutants.sh still finds its line: a second, where run.sh takes many minutes. From the emulator's folder.
set -euo pipefail

kernels=../kernels-cu
passed=0 failed=0

mutant() {
  local name=$1 file=$kernels/$3
  if sed -E "$4" "$file" | cmp -s - "$file"; then
    echo "FAILED $name: the expression changes nothing in $3"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
}
thorough() { mutant "$@"; }

. test/mutants/mutants.sh

echo "expressions of mutants: $passed passed, $failed failed"
((failed == 0))
