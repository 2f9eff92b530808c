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

{
  printf '# Made by assemble-root.sh; the format is described in docs/decisions/0002-kernel-root.md.\n'
  printf 'culebra-kernels\t1\n'
  for family; do
    for target in $targets; do
      case $target in compute_*) suffix=ptx ;; *) suffix=cubin ;; esac
      file=$target/$family.$suffix
      image=build/images/$file
      mkdir -p "$staging/$target"
      cp "$image" "$staging/$file"
      sha256=$(sha256sum < "$image")
      printf 'image\t%s\t%s\t%s\t%s\t%s\n' "$family" "$target" "$file" "$(stat -c %s "$image")" "${sha256%% *}"
    done
    if [[ -f $family/$family.def ]]; then cp "$family/$family.def" "$staging/"; fi
  done
  # Families share parameter structs, whose fields would be listed once for each.
  for family; do cat "build/host/$family.lines"; done | awk '!seen[$0]++'
} > "$staging/kernels.index"

(cd "$staging" && find . -type f -printf '%P\n') | while read -r file; do
  if ! cmp -s "$staging/$file" "$root/$file"; then
    install -D -m 644 "$staging/$file" "$root/$file"
  fi
done
(cd "$root" && find . -type f -printf '%P\n') | while read -r file; do
  if [[ ! -f $staging/$file ]]; then rm "$root/$file"; fi
done
find "$root" -mindepth 1 -type d -empty -delete
