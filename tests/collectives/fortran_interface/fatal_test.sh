#!/usr/bin/env bash
# Without ierror an error ends the program, with its text.
#
# usage: fatal_test.sh RUNNER mpich|openmpi MPIEXEC PROGRAM
set -uo pipefail
output=$(timeout 60 "$1" "$2" "$3" 2 "$4" 2>&1)
status=$?
if ((status == 0 || status == 124)) || ! grep -q 'hycoll_bcast: .*root is 99' <<<"$output" || grep -q 'went on' <<<"$output"; then
  printf 'status %d, output:\n%s\n' "$status" "$output"
  exit 1
fi
