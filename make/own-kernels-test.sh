#!/usr/bin/env bash
# Runs the commands of docs/your-own-kernels.md as they stand there and looks at what they print, then what culebra-image
# must refuse. Called by `make test` after the build, with JAVA_HOME set.
set -euo pipefail
cd "$(dirname "$0")/.."
page=docs/your-own-kernels.md
passed=0 failed=0

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# What the page calls the source tree.
export CULEBRA=$PWD
export PATH=$JAVA_HOME/bin:$PATH
# The page's make is not this one's child.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
mkdir "$folder/home" "$folder/project"
cp examples/saxpy/saxpy.cu examples/saxpy/Saxpy.java "$folder/project/"

# check NAME STATUS TEXT FOLDER COMMAND...: the command ends with the status and says the text.
check() {
  local name=$1 expected=$2 text=$3 where=$4 status=0
  shift 4
  (cd "$where" && HOME=$folder/home "$@") > "$folder/log" 2>&1 || status=$?
  if [[ $status == "$expected" ]] && grep -qF -- "$text" "$folder/log"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name: status $status, expected $expected and '$text'; it said:" >&2
    tail -n 15 "$folder/log" >&2
  fi
}

# The N-th block of the page that is marked as run.
block() {
  awk -v wanted="$1" '
    /^<!-- commands: run by a test -->$/ { marked = 1; next }
    marked && /^```sh$/ { inside = ++count == wanted; marked = 0; next }
    /^```$/ { inside = 0 }
    inside' "$page"
}

answer='Culebra emulator (CPU): y[7] = 15, sum = 8000000'
check 'the commands for the source tree' 0 "$answer" . bash -euo pipefail -c "$(block 1)"
check 'the commands for anywhere else' 0 "$answer" "$folder/project" bash -euo pipefail -c "$(block 2)"
tools=$folder/home/culebra

# What the page promises of a barrier that is missing.
sed '/__syncthreads/d' "$folder/project/saxpy.cu" > "$folder/project/racy.cu"
"$tools/bin/culebra-image" -o "$folder/project/racy" --checked --arch none "$folder/project/racy.cu" > /dev/null || true
check 'a missing barrier, looked for' 1 'racy.cu:' "$folder/project" env CULEBRA_EMU_CHECK=all \
  CULEBRA_DRIVER="$tools/lib/libculebra-emulator.so" java --enable-native-access=ALL-UNNAMED -cp "$CULEBRA/cli/target/lib/*" \
  Saxpy.java racy/checked

echo 'void nothing() {}' > "$folder/project/none.cu"
check 'a source without kernels' 1 'CULEBRA_KERNEL' "$folder/project" \
  "$tools/bin/culebra-image" -o none --arch none none.cu
sed 's/x, count)$/count)/' "$folder/project/saxpy.cu" > "$folder/project/few.cu"
check 'a parameter without a name' 1 'must name each parameter once' "$folder/project" \
  "$tools/bin/culebra-image" -o few --arch none few.cu
check 'no source' 2 'usage' "$folder/project" "$tools/bin/culebra-image" -o out
check 'a missing source' 1 'there is no absent.cu' "$folder/project" "$tools/bin/culebra-image" -o out absent.cu
mkdir -p "$folder/project/taken/gpu"
touch "$folder/project/taken/gpu/precious"
check 'a folder that is no kernel root' 1 'would be overwritten' "$folder/project" \
  "$tools/bin/culebra-image" -o taken --arch none saxpy.cu
check 'and is still there' 0 precious "$folder/project/taken/gpu" ls
check 'a GPU image without nvcc' 1 'nvcc is not found' "$folder/project" \
  env CUDA_HOME=/nowhere PATH=/usr/bin:/bin NVCC= "$tools/bin/culebra-image" -o out --arch 90a saxpy.cu

echo "own kernels: $passed passed, $failed failed"
((failed == 0))
