"""The project's rules: C++ targets with its warnings, tests with timeouts, tests under mpiexec.

Public headers are listed in `public_headers` of hycoll_library instead of `hdrs`. Inside the tree they are found
both as "core/base/types.h" and as "hycoll/types.h"; they include one another by the second form only, because that
is where tools/install puts them.
"""

load("@mpi//:config.bzl", "MPIEXEC", "MPI_FLAVOUR")
load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")

_WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wnon-virtual-dtor"]

# Link options of what is preloaded under programs with a C++ runtime of any version, or none: the runtime is part of it.
# (-static-libstdc++ would not do, for Bazel's toolchain names the shared one; as nothing is left for that, it is dropped.)
# The version script hides the symbols.
OWN_CXX_RUNTIME = [
    "-l:libstdc++.a",
    "-static-libgcc",
    "-Wl,--as-needed",
]

_OPENMP = "//third_party:openmp"

# What takes longer to compile than it ever runs. Not -O0 for sanitizers: compiling takes half of the time then, but inline
# functions that the linker takes from these files slow all others.
_COMPILED_FAST = [
    "tests",
    "tools/command/comparing",
    "tools/command/line",
    "tools/command/turns",
]

def _is_compiled_fast(package):
    return package == "tools/command" or any([
        package == fast or package.startswith(fast + "/")
        for fast in _COMPILED_FAST
    ])

def optimisation(package):
    """How files of a package are optimised."""
    return select({
        "//tools/build:opt": ["-O1" if _is_compiled_fast(package) else "-O3"],
        "//conditions:default": [],
    })

def _precompiled_header(deps, copts):
    """The name of what the files of this target include precompiled, in //tools/build; none if that were in their way.

    It must have been compiled with the target's own options: g++ 12 ran for minutes, and then into an internal error, over
    a file with -O2 whose precompiled header had -O1.
    """
    package = native.package_name()
    room = package.split("/")[0]
    if copts or _OPENMP in deps or room in ["docs", "third_party"]:
        return None  # examples compile as they are printed; third_party's files are about how these very headers are compiled
    if room == "tests":
        return "test_headers" if [dep for dep in deps if "doctest" in dep] else None
    return "fast_headers" if _is_compiled_fast(package) else "standard_headers"

def _copts(copts, deps):
    openmp = ["-fopenmp"] if _OPENMP in deps else []
    header = _precompiled_header(deps, copts)
    include = select({
        "//tools/build:precompiled_headers": ["-include", header + ".h"],
        "//conditions:default": [],
    }) if header else []
    return _WARNINGS + openmp + optimisation(native.package_name()) + include + copts

def _deps(deps, copts):
    header = _precompiled_header(deps, copts)
    return deps + (select({
        "//tools/build:precompiled_headers": ["//tools/build:" + header],
        "//conditions:default": [],
    }) if header else [])

def _compiled_together(name, srcs):
    """A source that includes all of these.

    g++ takes what is included for a header, where a class whose members have types of an unnamed namespace were a mistake.
    """
    together = name + "_together.cc"
    native.genrule(
        name = name + "_together",
        outs = [together],
        cmd = "printf '#pragma GCC diagnostic ignored \"-Wsubobject-linkage\"\\n' > $@ && printf '#include \"%s\"\\n' " + " ".join([
            native.package_name() + "/" + src
            for src in srcs
        ]) + " >> $@",
    )
    return [together]

def _together(name, srcs, **kwargs):
    """Sources that are one compilation, and a dependency of theirs.

    Each of them takes longer to read what all of them include than for the rest. With --config=apart each is compiled alone.
    kwargs: of the dependency.
    """
    sources = [src for src in srcs if src.endswith(".cc")]
    if len(sources) < 2:
        return srcs, []
    native.cc_library(
        name = name + "_parts",
        textual_hdrs = srcs,
        **kwargs
    )
    others = [src for src in srcs if src not in sources]
    together = select({
        "//tools/build:compiled_apart": sources,
        "//conditions:default": _compiled_together(name, sources),
    })
    return others + together, [":" + name + "_parts"]

def _test_sources(name, srcs, tags):
    """The same of a test program. What is in a test's file is in a namespace of the file's name."""
    return _together(name, srcs, testonly = True, tags = tags)

def hycoll_library(
        name,
        srcs = [],
        hdrs = [],
        public_headers = [],
        deps = [],
        copts = [],
        textual_hdrs = [],
        compiled_together = True,
        **kwargs):
    """A library.

    Args:
      name: its name.
      srcs: sources.
      hdrs: headers.
      public_headers: headers that are installed as <hycoll/...>.
      deps: libraries.
      copts: further compiler options.
      textual_hdrs: what is included, and no header.
      compiled_together: the sources are one compilation, which takes less than half as long in all. What is in their
        unnamed namespaces has different names, then (docs/decisions/0095-a-room-is-one-library.md).
      **kwargs: passed on.
    """
    if compiled_together:
        srcs, parts = _together(name, srcs)
        deps = deps + parts
    if public_headers:
        cc_library(
            name = name + "_public_headers",
            hdrs = public_headers,
            include_prefix = "hycoll",
            strip_include_prefix = "/" + native.package_name(),
        )
        deps = deps + [":" + name + "_public_headers"]
    cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs + public_headers,
        copts = _copts(copts, deps),
        linkstatic = True,
        textual_hdrs = textual_hdrs,
        deps = _deps(deps, copts),
        **kwargs
    )

def hycoll_binary(name, srcs = [], deps = [], copts = [], compiled_together = False, **kwargs):
    if compiled_together:
        srcs, parts = _together(name, srcs)
        deps = deps + parts
    cc_binary(
        name = name,
        srcs = srcs,
        copts = _copts(copts, deps),
        deps = _deps(deps, copts),
        **kwargs
    )

def hycoll_test(name, srcs, deps = [], copts = [], size = "small", single_threaded = False, tags = [], **kwargs):
    """A doctest program whose main comes from //tests/support:doctest_main. Its timeout follows from its size.

    Several sources are one program: to link and to start one takes longer than most tests.

    One that is `single_threaded` starts no thread: ThreadSanitizer has nothing to look for, so its stage leaves it out.
    """
    sources, parts = _test_sources(name, srcs, tags)
    deps = deps + ["//tests/support:doctest_main"]
    cc_test(
        name = name,
        srcs = sources,
        copts = _copts(copts, deps),
        linkstatic = True,
        size = size,
        tags = tags + (["notsan"] if single_threaded else []),
        deps = _deps(deps, copts) + parts,
        **kwargs
    )

def launches_of(name, ranks, bound_ranks):
    """How a test under mpiexec is started: structs of a test's name, its number of ranks, what mpi_run.sh binds them to, and tags.

    All launches run with one MPI library. One of them, which has the tag `both`, runs with the other library too, and under
    AddressSanitizer: that of the most ranks up to 3, for more would mostly wait for cores.
    """
    few = [count for count in ranks if count <= 3]
    chosen = max(few) if few else min(ranks)

    # Ranks wait actively: where they need all cores, a test beside them slows both down by more than it gains.
    return [
        struct(
            name = "%s_np%d" % (name, count),
            ranks = count,
            binding = "none",
            tags = ["mpi", "cpu:%d" % count] + (["both"] if count == chosen else []),
        )
        for count in ranks
    ] + [
        struct(
            name = "%s_bound_np%d" % (name, count),
            ranks = count,
            binding = "core",
            tags = ["mpi", "cpu:%d" % count],
        )
        for count in bound_ranks
    ]

def hycoll_mpi_test(
        name,
        srcs,
        deps = [],
        ranks = [1, 2, 3],
        bound_ranks = [],
        main = "//tests/support:doctest_mpi_main",
        args = [],
        copts = [],
        tags = [],
        size = "medium",
        **kwargs):
    """A doctest program under mpiexec: one test NAME_np2 per rank count, and the suite NAME of all of them.

    Ranks that need all cores give way to one another while they wait (tests/support/give_way.cc).

    Args:
      name: name of the suite; the program itself is NAME_program.
      srcs: sources.
      deps: libraries besides doctest and MPI.
      ranks: rank counts, more than the machine has cores if need be.
      bound_ranks: those at which it also runs with every rank bound to a core, as NAME_bound_np2.
      main: the library with the program's main(). The default initialises MPI with MPI_THREAD_MULTIPLE; "" if the
        sources bring their own.
      args: arguments of the program.
      copts: further compiler options.
      tags: further tags.
      size: sets the timeout.
      **kwargs: passed to each test.
    """
    program = name + "_program"
    env = dict(kwargs.pop("env", {}))
    if not main:
        # MPI unloads libraries when it ends; no suppression can name what they leave. The default main() searches
        # for leaks before that.
        env["ASAN_OPTIONS"] = "detect_leaks=0"
    sources, parts = _test_sources(program, srcs, tags)
    hycoll_binary(
        name = program,
        testonly = True,
        srcs = sources,
        copts = copts,
        deps = deps + parts + ["//tests/support:give_way", "//third_party:doctest", "//third_party:mpi"] + ([main] if main else []),
    )
    launches = launches_of(name, ranks, bound_ranks)
    for launch in launches:
        count = launch.ranks
        native.sh_test(
            name = launch.name,
            srcs = ["//tools/build:mpi_run.sh"],
            args = [MPI_FLAVOUR, MPIEXEC, str(count), "$(location :%s)" % program] + args,
            data = [":" + program],
            env = dict(env, MPI_RUN_BINDING = launch.binding),
            size = size,
            tags = launch.tags + ([] if "both" in launch.tags and count <= 3 else ["noasan"]) + tags,
            **kwargs
        )
    native.test_suite(
        name = name,
        tests = [":" + launch.name for launch in launches],
    )
