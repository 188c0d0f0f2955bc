#!/usr/bin/env bash
# Compiles a Fortran program with the MPI library's wrapper, and runs it as run.sh does.
#
# usage: fortran.sh FLAVOUR MPIEXEC RANKS LIBRARY SERVED SOURCE
set -euo pipefail

flavour=$1 mpiexec=$2 source=$6
compiler=$(dirname "$mpiexec")/mpifort.$flavour
[[ -x $compiler ]] || compiler=$(dirname "$mpiexec")/mpifort
program=${TEST_TMPDIR:-/tmp}/$(basename "$source" .f90)
# The module files belong beside the program.
(source=$(realpath "$source") && cd "$(dirname "$program")" && "$compiler" -O1 -w -fallow-argument-mismatch "$source" -o "$program")
exec "$(dirname "${BASH_SOURCE[0]}")/run.sh" "${@:1:5}" "$program"
