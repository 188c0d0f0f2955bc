#!/usr/bin/env bash
# A program of the other MPI library under the preload library, linked with its MPI library or loading it later, as
# modules of Python do: it runs as if nothing had been preloaded, other libraries stay preloaded, and one line says why.
# Where hycoll's library for the other MPI library lies beside it, that one is preloaded instead, and nothing is said.
#
# usage: other_library.sh FLAVOUR MPIEXEC RANKS LIBRARY SERVED
set -euo pipefail

flavour=$1 ranks=$3 library=$4
case $flavour in
  mpich) other=openmpi ;;
  openmpi) other=mpich ;;
esac
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/other.XXXXXX")
trap 'rm -rf "$work"' EXIT
for command in mpicc.$other mpiexec.$other; do
  command -v "$command" >/dev/null || {
    echo "$command is missing: tools/setup installs both MPI libraries" >&2
    exit 1
  }
done
cp -L "$library" "$work/libhycoll_pmpi.so"

cat >"$work/body.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int body(int argc, char** argv) {
  if (argc != 3 || argv[2][0] != 0) return 3; /* started anew with the same arguments */
  MPI_Init(&argc, &argv);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < 20; ++round) {
    int sum = 0;
    MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != round * size) return 4;
  }
  MPI_Finalize();
  puts("right");
  return 0;
}
END
printf 'int body(int, char**); int main(int argc, char** argv) { return body(argc, argv); }\n' >"$work/linked.c"
cat >"$work/loading.c" <<'END'
#include <dlfcn.h>
int main(int argc, char** argv) {
  void* module = dlopen(argv[1], RTLD_NOW);
  return module ? ((int (*)(int, char**))dlsym(module, "body"))(argc, argv) : 5;
}
END
printf 'void nothing(void) {}\n' | cc -shared -fPIC -x c -o "$work/beside.so" -
mpicc.$other -o "$work/linked" "$work/linked.c" "$work/body.c"
mpicc.$other -shared -fPIC -o "$work/module.so" "$work/body.c"
cc -o "$work/loading" "$work/loading.c" -ldl

# Open MPI takes what lies above its launcher's folder for its prefix, which must not be the root.
launcher=$(realpath "$(dirname "$(command -v "mpiexec.$other")")")/mpiexec.$other

# Launchers may put what two processes say into one line.
count_of() { # word, output
  grep -o "$1" <<<"$2" | wc -l
}

check() { # program, lines of hycoll's that are expected, words of the library beside it
  local output
  output=$(timeout 60 "$here/../../../tools/build/mpi_run.sh" "$other" "$launcher" "$ranks" \
    env LD_PRELOAD="$work/libhycoll_pmpi.so:$work/beside.so" "$work/$1" "$work/module.so" "" 2>&1) || {
    printf '%s: the job failed\n%s\n' "$1" "$output"
    exit 1
  }
  if [[ $(count_of right "$output") != "$ranks" || $(count_of replaced "$output") != "$3" ||
    $(grep -c 'hycoll stays out.*tools/install --mpi '$other <<<"$output") != "$2" ]]; then
    printf '%s: expected %d times "right", %d lines of hycoll, %d times "replaced", and found\n%s\n' \
      "$1" "$ranks" "$2" "$3" "$output"
    exit 1
  fi
}

for program in linked loading; do
  check "$program" 1 0
done
# Stands for hycoll's library.
cc -shared -fPIC -x c -o "$work/libhycoll_pmpi-$other.so" - <<'END'
#include <stdio.h>
__attribute__((constructor)) static void tell(void) { puts("replaced"); }
END
for program in linked loading; do
  check "$program" 0 "$ranks"
done
