#!/usr/bin/env bash
# hycoll under Slurm, which runs on emulated hosts of this machine; nothing is left behind (slurm_cases.sh).
#
# usage: slurm_test.sh HOSTS_SCRIPT MPI_LIBRARY mpich|openmpi MPIEXEC PROGRAM LIBRARY DOCUMENT
set -uo pipefail

readonly hosts=$1 mpi=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
directory=$(mktemp -d "${TEST_TMPDIR:-/tmp}/slurm.XXXXXX")
trap 'rm -rf "$directory"' EXIT
. "$here/../hosts/remains.sh"
PATH=$PATH:/usr/sbin:/sbin

skip() { # reason
  printf 'skipped: %s\n' "$1"
  exit 0
}

((EUID == 0)) || skip "the daemons of Slurm run as root only, not as that of a namespace"
for tool in munged slurmctld slurmd srun; do
  command -v "$tool" >/dev/null || skip "the command $tool is missing (tools/setup installs it)"
done
[[ $(taskset -cp $$) =~ ': '0(-|,1(,|-|$)) ]] || skip "not both of the first two CPUs are usable here, which Slurm's nodes have"

touch "$directory/start"
remains $$ "$directory/start" | sort >"$directory/before"
HYCOLL_TEST_HOSTS=$$ "$hosts" --mpi "$mpi" --hosts 4 --no-mpiexec -- "$here/slurm_cluster.sh" 2,2,1,1 \
  "$here/slurm_cases.sh" "${@:3}" 2>"$directory/errors"
status=$?
((status != 77)) || skip "$(cat "$directory/errors")"
cat "$directory/errors" >&2
nothing_left_of $$ "$directory/start" "$directory/before" || status=1
exit "$status"
