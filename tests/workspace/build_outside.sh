#!/usr/bin/env bash
# Builds docs/examples/bazel, a workspace of its own that depends on this one, elsewhere, and runs it on two ranks.
#
# usage: build_outside.sh WORK_FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

hycoll=$PWD
outside=$1/outside
read -ra bazel <<<"${BAZEL:-bazel}"

cp -rL docs/examples/bazel "$outside"
sed -i "s|path = \"[^\"]*\"|path = \"$hycoll\"|" "$outside/WORKSPACE"
cd "$outside"
# Not optimised: whether it builds and runs is asked, and the library is built once more for it.
"${bazel[@]}" --output_base="$outside/output" build --compilation_mode=fastbuild --noshow_progress \
  --spawn_strategy=local //:per_node </dev/null
"${bazel[@]}" --output_base="$outside/output" shutdown </dev/null
"$hycoll/tools/build/mpi_run.sh" mpich "$(command -v mpiexec.mpich)" 2 timeout 60 bazel-bin/per_node
