#!/usr/bin/env bash
# Runs a program on several MPI ranks of this machine, without a terminal, as any user, with more ranks than
# cores if need be.
#
# The program finds the rank count it was started with in HYCOLL_TEST_RANKS. MPI_RUN_BINDING in the environment: core
# binds each rank to a core of its own, as launchers do by default, and ranks in turn where there are fewer cores; none,
# the default, leaves them all cores. MPI_RUN_WHOLE_LINES=1: what one rank says is not mixed with what others say, which
# launchers do with long lines, and comes at the end.
#
# usage: mpi_run.sh mpich|openmpi MPIEXEC RANKS PROGRAM [ARGS...]
set -euo pipefail

flavour=$1
mpiexec=$2
ranks=$3
shift 3

# A prefix of its own: helpers such as orted and hydra_pmi_proxy stand beside mpiexec.
PATH=$(dirname "$mpiexec"):$PATH
case ${MPI_RUN_BINDING:-none} in
  none) mpich_binding=() openmpi_binding=(--bind-to none) ;;
  core) mpich_binding=(-bind-to core) openmpi_binding=(--bind-to core:overload-allowed) ;;
  *)
    echo "mpi_run.sh: MPI_RUN_BINDING='$MPI_RUN_BINDING'; expected none or core" >&2
    exit 2
    ;;
esac
export PATH HYCOLL_TEST_RANKS="$ranks"

case $flavour in
  mpich)
    if [[ -z ${MPI_RUN_WHOLE_LINES:-} ]]; then
      exec "$mpiexec" "${mpich_binding[@]}" -n "$ranks" "$@" </dev/null
    fi
    said=$(mktemp -d "${TEST_TMPDIR:-${TMPDIR:-/tmp}}/said.XXXXXX")
    trap 'cat "$said"/*; rm -rf "$said"' EXIT
    "$mpiexec" -outfile-pattern "$said/%r.out" -errfile-pattern "$said/%r.err" "${mpich_binding[@]}" -n "$ranks" "$@" </dev/null
    ;;
  openmpi)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # Jobs that start and end beside one another make and remove the folder that they would share ("orte_session_dir failed").
    export OMPI_MCA_orte_tmpdir_base=${TEST_TMPDIR:-${TMPDIR:-/tmp}}
    exec "$mpiexec" --allow-run-as-root --oversubscribe "${openmpi_binding[@]}" -n "$ranks" "$@" </dev/null
    ;;
  *)
    echo "mpi_run.sh: unknown MPI library '$flavour'; expected mpich or openmpi" >&2
    exit 2
    ;;
esac
