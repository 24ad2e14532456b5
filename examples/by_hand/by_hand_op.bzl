# SPDX-License-Identifier: Apache-2.0
"""The targets of an op whose kernels are all written by hand."""

load("@org_tensorflow//tensorflow:tensorflow.bzl", "tf_kernel_library")
load("//tools/build_defs:copts.bzl", "OP_COPTS")
load("//tools/build_defs:flags.bzl", "ONLY_WITH_XLA")
load("//tools/build_defs:gpu_kernels.bzl", "gpu_kernels")

def by_hand_op(name, kernel_hdrs = []):
    """Makes an op's targets from the C++ files in its folder, which have the names that custom_op gives them.

    The targets, beside those of gpu_kernels:
      :<name>_op_lib   the definition
      :<name>_kernels  the kernels, for CPU and, in a build with XLA kernels, XLA
      :<name>_sources  the files

    Args:
      name: the op's name, in lower case with underscores.
      kernel_hdrs: headers that the kernels for CPU and GPU share.
    """
    tf_kernel_library(
        name = name + "_op_lib",
        srcs = [name + ".cc"],
        copts = OP_COPTS,
        visibility = ["//examples/by_hand:__pkg__"],
        deps = ["@org_tensorflow//tensorflow/core:framework_headers_lib"],
    )
    tf_kernel_library(
        name = name + "_cpu",
        srcs = [name + "_kernel.cc"],
        hdrs = kernel_hdrs,
        copts = OP_COPTS,
        deps = [
            "@eigen_archive//:eigen3",
            "@org_tensorflow//tensorflow/core:framework_headers_lib",
        ],
    )
    tf_kernel_library(
        name = name + "_xla",
        srcs = [name + "_xla.cc"],
        copts = OP_COPTS,
        target_compatible_with = ONLY_WITH_XLA,
        deps = [
            "//tensorflow_custom_ops/core:xla_lowering",
            "@xla//xla/hlo/builder:xla_builder",
            "@xla//xla/hlo/builder/lib:constants",
        ],
    )
    native.cc_library(
        name = name + "_kernels",
        visibility = ["//examples/by_hand:__pkg__"],
        deps = [":{}_cpu".format(name)] + select({
            "//tools/build_defs:with_xla": [":{}_xla".format(name)],
            "//conditions:default": [],
        }),
    )
    gpu_kernels(
        name,
        has_gpu_kernel = True,
        kernel_hdrs = kernel_hdrs,
        gpu_hdrs = [],
        gpu_deps = [],
    )

    native.filegroup(
        name = name + "_sources",
        srcs = native.glob([
            "*.cc",
            "*.h",
        ]),
        visibility = ["//examples/by_hand:__pkg__"],
    )
