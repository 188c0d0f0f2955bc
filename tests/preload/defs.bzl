"""Tests of the preload library: programs that know nothing of hycoll, run under it."""

load("@mpi//:config.bzl", "MPIEXEC", "MPI_FLAVOUR")

def preload_test(
        name,
        served,
        program = None,
        script = "run.sh",
        ranks = [1, 2, 3],
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
      asan_ranks: those that AddressSanitizer looks at too. The scripts preload its runtime before the library (run.sh).
        Few, for most tests pass through the same code; not where the shared heap takes the place of malloc, as the
        sanitizer does, nor where a script starts programs of other kinds.
      args: arguments of the program.
      data: what else it needs.
      tags: further tags.
      size: sets the timeout.
      **kwargs: passed to each test.
    """
    for count in ranks:
        native.sh_test(
            name = "%s_np%d" % (name, count),
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
            size = size,
            # MPI libraries are not instrumented (tools/test).
            tags = ["mpi", "cpu:%d" % max(2, count), "notsan"] + ([] if count in asan_ranks else ["noasan"]) + tags,
            **kwargs
        )
    native.test_suite(
        name = name,
        tests = [":%s_np%d" % (name, count) for count in ranks],
    )
