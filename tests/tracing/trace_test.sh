#!/usr/bin/env bash
# HYCOLL_TRACE under an unmodified program, and what `hycoll trace` makes of it: who was late, in which call of the program;
# the trace of a job that hangs; folders that are none.
#
# usage: trace_test.sh RUNNER mpich|openmpi MPIEXEC PROGRAM PRELOAD_LIBRARY HYCOLL CHECK_TRACE
set -uo pipefail
readonly runner=$1 flavour=$2 mpiexec=$3 program=$4 preload=$5 hycoll=$6 check=$7
readonly work=${TEST_TMPDIR:?}

fail() { # message, output
  printf 'trace_test.sh: %s\n%s\n' "$1" "${2:-}"
  exit 1
}

run() { # folder, ranks, arguments of the program
  local folder=$1 ranks=$2
  shift 2
  HYCOLL_TRACE=$folder HYCOLL_ATTACH_AFTER=0 timeout 120 "$runner" "$flavour" "$mpiexec" "$ranks" \
    env LD_PRELOAD="$PWD/$preload" "$program" "$@" 2>&1
}

check_run() { # ranks, settings...
  local ranks=$1 folder=$work/trace_$1_$#
  shift
  local output
  output=$(
    export "$@"
    run "$folder" "$ranks"
  ) || fail "the program fails with $*" "$output"
  [[ $(find "$folder" -name '*.json' | wc -l) == "$ranks" ]] || fail "not one file for each of $ranks ranks" "$(ls "$folder")"
  output=$("$hycoll" trace "$folder" --perfetto "$folder.perfetto" --json "$folder.report" --svg "$folder.svg" --html "$folder.html" \
    2>&1) || fail "hycoll trace fails" "$output"
  python3 "$check" "$folder.perfetto" "$folder.report" || fail "with $*" "$output"
  grep -q 'rank 1 on' "$folder.svg" && grep -q 'Its plan' "$folder.html" || fail "pictures are missing"
}

check_run 2 HYCOLL_TRACE_KIB=1024 HYCOLL_REPORT="$work/report.json"
python3 - "$work/report.json" <<'END' || fail "the report's call sites are wrong" "$(cat "$work/report.json")"
import collections, json, subprocess, sys
calls = collections.Counter()
for site in json.load(open(sys.argv[1]))["call_sites"]:
    module, offset = site["site"].rsplit("+", 1)
    if module.endswith("/traced_program"):
        found = subprocess.run(["addr2line", "-f", "-e", module, offset], check=True, capture_output=True, text=True)
        calls[found.stdout.split()[0], site["collective"]] += site["calls"]
assert calls["late_sum", "allreduce"] == 100, calls
assert calls["even_sum", "allreduce"] == 200, calls
assert calls["main", "bcast"] == 100 and calls["main", "barrier"] == 100, calls
END
check_run 3 HYCOLL_EMULATE_NODES=2
check_run 2 HYCOLL_LAYOUT=per_node HYCOLL_LEADERS=2 HYCOLL_TRACE_KIB=2048

# A job that hangs says what it does, when it is asked.
hang() {
  local folder=$work/hang job output status=0
  run "$folder" 2 hang >"$work/hang.log" &
  job=$!
  for ((i = 0; i < 600; ++i)); do
    grep -q 'rank 1 is waited for' "$work/hang.log" && break
    sleep 0.1
  done
  sleep 0.2
  pkill -USR2 -f "^$program hang\$" || fail "the program is not there" "$(cat "$work/hang.log")"
  for ((i = 0; i < 100; ++i)); do
    [[ $(find "$folder" -name '*.json' 2>/dev/null | wc -l) == 2 ]] && break
    sleep 0.1
  done
  output=$("$hycoll" trace "$folder" --perfetto "$work/hang.perfetto" 2>&1) || status=$?
  pkill -KILL -f "^$program hang\$"
  wait "$job"
  ((status == 0)) || fail "hycoll trace fails" "$output"
  [[ $(grep -c '"state":"under way"' "$work/hang.perfetto") == 1 ]] || fail "one rank is in a call, and the trace says otherwise" "$output"
  grep -q 'hycoll: trace: ' "$work/hang.log" || fail "nothing says where the trace is" "$(cat "$work/hang.log")"
}
hang

# As with other files that cannot be used, the MPI library serves.
output=$(run /proc/nowhere 2)
[[ $? == 0 && $output == *"HYCOLL_TRACE (Options::trace) is '/proc/nowhere'"*"name a folder"* ]] ||
  fail "a folder that cannot be made is accepted" "$output"

echo "[trace_test] test cases: 5 | 5 passed | 0 failed | 0 skipped"
