# SPDX-License-Identifier: Apache-2.0
"""Tests of CUDA kernels that also run on a GPU."""

load("//tools/build_defs:cuda_kernels.bzl", "cuda_kernels")

def cuda_kernel_tests(name, src, hdrs = [], deps = [], **kwargs):
    """Compiles tests, written with tools/cuda_emulator/gpu_test.h, by nvcc: for //tests/gpu/device:kernel_tests.so.

    Args:
      name: the target.
      src: the tests, a .cc file.
      hdrs: headers of theirs, beside those that the tests of kernels share.
      deps: the kernels.
      **kwargs: passed to cuda_kernels.
    """

    # nvcc's sources are told from others by their names.
    native.genrule(
        name = name + "_source",
        testonly = True,
        srcs = [src],
        outs = [name + ".cu.cc"],
        cmd = "cp $< $@",
    )
    cuda_kernels(
        name = name,
        testonly = True,
        srcs = [name + ".cu.cc"],
        hdrs = hdrs + [
            "//tensorflow_custom_ops/core/gpu:test_cases.h",
            "//tools/cuda_emulator:gpu_test.h",
        ],
        # The main function, which is compiled likewise, is called from outside.
        copts = ["-fvisibility=default"],
        deps = deps + ["//tensorflow_custom_ops/core/gpu:device"],
        **kwargs
    )
