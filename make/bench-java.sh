#!/usr/bin/env bash
# bench-java.sh ARGUMENTS: java with the benchmarks and the JNI peers on the class path; called by the goals bench, report and
# bench-compare, after the build.
set -euo pipefail
cd "$(dirname "$0")/.."

mvn -q -B -Ppeers -DskipTests package dependency:copy-dependencies -DincludeScope=runtime -pl benchmarks/peers -am

# Quiets JMH and the peers on JDKs that warn of what they do; JMH's processes get it too.
quiet=--sun-misc-unsafe-memory-access=allow
"$JAVA_HOME/bin/java" $quiet -version >/dev/null 2>&1 || quiet=
exec "$JAVA_HOME/bin/java" $quiet --enable-native-access=ALL-UNNAMED \
  -cp "benchmarks/peers/target/dependency/*:$(echo benchmarks/peers/target/culebra-benchmarks-peers-*.jar)" "$@"
