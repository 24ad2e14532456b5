# SPDX-License-Identifier: Apache-2.0
"""One macro makes everything of an op: its definition, kernels, Python wrapper and test."""

load("@org_tensorflow//tensorflow:tensorflow.bzl", "tf_gen_op_wrapper_py", "tf_kernel_library")
load("//tensorflow_custom_ops/ops:ops.bzl", "OP_PREFIX")
load("//tests/gpu/emulated:emulated_test.bzl", "emulated_test")
load("//tools/build_defs:copts.bzl", "OP_COPTS")
load("//tools/build_defs:flags.bzl", "ONLY_WITH_XLA")
load("//tools/build_defs:gpu_kernels.bzl", "gpu_kernels")
load("//tools/build_defs:op_python.bzl", "op_python")

def registered_name(name):
    """The name that an op is registered by, from that of its folder.

    Args:
      name: in lower case with underscores.

    Returns:
      A string.
    """
    return OP_PREFIX + "".join([word.capitalize() for word in name.split("_")])

def custom_op(
        name,
        op_name = None,
        defines = [],
        deps = [],
        kernel_srcs = None,
        kernel_hdrs = [],
        kernel_deps = [],
        gpu_hdrs = [],
        gpu_deps = [],
        has_gpu_kernel = None,
        xla_src = None,
        xla_deps = [],
        op_deps = [],
        test_deps = [],
        test_size = "medium",
        test_shard_count = None):
    """Makes the targets of an op from the files in its folder.

    The folder has, beside its BUILD file:
      <name>.cc          the op's definition, with shape function and documentation
      <name>_kernel.cc   the CPU kernel
      <name>_gpu.cu.cc   the CUDA kernel, if there is one, with
      <name>_gpu.h       the function that launches it,
      <name>_gpu.cc      the OpKernel that calls that function,
      <name>_gpu_xla.cc  the custom call that does, if there is one, and
      <name>_gpu_test.cc the test of that function
      <name>_xla.cc      the lowering to XLA, if there is one
      <name>.py          the Python functions and gradients; __all__ lists what users get
      <name>_samples.py  the calls by which op_check checks the op; may be left out, see testing/samples.py
      <name>_test.py     the test
      __init__.py        makes the folder a Python package

    The targets:
      :<name>_op_lib     the definition
      :<name>_kernels    the kernels, for CPU and XLA
      :<name>_gpu_kernels  the kernels for a GPU, and what XLA calls there; only with --config=cuda
      :<name>_emulated_kernels  the same kernels, registered on the CPU and emulated there; for tests
      :gen_<name>        the Python module gen_<name>, written by TensorFlow's generator, with a .pyi stub
      :<name>            the Python library
      :<name>_test       the test
      :<name>_emulated_test  the test, run on the emulated kernels
      :<name>_gpu_test   the test of the CUDA kernel, emulated; also with sanitizers, as <name>_gpu_test_thread
                         and <name>_gpu_test_address_undefined
      :<name>_gpu_test_cuda  the same by nvcc, for tests/gpu/run_on_device.sh

    Args:
      name: the op's name, in lower case with underscores; the folder has the same.
      op_name: the name that the op is registered by, if it is not OP_PREFIX and `name` in CamelCase.
      defines: the preprocessor's definitions, for the sources of the kernels for CPU and XLA.
      deps: further C++ dependencies of the definition, and of the kernels for CPU and XLA.
      kernel_srcs: the kernels' sources, if they are not just <name>_kernel.cc.
      kernel_hdrs: the kernels' headers.
      kernel_deps: further C++ dependencies of the kernels.
      gpu_hdrs: further headers of the CUDA kernel, which are none of TensorFlow's.
      gpu_deps: further C++ dependencies of the GPU's OpKernel and custom call.
      has_gpu_kernel: True if the caller makes the targets that gpu_kernels makes, from other files.
      xla_src: the source of the lowering, if it is not <name>_xla.cc.
      xla_deps: further C++ dependencies of the lowering.
      op_deps: further C++ dependencies of the definition.
      test_deps: further Python dependencies of the test.
      test_size: as `size` of py_test.
      test_shard_count: as `shard_count` of py_test.
    """

    op_name = op_name or registered_name(name)
    copts = OP_COPTS + ["-D" + define for define in defines]

    # Headers only: in the source tree a library of ops must not link TensorFlow a second time, and
    # tf_custom_op_library refuses dependencies that do (core:framework, core:lib).
    tf_kernel_library(
        name = name + "_op_lib",
        srcs = [name + ".cc"],
        copts = OP_COPTS,
        visibility = ["//visibility:public"],
        deps = deps + op_deps + ["@org_tensorflow//tensorflow/core:framework_headers_lib"],
    )
    tf_kernel_library(
        name = name + "_cpu",
        srcs = kernel_srcs or [name + "_kernel.cc"],
        hdrs = kernel_hdrs,
        copts = copts,
        deps = deps + kernel_deps + [
            "@eigen_archive//:eigen3",
            "@org_tensorflow//tensorflow/core:framework_headers_lib",
        ],
    )
    if not has_gpu_kernel:
        has_gpu_kernel = bool(native.glob([name + "_gpu.cu.cc"], allow_empty = True))
        gpu_kernels(name, has_gpu_kernel, kernel_hdrs, gpu_hdrs, gpu_deps)
    native.cc_library(
        name = name + "_kernels",
        visibility = ["//visibility:public"],
        deps = [":{}_cpu".format(name)] + _xla_kernel(name, op_name, copts, deps, xla_src, xla_deps),
    )
    _op_wrapper(name)
    op_python(
        name,
        deps = [":gen_" + name],
        data = ["gen_{}.pyi".format(name)],
        test_deps = test_deps,
        test_size = test_size,
        test_shard_count = test_shard_count,
    )

    # Tests compile an op's files elsewhere, too.
    native.exports_files(
        native.glob([
            name + "*.cc",
            name + "*.h",
        ]),
        visibility = ["//tests:__subpackages__"],
    )
    if has_gpu_kernel:
        emulated_test(
            name = name + "_emulated_test",
            size = test_size,
            shard_count = test_shard_count,
            test = name + "_test",
            test_package = native.package_name(),
            deps = test_deps,
        )

def _xla_kernel(name, op_name, copts, deps, src, xla_deps):
    """The XLA kernel of an op that has one, or without --xla what says that it is left out."""
    src = src or "".join(native.glob([name + "_xla.cc"], allow_empty = True))
    if not src:
        return []
    tf_kernel_library(
        name = name + "_xla",
        srcs = [src],
        copts = copts,
        target_compatible_with = ONLY_WITH_XLA,
        deps = deps + xla_deps + [
            "//tensorflow_custom_ops/core:xla_lowering",
            "@xla//xla/hlo/builder:xla_builder",
            "@xla//xla/hlo/builder/lib:constants",
        ],
    )
    tf_kernel_library(
        name = name + "_no_xla",
        srcs = ["//tensorflow_custom_ops/core:no_xla_kernel.cc"],
        # Built where it is needed only.
        tags = ["manual"],
        copts = copts + ['-DOP_NAME=\\"{}\\"'.format(op_name)],
        deps = deps + ["@org_tensorflow//tensorflow/core:framework_headers_lib"],
    )
    return select({
        "//tools/build_defs:with_xla": [":{}_xla".format(name)],
        "//conditions:default": [":{}_no_xla".format(name)],
    })

def _op_wrapper(name):
    wrapper = "gen_{}.py".format(name)
    tf_gen_op_wrapper_py(
        name = "gen_" + name,
        out = wrapper,
        visibility = ["//visibility:private"],
        deps = [":{}_op_lib".format(name)],
    )
    native.genrule(
        name = "gen_{}_stub".format(name),
        srcs = [wrapper],
        outs = [wrapper + "i"],
        cmd = "$(location //tools/build_defs:make_stub) $< $@",
        message = "Writing the stub of",
        tools = ["//tools/build_defs:make_stub"],
    )
