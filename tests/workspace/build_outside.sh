#!/usr/bin/env bash
# Builds a program in a workspace of its own, which depends on this one's //:hycoll, and runs it on two ranks.
#
# usage: build_outside.sh WORK_FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

hycoll=$PWD
outside=$1/outside
read -ra bazel <<<"${BAZEL:-bazel}"

mkdir -p "$outside"
cp docs/examples/per_node.cc "$outside/"
cat >"$outside/WORKSPACE" <<END
workspace(name = "outside")

local_repository(
    name = "hycoll",
    path = "$hycoll",
)

load("@hycoll//tools/build:workspace.bzl", "hycoll_repositories")

hycoll_repositories()
END
cat >"$outside/BUILD" <<'END'
load("@rules_cc//cc:defs.bzl", "cc_binary")

cc_binary(
    name = "per_node",
    srcs = ["per_node.cc"],
    deps = ["@hycoll//:hycoll"],
)
END

cd "$outside"
# Not optimised: whether it builds and runs is asked, and the library is built once more for it.
"${bazel[@]}" --output_base="$outside/output" build --compilation_mode=fastbuild --cxxopt=-std=c++20 --noshow_progress \
  --spawn_strategy=local //:per_node </dev/null
"${bazel[@]}" --output_base="$outside/output" shutdown </dev/null
"$hycoll/tools/build/mpi_run.sh" mpich "$(command -v mpiexec.mpich)" 2 timeout 60 bazel-bin/per_node
