#!/usr/bin/env bash
# What UCX needs is not there: a transport, a device, memory that may be locked, a way to the other process, descriptors
# for a worker. Where hycoll chooses, calls go over MPI, and it says why; where UCX is asked for, all processes are
# refused before the first call. Nobody waits for ever.
#
# usage: ucx_faults_test.sh RUNNER mpich|openmpi MPIEXEC PROGRAM
set -uo pipefail
runner=$1 flavour=$2 mpiexec=$3 program=$4
export UCX_LOG_LEVEL=fatal MPI_RUN_WHOLE_LINES=1

fail() {
  echo "$1; the output was:" >&2
  echo "$output" >&2
  exit 1
}

run() { # transport, then what is taken away
  local transport=$1
  shift
  output=$(HYCOLL_TRANSPORT=$transport timeout 60 "$runner" "$flavour" "$mpiexec" 2 "$program" "$@" 2>&1)
  local status=$?
  [ "$status" -ne 124 ] || fail "the job did not end ($transport, $*)"
  [ "$status" -eq 0 ] || fail "the job failed ($transport, $*)"
}

says_twice() { # what both processes are to say
  [ "$(grep -cE "$1" <<<"$output")" -eq 2 ] || fail "not both processes said '$1'"
}

cannot() { # the reason as hycoll tells it, then what is taken away
  local reason=$1
  shift
  run auto "$@"
  says_twice "^reduced over MPI \(.*($reason)"
  run ucx "$@"
  says_twice "^refused: .*($reason).*HYCOLL_TRANSPORT=mpi"
}

run ucx
if grep -q "refused: .*no libucp" <<<"$output"; then
  echo "there is no UCX on this machine"
  exit 0
fi
says_twice "^reduced over UCX"

cannot "ucp_init failed" UCX_TLS=nosuchtransport
cannot "ucp_init failed" UCX_TLS=tcp UCX_NET_DEVICES=nosuchdevice
cannot "no message has come over UCX" UCX_TLS=self
cannot "no libucp|file descriptors" descriptors

# Shared memory and TCP lock nothing, so these go on over UCX.
for transport in auto ucx; do
  run "$transport" locked
  says_twice "^reduced over (UCX|MPI)"
done

# Puts that are asked for and cannot be had: the calls go on without them.
export HYCOLL_PUTS=1
run ucx locked
says_twice "^reduced over UCX .* with puts"
run ucx UCX_TLS=tcp
says_twice "^reduced over UCX .* with puts"
# No segments, so puts would be messages.
run ucx UCX_ALLOC_PRIO=mmap,heap
says_twice "^reduced over UCX .* with puts"
unset HYCOLL_PUTS

# A /dev/shm with room for some of the lanes' workers only, as root of a namespace, if not of the machine.
root=()
if ! unshare --mount true 2>/dev/null; then
  root=(unshare --user --map-root-user)
  if ! "${root[@]}" unshare --mount true 2>/dev/null; then
    echo "skipped: this machine does not let us make namespaces, so no worker is refused memory"
    exit 0
  fi
fi
export HYCOLL_WORKERS=4 HYCOLL_LANES=4 HYCOLL_PUTS=0
refused=0
for room in 24 32 40; do
  for transport in auto ucx; do
    output=$(HYCOLL_TRANSPORT=$transport timeout -k 5 60 "${root[@]}" unshare --mount sh -c \
      'mount -t tmpfs -o size="$0"m none /dev/shm && exec "$@"' "$room" \
      "$runner" "$flavour" "$mpiexec" 2 "$program" 2>&1) || fail "the job failed ($transport, $room MiB)"
    says_twice "^(refused: |reduced over (UCX|MPI))"
    [ "$(grep -cE "^reduced over UCX" <<<"$output")" -ne 1 ] || fail "the processes differ ($transport, $room MiB)"
    if grep -qE "^(refused|reduced over MPI).*ucp_" <<<"$output"; then refused=$((refused + 1)); fi
  done
done
[ "$refused" -gt 0 ] || fail "no worker was refused"
