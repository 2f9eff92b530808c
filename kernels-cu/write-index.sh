#!/usr/bin/env bash
# Writes the index of a kernel root (docs/decisions/0002-kernel-root.md): its images, then what describe_kernels said of
# them.
#
#   write-index.sh ROOT IMAGE ... -- LINES ...
#
# An IMAGE is named within the root, TARGET/FAMILY.SUFFIX; LINES are files with the output of describe_kernels.
set -euo pipefail
cd "$1"
shift

{
  printf 'culebra-kernels\t1\n'
  while [[ $1 != -- ]]; do
    family=${1##*/}
    sha256=$(sha256sum < "$1")
    printf 'image\t%s\t%s\t%s\t%s\t%s\n' "${family%.*}" "${1%/*}" "$1" "$(stat -c %s "$1")" "${sha256%% *}"
    shift
  done
  shift
  # Families share parameter structs, whose fields would be listed once for each.
  cat "$@" | awk '!seen[$0]++'
} > kernels.index.new
mv kernels.index.new kernels.index
