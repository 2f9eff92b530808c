#!/usr/bin/env bash
# install-kernel-tools.sh PREFIX: puts what compiles and runs a user's own kernels on the emulator into a folder that needs
# this source tree no more. Called by `make install-kernel-tools` after the emulator's build.
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=$1

install -d "$prefix/bin" "$prefix/lib" "$prefix/include" "$prefix/libexec/culebra"
install -m 755 bin/culebra-image "$prefix/bin/"
install -m 755 emulator/build/libculebra-emulator.so "$prefix/lib/"
for folder in kernels-cu/include/culebra emulator/include/culebra_emu; do
  rm -rf "${prefix:?}/include/$(basename "$folder")"
  cp -R "$folder" "$prefix/include/"
done
install -m 755 emulator/build/{pack_image,describe_kernels} kernels-cu/write-index.sh make/gpu-archs.sh "$prefix/libexec/culebra/"
install -m 644 emulator/build/{image-flags,link-flags} emulator/src/image.map "$prefix/libexec/culebra/"
install -d "$prefix/libexec/culebra/checked/checked"
install -m 644 emulator/build-checked/{image-flags,link-flags} "$prefix/libexec/culebra/checked/"
install -m 644 emulator/build-checked/checked/access_hooks.o "$prefix/libexec/culebra/checked/checked/"
echo "installed into $prefix: bin/culebra-image, lib/libculebra-emulator.so"
