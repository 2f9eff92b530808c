#!/usr/bin/env bash
# Puts a kernel root together from what is built: images, launch tables, index.
#
#   assemble-root.sh ROOT 'TARGET ...' FAMILY ...
#
# A file whose bytes stay the same is not touched, so whoever packs the root sees only real changes; what no longer belongs
# to it goes.
set -euo pipefail
cd "$(dirname "$0")"
root=$1 targets=$2
shift 2

mkdir -p build "$root"
staging=$(mktemp -d build/root.XXXXXX)
trap 'rm -rf "$staging"' EXIT

images=() lines=()
for family; do
  for target in $targets; do
    case $target in compute_*) suffix=ptx ;; *) suffix=cubin ;; esac
    file=$target/$family.$suffix
    mkdir -p "$staging/$target"
    cp "build/images/$file" "$staging/$file"
    images+=("$file")
  done
  if [[ -f $family/$family.def ]]; then cp "$family/$family.def" "$staging/"; fi
  lines+=("$PWD/build/host/$family.lines")
done
./write-index.sh "$staging" "${images[@]}" -- "${lines[@]}"

(cd "$staging" && find . -type f -printf '%P\n') | while read -r file; do
  if ! cmp -s "$staging/$file" "$root/$file"; then
    install -D -m 644 "$staging/$file" "$root/$file"
  fi
done
(cd "$root" && find . -type f -printf '%P\n') | while read -r file; do
  if [[ ! -f $staging/$file ]]; then rm "$root/$file"; fi
done
find "$root" -mindepth 1 -type d -empty -delete
