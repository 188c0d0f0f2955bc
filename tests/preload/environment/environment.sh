#!/usr/bin/env bash
# What the preload library does with variables that it cannot read, and with those that differ between processes.
#
# And with builds of hycoll that differ.
#
# usage: environment.sh FLAVOUR MPIEXEC RANKS LIBRARY SERVED PROGRAM
set -euo pipefail

flavour=$1 mpiexec=$2 library=$4
program=$(realpath "$6")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/preload.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp -L "$library" "$work/libhycoll_pmpi.so"

run() { # variables, as arguments of env, or a command with its arguments
  timeout 60 "$here/../../../tools/build/mpi_run.sh" "$flavour" "$mpiexec" 2 \
    env LD_PRELOAD="$work/libhycoll_pmpi.so" "$@" >"$work/output" 2>&1
}

# The job ends with a message.
refused() { # variable=value, what the message says
  if run "$1" "$program" 0; then
    echo "$1: not refused"
    exit 1
  fi
  if ! grep -q -F -e "$2" "$work/output"; then
    echo "$1: the message does not tell '$2':"
    cat "$work/output"
    exit 1
  fi
}

# The job runs to its end.
carried() { # as for run
  if ! run "$@"; then
    echo "$*: the job failed:"
    cat "$work/output"
    exit 1
  fi
}

refused HYCOLL_LEADERS=many "HYCOLL_LEADERS='many': expected"
refused HYCOLL_ATTACH_AFTER=-1 "HYCOLL_ATTACH_AFTER='-1': expected"
refused HYCOLL_DISABLE=sum 'HYCOLL_DISABLE'
refused HYCOLL_LAYOUT=threads 'expected per_node or processes'
refused HYCOLL_ALGORITHM=allreduce:nothing "algorithm 'nothing' does not exist for allreduce"
refused HYCOLL_ALGORITHM=allreduce:dpml:many 'is no number of lanes'
refused HYCOLL_WAIT=doze "HYCOLL_WAIT='doze': expected"
refused HYCOLL_TIMEOUT_S=1s "HYCOLL_TIMEOUT_S='1s': expected"

carried HYCOLL_ALGORITHM=allreduce:dpml:2,reduce:auto "$program" 0
# shellcheck disable=SC2016
carried bash -c 'export HYCOLL_LANES=$((${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}} + 1)); exec "$@"' - "$program" 0
if ! grep -q 'of processes 0 and 1 differ' "$work/output"; then
  echo "HYCOLL_LANES=1 and 2: the message does not tell that they differ:"
  cat "$work/output"
  exit 1
fi

carried HYCOLL_LANE=2 HYCOLL_TEST_ANYTHING=1 "$program" 0
if [[ $(grep -c 'is no setting' "$work/output") != 1 ]] ||
  ! grep -q 'the variable HYCOLL_LANE is no setting, and changes nothing; did you mean HYCOLL_LANES?' "$work/output"; then
  echo "HYCOLL_LANE=2: one line should tell that it is no setting:"
  cat "$work/output"
  exit 1
fi

# A program that uses MPI 4's sessions alone: the report says who serves.
cat >"$work/sessions.c" <<'END'
#include <mpi.h>
int main(void) {
#if MPI_VERSION >= 4
  MPI_Session session;
  MPI_Group group;
  MPI_Comm all;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
  int one = 1, sum = 0, size = 0;
  MPI_Comm_size(all, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
  MPI_Comm_free(&all);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  return sum != size;
#else
  return 77; /* there are none */
#endif
}
END
mpicc."$flavour" -o "$work/sessions" "$work/sessions.c"
status=0
run HYCOLL_REPORT=1 "$work/sessions" || status=$?
if ((status != 77)) && [[ $status != 0 || $(grep -c 'the MPI library has served all its collectives$' "$work/output") != 1 ]]; then
  echo "sessions: one line should tell that hycoll has not served; the job ended with $status, and told:"
  cat "$work/output"
  exit 1
fi
run HYCOLL_REPORT=0 "$work/sessions" || true
if grep 'the MPI library has served' "$work/output"; then
  echo "sessions: HYCOLL_REPORT=0 asks for no report"
  exit 1
fi

# Another version on process 1.
mkdir "$work/other"
LC_ALL=C sed 's/version \([0-9]*\.[0-9]*\.\)[0-9]/version \19/g' "$work/libhycoll_pmpi.so" >"$work/other/libhycoll_pmpi.so"
# shellcheck disable=SC2016
carried bash -c '[ "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}" = 0 ] || export LD_PRELOAD=${LD_PRELOAD%/*}/other/libhycoll_pmpi.so; exec "$@"' - "$program" 0
if ! grep -q 'process 0 runs hycoll of version .*, and process 1 of version' "$work/output"; then
  echo "two versions: the message does not tell that they differ:"
  cat "$work/output"
  exit 1
fi
