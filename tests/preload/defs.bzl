"""Tests of the preload library: programs that know nothing of hycoll, run under it."""

load("@mpi//:config.bzl", "MPIEXEC", "MPI_FLAVOUR")
load("//tools/build:defs.bzl", "launches_of")

def preload_test(
        name,
        served,
        program = None,
        script = "run.sh",
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
    env = kwargs.pop("env", {})
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
                "run.sh",
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
