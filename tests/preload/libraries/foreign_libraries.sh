#!/usr/bin/env bash
# What the libraries to be preloaded need and show, and a program that brings others by the names of those that hycoll
# is made with.
#
# usage: foreign_libraries.sh FLAVOUR MPIEXEC RANKS LIBRARY SERVED HEAP_LIBRARY DOCUMENT SOURCE
set -euo pipefail

flavour=$1 mpiexec=$2 library=$4 heap_library=$6 document=$7 source=$8
failed=0

check_equal() { # description, expected, actual
  [[ $2 == "$3" ]] && return
  printf 'FAILED: %s: expected\n%s\nfound\n%s\n' "$@"
  failed=1
}

needed() { # library
  readelf --dynamic --wide "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | sort
}

# Global symbols that are not these.
shown_besides() { # library, pattern
  nm --dynamic --extern-only --defined-only "$1" | awk '{ print $3 }' | grep -v -E "$2" || true
}

# The list is the document's: its rows begin with the names of libraries.
listed=$(sed -n 's/^| `\(lib[^`]*\|ld-[^`]*\)` .*/\1/p' "$document" | sort)
mpi=$(needed "$library" | grep -E '^lib(mpi|mpich|open-rte|open-pal)\.so')
check_equal "needed by $library" "$listed" "$(needed "$library" | grep -v -x -F "$mpi")"
check_equal "needed by $heap_library" "$(grep -E '^(libc\.|ld-)' <<<"$listed")" "$(needed "$heap_library")"
check_equal "shown by $library" "" "$(shown_besides "$library" '^(MPIX?_|PMPI_(Init(_thread)?|Finalize|Comm_(free|disconnect)|Start(all)?|Cancel|Request_(free|get_status)|(Test|Wait)(all|any|some)?)$|hycoll_(register_observer|ticks|seconds_per_tick)$|mpi_|ompi_.*_f$)')"
check_equal "shown by $heap_library" "" \
  "$(shown_besides "$heap_library" '^((m|c|re|v|pv)alloc|free|memalign|aligned_alloc|posix_memalign|malloc_usable_size|hycoll_.*)$')"
((failed == 0)) || exit 1

# None of them has anything of what its name promises.
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/foreign.XXXXXX")
trap 'rm -rf "$work"' EXIT
foreign=()
for name in libtbb.so.12 libfmt.so.9 libhwy.so.1 libstdc++.so.6; do
  echo 'int foreign;' | cc -shared -fPIC -nostdlib -Wl,-soname,"$name" -x c -o "$work/$name" -
  foreign+=("$work/$name")
done
compiler=$(dirname "$mpiexec")/mpicc.$flavour
[[ -x $compiler ]] || compiler=$(dirname "$mpiexec")/mpicc
"$compiler" -std=c99 -O1 "$source" -o "$work/program" -Wl,--no-as-needed "${foreign[@]}" -Wl,-rpath,"$work"

# By processes, by threads of hycoll's that help each other on cores that a process has for itself, and without hycoll.
run=("$(dirname "${BASH_SOURCE[0]}")/../support/run.sh" "${@:1:5}" "$work/program")
"${run[@]}"
HYCOLL_LAYOUT=per_node HYCOLL_ALGORITHM=recursive-doubling HWLOC_SYNTHETIC="core:8 pu:1" "${run[@]}"
HYCOLL_DISABLE=all "${run[@]:0:5}" - "$work/program"
