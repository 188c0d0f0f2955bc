"""External repositories: all of them are on this machine, nothing is downloaded."""

load("//tools/build:mpi.bzl", "mpi_repository")
load("//tools/build:system.bzl", "system_repository")

def _is_debian_bootstrap():
    # Debian's bazel-bootstrap is a development build without a version; release builds have one.
    return native.bazel_version in ["", "no_version"] or native.bazel_version.startswith("4.")

def hycoll_repositories():
    """Declares @mpi and @system, and, for Debian's Bazel, the rule sets that Bazel itself loads.

    Later releases of Bazel (used with --enable_workspace) bring those rule sets along.
    """
    if _is_debian_bootstrap():
        native.local_repository(name = "platforms", path = "/usr/share/bazel/platforms")
        native.local_repository(name = "rules_java", path = "/usr/share/bazel/rules/java")
        native.local_repository(name = "rules_proto", path = "/usr/share/bazel/rules/proto")

        # Debian's own bazel-rules-cc is newer than its Bazel: use_cpp_toolchain is missing there.
        native.local_repository(name = "rules_cc", path = "third_party/rules_cc")

        # Bazel resolves this for every test, with or without coverage.
        native.local_repository(
            name = "remote_coverage_tools",
            path = "third_party/remote_coverage_tools",
        )
    mpi_repository(name = "mpi")
    system_repository(name = "system")
