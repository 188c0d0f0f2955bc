#!/usr/bin/env bash
# Runs a program under the preload library, and checks by the library's report who served its collectives.
#
# usage: run.sh FLAVOUR MPIEXEC RANKS LIBRARY SERVED PROGRAM [ARGS...]
#   SERVED   collectives, separated by commas, that hycoll must have served at 2 and more ranks, or, with a ! before
#            them, must not; or -
#   HYCOLL_TEST_HEAP=LIBRARY  preloads the shared heap too, which every process must then have used
#   HYCOLL_TEST_REASON=TEXTS  COLLECTIVE: REASON, or parts of that, separated by |, by which other calls must have gone
#                             to the MPI library; - if none may have gone there
#   HYCOLL_TEST_PAYS=1  hycoll prepares itself where that pays, instead of after two calls
#   HYCOLL_TEST_SHARED_KIB=MOST  what each process must have shared for communicators, up to so much
#   HYCOLL_TEST_ALGORITHM=TEXT  the algorithm by which hycoll must have served all calls of SERVED
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
# A tool above both, or below them, the same.
if [[ -n ${HYCOLL_TEST_TOOL:-} ]]; then
  cp -L "$HYCOLL_TEST_TOOL" "$work/tool.so"
  preloaded="$work/tool.so $preloaded"
fi
if [[ -n ${HYCOLL_TEST_TOOL_BELOW:-} ]]; then
  cp -L "$HYCOLL_TEST_TOOL_BELOW" "$work/tool.so"
  preloaded="$preloaded $work/tool.so"
fi

# A sanitizer's runtime must come before everything that it looks at. MPI libraries leave memory behind.
runtime=$(ldd "$library" | sed -n 's/^.* => \([^ ]*\/lib[at]san[^ ]*\) .*$/\1/p')
preloaded="${runtime:+$runtime }$preloaded"
export ASAN_OPTIONS=detect_leaks=0

# hycoll serves calls soon, unless the test says otherwise.
if [[ -z ${HYCOLL_REPRODUCIBLE:-} && -z ${HYCOLL_TEST_PAYS:-} ]]; then
  export HYCOLL_ATTACH_AFTER=${HYCOLL_ATTACH_AFTER:-2}
fi
export HYCOLL_REPORT=$work/report.json
"$here/../../../tools/build/mpi_run.sh" "$flavour" "$mpiexec" "$ranks" \
  env LD_PRELOAD="$preloaded" "$@"

[[ $served != - && $ranks -gt 1 ]] || exit 0
python3 - "$HYCOLL_REPORT" "$served" "${HYCOLL_TEST_HEAP:-}" "${HYCOLL_TEST_REASON:-}" "${HYCOLL_TEST_ALGORITHM:-}" \
  "${HYCOLL_TEST_SHARED_KIB:-}" <<'END'
import json, sys
file, served, heap_library, reasons, algorithm, shared_kib = sys.argv[1:]
report = json.load(open(file))
lines = report["collectives"]
by_hycoll = {}
moved_bytes = {}
for line in lines:
    if line["served_by"] == "hycoll":
        by_hycoll.setdefault(line["collective"], set()).add(line["algorithm"])
        moved_bytes[line["collective"]] = moved_bytes.get(line["collective"], 0) + line["bytes"]
handed_over = ["%s: %s" % (line["collective"], line["reason"]) for line in lines if line["served_by"] == "mpi"]
wrong = []
for name in served.split(","):
    if name.startswith("!") == (name.strip("!") in by_hycoll):
        wrong.append("served by the wrong library: " + name)
    elif moved_bytes.get(name) == 0 and "barrier" not in name:
        wrong.append("no bytes reported: " + name)
    elif algorithm and by_hycoll[name] != {algorithm}:
        wrong.append("not served by %s alone: %s" % (algorithm, name))
if reasons == "-" and handed_over:
    wrong.append("the MPI library served something")
for reason in reasons.split("|"):
    if reason not in ("", "-") and not any(reason in told for told in handed_over):
        wrong.append("nothing was handed over because: " + reason)
if shared_kib and not all(0 < shared <= 1024 * int(shared_kib) for shared in report["shared_memory_bytes"]):
    wrong.append("shared for communicators: %s" % report["shared_memory_bytes"])
if wrong:
    sys.exit("\n".join([str(line) for line in lines] + wrong))
if report["preparations"]["calls"] == 0 and any(not name.startswith("!") for name in served.split(",")):
    sys.exit("hycoll served calls without having prepared itself: %s" % report["preparations"])
plans = report["plans"]
if [of["process"] for of in plans] != list(range(report["processes"])):
    sys.exit("the plans in the report: %s" % plans)
if report["preparations"]["calls"] > 0 and not any(of["made"] > 0 and of["seconds"] > 0 and of["peak_bytes"] > 0 for of in plans):
    sys.exit("hycoll served calls without plans: %s" % plans)
heaps = report.get("shared_heap", [])
if [heap["process"] for heap in heaps] != (list(range(report["processes"])) if heap_library else []):
    sys.exit("the shared heaps in the report: %s" % heaps)
for heap in heaps:
    if min(heap[name] for name in ["peak_block_bytes", "capacity_bytes", "mappings_made"]) == 0:
        sys.exit("not used: %s" % heap)
END
