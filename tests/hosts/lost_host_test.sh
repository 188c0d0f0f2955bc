#!/usr/bin/env bash
# A process that is killed inside a call, on a host of its own: over UCX the others name it, its host and the call, and
# the job ends.
#
# usage: lost_host_test.sh HOSTS_SCRIPT PROGRAM mpich|openmpi MPIEXEC
set -uo pipefail
readonly hosts=$1 program=$2 flavour=$3 mpiexec=$4
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/lost.XXXXXX")
trap 'rm -rf "$work"' EXIT

# A launcher that leaves the others alone when one is killed.
case $flavour in
  mpich) option=-disable-auto-cleanup ;;
  openmpi) option=--enable-recovery ;;
esac
mkdir "$work/bin"
printf '#!/bin/sh\n[ "$*" = --version ] || set -- %s "$@"\nexec "%s" "$@"\n' "$option" "$mpiexec" >"$work/bin/mpiexec"
chmod +x "$work/bin/mpiexec"
export PATH=${mpiexec%/*}:$PATH

fail() {
  printf '%s; the output was:\n%s\n' "$1" "$output" >&2
  exit 1
}

output=$("$hosts" --mpi "$work" --hosts 2 -- true 2>&1)
if (($? == 77)); then
  printf 'skipped: %s\n' "$output"
  exit 0
fi

# Open MPI 5 watches its connections by itself, and may end the job first.
library_first='of Open MPI 4 and MPICH, nothing'
[[ $flavour == mpich ]] || ! "$mpiexec" --version | grep -q 'Open MPI) 5' || library_first='An error occurred in Socket closed'

for count in 1 100000; do
  output=$(timeout 60 "$hosts" --mpi "$work" --hosts 3 -- env HYCOLL_TRANSPORT=ucx "$program" kill "$count" 2>&1)
  status=$?
  ((status != 124)) || fail "the job did not end"
  if grep -q "UCX cannot be used: no libucp" <<<"$output"; then
    echo "skipped: there is no UCX on this machine"
    exit 0
  fi
  ! grep -q "the call has returned" <<<"$output" || fail "the call returned without rank 1"
  grep -q "in allreduce (call 4): process 1 on host host2 cannot be reached any more" <<<"$output" ||
    grep -q "$library_first" <<<"$output" || fail "nobody named process, host and call"
done
echo "[lost_host_test] test cases: 1 | 1 passed | 0 failed | 0 skipped"
