#!/usr/bin/env bash
# bench.sh [OPTIONS of the suite]: runs the benchmarks from the build folders; called by `make bench`.
set -euo pipefail
cd "$(dirname "$0")/.."

mvn -q -B -Ppeers -DskipTests package
mvn -q -B -Ppeers -DskipTests package dependency:copy-dependencies -DincludeScope=runtime -pl benchmarks/peers -am

selftest=kernels-cu/build/test-root
if [[ -z ${CULEBRA_DRIVER:-} ]] && ! nvidia-smi -L >/dev/null 2>&1; then
  echo 'No NVIDIA GPU here: tiny sizes on the emulator, to see that the benchmarks work. The figures mean nothing.'
  export CULEBRA_DRIVER=$PWD/emulator/build/libculebra-emulator.so CULEBRA_KERNELS=$PWD/emulator/build/kernels
  set -- --smoke "$@"
fi
[[ ${CULEBRA_DRIVER:-} != *emulator* ]] || selftest=emulator/build/kernels
[[ -f $selftest/kernels.index ]] || make -C kernels-cu test-root

CULEBRA_COMMIT=$(git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
export CULEBRA_COMMIT
"$JAVA_HOME/bin/java" -Xmx8g --enable-native-access=ALL-UNNAMED \
  -Dculebra.baseline=build/libculebra-baseline.so -Dculebra.selftest="$selftest" \
  -cp "benchmarks/peers/target/dependency/*:$(echo benchmarks/peers/target/culebra-benchmarks-peers-*.jar)" \
  dev.culebra.benchmarks.Suite --out build/bench.json "$@"
python3 benchmarks/torch_softmax.py --into build/bench.json "$@"
