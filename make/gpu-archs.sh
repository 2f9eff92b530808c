#!/bin/sh
# The architectures to compile kernels for: those of the devices present, else the two that we gate on.
#
# 9.0 and 10.0 have an 'a' variant with instructions that our kernels use there.
archs=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
  sed -n 's/^\([0-9][0-9]*\)\.\([0-9]\)$/\1\2/p' | sort -u | sed 's/^90$/90a/' | tr '\n' ' ')
echo "${archs:-80 90a}"
