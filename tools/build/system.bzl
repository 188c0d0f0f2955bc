"""System libraries as the repository @system, one target each; //third_party gives them their names.

What is missing or too old stops the build with one message that names all of it, the versions and the Debian packages. What is
optional does not: @system//:config.bzl says whether it is there.
"""

# name, header that proves its presence, Debian package, link options; the macro that tells the version, and what must hold
# of it for the version that is wanted (docs/start.md)
def _library(name, header, package, linkopts = [], macro = "", condition = "1", wanted = "", optional = False):
    return struct(
        name = name,
        header = header,
        package = package,
        linkopts = linkopts,
        macro = macro,
        condition = condition,
        wanted = wanted,
        optional = optional,
    )

_LIBRARIES = [
    _library("cli11", "CLI/CLI.hpp", "libcli11-dev", macro = "CLI11_VERSION", condition = "CLI11_VERSION_MAJOR * 100 + CLI11_VERSION_MINOR >= 201", wanted = "2.1"),
    _library("doctest", "doctest/doctest.h", "doctest-dev"),
    _library("fmt", "fmt/format.h", "libfmt-dev", ["-lfmt"], macro = "FMT_VERSION", condition = "FMT_VERSION >= 90000", wanted = "9"),
    _library("highway", "hwy/highway.h", "libhwy-dev", macro = "HWY_MAJOR", condition = "HWY_MAJOR >= 1", wanted = "1.0"),
    _library("hwloc", "hwloc.h", "libhwloc-dev", ["-lhwloc"], macro = "HWLOC_API_VERSION", condition = "HWLOC_API_VERSION >= 0x00020500", wanted = "2.5"),
    _library("json", "nlohmann/json.hpp", "nlohmann-json3-dev"),
    _library("tbb", "tbb/tbb.h", "libtbb-dev", ["-ltbb"], macro = "TBB_VERSION_MAJOR", condition = "TBB_VERSION_MAJOR >= 2021", wanted = "2021"),
    _library("ucx", "ucp/api/ucp.h", "libucx-dev", ["-ldl"], macro = "UCP_API_VERSION", condition = "UCP_API_VERSION >= UCP_VERSION(1, 10)", wanted = "1.10", optional = True),
    _library("simgrid", "simgrid/version.h", "libsimgrid-dev", ["-lsimgrid"], macro = "SIMGRID_VERSION_STRING", condition = "SIMGRID_VERSION_MAJOR * 100 + SIMGRID_VERSION_MINOR >= 332", wanted = "3.32", optional = True),
    _library("openmp", "omp.h", "g++", ["-fopenmp"]),
    _library("threads", "pthread.h", "libc6-dev", ["-pthread"]),
]

_PROBE = """
#if __has_include(<{header}>)
#include <{header}>
#if !({condition})
#define HYCOLL_TOO_OLD_{name}
#endif
#else
#define HYCOLL_MISSING_{name}
#endif
"""

def _complaints(rctx):
    """Returns {name of a library: what is wrong with it}, by what the compiler finds."""
    compiler = rctx.os.environ.get("CC", "") or "gcc"
    rctx.file("probe.cc", "".join([
        _PROBE.format(name = library.name, header = library.header, condition = library.condition)
        for library in _LIBRARIES
    ]))
    options = ["-fopenmp", "-x", "c++", "-std=c++20", "-E", "-dM"]
    result = rctx.execute([compiler] + options + ["probe.cc"])
    if result.return_code != 0:
        fail("\n\n%s cannot preprocess C++: %s\nRemedy: run tools/setup\n" % (compiler, result.stderr))
    macros = {}
    for line in result.stdout.splitlines():
        _, name, value = (line + "  ").split(" ", 2)
        macros[name] = value.strip()
    complaints = {}
    for library in _LIBRARIES:
        if "HYCOLL_MISSING_" + library.name in macros:
            complaints[library.name] = "%s%s: no header <%s>" % (
                library.name,
                " " + library.wanted if library.wanted else "",
                library.header,
            )
        elif "HYCOLL_TOO_OLD_" + library.name in macros:
            complaints[library.name] = "%s %s: an older one was found, whose %s is %s" % (
                library.name,
                library.wanted,
                library.macro,
                macros.get(library.macro, "unknown"),
            )
    return complaints

def _system_repository_impl(rctx):
    complaints = _complaints(rctx)
    wrong = [library for library in _LIBRARIES if library.name in complaints and not library.optional]
    if wrong:
        fail("\n\nSystem libraries are missing or too old:\n%s\n\nRemedy: run tools/setup, or\n  apt-get install %s\n" % (
            "\n".join(["  " + complaints[library.name] for library in wrong]),
            " ".join([library.package for library in wrong]),
        ))
    for library in _LIBRARIES:
        if library.name in complaints:
            print("hycoll is built without %s (Debian: %s)" % (complaints[library.name], library.package))
    rctx.file("config.bzl", "HAS_SIMGRID = %s\nHAS_UCX = %s\n" % ("simgrid" not in complaints, "ucx" not in complaints))
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
    doc = "Checks the headers of every system library and declares one target each.",
)
