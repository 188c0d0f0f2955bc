"""Tests of the preload library: programs that know nothing of hycoll, run under it."""

load("@mpi//:config.bzl", "MPIEXEC", "MPI_FLAVOUR")

def preload_test(name, program, served, ranks = [1, 2, 3], args = [], data = [], tags = [], size = "medium", **kwargs):
    """One test NAME_np2 per rank count, and the suite NAME of all of them.

    Args:
      name: name of the suite.
      program: the label of the program, or the path of an installed one.
      served: collectives that hycoll must have served, by their names without MPI_; empty: not looked at.
      ranks: rank counts.
      args: arguments of the program.
      data: what else it needs.
      tags: further tags.
      size: sets the timeout.
      **kwargs: passed to each test.
    """
    installed = program.startswith("/")
    for count in ranks:
        native.sh_test(
            name = "%s_np%d" % (name, count),
            srcs = ["run.sh"],
            args = [
                MPI_FLAVOUR,
                MPIEXEC,
                str(count),
                "$(location //preload:libhycoll_pmpi.so)",
                ",".join(served) or "-",
                program if installed else "$(location %s)" % program,
            ] + args,
            data = ["//preload:libhycoll_pmpi.so", "//tools/build:mpi_run.sh"] + ([] if installed else [program]) + data,
            size = size,
            # A sanitizer's runtime must come before every preloaded library.
            tags = ["mpi", "cpu:%d" % max(2, count), "noasan", "notsan"] + tags,
            **kwargs
        )
    native.test_suite(
        name = name,
        tests = [":%s_np%d" % (name, count) for count in ranks],
    )
