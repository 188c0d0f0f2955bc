#!/usr/bin/env bash
# Starts Slurm on emulated hosts, and runs a command that finds it: a controller beside the hosts, and a daemon on each.
# Everything ends with tools/hosts; its folder has the configuration, the state and the logs.
#
# usage: tools/hosts --hosts N --no-mpiexec -- slurm_cluster.sh CPUS,CPUS,... COMMAND [ARGS...]
#   CPUS   how many CPUs of the machine, counted from 0, host1, host2 and so on offer; all hosts have the same ones
#
# Needs the machine's root, as Slurm's daemons do. To try something by hand:
#   tools/hosts --hosts 2 --no-mpiexec -- tests/launchers/slurm_cluster.sh 2,2 bash -c 'srun -N2 hostname'
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin # where Debian has the daemons

IFS=, read -ra cpus <<<"$1"
shift
readonly host_count=${#cpus[@]} folder=${HOSTS_AGENT%/*}/slurm
export SLURM_CONF=$folder/slurm.conf

# Slurm has no part in control groups here, for they are not the hosts' own: tasks are bound by their affinity masks, and
# found by their parents. It looks for a kind of control groups all the same: before version 23.02 there must be one.
write_configuration() {
  local version=() number
  read -ra version <<<"$(slurmd -V | tr . ' ')"
  if ((10#${version[1]} >= 23)); then
    echo "CgroupPlugin=disabled"
  else
    echo "CgroupPlugin=cgroup/v1"
  fi >"$folder/cgroup.conf"
  cat >"$SLURM_CONF" <<END
ClusterName=emulated
SlurmctldHost=$(uname -n)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=1
KillWait=1
MailProg=/bin/true
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmdParameters=config_overrides
TmpFS=/dev/shm
PartitionName=all Nodes=ALL Default=YES
END
  for ((number = 1; number <= host_count; number++)); do
    printf 'NodeName=host%d CPUs=%d Boards=1 SocketsPerBoard=1 CoresPerSocket=%d ThreadsPerCore=1\n' \
      "$number" "${cpus[number - 1]}" "${cpus[number - 1]}"
  done >>"$SLURM_CONF"
}

start_munge() {
  head -c 64 /dev/urandom >"$folder/munge.key"
  chmod 400 "$folder/munge.key"
  munged --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munge.pid" \
    --log-file="$folder/munge.log" --seed-file="$folder/munge.seed" --force 2>"$folder/munge.messages"
}

start_daemons() {
  local number
  slurmctld -D >"$folder/slurmctld.log" 2>&1 &
  for ((number = 1; number <= host_count; number++)); do
    mkdir "$folder/spool.host$number"
    "$HOSTS_AGENT" "host$number" "exec slurmd -D" >"$folder/slurmd.host$number.log" 2>&1 &
  done
}

await_hosts() {
  local attempt
  for ((attempt = 0; attempt < 300; attempt++)); do
    if [[ $(sinfo --noheader --states idle --format %D 2>/dev/null) == "$host_count" ]]; then
      return
    fi
    sleep 0.2
  done
  echo "slurm_cluster.sh: Slurm did not start" >&2
  tail -n 20 "$folder"/*.log >&2
  return 1
}

umask 022
mkdir "$folder" "$folder/state"
write_configuration
start_munge
start_daemons
await_hosts
"$@"
