"""System libraries as the repository @system, one target each; //third_party gives them their names.

A missing header stops the build with one message that names every missing Debian package.
"""

# name, header that proves its presence, Debian package, link options
_LIBRARIES = [
    struct(name = "cli11", header = "CLI/CLI.hpp", package = "libcli11-dev", linkopts = []),
    struct(name = "doctest", header = "doctest/doctest.h", package = "doctest-dev", linkopts = []),
    struct(name = "fmt", header = "fmt/format.h", package = "libfmt-dev", linkopts = ["-lfmt"]),
    struct(name = "highway", header = "hwy/highway.h", package = "libhwy-dev", linkopts = []),
    struct(name = "hwloc", header = "hwloc.h", package = "libhwloc-dev", linkopts = ["-lhwloc"]),
    struct(name = "json", header = "nlohmann/json.hpp", package = "nlohmann-json3-dev", linkopts = []),
    struct(name = "tbb", header = "tbb/tbb.h", package = "libtbb-dev", linkopts = ["-ltbb"]),
    struct(name = "ucx", header = "ucp/api/ucp.h", package = "libucx-dev", linkopts = ["-ldl"]),
    struct(name = "openmp", header = "omp.h", package = "g++", linkopts = ["-fopenmp"]),
    struct(name = "threads", header = "pthread.h", package = "libc6-dev", linkopts = ["-pthread"]),
]

def _missing(rctx):
    """Returns the libraries whose header the compiler does not find."""
    compiler = rctx.os.environ.get("CC", "") or "gcc"
    probe = "".join([
        "#if !__has_include(<%s>)\n%s\n#endif\n" % (library.header, library.name)
        for library in _LIBRARIES
    ])
    rctx.file("probe.cc", probe)
    result = rctx.execute([compiler, "-x", "c++", "-std=c++20", "-E", "-P", "probe.cc"])
    if result.return_code != 0:
        fail("\n\n%s cannot preprocess C++: %s\nRemedy: run tools/setup\n" % (compiler, result.stderr))
    names = [line.strip() for line in result.stdout.splitlines()]
    return [library for library in _LIBRARIES if library.name in names]

def _system_repository_impl(rctx):
    missing = _missing(rctx)
    if missing:
        fail("\n\nSystem libraries are missing:\n%s\n\nRemedy: run tools/setup, or\n  apt-get install %s\n" % (
            "\n".join(["  %s: no header <%s>" % (library.name, library.header) for library in missing]),
            " ".join([library.package for library in missing]),
        ))
    targets = "".join(["""
cc_library(
    name = "%s",
    linkopts = %s,
)
""" % (library.name, repr(library.linkopts)) for library in _LIBRARIES])
    rctx.file("BUILD", "package(default_visibility = [\"//visibility:public\"])\n" + targets)

system_repository = repository_rule(
    implementation = _system_repository_impl,
    environ = ["CC", "CPATH", "CPLUS_INCLUDE_PATH", "PATH"],
    local = True,
    configure = True,
    doc = "Checks that the headers of every system library are there and declares one target each.",
)
