#!/usr/bin/env bash
# bench.sh [OPTIONS of the suite]: runs the benchmarks from the build folders; called by `make bench`.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -z ${CULEBRA_DRIVER:-} ]] && ! nvidia-smi -L >/dev/null 2>&1; then
  echo 'No NVIDIA GPU here: the driver is the emulator. What calls cost in Java is measured; times of kernels mean nothing.'
  export CULEBRA_DRIVER=$PWD/emulator/build/libculebra-emulator.so CULEBRA_KERNELS=$PWD/emulator/build/kernels
  # JCuda asks the system's linker for the driver by its name.
  mkdir -p build/driver
  ln -sf "$CULEBRA_DRIVER" build/driver/libcuda.so.1
  export LD_LIBRARY_PATH=$PWD/build/driver
fi
# The ceilings and the kernel that is launched are in a test root only.
if [[ -z ${CULEBRA_KERNELS:-} ]]; then
  make -C kernels-cu test-root
  export CULEBRA_KERNELS=$PWD/kernels-cu/build/test-root
fi

CULEBRA_COMMIT=$(git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
export CULEBRA_COMMIT
exec make/bench-java.sh -Xmx8g -Dculebra.bench.native=build/bench -Dculebra.torch_peer=benchmarks/torch_peer.py \
  dev.culebra.benchmarks.Suite --out build/bench.json "$@"
