#!/bin/sh
# Tests and measures Culebra on a machine that has a GPU but no JDK, no Maven and no network. `run help` tells how.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
OUT=${OUT:-$PWD/culebra-results}
java=$here/runtime/bin/java

# The folders' jars as one class path.
class_path() {
  path=
  for folder in "$@"; do
    for jar in "$here/$folder"/*.jar; do
      [ ! -e "$jar" ] || path=$path:$jar
    done
  done
  echo "${path#:}"
}

cli() {
  # The archive of loaded classes is made by the first call that may write here, and makes later ones start faster.
  archive=
  [ ! -w "$here" ] || archive="-XX:+AutoCreateSharedArchive -XX:SharedArchiveFile=$here/cli.jsa"
  # shellcheck disable=SC2086 # two words or none
  exec "$java" $archive -Xlog:disable -Xlog:all=off --enable-native-access=dev.culebra.bindings,dev.culebra.generated \
    -p "$here/lib" -m @CLI_MAIN@ "$@"
}

# Runs the tests against the device: the driver of this machine and the jar's own images, unless CULEBRA_DRIVER and
# CULEBRA_KERNELS name others.
run_tests() {
  mkdir -p "$OUT"
  scan=
  for jar in "$here"/test/culebra-*-tests.jar; do scan=$scan:$jar; done
  CULEBRA_ROOT=$here CULEBRA_SELFTEST_KERNELS=$here/selftest "$java" -Xmx4g --enable-native-access=ALL-UNNAMED -cp "$(class_path lib test)" \
    org.junit.platform.console.ConsoleLauncher execute --disable-banner --disable-ansi-colors --details=summary \
    --exclude-tag emulator-only --scan-class-path "${scan#:}" --include-classname '.*(Test|Tests|Properties)$' \
    --reports-dir "$OUT/tests" "$@" >"$OUT/tests.txt" 2>&1 && status=0 || status=$?
  cat "$OUT/tests.txt"
  return "$status"
}

run_bench() {
  mkdir -p "$OUT"
  CULEBRA_COMMIT=$(sed -n 's/^commit *//p' "$here/BUNDLE")
  export CULEBRA_COMMIT
  # JMH and the peers' natives want a folder of their own for files.
  "$java" -Xmx8g --enable-native-access=ALL-UNNAMED -Djava.io.tmpdir="${TMPDIR:-/tmp}" \
    -Dculebra.baseline="$here/native/libculebra-baseline.so" -Dculebra.selftest="$here/selftest" \
    -cp "$(class_path lib bench peers)" dev.culebra.benchmarks.Suite --out "$OUT/bench.json" "$@"
  if command -v python3 >/dev/null 2>&1; then
    python3 "$here/bench/torch_softmax.py" --into "$OUT/bench.json" "$@"
  else
    echo 'torch: no python3 here, not measured'
  fi
}

run_sanitize() {
  mkdir -p "$OUT"
  sanitizer=$(command -v compute-sanitizer || ls -d /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | tail -n 1 || true)
  if [ -z "$sanitizer" ]; then
    echo 'compute-sanitizer is not on PATH nor under /usr/local/cuda*/bin: install the CUDA toolkit of this driver' >&2
    return 1
  fi
  status=0
  for tool in memcheck racecheck initcheck synccheck; do
    if "$sanitizer" --tool "$tool" --error-exitcode 9 "$here/native/runner" "$here/selftest" "$@" >"$OUT/sanitize-$tool.txt" 2>&1
    then echo "$tool: clean"
    else status=1; echo "$tool: FAILED, see $OUT/sanitize-$tool.txt"; tail -n 20 "$OUT/sanitize-$tool.txt"
    fi
  done
  return "$status"
}

case ${1:-help} in
  info | demo) cli "$@" ;;
  cli) shift; cli "$@" ;;
  test) shift; run_tests "$@" ;;
  bench) shift; run_bench "$@" ;;
  sanitize) shift; run_sanitize "$@" ;;
  *)
    cat <<END
usage: run info               the driver and the devices it finds
       run demo [...]         next-character prediction on the device
       run test [...]         the Java tests on the device (options of JUnit's console launcher)
       run bench [--smoke]    calls, launches and softmax, beside C, the JNI peers, a device copy, and torch if it is here
       run sanitize           compute-sanitizer's four tools over the C++ runner of the same kernels
       run cli ...            the culebra command
Results go to the folder named by OUT (now $OUT).
$(cat "$here/BUNDLE")
END
    [ "${1:-help}" = help ] || exit 2
    ;;
esac
