# What a run of tools/hosts could leave behind. To be sourced.
# shellcheck shell=bash

# Other programs, other jobs of Open MPI among them, come and go meanwhile, hence only what bears a run's marks: the
# variable HYCOLL_TEST_HOSTS=NUMBER in its environment, or the names of its hosts. Prints a line for each.
remains() { # number, file that is older than the run
  local file
  for file in /proc/[0-9]*/environ; do
    if grep -qsz "^HYCOLL_TEST_HOSTS=$1\$" "$file"; then
      printf 'process %s: %s\n' "${file//[^0-9]/}" "$(tr '\0' ' ' 2>/dev/null <"${file%environ}cmdline")"
    fi
  done
  ip -o link show type veth
  ip -o link show type bridge
  ip netns list
  find /dev/shm /tmp -maxdepth 1 -newer "$2" \
    \( -name lab -o -name 'ompi.host[0-9]*' -o -name 'ompi.launcher.*' \)
  grep -E ' (/dev/shm/lab|/etc/hosts) ' /proc/self/mounts
}

# Succeeds if nothing is there that was not there before; otherwise prints it.
nothing_left_of() { # number, file that is older than the run, sorted remains before it
  local found
  found=$(comm -13 "$3" <(remains "$1" "$2" | sort))
  [[ -z $found ]] || {
    printf 'left behind:\n%s\n' "$found"
    return 1
  }
}
