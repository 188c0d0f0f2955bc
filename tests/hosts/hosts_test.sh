#!/usr/bin/env bash
# tools/hosts brings up separate hosts, passes on what the job says, and leaves nothing behind.
#
# usage: hosts_test.sh HOSTS_SCRIPT PROGRAM MPI_LIBRARY
set -uo pipefail

readonly hosts=$1 program=$2 mpi=$3
. "$(dirname "${BASH_SOURCE[0]}")/remains.sh"
readonly directory=${TEST_TMPDIR:-$(mktemp -d)}
passed=0
failed=0

check() { # description, command...
  local description=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    printf 'ok: %s\n' "$description"
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$description"
  fi
}

nothing_left() {
  nothing_left_of $$ "$directory/start" "$directory/before"
}

run_hosts() {
  HYCOLL_TEST_HOSTS=$$ "$hosts" --mpi "$mpi" "$@" >"$directory/output" 2>"$directory/errors"
}

separate_hosts() { # hosts, ranks per host
  run_hosts --hosts "$1" --ranks-per-host "$2" --rate 1gbit -- "$program" "$1" "$2" || {
    printf 'exit status %d\n' $?
    cat "$directory/output" "$directory/errors"
    return 1
  }
  grep -qx "separate hosts: $1" "$directory/output"
}

refuses() { # expected words, arguments...
  local words=$1 status=0
  shift
  run_hosts "$@" || status=$?
  [[ $status == 2 ]] && grep -qF -- "$words" "$directory/errors"
}

runs_beside_hosts() {
  # shellcheck disable=SC2016
  run_hosts --hosts 2 --no-mpiexec -- sh -c 'echo "$(uname -n) $("$HOSTS_AGENT" host2 uname -n)"' &&
    [[ $(<"$directory/output") == "launcher host2" ]]
}

# Three hosts below two switches: named as in the file, ranks in its order, and links with a multiple of the rate.
builds_a_tree() {
  printf 'root a 0.5 # half\nroot b\nb right\na left 2\nb middle\n' >"$directory/tree"
  # shellcheck disable=SC2016
  run_hosts --topology "$directory/tree" --rate 100mbit --no-mpiexec -- sh -c '
    for host in right left middle; do
      "$HOSTS_AGENT" "$host" "uname -n; tc qdisc show dev eth0"
    done
    tc qdisc show dev up1; tc qdisc show dev up2' || return
  local found expected
  found=$(awk '/ tbf / { for (i = 1; i < NF; i++) if ($i == "rate") print $(i + 1); next } 1' "$directory/output")
  expected=$'right\n100Mbit\nleft\n200Mbit\nmiddle\n100Mbit\n50Mbit\n100Mbit'
  [[ $found == "$expected" ]] && run_hosts --topology "$directory/tree" -- "$program" 3 1
}

refuses_tree() { # expected words, text of the file
  printf '%b' "$2" >"$directory/tree"
  refuses "--topology $directory/tree:$1" --topology "$directory/tree" -- true
}

passes_status() {
  local status=0
  run_hosts --hosts 2 -- bash -c 'exit 9' || status=$?
  [[ $status == 9 ]]
}

# Prints "host1 CORES" and so on, as each host sees the cores that it may run on.
cores_of_hosts() { # arguments of tools/hosts
  # shellcheck disable=SC2016
  run_hosts "$@" -- sh -c 'echo "$(uname -n)" $(grep ^Cpus_allowed_list: /proc/self/status)' || {
    cat "$directory/errors" >&2
    return 1
  }
  sed 's/Cpus_allowed_list://' "$directory/output" | tr -s ' ' | sort
}

each_host_has_its_core() {
  local found one=' ([0-9]+)' core=
  found=$(cores_of_hosts --hosts 2 --cores-per-host 1)
  if [[ ${found//$'\n'/ } =~ ^host1$one\ host2$one$ && ${BASH_REMATCH[1]} != "${BASH_REMATCH[2]}" ]]; then
    core=${BASH_REMATCH[2]}
  else
    printf 'cores of the hosts: %s\n' "$found"
    return 1
  fi
  # The cores are those of the cores usable here, not the machine's first ones.
  found=$(
    taskset -cp "$core" "$BASHPID" >/dev/null
    cores_of_hosts --hosts 1 --cores-per-host 1
  )
  [[ $found == "host1 $core" ]] || {
    printf 'cores of the host on core %s: %s\n' "$core" "$found"
    return 1
  }
}

# Starts a job that stays, sends the script a signal, expects its exit status.
ends_by_signal() { # signal, expected status
  : >"$directory/output"
  # A background job of a script ignores SIGINT; the script under test has to get it.
  HYCOLL_TEST_HOSTS=$$ env --default-signal=INT "$hosts" --mpi "$mpi" --hosts 2 -- "$program" --stay \
    >"$directory/output" 2>"$directory/errors" &
  local script=$! status=0 attempt
  for ((attempt = 0; attempt < 300; attempt++)); do
    grep -qsx staying "$directory/output" && break
    kill -0 "$script" || break
    sleep 0.1
  done
  grep -qsx staying "$directory/output" || {
    echo "the job did not start"
    cat "$directory/errors"
    kill -TERM "$script"
    return 1
  }
  if nothing_left >/dev/null; then
    echo "the search for remains does not see a running job"
    status=1
  fi
  kill -s "$1" "$script"
  wait "$script" || status=$((status + $?))
  [[ $status == "$2" ]] || {
    printf 'exit status %d, expected %d\n' "$status" "$2"
    return 1
  }
}

# A killed script cannot wait for its namespaces; the kernel ends them on its own.
nothing_left_soon() {
  local attempt
  for ((attempt = 0; attempt < 100; attempt++)); do
    nothing_left >/dev/null && return
    sleep 0.1
  done
  nothing_left
}

two_at_once() {
  local first second
  HYCOLL_TEST_HOSTS=$$ "$hosts" --mpi "$mpi" --hosts 2 -- "$program" 2 1 >"$directory/first" 2>&1 &
  first=$!
  HYCOLL_TEST_HOSTS=$$ "$hosts" --mpi "$mpi" --hosts 2 -- "$program" 2 1 >"$directory/second" 2>&1 &
  second=$!
  wait "$first" && wait "$second" && grep -qx 'separate hosts: 2' "$directory/first" &&
    grep -qx 'separate hosts: 2' "$directory/second"
}

main() {
  touch "$directory/start"
  remains $$ "$directory/start" | sort >"$directory/before"

  check "refuses an unknown number of hosts" refuses "--hosts is 'many'" --hosts many -- true
  check "refuses an unknown rate" refuses "--rate is 'fast'" --rate fast -- true
  check "refuses a missing program" refuses "no program" --hosts 2
  check "refuses more cores than there are" refuses "--cores-per-host is '1000'" --cores-per-host 1000 -- true
  check "refuses a program that is not there" refuses "'/nowhere/program'" -- /nowhere/program
  check "refuses hosts beside a topology" refuses "--hosts '2' and --topology" --hosts 2 --topology /dev/null -- true
  check "refuses a topology that is not there" refuses "--topology is '/nowhere'" --topology /nowhere -- true
  check "refuses what is no list of links" refuses_tree "1: 'SwitchName=a' is no name" 'SwitchName=a Nodes=n[1-2]\n'
  check "refuses a link of no rate" refuses_tree "2: capacity '0'" '\na b 0\n'
  check "refuses a cycle" refuses_tree "3: a second way between 'c' and 'a'" 'a b\nb c\nc a\n'
  check "refuses two trees" refuses_tree "3: 'd' has no way to 'b'" 'a b\nb c\nd e\ne f\n'
  check "refuses hosts without a switch" refuses_tree "1: no switch" 'a b\n'

  local status=0
  run_hosts --hosts 1 -- true || status=$?
  if [[ $status == 77 ]]; then
    printf 'skipped: %s\n' "$(cat "$directory/errors")"
  else
    check "2 hosts are separate" separate_hosts 2 1
    check "3 hosts are separate" separate_hosts 3 1
    check "ranks of one host share its memory" separate_hosts 2 2
    if (($(nproc) >= 2)); then
      check "each host has a core of its own" each_host_has_its_core
    else
      echo "not checked: cores of each host, of which only one is usable here"
    fi
    check "two runs at once do not collide" two_at_once
    check "hosts are below a tree of switches" builds_a_tree
    check "a program beside the hosts reaches them" runs_beside_hosts
    check "the job's exit status is passed on" passes_status
    check "nothing is left after jobs that ended" nothing_left
    check "SIGINT ends the job" ends_by_signal INT 130
    check "nothing is left after SIGINT" nothing_left
    check "SIGTERM ends the job" ends_by_signal TERM 143
    check "nothing is left after SIGTERM" nothing_left
    check "SIGKILL ends the job" ends_by_signal KILL 137
    check "nothing is left after SIGKILL" nothing_left_soon
  fi

  printf '[hosts_test] test cases: %d | %d passed | %d failed | 0 skipped\n' \
    $((passed + failed)) "$passed" "$failed"
  ((failed == 0))
}

main
