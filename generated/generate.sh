#!/bin/sh
# Makes generated/src/jextract anew from the toolkit's cuda.h. `make generate` runs it; no build needs it.
#
#   JEXTRACT      the jextract launcher      (else: jextract on PATH)
#   CUDA_HOME     the toolkit of CUDA 13.0   (else: found from nvcc on PATH)
#   JAVA_HOME     a JDK 22 or newer          (else: java on PATH)
set -eu

# What the committed output was made by. Another header or another jextract shows as a diff.
CUDA_VERSION=13000
JEXTRACT_COMMIT=f9866df3a178baa2e4a3746a7a6e458d783ace92

here=$(cd "$(dirname "$0")" && pwd)
fail() {
  echo "generate: $*" >&2
  exit 1
}

jextract=${JEXTRACT:-$(command -v jextract || true)}
[ -n "$jextract" ] || fail "jextract is not on PATH. Build github.com/openjdk/jextract at commit" \
  "$JEXTRACT_COMMIT, then: make generate JEXTRACT=/path/to/bin/jextract"
[ -x "$jextract" ] || fail "JEXTRACT=$jextract is not a program that can be run"

java=${JAVA_HOME:+$JAVA_HOME/bin/java}
java=${java:-$(command -v java || true)}
[ -n "$java" ] || fail "no java on PATH and JAVA_HOME is not set: a JDK 22 or newer is needed"

if [ -z "${CUDA_HOME:-}" ]; then
  nvcc=$(command -v nvcc || true)
  [ -n "$nvcc" ] || fail "nvcc is not on PATH and CUDA_HOME is not set: set CUDA_HOME to a CUDA 13.0 toolkit"
  CUDA_HOME=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
fi
for header in cuda.h cudaTypedefs.h; do
  [ -f "$CUDA_HOME/include/$header" ] || fail "$CUDA_HOME/include/$header does not exist: is CUDA_HOME right?"
done
grep -q "^#define CUDA_VERSION $CUDA_VERSION\$" "$CUDA_HOME/include/cuda.h" \
  || fail "$CUDA_HOME/include/cuda.h is not that of CUDA_VERSION $CUDA_VERSION (CUDA 13.0)"

raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT

# decls.per.header: one class for all declarations. Over 1000 jextract chains several, and which function lands in
# which class changes with every toolkit. The shims come first, so that they hide libc's headers.
JEXTRACT_JAVA_OPTIONS="${JEXTRACT_JAVA_OPTIONS:-} -Djextract.decls.per.header=100000" "$jextract" \
  -I "$here/shims" -I "$CUDA_HOME/include" \
  --target-package dev.culebra.generated --header-class-name cuda_h \
  --output "$raw" "$CUDA_HOME/include/cuda.h" > "$raw/log" 2>&1 || {
  cat "$raw/log" >&2
  fail "jextract failed"
}
rm "$raw/log"

"$java" "$here/Postprocess.java" "$raw" "$CUDA_HOME/include" "$JEXTRACT_COMMIT" "$here"
