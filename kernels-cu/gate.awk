# Reads what ptxas -v said of one image: awk -v target=sm_90a -f gate.awk LOG
#
# Spills, and the C75xx messages by which ptxas says that it gave up on a performance feature (they are
# only "info" lines), fail the build on the architectures we tune for and are a warning elsewhere.

BEGIN { strict = target == "sm_80" || target == "sm_90a" }

/Compiling entry function/ || /Function properties for/ {
  name = $0
  sub(/.*(Compiling entry function|Function properties for) /, "", name)
  gsub(/'/, "", name)
  sub(/ for .*/, "", name)
}

match($0, /[0-9]+ bytes spill stores/) && $0 !~ /(^|[^0-9])0 bytes spill stores, 0 bytes spill loads/ {
  report("spills registers:" substr($0, RSTART - 1))
}

/\(?C75[0-9][0-9]\)?/ { report("ptxas says: " $0) }

function report(what) {
  printf "%s: %s in %s (%s)\n", strict ? "error" : "warning", what, name, target
  ++reports
}

END { exit strict && reports > 0 }
