#!/usr/bin/env bash
# bench-java.sh ARGUMENTS: java with the benchmarks and the JNI peers on the class path; called by the goals bench, report and
# bench-compare, after the build.
set -euo pipefail
cd "$(dirname "$0")/.."

# Another JDK than the one that builds may be measured, whose classes are for 22.
java=${BENCH_JAVA_HOME:-$JAVA_HOME}/bin/java
version=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.specification.version = //p') || true
if ! [[ $version =~ ^[0-9]+$ ]] || ((version < 22)); then
  echo "BENCH_JAVA_HOME: $java is Java ${version:-unknown}, or not there; it takes 22 or newer" >&2
  exit 2
fi

mvn -q -B -Ppeers -DskipTests package dependency:copy-dependencies -DincludeScope=runtime -pl benchmarks/peers -am

# Quiets JMH and the peers on JDKs that warn of what they do; JMH's processes get it too.
quiet=--sun-misc-unsafe-memory-access=allow
"$java" $quiet -version >/dev/null 2>&1 || quiet=
exec "$java" $quiet --enable-native-access=ALL-UNNAMED \
  -cp "benchmarks/peers/target/dependency/*:$(echo benchmarks/peers/target/culebra-benchmarks-peers-*.jar)" "$@"
