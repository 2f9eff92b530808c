#!/bin/sh
# Tests and measures Culebra on a machine that has a GPU but no JDK, no Maven and no network. `run help` tells how.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
OUT=${OUT:-$PWD/culebra-results}
java=$here/runtime/bin/java
# The bundle's Java is one that knows this option; it quiets warnings about libraries of tests and peers.
quiet=--sun-misc-unsafe-memory-access=allow

# The folders' jars as one class path.
class_path() {
  path=
  for folder in "$@"; do
    for jar in "$here/$folder"/*.jar; do
      path=$path:$jar
    done
  done
  echo "${path#:}"
}

# The command as users have it, with the images of the jar. Classes are kept in an archive that the first run makes,
# where this folder may be written.
cli() {
  set -- -m dev.culebra.cli/dev.culebra.cli.Main "$@"
  [ ! -w "$here" ] || set -- -XX:+AutoCreateSharedArchive "-XX:SharedArchiveFile=$here/cli.jsa" "$@"
  exec "$java" -Xlog:disable --enable-native-access=dev.culebra.bindings,dev.culebra.generated -p "$here/lib" "$@"
}

# Tests and benchmarks also launch kernels of the selftest family. Its root has them beside the very images of the jar.
with_test_root() {
  export CULEBRA_KERNELS="${CULEBRA_KERNELS:-$here/test-root}"
  mkdir -p "$OUT"
}

run_tests() {
  with_test_root
  scan=
  for jar in "$here"/test/culebra-*-tests.jar; do
    scan=$scan:$jar
  done
  status=0
  # LayersTest looks at class files, which are the same everywhere.
  "$java" $quiet -Xmx4g --enable-native-access=ALL-UNNAMED -cp "$(class_path lib test)" \
    org.junit.platform.console.ConsoleLauncher execute --disable-banner --disable-ansi-colors --details=tree \
    --scan-class-path="${scan#:}" --include-classname='.*Test$' --exclude-classname='.*LayersTest$' \
    --exclude-tag=emulator-only --config=jqwik.database= --fail-if-no-tests --reports-dir="$OUT/tests" "$@" \
    >"$OUT/tests.txt" 2>&1 || status=$?
  sed -n '/^Failures/,$p' "$OUT/tests.txt"
  [ "$status" = 0 ] || grep -q '^Failures' "$OUT/tests.txt" || tail -n 30 "$OUT/tests.txt"
  sed -n '/tests \(found\|skipped\|successful\|failed\)/p' "$OUT/tests.txt"
  return "$status"
}

# A program of the benchmarks.
benchmarks() {
  CULEBRA_COMMIT=$(sed -n 's/^commit *//p' "$here/BUNDLE")
  export CULEBRA_COMMIT
  "$java" $quiet -Xmx8g --enable-native-access=ALL-UNNAMED "-Dculebra.bench.native=$here/native" \
    "-Dculebra.torch_peer=$here/bench/torch_peer.py" -cp "$(class_path lib bench)" "dev.culebra.benchmarks.$@"
}

run_bench() {
  with_test_root
  benchmarks Suite --out "$OUT/bench.json" "$@"
}

# The online softmax paper's sweeps, and its figures from them.
run_paper() {
  with_test_root
  status=0
  benchmarks Suite --out "$OUT/paper/results.json" --only ceilings,paper "$@" || status=$?
  [ "$status" = 2 ] || benchmarks report.Paper --out "$OUT/paper" "$OUT/paper/results.json" || status=$?
  return "$status"
}

run_sanitize() {
  with_test_root
  sanitizer=$(command -v compute-sanitizer || ls -d /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | tail -n 1)
  if [ -z "$sanitizer" ]; then
    echo 'compute-sanitizer is not on PATH nor in /usr/local/cuda*/bin; it comes with the CUDA toolkit' >&2
    return 1
  fi
  status=0
  for tool in memcheck racecheck initcheck synccheck; do
    # What a tool takes for a mistake, and these kernels do on purpose: racecheck knows no order by flags and fences,
    # synccheck wants each arrival of a copy waited for.
    case $tool in
      racecheck) leave_out='--kernel-name-exclude kns=culebra_ptx_sync_' ;;
      synccheck) leave_out='--kernel-name-exclude kne=culebra_ptx_cp_async_mbarrier' ;;
      *) leave_out= ;;
    esac
    if "$sanitizer" --tool "$tool" $leave_out --error-exitcode 9 "$here/native/runner" "$CULEBRA_KERNELS" ${CULEBRA_DRIVER:-} \
        >"$OUT/sanitize-$tool.txt" 2>&1; then
      echo "$tool: clean"
    else
      status=1
      echo "$tool: FAILED, the end of $OUT/sanitize-$tool.txt:"
      tail -n 20 "$OUT/sanitize-$tool.txt"
    fi
  done
  return "$status"
}

# What the driver answers to good and bad calls, beside what is recorded: differences are in the table, with the rest.
run_differential() {
  with_test_root
  status=0
  "$here/native/differential" "$CULEBRA_KERNELS" --json "$OUT/differential.json" "$@" >"$OUT/differential.txt" 2>&1 || status=$?
  cat "$OUT/differential.txt"
  return "$status"
}

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
  info | demo) cli "$command" "$@" ;;
  cli) cli "$@" ;;
  test) run_tests "$@" ;;
  bench) run_bench "$@" ;;
  paper) run_paper "$@" ;;
  sanitize) run_sanitize ;;
  differential) run_differential "$@" ;;
  *)
    cat <<END
usage: run info           the driver and the devices it finds
       run demo [...]     next-character prediction on the device
       run test [...]     the Java tests on the device (options of JUnit's console launcher)
       run bench [...]    kernels and calls, beside C, JNI peers, the device's ceilings, and torch if it is here: at most
                          300 seconds, of which each section gets its share (--seconds N; 0: no limit); a run that was
                          cut goes on when started again (--full for all types and more rounds, 1800 seconds; --out FILE;
                          --only $(benchmarks Suite --list-sections);
                          --python COMMAND; --smoke for tiny sizes)
       run paper [...]    the online softmax paper's benchmark: its sweeps, and from them both of its figures as SVG (as PNG
                          too where a browser is) and a page with the paper's numbers beside these (options of bench)
       run sanitize       compute-sanitizer's four tools over the C++ runner of the same kernels
       run differential   what the driver answers to good and bad calls, beside what is recorded (--only TEXT)
       run cli ...        the culebra command
Results of test, bench, paper, sanitize and differential go to the folder that OUT names (now $OUT).
$(cat "$here/BUNDLE")
END
    [ "$command" = help ] || exit 2
    ;;
esac
