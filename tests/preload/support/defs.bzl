"""Tests of the preload library: programs that know nothing of hycoll, run under it."""

load("@mpi//:config.bzl", "MPIEXEC", "MPI_FLAVOUR")
load("//tools/build:defs.bzl", "hycoll_binary", "launches_of")

_SUPPORT = "//tests/preload/support:"

# What hycoll serves, by the names of MPI's functions without MPI_. First blocking reductions, and the barrier.
REDUCTIONS = [
    "allreduce",
    "barrier",
    "exscan",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
]

# Blocking movements of equal blocks, but all-to-alls.
MOVEMENTS = [
    "allgather",
    "bcast",
    "gather",
    "scatter",
]

def nonblocking(names):
    """The nonblocking forms of blocking routines."""
    return ["i" + name for name in names]

def not_served(names):
    """For `served`: that hycoll must not have served these."""
    return ["!" + name for name in names]

# What operations of nonblocking_operation.h call.
NONBLOCKING_OPERATIONS = nonblocking(REDUCTIONS + [name for name in MOVEMENTS if name != "bcast"])

# What hycoll serves of persistent routines; operations of persistent_operation.h call all of them.
PERSISTENT = [name + "_init" for name in REDUCTIONS + MOVEMENTS + [
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "gatherv",
    "scatterv",
]]

# Rank counts that several tests have, besides the usual 1 to 3.
TWO_AND_THREE = [2, 3]

UP_TO_FIVE = [1, 2, 3, 5]

def reasons_of(names, reasons):
    """For `reasons`: each of the reasons for each of the routines."""
    return ["%s: %s" % (name, reason) for name in names for reason in reasons]

def preload_program(name, srcs, deps = [], **kwargs):
    """A program that calls MPI and knows nothing of hycoll.

    Args:
      name: its name.
      srcs: sources.
      deps: libraries besides MPI and programs.h.
      **kwargs: passed on.
    """
    hycoll_binary(
        name = name,
        srcs = srcs,
        deps = [_SUPPORT + "programs", "//third_party:mpi"] + deps,
        **kwargs
    )

def preload_test(
        name,
        served,
        program = None,
        script = _SUPPORT + "run.sh",
        reasons = [],
        ranks = [1, 2, 3],
        bound_ranks = [],
        asan_ranks = [],
        args = [],
        data = [],
        tags = [],
        size = "medium",
        **kwargs):
    """One test NAME_np2 per rank count, and the suite NAME of all of them.

    Args:
      name: name of the suite.
      program: the label of the program; none if the script finds one by its arguments.
      script: what runs it.
      reasons: why other calls must have gone to the MPI library: "COLLECTIVE: REASON" or parts of that; ["-"] if none may
        have gone there.
      served: collectives that hycoll must have served, by their names without MPI_; empty: not looked at.
      ranks: rank counts.
      bound_ranks: those at which it also runs with every rank bound to a core, as NAME_bound_np2.
      asan_ranks: those that AddressSanitizer looks at too. The scripts preload its runtime before the library (run.sh).
        Few, for most tests pass through the same code; not where the shared heap takes the place of malloc, as the
        sanitizer does, nor where a script starts programs of other kinds.
      args: arguments of the program.
      data: what else it needs.
      tags: further tags.
      size: sets the timeout.
      **kwargs: passed to each test.
    """
    env = dict(kwargs.pop("env", {}))
    if reasons:
        env["HYCOLL_TEST_REASON"] = "|".join(reasons)
    launches = launches_of(name, ranks, bound_ranks)
    for launch in launches:
        count = launch.ranks
        native.sh_test(
            name = launch.name,
            srcs = [script],
            args = [
                MPI_FLAVOUR,
                MPIEXEC,
                str(count),
                "$(location //preload:libhycoll_pmpi.so)",
                ",".join(served) or "-",
            ] + (["$(location %s)" % program] if program else []) + args,
            data = [
                _SUPPORT + "run.sh",
                "//preload:libhycoll_pmpi.so",
                "//tools/build:mpi_run.sh",
            ] + ([program] if program else []) + data,
            env = dict(env, MPI_RUN_BINDING = launch.binding),
            size = size,
            # MPI libraries are not instrumented (tools/test).
            tags = launch.tags + ["notsan"] + ([] if count in asan_ranks and launch.binding == "none" else ["noasan"]) + tags,
            **kwargs
        )
    native.test_suite(
        name = name,
        tests = [":" + launch.name for launch in launches],
    )
