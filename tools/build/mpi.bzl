"""The MPI library as the repository @mpi.

HYCOLL_MPI chooses it: `mpich` (default), `openmpi`, or the prefix of a site's own installation, such as
/opt/mpich. The library's own compiler wrapper says where its headers and libraries are. @mpi provides

    @mpi//:mpi             the library, C interface only
    @mpi//:config.bzl      MPI_FLAVOUR ("mpich" or "openmpi"), MPIEXEC (absolute path), MPI_CHOICE; HAS_FORTRAN, whether
                           there is a Fortran compiler with the library's modules, and FORTRAN_COPTS
    @mpi//:mpi_fortran     what programs in Fortran are linked with
"""

# The C++ bindings left the standard in MPI-3; nothing here uses them.
_CXX_BINDINGS = ["-lmpichcxx", "-lmpicxx", "-lmpi_cxx"]

_REMEDY = """
Remedy: run tools/setup, which installs Debian's MPICH and Open MPI, or name a library that is installed:
  HYCOLL_MPI=mpich | openmpi | PREFIX     (PREFIX/bin/mpicxx must exist)
  for example: bazel build --repo_env=HYCOLL_MPI=/opt/mpich //..."""

def _fail(choice, reason):
    fail("\n\nNo usable MPI library for HYCOLL_MPI=%s: %s\n%s\n" % (choice, reason, _REMEDY))

def _ask(rctx, wrapper):
    """Returns (flavour, flags) as told by a compiler wrapper, or None if it is neither library's."""
    showme = rctx.execute([wrapper, "--showme"])
    if showme.return_code == 0:
        return "openmpi", showme.stdout
    show = rctx.execute([wrapper, "-show"])
    if show.return_code == 0:
        return "mpich", show.stdout
    return None

def _find_wrapper(rctx, choice):
    """Returns (path of the wrapper, flavour, flags)."""
    if choice.startswith("/"):
        candidates = [rctx.path(choice + "/bin/mpicxx")]
        searched = choice + "/bin/mpicxx"
    elif choice in ["mpich", "openmpi"]:
        candidates = [rctx.which("mpicxx." + choice), rctx.which("mpicxx")]
        searched = "mpicxx.%s and mpicxx in PATH" % choice
    else:
        _fail(choice, "expected mpich, openmpi or an absolute path")
    for wrapper in candidates:
        if not wrapper or not wrapper.exists:
            continue
        answer = _ask(rctx, wrapper)
        if answer and (choice.startswith("/") or answer[0] == choice):
            return wrapper, answer[0], answer[1]
    _fail(choice, "looked for %s, found no compiler wrapper of that library." % searched)

def _find_mpiexec(rctx, choice, wrapper, flavour):
    suffix = wrapper.basename[len("mpicxx"):]
    for name in ["mpiexec" + suffix, "mpiexec.hydra"] if flavour == "mpich" else ["mpiexec" + suffix]:
        # Without symbolic links on the way: Open MPI takes its own prefix from its path, and from /bin that is /.
        mpiexec = wrapper.dirname.realpath.get_child(name)
        if mpiexec.exists:
            return mpiexec
    _fail(choice, "%s has no mpiexec%s beside it." % (wrapper, suffix))

def _is_system_include(path):
    return path in ["/usr/include", "/usr/local/include"]

def _parse(flags):
    """Splits a wrapper's flags into include directories, defines and link options."""
    includes = []
    defines = []
    linkopts = []
    for flag in flags.replace("\n", " ").split(" "):
        flag = flag.strip()
        if flag.startswith("-I"):
            includes.append(flag[2:])
        elif flag.startswith("-D"):
            defines.append(flag[2:])
        elif flag.startswith("-L") or flag.startswith("-Wl,") or flag == "-pthread":
            linkopts.append(flag)
        elif flag.startswith("-l") and flag not in _CXX_BINDINGS:
            linkopts.append(flag)
    return struct(includes = includes, defines = defines, linkopts = linkopts)

def _refuse_static(rctx, choice, linkopts):
    """A static MPI library would be in hycoll's libraries and once more in the program, each with a job of its own."""
    folders = [rctx.path(flag[2:]) for flag in linkopts if flag.startswith("-L/")]
    for library in ["lib" + flag[2:] for flag in linkopts if flag.startswith("-lmpi")]:
        names = [folder.get_child(library + suffix) for folder in folders for suffix in [".so", ".a"]]
        there = [str(name) for name in names if name.exists]
        if there and not [name for name in there if name.endswith(".so")]:
            _fail(choice, "hycoll needs a shared library, and %s is static; MPI libraries make one with --enable-shared." % there[0])

def _fortran(rctx, wrapper):
    """(options to compile with, options to link with) of the library's compiler wrapper for Fortran; None if there is none."""
    fortran = wrapper.dirname.get_child(wrapper.basename.replace("mpicxx", "mpifort"))
    if not fortran.exists or not rctx.which("gfortran"):
        return None
    answer = _ask(rctx, fortran)
    if not answer:
        return None
    parsed = _parse(answer[1])
    if not [folder for folder in parsed.includes if rctx.path(folder + "/mpi_f08.mod").exists]:
        return None
    return ["-I" + folder for folder in parsed.includes], parsed.linkopts + ["-lgfortran"]

def _mpi_repository_impl(rctx):
    choice = rctx.os.environ.get("HYCOLL_MPI", "mpich") or "mpich"
    wrapper, flavour, flags = _find_wrapper(rctx, choice)
    mpiexec = _find_mpiexec(rctx, choice, wrapper, flavour)
    parsed = _parse(flags)
    _refuse_static(rctx, choice, parsed.linkopts)

    includes = []
    has_header = False
    for directory in parsed.includes:
        path = rctx.path(directory)
        if not path.exists:
            continue
        has_header = has_header or path.get_child("mpi.h").exists
        if not _is_system_include(directory):
            name = "include_%d" % len(includes)
            rctx.symlink(path, name)
            includes.append(name)
    if not has_header and not rctx.path("/usr/include/mpi.h").exists:
        _fail(choice, "%s names no directory with mpi.h: %s" % (wrapper, flags.strip()))

    # A library outside the linker's default directories must also be found at run time.
    linkopts = list(parsed.linkopts)
    if choice.startswith("/"):
        for flag in parsed.linkopts:
            if flag.startswith("-L"):
                linkopts.append("-Wl,-rpath," + flag[2:])

    fortran = _fortran(rctx, wrapper)
    rctx.file("BUILD", """package(default_visibility = ["//visibility:public"])

cc_library(
    name = "mpi",
    hdrs = glob([name + "/**" for name in {includes}]),
    defines = ["MPICH_SKIP_MPICXX", "OMPI_SKIP_MPICXX"] + {defines},
    includes = {includes},
    linkopts = {linkopts},
)

cc_library(
    name = "mpi_fortran",
    linkopts = {fortran_linkopts},
)
""".format(fortran_linkopts = repr(fortran[1] if fortran else []), includes = repr(includes), defines = repr(parsed.defines), linkopts = repr(linkopts)))
    rctx.file("config.bzl", """MPI_CHOICE = {choice}
MPI_FLAVOUR = {flavour}
MPIEXEC = {mpiexec}
HAS_FORTRAN = {has_fortran}
FORTRAN_COPTS = {fortran_copts}
""".format(has_fortran = bool(fortran), fortran_copts = repr(fortran[0] if fortran else []), choice = repr(choice), flavour = repr(flavour), mpiexec = repr(str(mpiexec))))

mpi_repository = repository_rule(
    implementation = _mpi_repository_impl,
    environ = ["HYCOLL_MPI", "PATH"],
    local = True,
    configure = True,
    doc = "Detects the MPI library that HYCOLL_MPI names; fails with a remedy where there is none.",
)
