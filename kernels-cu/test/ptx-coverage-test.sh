#!/usr/bin/env bash
# Each wrapper of an instruction (include/culebra/ptx) must be called by a kernel of ptx/, where a run on a GPU and one on
# the emulator can be compared. (The host's form is read; what has none, as wgmma, is not seen.)
set -euo pipefail
cd "$(dirname "$0")/.."

expanded=$(${CXX:-g++} -std=c++20 -x c++ -DCULEBRA_HOST -Iinclude -I../emulator/include -E ptx/ptx.cu)

# The text that comes from files whose path begins so.
text_of() {
  awk -v path="\"$1" '/^# [0-9]+ "/ { inside = index($3, path) == 1; next } inside' <<< "$expanded"
}

wrappers=$(text_of include/culebra/ptx/ | tr -s ' \t\n' ' ' |
  sed 's/__attribute__((always_inline))//g; s/__inline__/\n@/g; s/\binline /\n@ /g' |
  sed -n 's/^@ *[^({;]*[ *&]\([A-Za-z_0-9]*\) *(.*/\1/p' | sort -u)
called=$(text_of ptx/ | grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u)

count=$(wc -l <<< "$wrappers")
if ((count < 200)); then
  echo "FAILED: only $count wrappers were found: this test does not see them any more" >&2
  exit 1
fi
missing=$(comm -23 <(echo "$wrappers") <(echo "$called"))
if [[ -n $missing ]]; then
  echo "FAILED: no kernel of ptx/ calls:" $missing >&2
  exit 1
fi
echo "wrappers of instructions: all $count are called by a kernel of ptx/"
