"""A test that no object file of a shared library registers a destructor for the end of the process or of a thread.

It looks at everything that is linked into the library but the C++ runtime and other libraries of the system.
"""

_Linked = provider("What is linked into a program.", fields = {"files": "depset of object files and archives"})

def _linked_impl(target, ctx):
    archives = []
    for dep in ctx.rule.attr.deps:
        for linker_input in dep[CcInfo].linking_context.linker_inputs.to_list():
            for library in linker_input.libraries:
                archive = library.pic_static_library or library.static_library
                if archive:
                    archives.append(archive)
    return [_Linked(files = depset(archives, transitive = [target[OutputGroupInfo].compilation_outputs]))]

_linked = aspect(implementation = _linked_impl)

def _exit_destructors_test_impl(ctx):
    files = ctx.attr.library[_Linked].files
    arguments = ["--expect '%s'" % name for name in ctx.attr.expected]
    arguments += ["'%s'" % file.short_path for file in files.to_list()]
    ctx.actions.write(
        output = ctx.outputs.executable,
        content = "#!/usr/bin/env bash\nexec %s %s\n" % (ctx.executable._script.short_path, " ".join(arguments)),
        is_executable = True,
    )
    return [DefaultInfo(runfiles = ctx.runfiles(
        files = [ctx.executable._script],
        transitive_files = files,
    ))]

exit_destructors_test = rule(
    implementation = _exit_destructors_test_impl,
    test = True,
    attrs = {
        "library": attr.label(aspects = [_linked], mandatory = True),
        "expected": attr.string_list(doc = "Functions that it must find, instead of none: for tests of this rule."),
        "_script": attr.label(
            default = "//tools/build:exit_destructors.sh",
            allow_single_file = True,
            executable = True,
            cfg = "exec",
        ),
    },
)
