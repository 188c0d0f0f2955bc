#!/usr/bin/env bash
# Eight emulated hosts below a tree of switches, with ranks dealt to them in the worst order: a ring allreduce that
# follows the tree (HYCOLL_TOPOLOGY, Options::topology) takes hardly longer than on a network without contention.
#
# The rate is so low that the links limit and not the cores: at 200 Mbit/s each way, eight hosts move 0.2 GB/s, which two
# busy cores do. What is checked are ratios: to what a ring's bytes take on a link of that rate, and between both orders
# in one job.
#
# usage: ring_test.sh HOSTS_SCRIPT PROGRAM MPI_LIBRARY TOPOLOGY     eight hosts, of which neighbours are on both sides
set -uo pipefail
readonly hosts=$1 program=$2 mpi=$3 topology=$4 rate_mbit=200

output=$("$hosts" --mpi "$mpi" --topology "$topology" --rate "${rate_mbit}mbit" -- "$program" "$topology" 2>&1)
status=$?
if ((status == 77)); then
  printf 'skipped: %s\n' "$output"
  exit 0
fi
# In a ring of 8 each host sends 2 x 7/8 of the vector, in frames of 1514 bytes with 1448 of the vector's.
follows_the_tree() {
  awk -v rate_mbit="$rate_mbit" '
    /^ring order: / { ring = $3 }
    /^rank order: / { ranks = $3 }
    END {
      free = 2 * 7 / 8 * 16 * 1024 * 1024 * 8 / (rate_mbit * 1e6) * 1514 / 1448
      printf "without contention %.2f s, ring order %.2f s, rank order %.2f s\n", free, ring, ranks
      exit !(ring > 0.9 * free && ring <= 1.1 * free && ranks > 2 * ring)
    }' <<<"$output"
}

if ! follows_the_tree || ((status != 0)); then
  printf 'expected the ring order within 1.1 times the time without contention, and the order of ranks twice as slow\n'
  printf 'exit status %d, output:\n%s\n' "$status" "$output"
  exit 1
fi
echo "[ring_test] test cases: 1 | 1 passed | 0 failed | 0 skipped"
