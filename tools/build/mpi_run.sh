#!/usr/bin/env bash
# Runs a program on several MPI ranks of this machine, without a terminal, as any user, with more ranks than
# cores if need be.
#
# The program finds the rank count it was started with in HYCOLL_TEST_RANKS.
#
# usage: mpi_run.sh mpich|openmpi MPIEXEC RANKS PROGRAM [ARGS...]
set -euo pipefail

flavour=$1
mpiexec=$2
ranks=$3
shift 3

# A prefix of its own: helpers such as orted and hydra_pmi_proxy stand beside mpiexec.
PATH=$(dirname "$mpiexec"):$PATH
export PATH HYCOLL_TEST_RANKS="$ranks"

case $flavour in
  mpich)
    exec "$mpiexec" -n "$ranks" "$@" </dev/null
    ;;
  openmpi)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    exec "$mpiexec" --allow-run-as-root --oversubscribe --bind-to none -n "$ranks" "$@" </dev/null
    ;;
  *)
    echo "mpi_run.sh: unknown MPI library '$flavour'; expected mpich or openmpi" >&2
    exit 2
    ;;
esac
