# SPDX-License-Identifier: Apache-2.0
"""One macro makes everything of an op that is a Python function of TensorFlow's ops."""

load("//tools/build_defs:gpu_kernels.bzl", "gpu_kernels")
load("//tools/build_defs:op_python.bzl", "op_python")

def composite_op(name, **kwargs):
    """Makes the targets of a composite op from the files in its folder; see custom_op for the targets.

    The folder has, beside its BUILD file:
      <name>.py          the Python function and its gradient; __all__ lists what users get
      <name>_samples.py  the calls by which op_check checks the op; may be left out, see testing/samples.py
      <name>_test.py     the test
      __init__.py        makes the folder a Python package

    The C++ libraries that ops have are empty.

    Args:
      name: the op's name, in lower case with underscores; the folder has the same.
      **kwargs: passed to op_python.
    """
    for library in ("op_lib", "cpu", "kernels"):
        native.cc_library(
            name = "{}_{}".format(name, library),
            visibility = ["//visibility:public"],
        )
    gpu_kernels(
        name,
        has_gpu_kernel = False,
        kernel_hdrs = [],
        gpu_hdrs = [],
        gpu_deps = [],
    )
    op_python(name, **kwargs)
