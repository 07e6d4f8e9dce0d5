#!/usr/bin/env bash
# A program on four nodes over TCP, with the preloaded library and without it in turn. The nodes are those of ../four-nodes.sh, and it
# says what they need.
#
#   nodes.sh LIBRARY [RUNS [PROCESSES [FIRST [CALLS [PROGRAM]]]]]
#
# LIBRARY is compiled by rankweave shim; 7 runs of each side, 32 processes, 60 calls that are measured after the first 80. PROGRAM is
# nodes, neighbor allgathers of 6 graphs with blocks of 8 B, 1 KiB and 64 KiB; or sparse, MPI_Alltoallv of 6 blocks of a rank.
#
# Prints per case the medians in us, and the ratio with/without: the geometric mean of pairs of runs, with its 95% interval.
set -euo pipefail
LIBRARY=$(realpath "$1") RUNS=${2:-7} PROCESSES=${3:-32} FIRST=${4:-80} CALLS=${5:-60} PROGRAM=${6:-nodes}
HERE=$(cd "$(dirname "$0")" && pwd)
if [ -z "${FOUR_NODES_MPIRUN:-}" ]; then exec "$HERE/../four-nodes.sh" "$PROCESSES" "$0" "$@"; fi
DIR=$(mktemp -d "${TMPDIR:-/tmp}/rankweave-shim.XXXXXX")

JOB=
end() {
  if [ -n "$JOB" ]; then kill "$JOB" 2>/dev/null && wait "$JOB" || true; fi
  rm -rf "$DIR"
}
trap end EXIT
trap "exit 143" INT TERM
mpicc.openmpi -std=c99 -O2 -Wno-stringop-overread -o "$DIR/program" "$HERE/$PROGRAM.c"

# In the background: bash hears signals while it waits for it.
run() {
  local output=$1; shift
  "$FOUR_NODES_MPIRUN" "$@" "$DIR/program" "$FIRST" "$CALLS" >"$output" &
  JOB=$!
  wait "$JOB"
  JOB=
}
for i in $(seq "$RUNS"); do
  # Each side is first as often as second.
  sides=(without with); ((i % 2 == 0)) && sides=(with without)
  for side in "${sides[@]}"; do
    if [ "$side" = with ]; then run "$DIR/$side.$i" -x LD_PRELOAD="$LIBRARY"; else run "$DIR/$side.$i"; fi
    awk -v side="$side" -v run="$i" 'BEGIN { FS = OFS = "\t" } { print side, run, $0 }' "$DIR/$side.$i" >>"$DIR/times"
  done
done
awk -v runs="$RUNS" '
  function median(name, side,   list, i, j, t) {
    for (i = 1; i <= runs; i++) list[i] = time[name, side, i]
    for (i = 2; i <= runs; i++) for (j = i; j > 1 && list[j] < list[j - 1]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
    return runs % 2 ? list[(runs + 1) / 2] : (list[runs / 2] + list[runs / 2 + 1]) / 2
  }
  BEGIN {
    FS = "\t"
    # Two-sided quantiles of the t distribution at 95%, by runs - 1.
    split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228 2.201 2.179 2.160 2.145 2.131 2.120 2.110 2.101 2.093", t95, " ")
    printf "| calls | block | without | with | ratio | 95%% interval |\n|---|---|---|---|---|---|\n"
  }
  { name = $3 " | " $4 " B"; if (!(name in seen)) { seen[name] = 1; order[++names] = name } time[name, $1, $2] = $5 }
  END {
    for (n = 1; n <= names; n++) {
      name = order[n]; sum = square = 0
      for (i = 1; i <= runs; i++) { x = log(time[name, "with", i] / time[name, "without", i]); sum += x; square += x * x }
      mean = sum / runs
      error = runs > 1 ? sqrt((square - runs * mean * mean > 0 ? square - runs * mean * mean : 0) / (runs - 1) / runs) : 0
      t = runs - 1 in t95 ? t95[runs - 1] : 2
      printf "| %s | %.0f us | %.0f us | %.2f | %.2f to %.2f |\n", name, median(name, "without"), median(name, "with"), exp(mean),
        exp(mean - t * error), exp(mean + t * error)
    }
  }' "$DIR/times"
