#!/usr/bin/env bash
# hycoll under the Slurm that slurm_cluster.sh has started on host1 to host4, with 2, 2, 1 and 1 CPUs: right results, what
# hycoll finds of hosts and CPUs is what Slurm has given, and nothing is left of jobs that were ended.
#
# usage: slurm_cases.sh mpich|openmpi MPIEXEC PROGRAM LIBRARY DOCUMENT
set -uo pipefail

readonly flavour=$1 mpiexec=$2 program=$3 library=$4
document=$(realpath "$5")
readonly lab=${HOSTS_AGENT%/*}
readonly work=$lab/work
# hycoll serves calls soon, and does not try out two transports before that.
export HYCOLL_ATTACH_AFTER=2 HYCOLL_TRANSPORT=mpi
export HOME=$work/home       # as the document's job scripts have it
passed=0
failed=0

case $flavour in
  mpich) readonly interface=pmi2 ;;
  openmpi) readonly interface=pmix ;;
esac

fail() { # message
  printf 'FAILED: %s: %s; the output was:\n' "$case" "$1"
  cat "$work/output"
  is_right=no
}

begin() { # case
  case=$1
  is_right=yes
  began=$(date +%s%N)
  rm -f "$work"/report.json "$work"/mask.* "$work/output"
}

end() {
  if [[ $is_right == yes ]]; then
    passed=$((passed + 1))
    printf 'ok: %s (%d ms)\n' "$case" $((($(date +%s%N) - began) / 1000000))
  else
    failed=$((failed + 1))
  fi
}

# What is started as a program notes where Slurm, or mpiexec, has put it, and preloads what emulated hosts need. Those that
# stay do not, for they run beside others.
prepare_work() {
  mkdir -p "$HOME/hycoll/lib"
  cp -L "$library" "$HOME/hycoll/lib/libhycoll_pmpi.so"
  cp -L "$program" "$work/launched_program"
  cat >"$work/program" <<END
#!/bin/sh
hycoll=\$LD_PRELOAD
unset LD_PRELOAD
rank=\${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-\$SLURM_PROCID}}
[ \$# -gt 0 ] || echo "\$(uname -n) \$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)" >"$work/mask.\$rank"
LD_PRELOAD="\$HOSTS_PRELOAD \$hycoll" exec "$work/launched_program" "\$@"
END
  chmod +x "$work/program"
  cd "$work" || exit 1
}

# Runs a command whose job preloads hycoll, and leaves report.json.
run() { # command...
  HYCOLL_REPORT=$work/report.json timeout -k 5 60 "$@" >"$work/output" 2>&1 || fail "exit status $?"
}
srun_program() { # arguments of srun and of the program
  run srun --mpi="$interface" --export=ALL,LD_PRELOAD="$HOME/hycoll/lib/libhycoll_pmpi.so" "$@"
}

# Every rank has checked its results, hycoll has served calls, and it has found the hosts and CPUs that the launcher gave:
# by rank the host, and how many CPUs or, with an =, which.
expect() { # HOST/COUNT or HOST=CPUS...
  local said
  said=$(python3 - "$work" "$@" <<'END' 2>&1
import json, pathlib, re, sys
work, expected = pathlib.Path(sys.argv[1]), sys.argv[2:]
report = json.load(open(work / "report.json"))
found = ["%s=%s" % (place["host"], place["cpus"]) for place in report["places"]]
given = ["=".join((work / ("mask.%d" % rank)).read_text().split()) for rank in range(len(expected))]
if found != given:
    sys.exit("hycoll found %s, but the launcher gave %s" % (found, given))
def count(cpus):
    ends = [[int(end) for end in part.split("-")] for part in cpus.split(",")]
    return sum(part[-1] - part[0] + 1 for part in ends)
for rank, (place, wanted) in enumerate(zip(given, expected)):
    host, cpus = place.split("=")
    if wanted not in (place, "%s/%d" % (host, count(cpus))):
        sys.exit("rank %d runs on %s, expected %s" % (rank, place, wanted))
if len(set(given)) != len(given) and all(wanted.endswith("/1") for wanted in expected):
    sys.exit("two ranks have the same CPU: %s" % given)
if not any(line["served_by"] == "hycoll" and line["collective"] == "allreduce" for line in report["collectives"]):
    sys.exit("hycoll has served no allreduce: %s" % report["collectives"])
right = re.findall(r"rank (\d+) on (\w+): right", (work / "output").read_text())
if right != [(str(rank), place.split("=")[0]) for rank, place in enumerate(given)]:
    sys.exit("results are right on %s only" % right)
END
  ) || fail "$said"
}

# What is left of jobs that have ended: processes, and shared memory of any host.
remains() {
  pgrep --list-full --full "$work/launched_program"
  find "$lab"/shm.* -mindepth 2 -not -path '*/shm.*/lab*' -name '*hycoll*'
}
# The job that is to hit its time limit may still be there, too: Slurm looks at limits every 30 s.
expect_nothing_left() {
  local attempt
  for ((attempt = 0; attempt < 450; attempt++)); do
    [[ -n $(remains) || -n $(squeue --noheader --name "$1") ]] || return 0
    sleep 0.1
  done
  fail "left behind: $(remains) $(squeue --noheader)"
}

await_end() { # job's name, seconds
  local deadline=$((SECONDS + $2))
  while [[ -n $(squeue --noheader --name "$1") ]]; do
    ((SECONDS < deadline)) || {
      fail "job $1 has not ended"
      return
    }
    sleep 0.1
  done
}

await_staying() { # file that the job writes
  local attempt
  for ((attempt = 0; attempt < 600; attempt++)); do
    ! grep -qs staying "$1" || return 0
    sleep 0.1
  done
  fail "the job did not start: $(cat "$1")"
}

one_task_per_core() {
  begin "one task per core, on unequal nodes"
  srun_program --nodelist 'host[1-3]' --ntasks 5 ./program
  expect host1/1 host1/1 host2/1 host2/1 host3/1
  end
}

dealt_in_turn() {
  begin "tasks dealt to the nodes in turn"
  srun_program --nodelist 'host[1-2]' --ntasks 4 --distribution cyclic ./program
  expect host1/1 host2/1 host1/1 host2/1
  end
}

bound_by_hand() {
  begin "--cpu-bind=map_cpu, and none"
  srun_program --nodelist host1 --ntasks 2 --cpu-bind map_cpu:1,0 ./program
  expect host1=1 host1=0
  srun_program --nodelist host1 --ntasks 2 --cpu-bind none ./program
  expect "host1/$(nproc)" "host1/$(nproc)"
  end
}

two_leaders() {
  begin "one task per node, with two cores for two leaders"
  HYCOLL_LEADERS=2 srun_program --nodelist 'host[1-2]' --ntasks-per-node 1 --cpus-per-task 2 ./program
  expect host1/2 host2/2
  [[ $(grep -c 'threads on CPUs [0-9,-]* [0-9]*$' "$work/output") == 2 ]] || fail "the second leader is not pinned"
  ! grep -q confined "$work/output" || fail "hycoll warns"
  end

  begin "one task per node, with one core for two leaders: hycoll says so"
  HYCOLL_LEADERS=2 srun_program --nodelist 'host[1-2]' --ntasks-per-node 1 ./program
  expect host1/1 host2/1
  grep -q 'confined to 1 core .*launch line: with srun add --cpus-per-task=2\.' "$work/output" || fail "hycoll does not warn"
  end
}

mpiexec_inside() {
  begin "mpiexec inside an allocation"
  local -a launch=("$mpiexec" -n 4)
  [[ $flavour == mpich ]] || launch+=(--bind-to none)
  # shellcheck disable=SC2016
  run salloc --quiet --nodelist 'host[1-2]' --ntasks-per-node 2 --ntasks 4 \
    "${launch[@]}" env LD_PRELOAD="$HOME/hycoll/lib/libhycoll_pmpi.so" ./program
  expect "host1/$(nproc)" "host1/$(nproc)" "host2/$(nproc)" "host2/$(nproc)"
  end
}

# The document's job script, as it is but for the interface that the MPI library needs.
job_script() { # which one, from 1 on
  awk -v wanted="$1" '/^```/ {inside = !inside; line = 0; next}
    inside && ++line == 1 {count += /^#!/}
    inside && count == wanted' "$document" | sed "s/--mpi=pmi2/--mpi=$interface/"
}
run_job_script() { # which one
  job_script "$1" >"$work/job"
  sbatch --quiet --job-name script --output "$work/output" "$work/job" || fail "sbatch refuses it"
  await_end script 60
}
job_scripts() {
  begin "the document's job script: one task per core"
  run_job_script 1
  [[ $(grep -c ': right' "$work/output") == 4 ]] || fail "not all ranks are right"
  grep -q '  host1, host2: 2 processes each, on CPUs .*, 1 for each' "$work/output" || fail "hycoll found other CPUs"
  end

  begin "the document's job script: one task per node, with threads"
  run_job_script 2
  [[ $(grep -c ': right' "$work/output") == 2 ]] || fail "not all ranks are right"
  grep -q '  host1, host2: 1 process each, on CPUs ' "$work/output" || fail "hycoll found other CPUs"
  ! grep -q confined "$work/output" || fail "hycoll warns"
  end
}

cancelled() {
  begin "a job that is cancelled in a collective"
  HYCOLL_WAIT=sleep srun --mpi="$interface" --export=ALL,LD_PRELOAD="$HOME/hycoll/lib/libhycoll_pmpi.so" \
    --job-name cancelled --nodelist 'host[1-2]' --ntasks 4 ./program --stay >"$work/output" 2>&1 &
  local job=$! status=0
  await_staying "$work/output"
  [[ -n $(remains) ]] || fail "the search for remains does not see a running job"
  scancel --name cancelled
  wait "$job" || status=$?
  ((status != 0)) || fail "srun says that all is well"
  expect_nothing_left cancelled
  end
}

# Slurm looks at time limits every 30 s, so this job runs on a host of its own beside the other cases. A limit is a minute at
# least; the end that follows from it can be told more exactly.
start_limited() {
  cat >"$work/limited" <<END
#!/bin/sh
srun --mpi=$interface --overcommit --export=ALL,LD_PRELOAD="$HOME/hycoll/lib/libhycoll_pmpi.so" ./program --stay
END
  HYCOLL_WAIT=sleep sbatch --quiet --job-name limited --nodelist host4 --ntasks 2 --overcommit --time 10 \
    --output "$work/output.limited" "$work/limited"
}
limit() {
  await_staying "$work/output.limited"
  scontrol update jobname=limited EndTime="$(date --date '+1 second' +%FT%T)"
}
limited() {
  begin "a job that hits its time limit"
  await_end limited 45
  cp "$work/output.limited" "$work/output"
  grep -q 'DUE TO TIME LIMIT' "$work/output" || fail "it did not end by its time limit"
  expect_nothing_left limited
  end
}

prepare_work
[[ $flavour == openmpi ]] || start_limited
one_task_per_core
[[ $flavour == openmpi ]] || limit
dealt_in_turn
bound_by_hand
two_leaders
mpiexec_inside
job_scripts
cancelled
[[ $flavour == openmpi ]] || limited

printf '[slurm_test] test cases: %d | %d passed | %d failed | 0 skipped\n' $((passed + failed)) "$passed" "$failed"
((failed == 0))
