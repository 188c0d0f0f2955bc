#!/usr/bin/env bash
# trim_cache.py keeps what was used last, up to the limit, and nothing that other compilers have made.
#
# usage: trim_cache_test.sh TRIM_CACHE
set -uo pipefail

trim=$PWD/$1
cache=$TEST_TMPDIR/cache
failures=0

expect() { # description, the files that are there
  local there
  there=$(cd "$cache" && find ac cas -type f 2>/dev/null | sort | paste -sd ' ')
  if [[ $there != "$2" ]]; then
    printf 'FAILED: %s: expected "%s", found "%s"\n' "$1" "$2" "$there"
    failures=$((failures + 1))
  fi
}

fill() {
  mkdir -p "$cache/ac/00" "$cache/cas/01" "$cache/cas/02"
  touch -d '3 days ago' "$cache/ac/00/oldest"
  truncate -s 700M "$cache/cas/01/older"
  touch -d '2 days ago' "$cache/cas/01/older"
  truncate -s 600M "$cache/cas/02/newer"
}

python3 "$trim" "$cache" 1 || failures=$((failures + 1))
expect "a folder that did not exist" ""
fill
python3 "$trim" "$cache" 2
expect "less than the limit" "ac/00/oldest cas/01/older cas/02/newer"
python3 "$trim" "$cache" 1
expect "more than the limit" "cas/02/newer"
fill
echo "g++ 1" >"$cache/packages"
python3 "$trim" "$cache" 2
expect "made by another compiler" ""
if python3 "$trim" "$cache" much 2>"$TEST_TMPDIR/said" || ! grep -q "whole number of GiB" "$TEST_TMPDIR/said"; then
  echo "FAILED: a limit that is no number"
  failures=$((failures + 1))
fi
((failures == 0))
