# Turns Maven's log of a test run into few lines: the module, Surefire's closing line of each, and everything that failed.
# Ends with the totals, in one line.
function strip(s) { gsub(/\033\[[0-9;]*m/, "", s); return s }
{
  line = strip($0)
}
line ~ /^\[INFO\] Building Culebra [a-z]/ { module = line; sub(/^\[INFO\] Building Culebra /, "", module); sub(/ .*/, "", module) }
# The closing line of a module has no class name and no time behind it.
line ~ /^\[(INFO|WARNING|ERROR)\] Tests run: [0-9]+, Failures: [0-9]+, Errors: [0-9]+, Skipped: [0-9]+ *$/ {
  split(line, part, /[:,] */)
  run += part[2]; failed += part[4] + part[6]; skipped += part[8]
  printf "%-12s %s\n", module, line
  fflush()
  next
}
# Maven's advice on how to use Maven.
line ~ /^\[ERROR\] *($|-> \[Help|\[Help|To see the full|Re-run Maven|For more information|After correcting|mvn <args>|See .*dump files|Failed to execute goal .*surefire)/ { next }
line ~ /^\[ERROR\]/ || line ~ /BUILD FAILURE/ { print line; fflush() }
END { printf "Java: %d passed, %d failed, %d skipped\n", run - failed - skipped, failed, skipped }
