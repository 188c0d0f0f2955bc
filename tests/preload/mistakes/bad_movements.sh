#!/usr/bin/env bash
# Bad broadcasts, allgathers, gathers and scatters under the preload library end with errors that say what is wrong, on every process.
#
# usage: bad_movements.sh FLAVOUR MPIEXEC RANKS LIBRARY SERVED PROGRAM
set -euo pipefail

ranks=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
output=$(mktemp "${TEST_TMPDIR:-/tmp}/preload.XXXXXX")
trap 'rm -f "$output"' EXIT

run() { # argument of the program
  timeout -k 5 100 "$here/../support/run.sh" "${arguments[@]}" "$1" >"$output" 2>&1 || {
    cat "$output"
    echo "FAILED: the program, $1"
    exit 1
  }
}

told() { # how often, what
  local count
  count=$(grep -c -E -e "$2" "$output" || true)
  if ((count != $1)); then
    cat "$output"
    echo "FAILED: told $count times instead of $1: $2"
    exit 1
  fi
}

# Of mistakes that a process can tell by itself, roots are refused by the MPI library.
refused_at_once() {
  told $((3 * ranks)) "Invalid root \(value|MPI_ERR_ROOT"
  for name in bcast allgather gather scatter; do
    told "$ranks" "(^|[^a-z])$name: a buffer is null, but has elements; pass an address"
  done
  told "$ranks" "allgather: input has 44 elements, but must have 40 \($ranks members have blocks of 40, the size of the input\)"
}

# Where all compare their calls, hycoll refuses them on each process.
refused_alike() {
  told "$ranks" "broadcast: root is $ranks, but the ranks are 0 to $((ranks - 1)); pass one of them"
  told "$1" "broadcast: buffer is null with count 100; pass a buffer of 400 bytes"
  told "$ranks" "allgather: input has 44 elements, but must have 40 \($ranks members have blocks of 40, the size of the input\)"
  told "$ranks" "allgather: input is null with count 10; pass a buffer of 40 bytes"
  for name in gather scatter; do
    told "$ranks" "$name: root is $ranks, but the ranks are 0 to $((ranks - 1)); pass one of them"
  done
  told "$ranks" "[^l]gather: input is null with count 10; pass a buffer of 40 bytes"
  told "$ranks" "scatter: output is null with count 10; pass a buffer of 40 bytes"
}

arguments=("$@")
export MPI_RUN_WHOLE_LINES=1
run alike
refused_at_once
export HYCOLL_CHECK=1
run differing
refused_alike $((ranks + 1))
last=$((ranks - 1))
# Everybody names both calls: its own, and one that differs.
for ((rank = 0; rank < last; ++rank)); do
  own="process $rank on host [^,]*, this one, passed broadcast, 400 bytes, root 0, but process $last on host [^ ]*"
  told 1 "$own passed broadcast, 400 bytes, root $last\\."
  told 1 "$own passed broadcast, 396 bytes, root 0\\."
  told 2 "$own refused its arguments"
  told 1 "process $rank on host [^,]*, this one, passed allgather, 40 bytes.*, but process $last on host [^ ]* refused its arguments"
done
own="process $last on host [^,]*, this one, passed broadcast"
told 1 "$own, 400 bytes, root $last, but process .* passed broadcast, 400 bytes, root 0\\."
told 1 "$own, 396 bytes, root 0, but process .* passed broadcast, 400 bytes, root 0\\."
told 1 "allgather: input has 36 elements, but must have 40 "
told 1 "broadcast: root is -1, but the ranks are 0 to $last; pass one of them"
