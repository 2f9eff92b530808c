#!/usr/bin/env bash
# Fuzzes what reads files that others wrote. Called by `make fuzz` after the build, with JAVA_HOME set; FUZZ_SECONDS is for
# each target. Ends with the number of targets and of findings.
set -uo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}
targets=0 findings=0

targets=$((targets + 1))
"${MAKE:-make}" -s --no-print-directory -C emulator/fuzz run FUZZ_SECONDS="$seconds" || findings=$((findings + 1))

# Jazzer is libFuzzer for Java. No build needs it, so no pom lists it as a dependency.
version=$(sed -n 's/.*<jazzer.version>\(.*\)<.*/\1/p' pom.xml)
plugin=org.apache.maven.plugins:maven-dependency-plugin:$(sed -n 's/.*<dependency-plugin.version>\(.*\)<.*/\1/p' pom.xml)
jazzer=
for part in jazzer jazzer-api; do
  jar=build/fuzz/$part-$version.jar
  [[ -f $jar ]] || mvn -q -B -N "$plugin:copy" -Dartifact="com.code-intelligence:$part:$version" -DoutputDirectory="$PWD/build/fuzz" \
    > build/fuzz.log 2>&1 || { jazzer=; break; }
  jazzer+=$jar:
done
finish() {
  echo "fuzz: $targets targets of $seconds s, $findings findings"
  ((findings == 0))
  exit
}
if [[ -z $jazzer ]]; then
  echo "Jazzer $version cannot be fetched (build/fuzz.log says why): the readers in Java are not fuzzed."
  finish
fi

# java_target MODULE CLASS FOLDER SEED...: FOLDER holds what was found before.
java_target() {
  local module=$1 class=$2 known=$3 work=build/fuzz/${2##*.}
  shift 3
  targets=$((targets + 1))
  mkdir -p "$work/corpus" "$work/seeds"
  rm -f "$work"/seeds/* "$work"/crash-* "$work"/timeout-*
  for seed; do cp "$seed" "$work/seeds/"; done
  echo "$class: Jazzer, $seconds s"
  if "$JAVA_HOME/bin/java" -Xmx1g --enable-native-access=ALL-UNNAMED -cp "$jazzer$module/target/test-classes:$module/target/classes:cli/target/lib/*" \
      com.code_intelligence.jazzer.Jazzer --target_class="$class" --instrumentation_includes='dev.culebra.**' \
      --reproducer_path="$work" -artifact_prefix="$work/" -max_total_time="$seconds" -seed=1 -timeout=20 -max_len=65536 \
      -print_final_stats=1 "$work/corpus" "$work/seeds" "$known" > "$work/log" 2>&1; then
    grep number_of_executed_units "$work/log"
  else
    findings=$((findings + 1))
    grep -vE '^(#|INFO|WARNING)' "$work/log" | tail -n 40
    ls "$work"/crash-* "$work"/timeout-* 2>/dev/null | sed "s|\$| is the input; when it is mended, keep it in $known|"
  fi
}

io=io/src/test/resources/dev/culebra/io
api=api/src/test/resources/dev/culebra/fuzz
# Without nvcc there are no images for a GPU, and the emulator's must do.
roots=$(ls -d emulator/build/kernels kernels-cu/build/root)
images=$(find $roots -size -64k \( -name '*.cubin' -o -name '*.ptx' \))
java_target io dev.culebra.io.NpyFuzz $io/fuzz/npy $io/*.npy
java_target io dev.culebra.io.SafetensorsFuzz $io/fuzz/safetensors $io/*.safetensors
java_target api dev.culebra.KernelImageFuzz $api/kernel-image emulator/build-fuzz/seeds/* $images
java_target api dev.culebra.KernelIndexFuzz $api/kernel-index emulator/build/kernels/kernels.index
java_target api dev.culebra.ops.LaunchTableFuzz $api/launch-table $(find $roots -name '*.def')

finish
