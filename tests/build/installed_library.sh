#!/usr/bin/env bash
# Installs hycoll for MPICH, moves the prefix, and builds projects outside of this tree against it, by make with pkg-config
# and by CMake, as docs/start.md says. They run on two ranks. The prefix stays in WORK_FOLDER/prefix.
#
# usage: installed_library.sh WORK_FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly work=$1 here=$PWD
readonly prefix=$work/prefix projects=$work/projects programs=(custom_operator per_node std_threads allreduce openmp_team_f90)

fail() { # message, file with details
  printf 'FAILED: %s\n' "$1"
  cat "$2"
  exit 1
}

run() { # program
  "$here/tools/build/mpi_run.sh" mpich "$(command -v mpiexec.mpich)" 2 timeout 60 "$1" >"$work/run.log" 2>&1 ||
    fail "$1" "$work/run.log"
}

# Configures the CMake project.
configure() { # name of the build, options...
  local build=$projects/cmake/$1
  shift
  cmake -S "$projects/cmake" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" "$@" >"$work/cmake.log" 2>&1
}

refused() { # what CMake must say, name of the build, options...
  local said=$1
  shift
  if configure "$@" || ! tr -s ' \n' ' ' <"$work/cmake.log" | grep -q "$said"; then
    fail "CMake with ${*:2} does not say '$said'" "$work/cmake.log"
  fi
}

DESTDIR=$work/root tools/install --mpi mpich --config ci /opt/hycoll >"$work/install.log" 2>&1 ||
  fail "tools/install" "$work/install.log"
mv "$work/root/opt/hycoll" "$prefix"
! grep -rlF "$work/root" "$prefix" >"$work/named" || fail "these files name the folder of the installation" "$work/named"

"$prefix/bin/hycoll" plan --nodes 2 >"$work/plan.log" || fail "the installed command" "$work/plan.log"
[[ -s $prefix/share/man/man1/hycoll-plan.1 ]] || fail "no manual pages" /dev/null

mkdir "$projects"
cp -r docs/examples/{cmake,make,*.c,*.cc,*.f90} "$projects"
PKG_CONFIG_PATH=$prefix/lib/pkgconfig make -C "$projects/make" -j2 MPICC=mpicc.mpich MPICXX=mpicxx.mpich MPIFORT=mpifort.mpich PROGRAMS="${programs[*]}" \
  >"$work/make.log" 2>&1 || fail "make with pkg-config" "$work/make.log"
for program in "${programs[@]}"; do
  run "$projects/make/$program"
done

configure mpich -DMPI_C_COMPILER=mpicc.mpich && cmake --build "$projects/cmake/mpich" >>"$work/cmake.log" 2>&1 ||
  fail "CMake" "$work/cmake.log"
run "$projects/cmake/mpich/per_node"
run "$projects/cmake/mpich/allreduce"
run "$projects/cmake/mpich/allreduce_f90"

# With the other MPI library there is no hycoll here, until one is installed beside the first. CMake does not look into it.
refused "has no hycoll for it" openmpi -DMPI_C_COMPILER=mpicc.openmpi
touch "$prefix/lib/libhycoll-openmpi.so"
configure openmpi || fail "CMake with another hycoll beside the first" "$work/cmake.log"
grep -q "/libhycoll-openmpi.so" "$projects/cmake/openmpi/CMakeFiles/per_node.dir/link.txt" ||
  fail "CMake takes another library" "$projects/cmake/openmpi/CMakeFiles/per_node.dir/link.txt"
rm "$prefix/lib/libhycoll-openmpi.so"
