# SPDX-License-Identifier: Apache-2.0
"""A miniature of TensorFlow's source tree: its file names, set-up sequence and names of targets.

What it builds with are the headers and libraries of a TensorFlow that is installed.
"""

from __future__ import annotations

import dataclasses
import pathlib

WORKSPACE = """\
workspace(name = "org_tensorflow")

load("@//tensorflow:workspace3.bzl", "tf_workspace3")

tf_workspace3()

load("@xla//third_party/py:python_init_repositories.bzl", "python_init_repositories")

python_init_repositories(requirements = {"3.13": "//:requirements_lock_3_13.txt"})

load("@pypi//:requirements.bzl", "install_deps")

install_deps()

load("@//tensorflow:workspace2.bzl", "tf_workspace2")

tf_workspace2()
"""

REPO_BZL = """\
def _tf_vendored_impl(ctx):
    path = ctx.path(ctx.attr.parent).dirname
    for part in ctx.attr.path.split("/"):
        path = path.get_child(part)
    ctx.symlink(path, ".")

tf_vendored = repository_rule(
    _tf_vendored_impl,
    attrs = {
        "parent": attr.label(default = "//:WORKSPACE"),
        "path": attr.string(),
    },
)
"""

XLA_REPO_BZL = """\
def _tf_http_archive_impl(ctx):
    # Relative to the repository of this file, as in the tree.
    ctx.symlink(Label(ctx.attr.build_file), "BUILD")

tf_http_archive = repository_rule(
    _tf_http_archive_impl,
    attrs = {
        "build_file": attr.string(),
        "urls": attr.string_list(),
    },
)
"""

WORKSPACE3_BZL = """\
load("//third_party:repo.bzl", "tf_vendored")

def tf_workspace3():
    tf_vendored(name = "xla", path = "third_party/xla")
"""

WORKSPACE2_BZL = """\
load("@xla//third_party/absl:workspace.bzl", absl = "repo")
load("@xla//third_party/eigen3:workspace.bzl", eigen3 = "repo")
load("@xla//third_party/gpus/cuda:cuda_configure.bzl", "cuda_configure")

def tf_workspace2():
    absl()
    cuda_configure(name = "local_config_cuda")
    eigen3()
"""

CUDA_CONFIGURE_BZL = """\
def _cuda_configure_impl(ctx):
    ctx.symlink(Label("//third_party/gpus/cuda:build_defs.bzl.tpl"), "cuda/build_defs.bzl")
    ctx.file("cuda/BUILD")

cuda_configure = repository_rule(_cuda_configure_impl)
"""

# Without CUDA.
CUDA_BUILD_DEFS_BZL = """\
def if_cuda(if_true, if_false = []):
    return select({"//conditions:default": if_false})

def if_cuda_is_configured(x, no_cuda = []):
    return select({"//conditions:default": no_cuda})

def cuda_library(copts = [], tags = [], deps = [], **kwargs):
    native.cc_library(copts = copts, tags = tags, deps = deps, **kwargs)
"""

PYTHON_INIT_BZL = """\
def _pypi_impl(ctx):
    for requirements in ctx.attr.requirements:
        ctx.read(requirements)
    ctx.file("requirements.bzl", "def install_deps(): pass")
    ctx.file("BUILD")

_pypi = repository_rule(_pypi_impl, attrs = {"requirements": attr.label_list()})

def python_init_repositories(requirements):
    _pypi(name = "pypi", requirements = requirements.values())
"""

ABSL_BZL = """\
load("//third_party:repo.bzl", "tf_http_archive")

def repo():
    tf_http_archive(
        name = "com_google_absl",
        urls = ["https://example.invalid/absl.tar.gz"],
    )
"""

EIGEN_BZL = """\
load("//third_party:repo.bzl", "tf_http_archive")

def repo():
    tf_http_archive(
        name = "eigen_archive",
        build_file = "//third_party/eigen3:eigen_archive.BUILD",
        urls = ["https://example.invalid/eigen.tar.gz"],
    )
"""

EIGEN_BUILD = """\
cc_library(
    name = "eigen3",
    visibility = ["//visibility:public"],
    deps = ["@org_tensorflow//:installed_headers"],
)
"""

ROOT_BUILD = """\
exports_files(["requirements_lock_3_13.txt"])

cc_library(
    name = "installed_headers",
    hdrs = ["include"],
    includes = ["include"],
    visibility = ["//visibility:public"],
)
"""

TENSORFLOW_BUILD = """\
py_library(
    name = "tensorflow_py",
    visibility = ["//visibility:public"],
)
"""

TF_VERSION_BZL = """\
TF_VERSION = "{}"
MAJOR_VERSION, MINOR_VERSION, PATCH_VERSION = TF_VERSION.split(".")
"""

CORE_BUILD = """\
load("//tensorflow:tensorflow.bzl", "tf_cuda_library")
load("//tensorflow/core/platform:build_config.bzl", "tf_proto_library")

package(default_visibility = ["//visibility:public"])

tf_cuda_library(
    name = "framework",
    deps = [
        ":framework_headers_lib",
        ":lib",
    ],
)

[
    cc_library(name = each)
    for each in [
        "lib",
        "core_cpu",
        "stream_executor_headers_lib",
    ]
]

cc_library(
    name = "framework_headers_lib",
    deps = ["//:installed_headers"],
)

tf_proto_library(name = "protos_all")
"""

BUILD_CONFIG_BZL = """\
load("@xla//xla/tsl/platform:build_config.bzl", _tf_proto_library = "tf_proto_library")

tf_proto_library = _tf_proto_library
"""

XLA_BUILD_CONFIG_BZL = """\
def tf_proto_library(name, srcs = [], create_java_proto = False):
    native.filegroup(name = name, srcs = srcs)
    cc_proto_name = name + "_cc"
    native.cc_library(name = cc_proto_name)
    if create_java_proto:
        native.filegroup(name = name + "_java")
"""

TSL_BZL = """\
def tsl_gpu_library(deps = None, cuda_deps = None, copts = [], **kwargs):
    native.cc_library(copts = copts, deps = deps, **kwargs)
"""

TENSORFLOW_BZL = """\
load("@xla//xla/tsl:tsl.bzl", "tsl_gpu_library")

tf_cuda_library = tsl_gpu_library

DepsInfo = provider(fields = ["labels"])

def _deps_impl(_target, ctx):
    deps = getattr(ctx.rule.attr, "deps", []) + getattr(ctx.rule.attr, "data", [])
    labels = [dep[DepsInfo].labels for dep in deps if DepsInfo in dep]
    return DepsInfo(labels = depset([dep.label for dep in deps], transitive = labels))

_deps = aspect(_deps_impl, attr_aspects = ["deps", "data"])

def _check_deps_impl(ctx):
    for dep in ctx.attr.deps:
        for label in dep[DepsInfo].labels.to_list():
            if label in [each.label for each in ctx.attr.disallowed_deps]:
                fail("{} cannot depend on {}".format(dep.label, label))

check_deps = rule(
    _check_deps_impl,
    attrs = {
        "deps": attr.label_list(aspects = [_deps]),
        "disallowed_deps": attr.label_list(),
    },
)

def tf_copts(
        android_optimization_level_override = "-O2",
        is_external = False,
        allow_exceptions = False):
    return %{copts}

def tf_kernel_library(
        name,
        prefix = None,
        srcs = None,
        gpu_srcs = None,
        hdrs = None,
        deps = None,
        gpu_deps = None,
        alwayslink = 1,
        copts = None,
        gpu_copts = None,
        is_external = False,
        compatible_with = None,
        textual_hdrs = None,
        **kwargs):
    tsl_gpu_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        copts = (copts or []) + tf_copts(is_external = is_external),
        linkstatic = 1,
        alwayslink = alwayslink,
        deps = deps,
        **kwargs
    )

def tf_custom_op_library(
        name,
        srcs = [],
        gpu_srcs = [],
        deps = [],
        gpu_deps = None,
        linkopts = [],
        copts = [],
        **kwargs):
    check_deps(
        name = name + "_check_deps",
        disallowed_deps = [
            Label("//tensorflow/core:framework"),
            Label("//tensorflow/core:lib"),
        ],
        deps = deps,
    )
    native.cc_binary(
        name = name,
        srcs = srcs,
        copts = copts + tf_copts(is_external = True),
        data = [name + "_check_deps"],
        linkopts = linkopts + ["-L%{libraries}", "-l:libtensorflow_framework.so.2"],
        linkshared = 1,
        deps = deps + [Label("//tensorflow/core:framework_headers_lib")],
        **kwargs
    )

def tf_gen_op_wrapper_py(
        name,
        out = None,
        hidden = None,
        visibility = None,
        deps = [],
        require_shape_functions = False,
        hidden_file = None,
        generated_target_name = None,
        op_whitelist = [],
        op_allowlist = [],
        cc_linkopts = [],
        api_def_srcs = [],
        compatible_with = [],
        testonly = False,
        copts = [],
        extra_py_deps = None,
        py_lib_rule = native.py_library):
    native.cc_binary(
        name = "gen_" + name + "_py_wrappers_cc",
        deps = deps + [Label("//tensorflow/core:framework")],
    )
    native.genrule(
        name = name + "_pygenrule",
        outs = [out],
        cmd = "$(location gen_" + name + "_py_wrappers_cc) > $@",
        tools = ["gen_" + name + "_py_wrappers_cc"],
    )
    py_lib_rule(
        name = generated_target_name or name,
        srcs = [out],
        visibility = visibility,
    )
"""


# What XLA kernels need: packages and their targets. They can be named, and nothing can be built with them.
XLA_TARGETS = {
    "tensorflow/compiler/tf2xla": ("xla_compiler", "xla_op_registry"),
    "third_party/xla/xla": ("shape_util", "xla_data_proto_cc"),
    "third_party/xla/xla/ffi/api": ("ffi",),
    "third_party/xla/xla/hlo/builder": ("xla_builder",),
    "third_party/xla/xla/hlo/builder/lib": ("arithmetic", "comparators", "constants"),
}


def empty_libraries(names: tuple[str, ...]) -> str:
    """A BUILD file with libraries that have nothing in them."""
    return "".join(f'cc_library(name = "{name}", visibility = ["//visibility:public"])\n' for name in names)


@dataclasses.dataclass(frozen=True)
class Installed:
    """A TensorFlow that is installed."""

    include: str = "/nonexistent"
    libraries: str = "/nonexistent"
    copts: tuple[str, ...] = ()


def files(version: str = "2.21.0", installed: Installed | None = None) -> dict[str, str]:
    """The text of each file.

    Args:
      version: what the tree says that it is.
      installed: what to build with; if not given, nothing can be built.

    Returns:
      The files' paths in the tree, and their texts.
    """
    installed = installed or Installed()
    tensorflow_bzl = TENSORFLOW_BZL.replace("%{copts}", repr(list(installed.copts)))
    return {
        **{f"{package}/BUILD": empty_libraries(names) for package, names in XLA_TARGETS.items()},
        ".bazelrc": "build --spawn_strategy=standalone\n",
        ".bazelversion": "7.7.1\n",
        "BUILD": ROOT_BUILD,
        "WORKSPACE": WORKSPACE,
        "requirements_lock_3_13.txt": "",
        "tensorflow/BUILD": TENSORFLOW_BUILD,
        "tensorflow/core/BUILD": CORE_BUILD,
        "tensorflow/core/platform/BUILD": "",
        "tensorflow/core/platform/build_config.bzl": BUILD_CONFIG_BZL,
        "tensorflow/tensorflow.bzl": tensorflow_bzl.replace("%{libraries}", installed.libraries),
        "tensorflow/tf_version.bzl": TF_VERSION_BZL.format(version),
        "tensorflow/workspace2.bzl": WORKSPACE2_BZL,
        "tensorflow/workspace3.bzl": WORKSPACE3_BZL,
        "third_party/BUILD": "",
        "third_party/repo.bzl": REPO_BZL,
        "third_party/xla/WORKSPACE": 'workspace(name = "xla")\n',
        "third_party/xla/third_party/BUILD": "",
        "third_party/xla/third_party/repo.bzl": XLA_REPO_BZL,
        "third_party/xla/third_party/absl/BUILD": "",
        "third_party/xla/third_party/absl/workspace.bzl": ABSL_BZL,
        "third_party/xla/third_party/eigen3/BUILD": "",
        "third_party/xla/third_party/eigen3/eigen_archive.BUILD": EIGEN_BUILD,
        "third_party/xla/third_party/eigen3/workspace.bzl": EIGEN_BZL,
        "third_party/xla/third_party/gpus/cuda/BUILD": "",
        "third_party/xla/third_party/gpus/cuda/build_defs.bzl.tpl": CUDA_BUILD_DEFS_BZL,
        "third_party/xla/third_party/gpus/cuda/cuda_configure.bzl": CUDA_CONFIGURE_BZL,
        "third_party/xla/third_party/py/BUILD": "",
        "third_party/xla/third_party/py/python_init_repositories.bzl": PYTHON_INIT_BZL,
        "third_party/xla/xla/tsl/BUILD": "",
        "third_party/xla/xla/tsl/platform/BUILD": "",
        "third_party/xla/xla/tsl/platform/build_config.bzl": XLA_BUILD_CONFIG_BZL,
        "third_party/xla/xla/tsl/tsl.bzl": TSL_BZL,
    }


def write(root: pathlib.Path, tree: dict[str, str]) -> None:
    """Writes a tree's files.

    Args:
      root: the folder to write to.
      tree: the files' paths and texts.
    """
    for name, text in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
