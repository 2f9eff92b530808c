#!/usr/bin/env bash
# gpu-bundle.sh ARCHS: packs build/culebra-gpu-bundle.tar.xz, with which a machine that has a GPU but no JDK, no Maven and
# no network tests and measures Culebra. Called by `make gpu-bundle` after the build, with JAVA_HOME set.
set -euo pipefail
cd "$(dirname "$0")/.."
archs=$1
limit_mib=45
bundle=build/culebra-gpu-bundle
# The modules whose tests say something about a device.
tested=(kernels-cu api cli)

junit=$(sed -n 's/.*<junit.version>5\.\(.*\)<.*/\1/p' pom.xml)
dependency_plugin=org.apache.maven.plugins:maven-dependency-plugin:$(sed -n 's/.*<dependency-plugin.version>\(.*\)<.*/\1/p' pom.xml)
console=org.junit.platform:junit-platform-console-standalone:1.$junit
mvn -q -B -Ppeers -DskipTests package "$dependency_plugin:copy-dependencies"
mvn -q -B "$dependency_plugin:copy" -Dartifact="$console" -DoutputDirectory="$PWD/build/junit" -N

rm -rf "$bundle"
mkdir -p "$bundle"/{lib,bench,test,native}

# add FOLDER JAR...: the jars that lib/ does not have, nor FOLDER.
add() {
  local folder=$1 jar name
  shift
  for jar in "$@"; do
    name=$(basename "$jar")
    [[ -e $bundle/lib/$name || -e $bundle/$folder/$name ]] || cp "$jar" "$bundle/$folder/"
  done
}
cp cli/target/lib/*.jar "$bundle/lib/"
add bench benchmarks/peers/target/*.jar benchmarks/peers/target/dependency/*.jar
add test build/junit/*.jar
for module in "${tested[@]}"; do
  "$JAVA_HOME/bin/jar" --create --file "$bundle/test/culebra-$module-tests.jar" -C "$module/target/test-classes" .
  add test "$module"/target/dependency/*.jar
done
# The console brings JUnit's platform and Jupiter itself; the benchmarks need neither.
rm -f "$bundle"/{bench,test}/{junit-jupiter,junit-platform-{commons,engine,launcher}-,opentest4j,apiguardian,archunit,slf4j}*.jar

# only_natives JAR PATTERN: leaves of a jar's native libraries those whose file name matches. Of what the peers bring only
# the driver's binding is used; the rest is nine tenths of it.
only_natives() {
  local folder
  folder=$(mktemp -d)
  (
    cd "$folder"
    "$JAVA_HOME/bin/jar" --extract --file "$1"
    find . -type f -name '*.so*' ! -name "$2" -delete
    "$JAVA_HOME/bin/jar" --create --file "$1" .
  )
  rm -rf "$folder"
}
only_natives "$(echo "$PWD/$bundle"/bench/jcuda-natives-*.jar)" 'libJCudaDriver-*'
only_natives "$(echo "$PWD/$bundle"/bench/cuda-*-linux-x86_64.jar)" 'libjnicudart.so'

cp -r kernels-cu/build/test-root "$bundle/test-root"
cp build/bench/* kernels-cu/build/runner emulator/build/test/differential/differential "$bundle/native/"
cp benchmarks/torch_peer.py "$bundle/bench/"

# Uncompressed modules: xz does better over all of them than jlink over each. The second CDS archive is for heaps over
# 32 GiB.
"$JAVA_HOME/bin/jlink" --add-modules java.base,java.logging,java.management,java.xml,jdk.management,jdk.unsupported,jdk.zipfs \
  --strip-debug --no-header-files --no-man-pages --compress zip-0 --generate-cds-archive --output "$bundle/runtime" >/dev/null
rm -f "$bundle/runtime/lib/server/classes_nocoops.jsa"

cp make/gpu-bundle-run.sh "$bundle/run"
chmod +x "$bundle/run"
{
  echo "commit    $(git describe --always --dirty --abbrev=12)"
  echo "packed    $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "kernels   $archs"
  echo "java      $(sed -n 's/^JAVA_RUNTIME_VERSION="\(.*\)"/\1/p' "$JAVA_HOME/release")"
} >"$bundle/BUNDLE"

tar --sort=name --owner=0 --group=0 --numeric-owner -C build -I 'xz -6 -T0' -cf "$bundle.tar.xz" "$(basename "$bundle")"
bytes=$(stat -c %s "$bundle.tar.xz")
printf '%s.tar.xz: %d MiB (limit %d)\n' "$bundle" $((bytes >> 20)) $limit_mib
if ((bytes > limit_mib << 20)); then
  echo "too large; the largest files in it:" >&2
  find "$bundle" -type f -printf '%s %p\n' | sort -rn | head -n 15 >&2
  exit 1
fi
