#!/usr/bin/env bash
# Names the functions in object files, or archives of them, that register a destructor of a static or thread-local object:
# it would run when the process or the thread ends, and what is called after it would find the object destroyed.
#
# usage: exit_destructors.sh [--expect NAME]... FILE...
#   --expect NAME  a function so called must be among them, for tests of this script; without, there must be none
set -euo pipefail

expected=()
while [[ ${1:-} == --expect ]]; do
  expected+=("$2")
  shift 2
done

# "mapping_cache.o: hycoll::mapping_of(...) [clone .part.0]", a line for each function that refers to one of the two.
registering() {
  local file=$1
  objdump -d -r -C "$file" | awk -v file="${file##*/}" '
    /file format/ { object = $1; sub(/:$/, "", object); sub(/.*\//, "", object) }
    /^[0-9a-f]+ <.*>:$/ { name = $0; sub(/^[0-9a-f]+ </, "", name); sub(/>:$/, "", name) }
    /R_.*__cxa_(thread_)?atexit/ { print (object == file ? "" : file ": ") object ": " name }' | sort -u
}

# One look at the symbols of all: few files have one of these, if any, and these alone are disassembled.
suspects=$(nm -A -u -- "$@" 2>/dev/null | sed -nE 's/^([^:]+):.* U __cxa_(thread_)?atexit(@.*)?$/\1/p' | sort -u)
found=$(for file in $suspects; do registering "$file"; done)

if ((${#expected[@]} > 0)); then
  for name in "${expected[@]}"; do
    if [[ $found != *"$name"* ]]; then
      printf 'not found: %s; found:\n%s\n' "$name" "$found"
      exit 1
    fi
  done
elif [[ -n $found ]]; then
  printf '%s\n' "Destructors are registered to run at the end of the process or of a thread, by" "$found" \
    "Make such objects Immortal, or get them by of_this_thread() (core/base/lifetime.h)."
  exit 1
else
  printf 'no destructors in %d files\n' $#
fi
