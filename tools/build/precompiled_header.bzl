"""A header that the compiler reads once for all files instead of once for each.

The standard library and fmt are more than a third of what an ordinary file of hycoll takes to compile. Files say what they
need by #include all the same: the precompiled header comes before that, by -include, where --define=precompiled_headers=yes
is given, as .bazelrc does. Programs outside the tree build hycoll without (tests/workspace), which shows that nothing is missing.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    included = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).compilation_context

    # The compiler takes NAME.h.gch for NAME.h if both are in one folder.
    folder = ctx.label.name + "_precompiled"
    header = ctx.actions.declare_file("%s/%s.h" % (folder, ctx.label.name))
    compiled = ctx.actions.declare_file(header.basename + ".gch", sibling = header)
    ctx.actions.expand_template(template = ctx.file.src, output = header, substitutions = {})
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = header.path,
        output_file = compiled.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts + ["-x", "c++-header"],
        include_directories = included.includes,
        quote_include_directories = included.quote_includes,
        system_include_directories = included.system_includes,
        preprocessor_defines = included.defines,
        use_pic = True,
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(feature_configuration = features, action_name = CPP_COMPILE_ACTION_NAME),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        inputs = depset([header], transitive = [toolchain.all_files, included.headers]),
        outputs = [compiled],
        mnemonic = "CppPrecompiledHeader",
    )
    own = cc_common.create_compilation_context(
        headers = depset([header, compiled]),
        quote_includes = depset([header.dirname]),
    )
    return [CcInfo(compilation_context = cc_common.merge_cc_infos(cc_infos = [
        CcInfo(compilation_context = own),
        CcInfo(compilation_context = included),
    ]).compilation_context)]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "src": attr.label(allow_single_file = [".h"], mandatory = True),
        "copts": attr.string_list(doc = "As those of the files that include it, as far as they change what the compiler makes of a header."),
        "deps": attr.label_list(providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
