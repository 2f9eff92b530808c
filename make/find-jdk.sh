#!/bin/sh
# Prints the home of a JDK that can build Culebra, or says on stderr what to install and exits 1.
#
# JAVA_HOME wins when it is new enough: somebody chose it. Otherwise the newest JDK found on PATH and in the
# folders where package managers put them.
set -u
floor=22

# The feature version of the JDK in folder $1, or nothing where there is no whole JDK.
version_of() {
  [ -x "$1/bin/javac" ] || return 0
  # Every JDK since 9 says its version in a text file, which is quicker than to start it.
  sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release" 2>/dev/null
}

if [ -n "${JAVA_HOME:-}" ]; then
  version=$(version_of "$JAVA_HOME")
  if [ "${version:-0}" -ge "$floor" ]; then
    echo "$JAVA_HOME"
    exit 0
  fi
fi

on_path=$(command -v javac 2>/dev/null) && on_path=$(readlink -f "$on_path") || on_path=
best= best_version=0 seen=
for home in "${on_path%/bin/javac}" \
    /usr/lib/jvm/* /usr/java/* /usr/local/openjdk-* /usr/local/*jdk* /opt/java/* /opt/*jdk* \
    "${HOME:-}"/.sdkman/candidates/java/* "${HOME:-}"/.jdks/* "${HOME:-}"/.asdf/installs/java/* \
    "${HOME:-}"/.local/share/mise/installs/java/* \
    /Library/Java/JavaVirtualMachines/*/Contents/Home; do
  version=$(version_of "$home")
  [ -n "$version" ] || continue
  seen="$seen
  Java $version in $home"
  if [ "$version" -gt "$best_version" ]; then
    best=$home best_version=$version
  fi
done

if [ "$best_version" -ge "$floor" ]; then
  echo "$best"
  exit 0
fi

{
  echo "Culebra needs a JDK $floor or newer (25 is what we measure on), and none was found."
  [ -z "$seen" ] || echo "Too old:$seen"
  echo "Install one, for example"
  echo "  Debian 13, Ubuntu 25.10:  apt-get install openjdk-25-jdk-headless"
  echo "  Fedora:                   dnf install java-25-openjdk-devel"
  echo "  macOS, others:            Temurin 25 from adoptium.net, or 'sdk install java 25-tem'"
  echo "or set JAVA_HOME to its folder."
} >&2
exit 1
