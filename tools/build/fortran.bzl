"""Libraries of Fortran sources, which Bazel 4 knows nothing about."""

load("@mpi//:config.bzl", "FORTRAN_COPTS", "HAS_FORTRAN")
load("@rules_cc//cc:defs.bzl", "cc_library")

_OPTIONS = ["-O2", "-fPIC", "-fopenmp", "-std=f2018", "-Wall", "-Wextra", "-Wno-compare-reals", "-Werror"]

def fortran_library(name, src, module = None, uses = [], copts = [], deps = [], **kwargs):
    """A library of one source, to be linked into programs. There is none where no Fortran compiler is.

    Args:
      name: its name.
      src: the source.
      module: the module that the source has, whose file MODULE.mod others use; None: a program.
      uses: labels of the .mod files of the modules that it uses.
      copts: further compiler options.
      deps: libraries to be linked with it.
      **kwargs: of the library.
    """
    if not HAS_FORTRAN:
        return
    folders = " ".join(["-I$$(dirname $(location %s))" % use for use in uses])
    native.genrule(
        name = name + "_compiled",
        testonly = True,
        srcs = [src] + uses,
        outs = [name + ".o"] + ([module + ".mod"] if module else []),
        cmd = "gfortran -c %s -J$(@D) %s $(location %s) -o $(@D)/%s.o" % (
            " ".join(_OPTIONS + copts + FORTRAN_COPTS),
            folders,
            src,
            name,
        ) if module else "gfortran -c %s -J$$(mktemp -d) %s $(location %s) -o $@" % (
            " ".join(_OPTIONS + copts + FORTRAN_COPTS),
            folders,
            src,
        ),
    )
    cc_library(
        name = name,
        testonly = True,
        srcs = [name + ".o"],
        linkstatic = True,
        alwayslink = True,
        deps = deps + ["//third_party:mpi_fortran", "//third_party:openmp"],
        **kwargs
    )
