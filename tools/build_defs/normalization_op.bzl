# SPDX-License-Identifier: Apache-2.0
"""One macro makes everything of an op that normalises rows from its definition."""

load("@org_tensorflow//tensorflow:tensorflow.bzl", "tf_kernel_library")
load("//tools/build_defs:copts.bzl", "OP_COPTS")
load("//tools/build_defs:custom_op.bzl", "custom_op")

_CORE = "//tensorflow_custom_ops/core/normalization:"

def normalization_op(name, norm, **kwargs):
    """Makes the targets of an op that normalises rows, and of its gradient; see custom_op for the targets.

    The folder has, beside its BUILD file:
      <name>.cc       the definitions of the op and of its gradient
      <name>.py       the Python function, and the gradients
      <name>_test.py  the test
      __init__.py     makes the folder a Python package

    The kernels are those of core/normalization, registered for the op.

    Args:
      name: the op's name, in lower case with underscores; the folder has the same.
      norm: what the op computes, a name of core/normalization/norm.h.
      **kwargs: passed to custom_op.
    """
    define = "NORMALIZATION=" + norm
    _gpu_kernels(name, define)
    custom_op(
        name = name,
        defines = [define],
        has_gpu_kernel = True,
        kernel_deps = [
            _CORE + "cpu",
            _CORE + "kernel",
        ],
        kernel_srcs = [_CORE + "cpu_op.cc"],
        op_deps = [_CORE + "op"],
        xla_src = _CORE + "xla_op.cc",
        xla_deps = [_CORE + "xla"],
        test_deps = ["//tests:normalization_test_case"],
        **kwargs
    )

def _gpu_kernels(name, define):
    """The targets that gpu_kernels makes. The kernels and their test are core/normalization's."""
    gpu = "//tensorflow_custom_ops/core/gpu:"
    native.cc_library(
        name = name + "_gpu_test_cuda",
        testonly = True,
        visibility = ["//tests/gpu/device:__pkg__"],
    )
    tf_kernel_library(
        name = name + "_gpu_host",
        srcs = [_CORE + "gpu_op.cc"],
        copts = OP_COPTS + ["-D" + define],
        deps = [
            _CORE + "gpu",
            _CORE + "kernel",
            gpu + "kernel",
        ],
    )
    native.cc_library(
        name = name + "_gpu_kernels",
        visibility = ["//visibility:public"],
        deps = [
            ":{}_gpu_host".format(name),
            _CORE + "gpu_cuda",
            gpu + "cuda",
        ] + select({
            "//tools/build_defs:with_xla": [_CORE + "gpu_xla"],
            "//conditions:default": [],
        }),
    )
    native.cc_library(
        name = name + "_emulated_kernels",
        visibility = ["//visibility:public"],
        deps = [
            ":{}_gpu_host".format(name),
            _CORE + "gpu_emulated",
            gpu + "emulated",
        ],
    )
