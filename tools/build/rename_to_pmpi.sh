#!/usr/bin/env bash
# rename_to_pmpi.sh NM OBJCOPY ARCHIVE RENAMED NAMES: makes of an archive one in which every reference to MPI_X is one to PMPI_X,
# and a list of these names.
set -euo pipefail
"$1" -u "$3" 2>/dev/null | sed -n 's/^ *U \(MPI_[A-Z][a-z].*\)$/\1 P\1/p' | sort -u >"$5"
"$2" --redefine-syms="$5" "$3" "$4"
