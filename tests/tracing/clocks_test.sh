#!/usr/bin/env bash
# Traces of two emulated hosts whose clocks are 1,000 s apart: `hycoll trace` puts them on one. Nobody leaves a call there
# before everybody has come, give or take the error that it states.
#
# usage: clocks_test.sh HOSTS_SCRIPT MPI_LIBRARY PROGRAM PRELOAD_LIBRARY HYCOLL CHECK_TRACE
set -uo pipefail
readonly hosts=$1 mpi=$2 program=$3 preload=$4 hycoll=$5 check=$6 seconds=1000
readonly folder=${TEST_TMPDIR:?}/clocks

fail() { # message, output
  printf 'clocks_test.sh: %s\n%s\n' "$1" "${2:-}"
  exit 1
}

if ! unshare --time --monotonic "$seconds" --fork true 2>/dev/null; then
  echo "skipped: this machine has no namespaces of clocks"
  exit 0
fi
export HYCOLL_TRACE=$folder HYCOLL_ATTACH_AFTER=0 HYCOLL_LAYOUT=processes HERE=$PWD
# shellcheck disable=SC2016
output=$(timeout 120 "$hosts" --mpi "$mpi" --hosts 2 --ranks-per-host 2 -- bash -c '
  cd "$HERE"
  clock=()
  [[ $(hostname) == host1 ]] || clock=(unshare --time --monotonic "$3" --fork)
  exec "${clock[@]}" env LD_PRELOAD="$PWD/$2${LD_PRELOAD:+:$LD_PRELOAD}" "$1"' rank "$program" "$preload" "$seconds" 2>&1)
status=$?
if ((status == 77)); then
  printf 'skipped: %s\n' "$output"
  exit 0
fi
((status == 0)) || fail "the program fails" "$output"

python3 - "$folder" "$seconds" <<'END' || fail "the clocks are not where they were set" "$(head -c 600 "$folder"/*.json)"
import glob, json, sys
for name in glob.glob(sys.argv[1] + "/*.json"):
    about = json.load(open(name))["otherData"]
    clock = about["clock"]
    ahead_s = 0 if about["host"] == "host1" else float(sys.argv[2])
    assert abs(clock["offset_ns"] + 1e9 * ahead_s) <= clock["error_ns"] + 1000, (name, clock)
    assert clock["error_ns"] < 50e6 and (clock["error_ns"] > 0) == (ahead_s > 0), (name, clock)
END
output=$("$hycoll" trace "$folder" --perfetto "$folder.perfetto" --json "$folder.report" 2>&1) || fail "hycoll trace fails" "$output"
grep -q 'Clocks of different hosts agreed to' <<<"$output" || fail "the error of the clocks is not stated" "$output"
python3 "$check" "$folder.perfetto" "$folder.report" || fail "the trace is wrong" "$output"
echo "[clocks_test] test cases: 1 | 1 passed | 0 failed | 0 skipped"
