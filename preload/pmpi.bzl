"""A library whose calls of MPI go to the profiling interface: what libhycoll_pmpi.so contains of hycoll.

The preload library defines MPI_Allreduce and others itself. hycoll's own calls must reach the MPI library, and no tool
that stands above; so every reference to MPI_X in the library's objects becomes one to PMPI_X. That is done to
the compiled archives: nothing is compiled twice, and no call can be forgotten.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _rename(ctx, toolchain, archive):
    renamed = ctx.actions.declare_file("%s/%s" % (ctx.label.name, archive.short_path))
    names = ctx.actions.declare_file("%s/%s.names" % (ctx.label.name, archive.short_path))
    ctx.actions.run(
        executable = ctx.executable._rename,
        arguments = [
            toolchain.nm_executable,
            toolchain.objcopy_executable,
            archive.path,
            renamed.path,
            names.path,
        ],
        inputs = depset([archive], transitive = [toolchain.all_files]),
        outputs = [renamed, names],
        mnemonic = "RenameToPmpi",
    )
    return renamed

def _through_pmpi_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    library = ctx.attr.library[CcInfo]
    linker_inputs = []
    left_out = [target.label for target in ctx.attr.without]
    instead = [target[CcInfo].linking_context.linker_inputs for target in ctx.attr.instead]
    for linker_input in depset(transitive = [library.linking_context.linker_inputs] + instead, order = "topological").to_list():
        if linker_input.owner in left_out:
            continue
        libraries = []
        for part in linker_input.libraries:
            archive = part.pic_static_library or part.static_library
            if not archive:
                libraries.append(part)
                continue
            libraries.append(cc_common.create_library_to_link(
                actions = ctx.actions,
                feature_configuration = features,
                cc_toolchain = toolchain,
                pic_static_library = _rename(ctx, toolchain, archive),
            ))
        linker_inputs.append(cc_common.create_linker_input(
            owner = linker_input.owner,
            libraries = depset(libraries),
            user_link_flags = depset(linker_input.user_link_flags),
        ))
    return [CcInfo(
        compilation_context = library.compilation_context,
        linking_context = cc_common.create_linking_context(linker_inputs = depset(linker_inputs, order = "topological")),
    )]

through_pmpi = rule(
    implementation = _through_pmpi_impl,
    attrs = {
        "library": attr.label(providers = [CcInfo], mandatory = True),
        "without": attr.label_list(providers = [CcInfo], doc = "Libraries to leave out."),
        "instead": attr.label_list(providers = [CcInfo], doc = "What is linked instead of those."),
        "_rename": attr.label(default = "//tools/build:rename_to_pmpi.sh", allow_single_file = True, executable = True, cfg = "host"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    doc = "The library, with everything of it that is linked statically, calling PMPI_X wherever it calls MPI_X.",
)
