"""External repositories: all of them are on this machine, nothing is downloaded."""

load("//tools/build:mpi.bzl", "mpi_repository")
load("//tools/build:system.bzl", "system_repository")

def _in_tree_repository_impl(rctx):
    for path in rctx.path(rctx.attr.build_file).dirname.readdir():
        rctx.symlink(path, path.basename)

# A folder of hycoll's tree as a repository: local_repository takes paths from the workspace that depends on hycoll.
_in_tree_repository = repository_rule(
    implementation = _in_tree_repository_impl,
    attrs = {"build_file": attr.label(mandatory = True)},
    local = True,
)

def _is_debian_bootstrap():
    # Debian's bazel-bootstrap is a development build without a version; release builds have one.
    return native.bazel_version in ["", "no_version"] or native.bazel_version.startswith("4.")

def hycoll_repositories():
    """Declares @mpi and @system, and, for Debian's Bazel, the rule sets that Bazel itself loads.

    A workspace that depends on hycoll calls it too (tests/workspace).

    Later releases of Bazel (used with --enable_workspace) bring those rule sets along.
    """
    if _is_debian_bootstrap():
        native.local_repository(name = "platforms", path = "/usr/share/bazel/platforms")
        native.local_repository(name = "rules_java", path = "/usr/share/bazel/rules/java")
        native.local_repository(name = "rules_proto", path = "/usr/share/bazel/rules/proto")

        # Debian's own bazel-rules-cc is newer than its Bazel: use_cpp_toolchain is missing there.
        _in_tree_repository(name = "rules_cc", build_file = Label("//third_party/rules_cc:BUILD"))

        # Bazel resolves this for every test, with or without coverage.
        _in_tree_repository(
            name = "remote_coverage_tools",
            build_file = Label("//third_party/remote_coverage_tools:BUILD"),
        )
    mpi_repository(name = "mpi")
    system_repository(name = "system")
