# SPDX-License-Identifier: Apache-2.0
"""Programs of CUDA kernels, for the emulator and the compiler's sanitizers."""

load("//tools/sanitizers:flags.bzl", "WITHOUT_SANITIZERS")

# What is compiled with a sanitizer stops at its first report, and says where in the source that is.
_SANITIZER_COPTS = [
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-fno-sanitize-recover=all",
]

_COPTS = [
    "-std=c++17",
    "-Wall",
    "-Wextra",
    "-Werror",
]

# @eigen_archive brings TensorFlow's library with it, which kernels neither need nor find at run time.
# libstdc++ comes first, as TensorFlow's library has parts of it.
_LINKOPTS = ["-lstdc++", "-Wl,--as-needed"]

_SANITIZERS = [
    "address,undefined",
    "thread",
]

def _name(name, sanitizer):
    return name + "_" + sanitizer.replace(",", "_")

def emulated_cuda_test(
        name,
        srcs,
        deps = [],
        copts = [],
        sanitizers = _SANITIZERS,
        **kwargs):
    """Tests kernels in the emulator: the target `name`, and one target for each set of sanitizers.

    The tests are written with tools/cuda_emulator/gpu_test.h, and each target runs them in several
    orders of the CUDA threads:

        emulated_cuda_test(
            name = "my_op_gpu_test",
            srcs = ["my_op_gpu.cu.cc", "my_op_gpu.h", "my_op_gpu_test.cc"],
            deps = ["//tensorflow_custom_ops/core/gpu:device_emulated"],
        )

    makes my_op_gpu_test, my_op_gpu_test_address_undefined and my_op_gpu_test_thread. All targets
    compile the sources for themselves: a kernel that is in deps is without sanitizers.

    Args:
      name: the name of the target without sanitizers.
      srcs: the kernels, their headers, and the tests.
      deps: libraries of plain C++.
      copts: for the compiler.
      sanitizers: values of -fsanitize.
      **kwargs: for all cc_test.
    """
    _cuda_targets(
        native.cc_test,
        name,
        srcs = srcs,
        deps = deps + ["//tools/cuda_emulator:gpu_test_main"],
        copts = copts,
        sanitizers = sanitizers,
        env = {
            # What the tests leave behind is not at issue, and the check fails under a debugger.
            "ASAN_OPTIONS": "detect_leaks=0",
            "TSAN_OPTIONS": "halt_on_error=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        },
        **kwargs
    )

def emulated_cuda_binary(
        name,
        srcs,
        deps = [],
        copts = [],
        sanitizers = _SANITIZERS,
        **kwargs):
    """Programs as the tests of emulated_cuda_test, with a main function of their own.

    Args:
      name: the name of the target without sanitizers.
      srcs: the sources.
      deps: libraries of plain C++.
      copts: for the compiler.
      sanitizers: values of -fsanitize.
      **kwargs: for all cc_binary.
    """
    _cuda_targets(
        native.cc_binary,
        name,
        srcs = srcs,
        deps = deps + ["//tools/cuda_emulator"],
        copts = copts,
        sanitizers = sanitizers,
        testonly = True,
        **kwargs
    )

def _cuda_targets(rule, name, copts, sanitizers, **kwargs):
    rule(
        name = name,
        copts = _COPTS + copts,
        linkopts = _LINKOPTS,
        linkstatic = True,
        **kwargs
    )
    for sanitizer in sanitizers:
        flag = "-fsanitize=" + sanitizer
        rule(
            name = _name(name, sanitizer),
            copts = _COPTS + copts + _SANITIZER_COPTS + [flag],
            linkopts = _LINKOPTS + [flag],
            linkstatic = True,
            target_compatible_with = WITHOUT_SANITIZERS,
            **kwargs
        )
