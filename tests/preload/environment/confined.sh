#!/usr/bin/env bash
# Where processes of a machine cannot share memory: results are right, nothing hangs, one line says what happens, and
# nothing is left behind.
#
# usage: confined.sh FLAVOUR MPIEXEC RANKS LIBRARY SERVED PROGRAM HEAP
set -uo pipefail

flavour=$1 mpiexec=$2 ranks=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/preload.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp -L "$4" "$work/libhycoll_pmpi.so"
program=$(realpath "$6")
cp -L "$7" "$work/libhycoll_heap.so"
export HYCOLL_ATTACH_AFTER=2 HYCOLL_REPORT=$work/report.json
# UCX 1.18, on which MPICH 4.2 lies, ends the job where one of its transports cannot see hidden processes.
export UCX_TLS=^posix
failed=0

fail() { # message
  echo "FAILED: $case: $1"
  cat "$work/output"
  failed=1
}

# What becomes narrow becomes so after MPI_Init, for the MPI libraries themselves need /dev/shm, and MPICH hangs
# where every process has a process namespace of its own.
run() { # case, command around the job, argument of the program
  case=$1
  rm -f "$HYCOLL_REPORT"
  # shellcheck disable=SC2086 # The command has arguments.
  timeout -k 5 60 $2 "$here/../../../tools/build/mpi_run.sh" "$flavour" "$mpiexec" "$ranks" \
    env LD_PRELOAD="$preload" "$program" "$3" >"$work/output" 2>&1 || fail "status $?"
  nothing_is_left
}

nothing_is_left() {
  local name names
  names=$(find /dev/shm -name 'hycoll*' -newer "$work/libhycoll_pmpi.so" 2>/dev/null)
  [[ -n $names ]] || return 0
  sleep 2 # Another job's go away.
  for name in $names; do
    [[ ! -e $name ]] || fail "left behind: $name"
  done
}

said() { # what hycoll's only line must contain; nothing: there must be none
  local lines
  lines=$(grep -c hycoll "$work/output")
  if [[ -z ${1:-} ]]; then
    ((lines == 0)) || fail "it said something"
  elif ((lines != 1)) || ! grep -q -e "$1" "$work/output"; then
    fail "$lines lines; expected one that says '$1'"
  fi
}

served_by() { # hycoll or mpi: who served the last calls on a communicator
  grep -q '"algorithm"' "$HYCOLL_REPORT" && by=hycoll || by=mpi
  [[ $by == "$1" ]] || fail "served by $by"
  [[ $1 == hycoll ]] || grep -q 'hycoll cannot start' "$HYCOLL_REPORT" || fail "the report does not tell"
}

preload=$work/libhycoll_pmpi.so

run "nothing is missing" "" free
said ""
served_by hycoll

run "files of one process are limited" "" limited
said "the MPI library serves .* limit of 64 KiB"
served_by mpi

run "one process cannot read the machine" "" unread
said "the MPI library serves .* hycoll cannot start: process 2 on host .*hwloc"
served_by mpi

# As root of a namespace, if not of the machine.
root=()
if ! unshare --mount true 2>/dev/null; then
  root=(unshare --user --map-root-user)
  if ! "${root[@]}" unshare --mount true 2>/dev/null; then
    echo "skipped: this machine does not let us make namespaces, so the rest is not tested"
    exit "$failed"
  fi
fi

run "one process can reach nobody" "${root[*]}" apart
said "the MPI library serves .* use another layout"

run "/dev/shm is small" "${root[*]}" small
said ""
served_by hycoll

run "/dev/shm is small, and nobody sees the others' processes" "${root[*]}" small-hidden
said "the MPI library serves .* No space left on device; make room in /dev/shm"
served_by mpi

# A /dev/shm of the job's own, which nobody else fills.
cat >"$work/with_shm" <<'END'
#!/bin/sh
mount -t tmpfs -o size=1g none /dev/shm && exec "$@"
END
chmod +x "$work/with_shm"
run "/dev/shm is all but full, and nobody sees the others' processes" "${root[*]} unshare --mount $work/with_shm" full-hidden
said ""
served_by hycoll
grep -q "longer than what the communicator's own memory is for" "$HYCOLL_REPORT" || fail "long calls were served"

run "nobody sees the others' processes, as with process numbers of their own" "${root[*]}" hidden
said ""
served_by hycoll

preload="$work/libhycoll_heap.so $work/libhycoll_pmpi.so"
HYCOLL_SHARED_HEAP=1 run "the same, and they have shared heaps" "${root[*]}" hidden
said "cannot map one another's heaps"
served_by hycoll
exit "$failed"
