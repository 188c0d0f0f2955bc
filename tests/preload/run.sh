#!/usr/bin/env bash
# Runs a program under the preload library, and checks by the library's report who served its collectives.
#
# usage: run.sh FLAVOUR MPIEXEC RANKS LIBRARY SERVED PROGRAM [ARGS...]
#   SERVED   collectives, separated by commas, that hycoll must have served at 2 and more ranks; or -
#   HYCOLL_TEST_HEAP=LIBRARY  preloads the shared heap too, which every process must then have used
#   HYCOLL_TEST_REASON=TEXT   why other calls must have gone to the MPI library.
set -euo pipefail

flavour=$1 mpiexec=$2 ranks=$3 library=$4 served=$5
shift 5
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# A copy: Bazel's tree holds links, and the programs change directories.
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/preload.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp -L "$library" "$work/libhycoll_pmpi.so"
preloaded=$work/libhycoll_pmpi.so
# The shared heap beside it, if the test names its library.
if [[ -n ${HYCOLL_TEST_HEAP:-} ]]; then
  cp -L "$HYCOLL_TEST_HEAP" "$work/libhycoll_heap.so"
  preloaded="$work/libhycoll_heap.so $preloaded"
  export HYCOLL_SHARED_HEAP=1
fi
# A tool above both, the same.
if [[ -n ${HYCOLL_TEST_TOOL:-} ]]; then
  cp -L "$HYCOLL_TEST_TOOL" "$work/tool.so"
  preloaded="$work/tool.so $preloaded"
fi

# hycoll serves all sizes unless the test says otherwise.
export HYCOLL_HAND_OVER=${HYCOLL_HAND_OVER:-0}
export HYCOLL_ATTACH_AFTER=${HYCOLL_ATTACH_AFTER:-2} HYCOLL_REPORT=$work/report.json
"$here/../../tools/build/mpi_run.sh" "$flavour" "$mpiexec" "$ranks" \
  env LD_PRELOAD="$preloaded" "$@"

[[ $served != - && $ranks -gt 1 ]] || exit 0
python3 - "$HYCOLL_REPORT" "$served" "${HYCOLL_TEST_HEAP:-}" "${HYCOLL_TEST_REASON:-}" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
lines = report["collectives"]
by_hycoll = {line["collective"] for line in lines if line["served_by"] == "hycoll"}
missing = [name for name in sys.argv[2].split(",") if name not in by_hycoll]
reason = sys.argv[4]
reasons = [line.get("reason", "") for line in lines]
if missing or not any(reason in told for told in reasons):
    for line in lines:
        print(line)
    sys.exit("hycoll did not serve: " + ", ".join(missing) + ", or nothing was handed over because " + reason)
heaps = report.get("shared_heap", [])
if [heap["process"] for heap in heaps] != (list(range(report["processes"])) if sys.argv[3] else []):
    sys.exit("the shared heaps in the report: %s" % heaps)
for heap in heaps:
    if min(heap[name] for name in ["peak_block_bytes", "capacity_bytes", "mappings_made"]) == 0:
        sys.exit("not used: %s" % heap)
END
