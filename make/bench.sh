#!/usr/bin/env bash
# bench.sh [OPTIONS of the suite]: runs the benchmarks from the build folders; called by `make bench`.
set -euo pipefail
cd "$(dirname "$0")/.."

mvn -q -B -Ppeers -DskipTests package dependency:copy-dependencies -DincludeScope=runtime -pl benchmarks/peers -am

if [[ -z ${CULEBRA_DRIVER:-} ]] && ! nvidia-smi -L >/dev/null 2>&1; then
  echo 'No NVIDIA GPU here: tiny sizes on the emulator, to see that the benchmarks work. The figures mean nothing.'
  export CULEBRA_DRIVER=$PWD/emulator/build/libculebra-emulator.so CULEBRA_KERNELS=$PWD/emulator/build/kernels
  set -- --smoke "$@"
  # JCuda asks the system's linker for the driver by its name.
  mkdir -p build/driver
  ln -sf "$CULEBRA_DRIVER" build/driver/libcuda.so.1
  export LD_LIBRARY_PATH=$PWD/build/driver
fi
# The launches are of a selftest kernel, which is in a test root only.
if [[ -z ${CULEBRA_KERNELS:-} ]]; then
  make -C kernels-cu test-root
  export CULEBRA_KERNELS=$PWD/kernels-cu/build/test-root
fi

CULEBRA_COMMIT=$(git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
export CULEBRA_COMMIT
"$JAVA_HOME/bin/java" -Xmx8g --enable-native-access=ALL-UNNAMED -Dculebra.baseline=build/libculebra-baseline.so \
  -cp "benchmarks/peers/target/dependency/*:$(echo benchmarks/peers/target/culebra-benchmarks-peers-*.jar)" \
  dev.culebra.benchmarks.Suite --out build/bench.json "$@"
if command -v python3 >/dev/null; then
  python3 benchmarks/torch_softmax.py --into build/bench.json "$@"
fi
