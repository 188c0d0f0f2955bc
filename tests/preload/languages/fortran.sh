#!/usr/bin/env bash
# Compiles a Fortran program with the MPI library's wrapper, and the C source of its name if there is one, and runs it as
# run.sh does.
#
# usage: fortran.sh FLAVOUR MPIEXEC RANKS LIBRARY SERVED SOURCE
set -euo pipefail

flavour=$1 mpiexec=$2 source=$6
compiler=$(dirname "$mpiexec")/mpifort.$flavour
[[ -x $compiler ]] || compiler=$(dirname "$mpiexec")/mpifort
program=${TEST_TMPDIR:-/tmp}/$(basename "$source" .f90)
object=
if [[ -e ${source%.f90}.c ]]; then
  object=$program.o
  "${compiler/mpifort/mpicc}" -O1 -I. -c "${source%.f90}.c" -o "$object"
fi
# The module files belong beside the program.
(source=$(realpath "$source") && cd "$(dirname "$program")" && "$compiler" -O1 -w -fallow-argument-mismatch "$source" $object -o "$program")
exec "$(dirname "${BASH_SOURCE[0]}")/../support/run.sh" "${@:1:5}" "$program"
