# SPDX-License-Identifier: Apache-2.0
"""A rule that makes the wheel of a Python package."""

def _member(file):
    return file.short_path + "=" + file.path

def _python_wheel_impl(ctx):
    folder = ctx.attr.library.label.package + "/"
    files = [
        file
        for file in ctx.attr.library[DefaultInfo].default_runfiles.files.to_list()
        if file.owner.repo_name == ctx.label.repo_name
    ]
    for file in files:
        if not file.short_path.startswith(folder):
            fail("{} needs {}, which is not in {} and so would not be in the wheel's package".format(
                ctx.attr.library.label,
                file.short_path,
                folder,
            ))

    metadata = ctx.actions.declare_file(ctx.label.name + ".METADATA")
    ctx.actions.expand_template(
        template = ctx.file.metadata,
        output = metadata,
        substitutions = {
            "{DISTRIBUTION}": ctx.attr.distribution,
            "{VERSION}": ctx.attr.version,
        } | ctx.attr.substitutions,
    )
    wheel = ctx.actions.declare_file("{}-{}-{}.whl".format(
        ctx.attr.distribution.replace("-", "_"),
        ctx.attr.version,
        ctx.attr.tag,
    ))
    args = ctx.actions.args()
    args.use_param_file("@%s")
    args.set_param_file_format("multiline")
    args.add("--out", wheel)
    args.add("--metadata", metadata)
    args.add("--readme", ctx.file.readme)
    args.add("--license", ctx.file.license)
    args.add("--sbom", ctx.file.sbom)
    args.add_all(files, map_each = _member)
    ctx.actions.run(
        outputs = [wheel],
        inputs = files + [metadata, ctx.file.readme, ctx.file.license, ctx.file.sbom],
        executable = ctx.executable._build_wheel,
        arguments = [args],
        mnemonic = "PythonWheel",
        progress_message = "Building wheel %{output}",
    )
    return [DefaultInfo(files = depset([wheel]))]

python_wheel = rule(
    _python_wheel_impl,
    doc = """The wheel of a Python library: its own and its dependencies' files, as far as they are in this repository.

The wheel's bytes depend on nothing but what is in it.""",
    attrs = {
        "distribution": attr.string(mandatory = True, doc = "The name that pip knows the package by."),
        "library": attr.label(
            mandatory = True,
            providers = [PyInfo],
            doc = "The py_library whose folder is the package to import.",
        ),
        "license": attr.label(mandatory = True, allow_single_file = True, doc = "The text of the license."),
        "metadata": attr.label(
            mandatory = True,
            allow_single_file = True,
            doc = "The fields of METADATA, where {DISTRIBUTION} and {VERSION} stand for the attributes' values.",
        ),
        "readme": attr.label(mandatory = True, allow_single_file = True, doc = "The package's description."),
        "sbom": attr.label(mandatory = True, allow_single_file = True, doc = "The bill of materials."),
        "substitutions": attr.string_dict(doc = "What further texts in `metadata` stand for."),
        "tag": attr.string(mandatory = True, doc = "The wheel's tag: Python, ABI and platform."),
        "version": attr.string(mandatory = True, doc = "The package's version."),
        "_build_wheel": attr.label(default = ":build_wheel", executable = True, cfg = "exec"),
    },
)
