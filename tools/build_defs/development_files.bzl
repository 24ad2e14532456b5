# SPDX-License-Identifier: Apache-2.0
"""What others need to compile against this repository's C++ without Bazel: headers, a library, and the options."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")

def _development_files_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    infos = [dep[CcInfo] for dep in ctx.attr.deps]

    def is_ours(label):
        return label.repo_name == ctx.label.repo_name

    headers = depset(transitive = [info.compilation_context.headers for info in infos])
    includes = []
    for file in ctx.files.srcs + headers.to_list():
        if is_ours(file.owner):
            copy = ctx.actions.declare_file("include/" + file.short_path)
            ctx.actions.symlink(output = copy, target_file = file)
            includes.append(copy)

    objects = []
    inputs = depset(transitive = [info.linking_context.linker_inputs for info in infos])
    for input in inputs.to_list():
        if is_ours(input.owner):
            for library in input.libraries:
                objects += library.pic_objects
    archive = ctx.actions.declare_file("lib/libcore.a")

    # Not replacing: the objects for several instruction sets have one name.
    ctx.actions.run(
        outputs = [archive],
        inputs = depset(objects, transitive = [toolchain.all_files]),
        executable = toolchain.ar_executable,
        arguments = [ctx.actions.args().add("qcsD", archive).add_all(objects)],
        mnemonic = "CppArchive",
        progress_message = "Archiving %{output}",
    )

    options = ctx.actions.declare_file("options.json")
    ctx.actions.write(options, json.encode_indent({
        "compile": ctx.attr.copts + ctx.fragments.cpp.copts,
        "gencode": {kind: ctx.attr.gencode[kind] for kind in sorted(ctx.attr.gencode)},
        "include_roots": ctx.attr.include_roots,
        # A list, for JSON has no order of names.
        "instruction_sets": [[name, flags] for name, flags in ctx.attr.instruction_sets.items()],
        "libraries": ctx.attr.libraries,
        "nvcc": ctx.attr.nvcc_options,
    }) + "\n")
    return [DefaultInfo(files = depset(includes + [archive, options]))]

development_files = rule(
    _development_files_impl,
    doc = """Makes include/, lib/libcore.a and options.json.

The first has the headers of `deps`, and `srcs`, by their paths in the repository; the second the objects of `deps`. What
is of other repositories is not in them. The third has the other attributes and the build's --copt.""",
    attrs = {
        "copts": attr.string_list(doc = "The options of C++ sources."),
        "deps": attr.label_list(mandatory = True, providers = [CcInfo], doc = "C++ libraries."),
        "gencode": attr.string_list_dict(doc = "nvcc's options for an architecture, by its kind."),
        "include_roots": attr.string_list(doc = "Folders with headers, in TensorFlow's."),
        "instruction_sets": attr.string_list_dict(doc = "Options by instruction set, from the plainest to the best."),
        "libraries": attr.string_list(doc = "Libraries to link, in TensorFlow's folder."),
        "nvcc_options": attr.string_list(doc = "nvcc's other options."),
        "srcs": attr.label_list(allow_files = [".cc"], doc = "Sources that are compiled for each op."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = use_cpp_toolchain(),
)
