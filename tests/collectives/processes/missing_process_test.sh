#!/usr/bin/env bash
# A process that stops, or is killed, inside a call: the others name it and the call, the job ends, and nothing is left
# in /dev/shm. One that is late is named by one of the others, and nothing else happens.
#
# usage: missing_process_test.sh RUNNER mpich|openmpi MPIEXEC PROGRAM
set -uo pipefail
runner=$1 flavour=$2 mpiexec=$3 program=$4
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/missing.XXXXXX")
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$1; the output was:" >&2
  echo "$output" >&2
  exit 1
}

# What a launcher does about a killed process is not ours: it may end the others before they have told anything.
patient=$work/mpiexec
case $flavour in
  mpich) option=-disable-auto-cleanup ;;
  openmpi) option=--enable-recovery ;;
esac
printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$mpiexec" "$option" >"$patient"
chmod +x "$patient"
PATH=$(dirname "$mpiexec"):$PATH

run() { # launcher, how, count
  output=$(timeout 60 "$runner" "$flavour" "$1" 3 "$program" "$2" "$3" 2>&1)
  status=$?
  # With its --enable-recovery, Open MPI forgives MPI_Abort too.
  [ "$status" -ne 0 ] || [ "$1" = "$patient" ] || fail "the job succeeded although rank 1 was missing ($2)"
  [ "$status" -ne 124 ] || fail "the job did not end ($2)"
  ! grep -q "the call has returned" <<<"$output" || fail "the call returned without rank 1 ($2)"
}

for way in "1 auto" "100000 auto" "1 sleep"; do
  read -r count HYCOLL_WAIT <<<"$way"
  export HYCOLL_WAIT HYCOLL_TIMEOUT_S=2
  run "$mpiexec" stop "$count"
  grep -q "allreduce (call 4) has been waiting" <<<"$output" || fail "nobody named the call"
  grep -q "rank 1 has not arrived" <<<"$output" || fail "nobody named the process"
  # Without a time: its end itself is noticed.
  export HYCOLL_TIMEOUT_S=0
  run "$patient" kill "$count"
  grep -q "process 1 on host .* has ended before its time, in or before allreduce (call 4)" <<<"$output" ||
    fail "nobody named process and call"
  run "$mpiexec" kill "$count"
  [ "$status" -ne 1 ] || fail "the job has hycoll's exit status instead of the process's or the launcher's"
done
unset HYCOLL_TIMEOUT_S # still asleep
late() { # seconds after which others speak, how many of them
  output=$(HYCOLL_WARN_AFTER_S=$1 timeout 60 "$runner" "$flavour" "$mpiexec" 3 "$program" late 1 2>&1) ||
    fail "the job failed although rank 1 was only late"
  told=$(grep -c "allreduce (call 4) has been waiting.*rank 1 has not arrived.*hycoll goes on waiting" <<<"$output")
  [ "$told" -eq "$2" ] || fail "$told processes told that rank 1 was late instead of $2"
}
late 1 1
late 0 0

# Another job's names go away.
names=$(find /dev/shm -name 'hycoll*' -newer "$patient" 2>/dev/null)
[ -z "$names" ] || sleep 2
for name in $names; do
  [ ! -e "$name" ] || fail "left behind: $name"
done
