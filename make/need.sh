#!/bin/sh
# need.sh TOOL WHY DEBIAN_PACKAGE FEDORA_PACKAGE: exits 1 and says what to install if TOOL is not on PATH.
command -v "$1" >/dev/null 2>&1 && exit 0
{
  echo "Culebra needs $1 ($2), and it is not on PATH. Install it:"
  echo "  Debian, Ubuntu: apt-get install $3      Fedora: dnf install $4"
} >&2
exit 1
