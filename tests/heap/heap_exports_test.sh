#!/usr/bin/env bash
# libhycoll_heap.so shows the functions of its version script, and nothing else.
# usage: heap_exports_test.sh LIBRARY VERSION_SCRIPT
set -euo pipefail

library=$1 script=$2
promised=$(sed -n '/global:/,/local:/s/^ *\([a-z_0-9]*\);$/\1/p' "$script" | sort)
shown=$(nm -D --defined-only "$library" | sed 's/^.* \([^ @]*\)[^ ]*$/\1/' | sort)
grep -qx hycoll_malloc <<<"$promised" || { echo "heap_exports_test: $script names no functions" >&2; exit 1; }
diff <(echo "$promised") <(echo "$shown") || {
  echo "heap_exports_test: $library (>) shows something else than $script (<) promises" >&2
  exit 1
}
