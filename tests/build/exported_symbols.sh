#!/usr/bin/env bash
# exported_symbols.sh LIBRARY [--write]: whether a libhycoll-mpich.so shows what tools/exports.txt lists, and has the name that
# docs/versions.md says. Weak functions are left out: whether there are any is the compiler's choice. --write makes the list.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly library=$1 list=tools/exports.txt

shown() {
  nm --dynamic --defined-only "$library" | awk '$2 != "W" { print $3 }' | c++filt | LC_ALL=C sort -u
}

if [[ ${2:-} == --write ]]; then
  shown >"$list"
  exit
fi
number=$(tools/build/version.sh)
number=${number%.*}
name=$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')
if [[ $name != libhycoll-*.so."$number" ]]; then
  echo "$library has the soname $name, but core/base/version.h says $number: see tools/BUILD and CMakeLists.txt"
  exit 1
fi
diff --label "$list" --label "$library" -u "$list" <(shown)
