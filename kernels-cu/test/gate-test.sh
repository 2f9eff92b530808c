#!/usr/bin/env bash
# The build's gate must let clean logs pass and stop the others: a gate that cannot fail is none.
set -euo pipefail
cd "$(dirname "$0")/.."
passed=0 failed=0

# check NAME EXPECTED_STATUS TARGET EXPECTED_TEXT < LOG
check() {
  local name=$1 expected=$2 target=$3 text=$4 status=0 output
  output=$(awk -v target="$target" -f gate.awk) || status=$?
  if [[ $status == "$expected" && $output == *"$text"* && ( -n $text || -z $output ) ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name: status $status, expected $expected; said: $output" >&2
  fi
}

properties() { # spill stores, spill loads
  cat <<LOG
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'culebra_some_kernel' for 'sm_90a'
ptxas info    : Function properties for culebra_some_kernel
    $1 bytes stack frame, $1 bytes spill stores, $2 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 264 bytes smem
LOG
}

serialised() {
  properties 0 0
  echo "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized" \
    "due to insufficient register resources in function 'culebra_some_kernel'"
}

check 'a clean log passes' 0 sm_90a '' < <(properties 0 0)
check 'an empty log passes (PTX)' 0 compute_80 '' < /dev/null
check 'spill stores fail on sm_90a' 1 sm_90a 'culebra_some_kernel' < <(properties 8 0)
check 'spill loads alone fail on sm_80' 1 sm_80 'culebra_some_kernel' < <(properties 0 16)
check 'round numbers are not taken for zero' 1 sm_80 '10 bytes spill stores' < <(properties 10 20)
check 'spills elsewhere warn' 0 sm_120 'warning' < <(properties 8 8)
check 'C75xx fails on sm_90a' 1 sm_90a 'C7510' < <(serialised)
check 'C75xx elsewhere warns' 0 sm_100 'C7510' < <(serialised)

echo "kernel build gates: $passed passed, $failed failed"
((failed == 0))
