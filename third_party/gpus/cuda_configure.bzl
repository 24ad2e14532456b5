# SPDX-License-Identifier: Apache-2.0
"""Finds the CUDA toolkit and makes @local_config_cuda of it, with the names of TensorFlow's source tree.

@local_config_cuda//cuda:build_defs.bzl has
  if_cuda, if_cuda_is_configured   chooses between two values
  cuda_library                     compiles CUDA sources; see cuda_library.bzl
  CUDA                             the toolkit's version, or None, and the architectures
@local_config_cuda//cuda:cuda_headers are the toolkit's headers, and @local_config_cuda//cuda:toolkit.json has what CUDA
has, where CUDA is configured.

Variables, set with `--repo_env=NAME=VALUE` or in the environment:
  TF_NEED_CUDA: 1 to configure CUDA, as --config=cuda does. Without it nothing is looked for, and what needs CUDA is
    incompatible: a build of everything leaves it out.
  CUDA_HOME, TF_CUDA_TOOLKIT_PATH: the toolkit's folder; else find_cuda.py looks for one.
  TF_CUDA_COMPUTE_CAPABILITIES: what to compile for, such as sm_80,compute_90 (compute_90: both sm_90's machine code and
    PTX).
  CC: the host compiler, as for C++.
"""

_BUILD_DEFS = '''\
"""CUDA, as third_party/gpus/cuda_configure.bzl configured it."""

load("{cuda_library}", _cuda_library = "cuda_library")

CUDA = struct(version = {version}, architectures = {architectures})

def if_cuda(if_true, if_false = []):
    """The first value where CUDA is configured, the second elsewhere."""
    return if_true if CUDA.version else if_false

def if_cuda_is_configured(if_true, if_false = []):
    """As if_cuda."""
    return if_cuda(if_true, if_false)

cuda_library = _cuda_library
'''

_BUILD = """\
load("{nvcc_toolchain}", "nvcc_toolchain_config")

package(default_visibility = ["//visibility:public"])

exports_files(["toolkit.json"])

# "include" is a source directory: one input, however many headers it has. Those that are used are
# tracked one by one; the define stands for the others.
cc_library(
    name = "cuda_headers",
    hdrs = ["toolkit/include"],
    defines = ["CUDA_TOOLKIT_VERSION={version}"],
    includes = ["toolkit/include"],
)

filegroup(
    name = "compiler_files",
    srcs = [
        "bin/cicc",
        "bin/cudafe++",
        "bin/nvcc",
        "bin/nvcc.profile",
        "bin/nvcc.sh",
        "toolkit/bin/cudafe++",
        "toolkit/bin/fatbinary",
        "toolkit/bin/ptxas",
        "toolkit/nvvm/bin/cicc",
        "toolkit/nvvm/libdevice/libdevice.10.bc",
    ],
)

filegroup(
    name = "all_files",
    srcs = [
        "toolkit/include",
        ":compiler_files",
    ],
)

nvcc_toolchain_config(
    name = "nvcc_config",
    architectures = {architectures},
    nvcc = "bin/nvcc.sh",
)

filegroup(name = "no_files")

cc_toolchain(
    name = "nvcc",
    all_files = ":all_files",
    compiler_files = ":compiler_files",
    dwp_files = ":no_files",
    linker_files = ":no_files",
    objcopy_files = ":no_files",
    strip_files = ":no_files",
    toolchain_config = ":nvcc_config",
)
"""

_NOT_CONFIGURED_BUILD = """\
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "cuda_headers",
    target_compatible_with = ["@platforms//:incompatible"],
)

filegroup(name = "all_files")

alias(
    name = "nvcc",
    actual = "@bazel_tools//tools/cpp:current_cc_toolchain",
)
"""

# nvcc reads it beside itself, and takes the programs from where it says.
_PROFILE = """\
TOP = $(_HERE_)/../toolkit
CICC_PATH = $(_HERE_)
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(_HERE_):$(TOP)/bin:
INCLUDES += "-isystem" "$(TOP)/include" "-isystem" "$(TOP)/include/cccl" $(_SPACE_)
"""

# What find_cuda.py reads.
_ENVIRON = ["CC", "CUDA_HOME", "HOME", "PATH", "TF_CUDA_COMPUTE_CAPABILITIES", "TF_CUDA_TOOLKIT_PATH", "XDG_CACHE_HOME"]

def _is_wanted(ctx):
    value = ctx.getenv("TF_NEED_CUDA") or "0"
    if value not in ("0", "1"):
        fail("TF_NEED_CUDA is {}; set it to 1 to build GPU kernels, or to 0".format(value))
    return value == "1"

def _find_cuda(ctx):
    """What find_cuda.py writes."""
    for variable in _ENVIRON:
        ctx.getenv(variable)
    python = ctx.which("python3")
    if not python:
        fail("python3 is not on PATH; install Python 3.10 or newer")
    result = ctx.execute([python, "-B", ctx.path(ctx.attr._find_cuda)])
    if result.return_code:
        fail(result.stderr.strip().split("\n")[-1])
    cuda = json.decode(result.stdout)

    # Another toolkit, or another version of this one, runs this rule again.
    for name in cuda["watched"]:
        path = ctx.path(name)
        if path.is_dir:
            path.readdir(watch = "yes")
        else:
            ctx.watch(path)
    if cuda["warning"]:
        # buildifier: disable=print
        print(cuda["warning"])
    return cuda

def _write_build_defs(ctx, version, architectures):
    ctx.file("cuda/build_defs.bzl", _BUILD_DEFS.format(
        architectures = repr(architectures),
        cuda_library = Label("//third_party/gpus:cuda_library.bzl"),
        version = repr(version),
    ))

def _cuda_configure_impl(ctx):
    if not _is_wanted(ctx):
        _write_build_defs(ctx, None, [])
        ctx.file("cuda/BUILD", _NOT_CONFIGURED_BUILD)
        return
    cuda = _find_cuda(ctx)
    _write_build_defs(ctx, cuda["version"], cuda["architectures"])
    ctx.file("cuda/BUILD", _BUILD.format(
        architectures = repr(cuda["architectures"]),
        nvcc_toolchain = Label("//third_party/gpus:nvcc_toolchain.bzl"),
        version = cuda["version"],
    ))
    ctx.file("cuda/toolkit.json", json.encode({name: cuda[name] for name in ("version", "architectures")}) + "\n")
    ctx.symlink(cuda["root"], "cuda/toolkit")
    ctx.symlink(cuda["root"] + "/bin/nvcc", "cuda/bin/nvcc")
    ctx.file("cuda/bin/nvcc.profile", _PROFILE)
    ctx.symlink(ctx.path(ctx.attr._nvcc), "cuda/bin/nvcc.sh")
    for program in ("cicc", "cudafe++"):
        ctx.symlink(ctx.path(ctx.attr._name_source), "cuda/bin/" + program)

cuda_configure = repository_rule(
    _cuda_configure_impl,
    doc = "The CUDA toolkit of this machine, or where CUDA is not asked for, what stands for it.",
    attrs = {
        "_find_cuda": attr.label(default = "//third_party/gpus:find_cuda.py", allow_single_file = True),
        "_name_source": attr.label(default = "//third_party/gpus:name_source.sh", allow_single_file = True),
        "_nvcc": attr.label(default = "//third_party/gpus:nvcc.sh", allow_single_file = True),
    },
    environ = ["TF_NEED_CUDA"],
)
