#!/usr/bin/env bash
# Runs what Debian packages, as run.sh does, where it is linked with this MPI library.
#
# usage: debian.sh FLAVOUR MPIEXEC RANKS LIBRARY SERVED python SCRIPT
#        debian.sh FLAVOUR MPIEXEC RANKS LIBRARY SERVED hpcc
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
flavour=$1 ranks=$3 library=$4 kind=$6

# Skips the test unless a file of a package is linked with the MPI library that the preload library is for.
require_linked() { # package, file
  local own linked
  if [[ ! -e $2 ]]; then
    echo "$2 is missing: tools/setup installs the package $1" >&2
    exit 1
  fi
  own=$(ldd "$library" | sed -n 's/^[[:space:]]*\(libmpi[^ ]*\) =>.*/\1/p')
  linked=$(ldd "$2")
  if [[ -z $own || $linked != *"$own"* ]]; then
    echo "skipped: $1 is not linked with $own"
    exit 0
  fi
}

# The results in hpcc's summary that are no times and no rates.
hpcc_results() {
  grep -E '^(Success|PTRANS_residual|HPL_(Rnorm|Anorm|Xnorm|RnormI|N)[A-Za-z0-9]*|MPIRandomAccess.*(Errors|N)|MPIFFT_maxErr)=' hpccoutf.txt
}

run_hpcc() { # arguments of run.sh
  local library mpiexec
  mpiexec=$2
  library=$(realpath "$4")
  cd "$(mktemp -d "${TEST_TMPDIR:-/tmp}/hpcc.XXXXXX")"
  # 100 equations on a grid of 1 x RANKS.
  sed -e '6s/[0-9]*/100/' -e '8s/[0-9]*/20/' -e '11s/[0-9]*/1/' -e "12s/[0-9]*/$ranks/" \
    /usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt
  "$root/tools/build/mpi_run.sh" "$flavour" "$mpiexec" "$ranks" hpcc
  hpcc_results >plain.txt
  rm hpccoutf.txt
  "$here/../support/run.sh" "${@:1:3}" "$library" "$5" hpcc
  hpcc_results >preloaded.txt
  cat preloaded.txt
  diff plain.txt preloaded.txt
  grep -q '^Success=1$' preloaded.txt
  grep -q '^MPIRandomAccess_Errors=0$' preloaded.txt
  if grep -E 'FAILED' hpccoutf.txt; then
    return 1
  fi
}

root=$(cd "$here/../../.." && pwd)
case $kind in
  python)
    require_linked python3-mpi4py "$(/usr/bin/python3 -c \
      'import importlib.util as u; print(u.find_spec("mpi4py").submodule_search_locations[0])')"/MPI.*.so
    exec "$here/../support/run.sh" "${@:1:5}" /usr/bin/python3 "$7"
    ;;
  hpcc)
    require_linked hpcc /usr/bin/hpcc
    run_hpcc "$@"
    ;;
esac
