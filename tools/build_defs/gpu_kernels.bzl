# SPDX-License-Identifier: Apache-2.0
"""An op's kernels for a GPU, by nvcc and emulated."""

load("@org_tensorflow//tensorflow:tensorflow.bzl", "tf_kernel_library")
load("//tests/gpu/device:kernel_tests.bzl", "cuda_kernel_tests")
load("//tools/build_defs:copts.bzl", "OP_COPTS")
load("//tools/build_defs:cuda_kernels.bzl", "cuda_kernels")
load("//tools/build_defs:flags.bzl", "ONLY_WITH_XLA")
load("//tools/cuda_emulator:emulated_cuda_test.bzl", "emulated_cuda_test")

def gpu_kernels(name, has_gpu_kernel, kernel_hdrs, gpu_hdrs, gpu_deps):
    """Makes the targets :<name>_gpu_kernels, :<name>_gpu_test_cuda and :<name>_emulated_kernels of an op; see custom_op.

    Args:
      name: the op's name.
      has_gpu_kernel: whether there is <name>_gpu.cu.cc. If not, there are no GPU kernels, and the CPU's are
        among the emulated ones.
      kernel_hdrs: as in custom_op.
      gpu_hdrs: as in custom_op.
      gpu_deps: as in custom_op.
    """
    if not has_gpu_kernel:
        native.cc_library(
            name = name + "_gpu_kernels",
            visibility = ["//visibility:public"],
        )
        native.cc_library(
            name = name + "_gpu_test_cuda",
            testonly = True,
            visibility = ["//tests/gpu/device:__pkg__"],
        )
        native.cc_library(
            name = name + "_emulated_kernels",
            visibility = ["//visibility:public"],
            deps = [":{}_cpu".format(name)],
        )
        return
    gpu_hdrs = [name + "_gpu.h"] + gpu_hdrs
    host_deps = gpu_deps + [
        "//tensorflow_custom_ops/core/gpu:kernel",
        "@eigen_archive//:eigen3",
        "@org_tensorflow//tensorflow/core:framework_headers_lib",
    ]
    tf_kernel_library(
        name = name + "_gpu_host",
        srcs = [name + "_gpu.cc"],
        hdrs = gpu_hdrs + kernel_hdrs,
        copts = OP_COPTS,
        deps = host_deps,
    )
    emulated_cuda_test(
        name = name + "_gpu_test",
        size = "medium",
        srcs = gpu_hdrs + [
            name + "_gpu.cu.cc",
            name + "_gpu_test.cc",
        ],
        deps = ["//tensorflow_custom_ops/core/gpu:test_cases"],
    )
    cuda_kernel_tests(
        name = name + "_gpu_test_cuda",
        src = name + "_gpu_test.cc",
        visibility = ["//tests/gpu/device:__pkg__"],
        deps = [":{}_cuda".format(name)],
    )
    gpu_xla = []
    if native.glob([name + "_gpu_xla.cc"], allow_empty = True):
        tf_kernel_library(
            name = name + "_gpu_xla",
            srcs = [name + "_gpu_xla.cc"],
            hdrs = gpu_hdrs,
            copts = OP_COPTS,
            target_compatible_with = ONLY_WITH_XLA,
            deps = host_deps + ["//tensorflow_custom_ops/core:xla_custom_call"],
        )
        gpu_xla = select({
            "//tools/build_defs:with_xla": [":{}_gpu_xla".format(name)],
            "//conditions:default": [],
        })
    gpu_libraries(
        name = name,
        srcs = [name + "_gpu.cu.cc"],
        hdrs = gpu_hdrs,
        gpu_deps = gpu_xla,
    )

def gpu_libraries(name, srcs, hdrs = [], copts = [], deps = [], gpu_deps = []):
    """Makes the targets :<name>_gpu_kernels and :<name>_emulated_kernels of an op from CUDA sources and :<name>_gpu_host.

    Args:
      name: the op's name.
      srcs: the sources, for nvcc and for the emulator.
      hdrs: their headers.
      copts: their further options.
      deps: their further dependencies.
      gpu_deps: further C++ dependencies of :<name>_gpu_kernels.
    """
    cuda_kernels(
        name = name + "_cuda",
        srcs = srcs,
        hdrs = hdrs,
        copts = copts,
        deps = deps + ["//tensorflow_custom_ops/core/gpu:device"],
    )
    tf_kernel_library(
        name = name + "_emulated_cuda",
        srcs = srcs,
        hdrs = hdrs,
        copts = OP_COPTS + copts,
        deps = deps + ["//tensorflow_custom_ops/core/gpu:device_emulated"],
    )
    native.cc_library(
        name = name + "_gpu_kernels",
        visibility = ["//visibility:public"],
        deps = gpu_deps + [
            ":{}_cuda".format(name),
            ":{}_gpu_host".format(name),
            "//tensorflow_custom_ops/core/gpu:cuda",
        ],
    )
    native.cc_library(
        name = name + "_emulated_kernels",
        visibility = ["//visibility:public"],
        deps = [
            ":{}_emulated_cuda".format(name),
            ":{}_gpu_host".format(name),
            "//tensorflow_custom_ops/core/gpu:emulated",
        ],
    )
