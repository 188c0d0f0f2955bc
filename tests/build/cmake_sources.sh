#!/usr/bin/env bash
# cmake_sources.sh FOLDER: whether CMake compiles the sources that Bazel does, of the libraries and the command, with MPICH.
# FOLDER is for what CMake writes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
read -ra bazel <<<"${BAZEL:-bazel}"
readonly folder=$1 here=$(pwd -P)

cmake -S . -B "$folder/cmake" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DHYCOLL_APART=ON -DBUILD_TESTING=OFF -DMPI_C_COMPILER=mpicc.mpich \
  >"$folder/cmake.log" 2>&1 || {
  cat "$folder/cmake.log"
  exit 1
}
sed -n "s|^ *\"file\": \"$here/\(.*\)\",\?$|\1|p" "$folder/cmake/compile_commands.json" | sort -u >"$folder/by_cmake"
"${bazel[@]}" query --noshow_progress 'kind("source file", deps(//tools:libhycoll.so + //preload:libhycoll_pmpi.so +
  //heap:libhycoll_heap.so + //tools:hycoll))' </dev/null 2>/dev/null |
  sed -n 's|^//\(.*\.cc\)$|\1|p' | tr : / | sort -u >"$folder/by_bazel"
[[ -s $folder/by_cmake ]]
diff --label "Bazel" --label "CMake (CMakeLists.txt)" -u "$folder/by_bazel" "$folder/by_cmake"
