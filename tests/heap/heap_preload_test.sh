#!/usr/bin/env bash
# Unmodified programs with libhycoll_heap.so: one of our own that checks what malloc promises, and some of the system's.
#
# usage: heap_preload_test.sh LIBRARY PROGRAM
set -euo pipefail

library=$(realpath "$1")
program=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

check() { # description, command...
  local description=$1
  shift
  if timeout 100 "$@" >"$work/output" 2>"$work/errors" && [[ ! -s $work/errors ]]; then
    printf 'ok: %s\n' "$description"
  else
    printf 'FAILED (status %d): %s\n' "$?" "$description"
    cat "$work/output" "$work/errors"
    failed=1
  fi
}

# The output of a program must not depend on the library.
check_same() { # description, command...
  local description=$1
  shift
  timeout 100 "$@" >"$work/expected"
  check "$description" env "${preload[@]}" "$@"
  cmp "$work/expected" "$work/output" || failed=1
}

files() {
  find /dev/shm -name '*hycoll*' | wc -l
}

preload=(LD_PRELOAD="$library" HYCOLL_SHARED_HEAP=1)
before=$(files)

check "the program alone" "$program"
check "the library without HYCOLL_SHARED_HEAP" env LD_PRELOAD="$library" "$program"
check "the library with HYCOLL_SHARED_HEAP=0" env LD_PRELOAD="$library" HYCOLL_SHARED_HEAP=0 "$program"
check "the shared heap" env "${preload[@]}" "$program" shared
check "a threshold above all sizes" env "${preload[@]}" HYCOLL_SHARED_HEAP_THRESHOLD=1G "$program"
check "a threshold below the lowest" env "${preload[@]}" HYCOLL_SHARED_HEAP_THRESHOLD=0 "$program" shared
check "few open files" env "${preload[@]}" bash -c 'ulimit -n 32; exec "$0" shared' "$program"

# Full: one line, and the program goes on in private memory.
if env "${preload[@]}" HYCOLL_SHARED_HEAP_LIMIT=2M timeout 100 "$program" shared >"$work/output" 2>"$work/errors" &&
  (($(grep -c 'hycoll: shared heap' "$work/errors") == $(wc -l <"$work/errors"))) && [[ -s $work/errors ]]; then
  echo "ok: a full heap"
else
  echo "FAILED: a full heap"
  cat "$work/output" "$work/errors"
  failed=1
fi
if env "${preload[@]}" HYCOLL_SHARED_HEAP_THRESHOLD=many timeout 100 "$program" shared 2>"$work/errors" >"$work/output" &&
  grep -q 'HYCOLL_SHARED_HEAP_THRESHOLD=many is ignored' "$work/errors"; then
  echo "ok: a threshold that is no number"
else
  echo "FAILED: a threshold that is no number"
  cat "$work/output" "$work/errors"
  failed=1
fi

check_same "ls" ls /
check_same "bash, pipes and a subshell" bash -c 'for i in {1..2000}; do echo "$i"; done | sort -n | (tail -1; true)'
check_same "python3 with fork and subprocesses" python3 -c '
import os, subprocess
data = bytearray(10_000_000)
for i in range(50): data += bytes(200_000)
numbers = list(range(2_000_000))
child = os.fork()
if child == 0:
    data[0] = 7
    os._exit(0 if sum(numbers) == 1999999000000 else 1)
print(os.waitpid(child, 0)[1], data[0], sum(numbers))
print(subprocess.run(["echo", "hello"], capture_output=True).stdout)'
echo '#include <vector>
int main() { std::vector<int> v(1000, 1); return v[5] - 1; }' >"$work/one.cc"
check "g++, which starts the compiler, the assembler and the linker" env "${preload[@]}" g++ -O1 -o "$work/one" "$work/one.cc"
check "what g++ made" env "${preload[@]}" "$work/one"

# Killed while it holds memory.
env "${preload[@]}" python3 -c 'x = bytearray(20_000_000); print("ready", flush=True); import time; time.sleep(60)' >"$work/ready" &
child=$!
for _ in {1..200}; do
  [[ -s $work/ready ]] && break
  sleep 0.05
done
grep -q hycoll-heap "/proc/$child/maps" || { echo "FAILED: the program to be killed has no heap"; failed=1; }
kill -9 "$child"
wait "$child" 2>/dev/null || true
if (($(files) == before)); then
  echo "ok: nothing is left in /dev/shm"
else
  echo "FAILED: files are left in /dev/shm"
  failed=1
fi
exit "$failed"
