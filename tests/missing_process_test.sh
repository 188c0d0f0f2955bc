#!/usr/bin/env bash
# A process that stops, or is killed, inside a call: the job ends, and unless the MPI library ends it at once,
# with a message that names call and process.
#
# usage: missing_process_test.sh RUNNER mpich|openmpi MPIEXEC PROGRAM
set -uo pipefail
runner=$1 flavour=$2 mpiexec=$3 program=$4

fail() {
  echo "$1; the output was:" >&2
  echo "$output" >&2
  exit 1
}

export HYCOLL_TIMEOUT_S=2
for count in 1 100000; do
  for how in stop kill; do
    output=$(timeout 60 "$runner" "$flavour" "$mpiexec" 3 "$program" "$how" "$count" 2>&1)
    status=$?
    [ "$status" -ne 0 ] || fail "the job succeeded although rank 1 was missing ($how)"
    [ "$status" -ne 124 ] || fail "the job did not end ($how)"
    ! grep -q "the call has returned" <<<"$output" || fail "the call returned without rank 1 ($how)"
    [ "$how" = stop ] || continue
    grep -q "allreduce (call 4) has been waiting" <<<"$output" || fail "nobody named the call"
    grep -q "rank 1 has not arrived" <<<"$output" || fail "nobody named the process"
  done
done
