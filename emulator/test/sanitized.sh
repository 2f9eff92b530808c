#!/usr/bin/env bash
# Tests, runner and hammer under the sanitizers; the last line has the totals. `sanitized.sh 1` is for CI: every family of
# kernels and all tests, but the runner itself without sanitizers, and of the thread sanitizer the hammer alone.
set -uo pipefail
cd "$(dirname "$0")/.."
short=${1:-}
jobs=$(nproc)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
broken=0

# step NAME MAKE_ARGUMENT...: make's own output is shown where it fails, else only the lines that count.
step() {
  local name=$1
  shift
  echo "$name"
  if ! "${MAKE:-make}" --no-print-directory -s -j"$jobs" "$@" > "$log.step" 2>&1; then
    broken=$((broken + 1))
    grep -v '^c++ ' "$log.step" | tail -n 200
  else
    grep -E '(passed|skipped)' "$log.step"
  fi
  cat "$log.step" >> "$log"
  rm -f "$log.step"
}

step 'tests under AddressSanitizer and UndefinedBehaviorSanitizer' SANITIZE=address,undefined test
step 'kernels under AddressSanitizer and UndefinedBehaviorSanitizer' SANITIZE=address,undefined test-runner PLAIN_RUNNER="$short"
step 'several threads at once under AddressSanitizer' SANITIZE=address,undefined test-hammer HAMMER_SECONDS=5
if [[ -n $short ]]; then
  step 'several threads at once under ThreadSanitizer' SANITIZE=thread test-hammer HAMMER_SECONDS=10
else
  step 'several threads at once under ThreadSanitizer' SANITIZE=thread test-hammer HAMMER_SECONDS=60
  step 'tests under ThreadSanitizer' SANITIZE=thread test
fi

# "NAME: 3 passed, 0 failed, 1 skipped", with words of its own before it.
awk -v broken=$broken '
  match($0, /[0-9]+ passed/) { passed += substr($0, RSTART) }
  match($0, /[0-9]+ failed/) { failed += substr($0, RSTART) }
  match($0, /[0-9]+ skipped/) { skipped += substr($0, RSTART) }
  END { printf "sanitizers: %d passed, %d failed, %d skipped, %d of the steps did not hold\n", passed, failed, skipped, broken }
' "$log"
((broken == 0))
