# SPDX-License-Identifier: Apache-2.0
"""@org_tensorflow and its neighbours, over the TensorFlow wheel that @tf_python describes.

A target here is an alias of one of two libraries: the wheel's headers with
libtensorflow_framework, or those and libtensorflow_cc. The real tree's finer targets would say no
more about a build whose libraries are linked already.
"""

load(":labels.bzl", "LABELS")
load(":wheel_layout.bzl", "CC_LIBRARY", "FRAMEWORK_LIBRARY", "INCLUDE_ROOTS")

_ROOT_BUILD = """\
package(default_visibility = ["//visibility:public"])

exports_files(["stamp.txt"])

# "include" is a source directory, which costs an action nothing, where 11,000 headers cost seconds.
# Headers that are used are still tracked one by one; the hash in DEFINES stands for the others.
cc_library(
    name = "headers",
    hdrs = {hdrs},
    defines = {defines},
    includes = {includes},
)

# Linked by name, and without RPATH: TensorFlow is imported before any op library is loaded.
cc_library(
    name = "framework",
    linkopts = ["'-L{lib_dir}'", "-l:{framework_library}"],
    deps = [":headers"],
)

cc_library(
    name = "cc",
    linkopts = ["'-L{lib_dir}'", "-l:{cc_library}"],
    deps = [":framework"],
)

py_binary(
    name = "gen_op_wrapper",
    srcs = ["gen_op_wrapper.py"],
    deps = ["//tensorflow:tensorflow_py"],
)
"""

_TENSORFLOW_BUILD = """\
package(default_visibility = ["//visibility:public"])

# TensorFlow comes with the interpreter; the stamp makes cached results depend on it.
py_library(
    name = "tensorflow_py",
    data = ["//:stamp.txt"],
)
"""

_ALIAS = """
alias(
    name = "{name}",
    actual = "@org_tensorflow//:{library}",
    visibility = ["//visibility:public"],
)
"""

def _write_aliases(ctx, include, repository, builds):
    """Writes the BUILD files of a repository's packages: its aliases, as far as the wheel has their headers.

    Args:
      ctx: of the repository rule.
      include: the wheel's include directory.
      repository: a key of LABELS.
      builds: what to write before the aliases of some packages.
    """
    builds = dict(builds)
    for library, packages in LABELS[repository].items():
        for package, targets in packages.items():
            aliases = [
                _ALIAS.format(name = name, library = library)
                for name, header in targets.items()
                if include.get_child(header).exists
            ]
            builds[package] = builds.get(package, "") + "".join(aliases)
    for package, build in builds.items():
        if build:
            ctx.file((package + "/" if package else "") + "BUILD", build)

def _read_info(ctx):
    return json.decode(ctx.read(ctx.attr.info))

def _tensorflow_facade_impl(ctx):
    info = _read_info(ctx)
    major, minor, patch, suffix = info["version_parts"]
    include = ctx.path(info["include_dir"])
    ctx.symlink(include, "include")
    ctx.symlink(ctx.path(ctx.attr._macros), "tensorflow/tensorflow.bzl")
    ctx.symlink(ctx.path(ctx.attr._generator), "gen_op_wrapper.py")
    ctx.file("stamp.txt", info["content_hash"] + "\n")
    ctx.file("wheel.bzl", "WHEEL = struct(cxx_flags = {})\n".format(info["cxx_flags"]))
    hdrs = ["include"]
    includes = [root for root in INCLUDE_ROOTS if include.dirname.get_child(root).exists]
    if (major, minor) == ("2", "19"):
        # The headers of this version alone include some of LLVM's, which its wheel lacks.
        ctx.symlink(ctx.path(ctx.attr._stand_in).dirname.dirname.dirname, "stand_in")
        hdrs.append("stand_in")
        includes.append("stand_in")
    root_build = _ROOT_BUILD.format(
        defines = info["defines"] + [
            "TF_MAJOR_VERSION=" + major,
            "TF_MINOR_VERSION=" + minor,
            "TF_PATCH_VERSION=" + patch,
            'TF_VERSION_SUFFIX=\\"{}\\"'.format(suffix),
            "TENSORFLOW_WHEEL_HASH=" + info["content_hash"][:16],
        ],
        cc_library = CC_LIBRARY,
        framework_library = FRAMEWORK_LIBRARY,
        hdrs = hdrs,
        includes = includes,
        lib_dir = info["lib_dir"],
    )
    _write_aliases(ctx, include, "org_tensorflow", {"": root_build, "tensorflow": _TENSORFLOW_BUILD})
    ctx.file("tensorflow/tf_version.bzl", """\
TF_VERSION = "{version}"
MAJOR_VERSION, MINOR_VERSION, PATCH_VERSION = {parts}
""".format(version = ".".join([major, minor, patch]), parts = (major, minor, patch)))

_tensorflow_facade = repository_rule(
    _tensorflow_facade_impl,
    doc = "Looks like TensorFlow's source tree to those who depend on it.",
    attrs = {
        "info": attr.label(mandatory = True, allow_single_file = True, doc = "What probe.py wrote."),
        "_generator": attr.label(default = "//third_party/tensorflow:gen_op_wrapper.py", allow_single_file = True),
        "_macros": attr.label(default = "//third_party/tensorflow:tensorflow.bzl", allow_single_file = True),
        "_stand_in": attr.label(
            default = "//third_party/tensorflow:stand_in/llvm/ADT/ArrayRef.h",
            allow_single_file = True,
        ),
    },
)

def _neighbour_facade_impl(ctx):
    _write_aliases(ctx, ctx.path(_read_info(ctx)["include_dir"]), ctx.attr.neighbour, {})

_neighbour_facade = repository_rule(
    _neighbour_facade_impl,
    doc = "Looks like a repository that TensorFlow's source tree depends on, and whose headers its wheel carries.",
    attrs = {
        "info": attr.label(mandatory = True, allow_single_file = True, doc = "What probe.py wrote."),
        "neighbour": attr.string(mandatory = True, values = LABELS.keys(), doc = "The repository to look like."),
    },
)

def tensorflow_facade(info):
    """Declares @org_tensorflow, @com_google_absl, @eigen_archive and the other repositories of labels.bzl.

    Args:
      info: the label of the description that probe.py wrote.
    """
    _tensorflow_facade(name = "org_tensorflow", info = info)
    for name in LABELS:
        if name != "org_tensorflow":
            _neighbour_facade(name = name, info = info, neighbour = name)
