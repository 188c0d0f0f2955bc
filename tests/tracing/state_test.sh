#!/usr/bin/env bash
# `hycoll state`, and what the warning about a long wait says, where rank 1 does not come: it sleeps, it computes, or it is in
# a call on another communicator.
#
# usage: state_test.sh RUNNER mpich|openmpi MPIEXEC PROGRAM PRELOAD_LIBRARY HYCOLL
set -uo pipefail
readonly runner=$1 flavour=$2 mpiexec=$3 program=$4 preload=$5 hycoll=$6
readonly work=${TEST_TMPDIR:?}

fail() { # message, output
  printf 'state_test.sh: %s\n%s\n' "$1" "${2:-}"
  pkill -KILL -f "^$program "
  exit 1
}

check() { # how rank 1 is missing, what the warning says of it
  local way=$1 said=$2 job state all
  HYCOLL_WARN_AFTER_S=1 HYCOLL_ATTACH_AFTER=0 HYCOLL_LAYOUT=processes timeout 120 "$runner" "$flavour" "$mpiexec" 3 \
    env LD_PRELOAD="$PWD/$preload" "$program" "$way" >"$work/$way.log" 2>&1 &
  job=$!
  for ((i = 0; i < 600; ++i)); do
    grep -q 'rank 1 has not arrived' "$work/$way.log" && break
    sleep 0.1
  done
  sleep 0.5
  local -a processes
  mapfile -t processes < <(pgrep -f "^$program $way\$")
  ((${#processes[@]} == 3)) || fail "there are not three processes" "${processes[*]}"
  state=$("$hycoll" state "${processes[@]}" --calls 3 --json "$work/$way.json" 2>&1) || fail "hycoll state fails" "$state"
  all=$("$hycoll" state)
  [[ $all == *"process ${processes[0]} on "* ]] || fail "processes are not found by themselves" "$all"
  pkill -KILL -f "^$program $way\$"
  wait "$job"
  grep -q "rank 1 has not arrived (its last call was [0-9]*) and $said;" "$work/$way.log" ||
    fail "$way: the warning does not say '$said'" "$(cat "$work/$way.log")"
  grep -q 'on MPI_COMM_WORLD is waited for by others, and not entered by rank 1$' <<<"$state" || fail "$way: who is missing is not said" "$state"
  python3 - "$work/$way.json" "$way" <<'END' || fail "$way: the state is wrong" "$state"
import json, sys
members = json.load(open(sys.argv[1]))["records"]
world = sorted((m for m in members if m["communicator"] == "MPI_COMM_WORLD"), key=lambda m: m["rank"])
assert [m["rank"] for m in world] == [0, 1, 2], members
assert [m["inside"] for m in world] == [True, False, True], world
assert world[0]["call"] == world[2]["call"] == world[1]["call"] + 1, world
assert world[0]["what"] == "allreduce, count 64, type double, operator sum", world
assert world[0]["site"].startswith("even_sum (traced_program.c:"), world
assert world[0]["late_s"] > 0.5 and world[1]["late_s"] == 0, world
other = {m["rank"]: m for m in members if m["communicator"] == "the other one"}
assert other[1]["inside"] == (sys.argv[2] == "elsewhere"), other
assert other[1]["what"] == "barrier", other
END
}

check hang "is in no call of hycoll's"
check loop "is in no call of hycoll's"
check elsewhere 'is in barrier (call 2 on the other one)'

output=$("$hycoll" state 1 2>&1)
[[ $? == 2 || $? == 1 ]] && grep -q 'process 1 shows no calls' <<<"$output" || fail "a process without hycoll is accepted" "$output"
output=$("$hycoll" state x 2>&1)
[[ $? == 2 ]] && grep -q "'x' is no process" <<<"$output" || fail "a word is accepted" "$output"
echo "[state_test] test cases: 5 | 5 passed | 0 failed | 0 skipped"
