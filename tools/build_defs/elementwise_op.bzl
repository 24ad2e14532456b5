# SPDX-License-Identifier: Apache-2.0
"""One macro makes everything of an elementwise op from its functor."""

load("@org_tensorflow//tensorflow:tensorflow.bzl", "tf_kernel_library")
load("//tools/build_defs:copts.bzl", "OP_COPTS")
load("//tools/build_defs:custom_op.bzl", "custom_op", "registered_name")
load("//tools/build_defs:gpu_kernels.bzl", "gpu_libraries")
load("//tools/build_defs:isa.bzl", "isa_libraries")

_CORE = "//tensorflow_custom_ops/core/elementwise:"

def elementwise_op(name, op_name = None, deps = [], **kwargs):
    """Makes the targets of an elementwise op from the files in its folder; see custom_op for the targets.

    The folder has, beside its BUILD file:
      <name>.h        the functor; core/elementwise/functor.h says how it is written
      <name>.cc       the op's definition: inputs, attributes, documentation
      <name>.py       the Python function
      <name>_test.py  the test
      __init__.py     makes the folder a Python package

    The kernels are those of core/elementwise, compiled with the functor.

    Args:
      name: the op's name, in lower case with underscores; the folder has the same.
      op_name: the name of the functor and of the op, if it is not OP_PREFIX and `name` in CamelCase.
      deps: further C++ dependencies of the functor.
      **kwargs: passed to custom_op.
    """
    op_name = op_name or registered_name(name)
    header = name + ".h"
    defines = [
        "ELEMENTWISE_OP=" + op_name,
        'ELEMENTWISE_NAME=\\"{}\\"'.format(op_name),
        'ELEMENTWISE_HEADER=\\"{}/{}\\"'.format(native.package_name(), header),
    ]
    functor = name + "_functor"
    native.cc_library(
        name = functor,
        hdrs = [header],
        deps = deps + [_CORE + "functor"],
    )
    isa_libraries(
        name = name + "_functions",
        srcs = [_CORE + "cpu_functions.cc"],
        hdrs = [],
        defines = defines + ["ELEMENTWISE_ISA={isa}"],
        deps = [
            ":" + functor,
            _CORE + "cpu_functions",
        ],
    )
    _gpu_kernels(name, defines)
    custom_op(
        name = name,
        op_name = op_name,
        defines = defines,
        has_gpu_kernel = True,
        deps = [":" + functor],
        kernel_deps = [
            ":{}_functions".format(name),
            _CORE + "cpu_op",
        ],
        kernel_srcs = [_CORE + "cpu_op.cc"],
        op_deps = [_CORE + "op"],
        xla_deps = [_CORE + "xla"],
        xla_src = _CORE + "xla_op.cc",
        **kwargs
    )

def _gpu_kernels(name, defines):
    """The targets that gpu_kernels makes, from the functor.

    There is no <name>_gpu_test with its sanitizers, which take a minute to compile: the kernel is the same for all
    functors, and core/elementwise:gpu_test tests it with some. The op's own test runs on the emulated kernel.
    """
    copts = ["-D" + define for define in defines]
    functor = ":{}_functor".format(name)
    native.cc_library(
        name = name + "_gpu_test_cuda",
        testonly = True,
        visibility = ["//tests/gpu/device:__pkg__"],
    )
    tf_kernel_library(
        name = name + "_gpu_host",
        srcs = [_CORE + "gpu_op.cc"],
        copts = OP_COPTS + copts,
        deps = [
            functor,
            # What is in host memory is computed there.
            ":{}_functions".format(name),
            _CORE + "cpu_op",
            _CORE + "gpu_kernel",
        ],
    )
    gpu_libraries(
        name = name,
        srcs = [_CORE + "gpu_functions.cu.cc"],
        copts = copts,
        deps = [
            functor,
            _CORE + "gpu_functions",
        ],
    )
