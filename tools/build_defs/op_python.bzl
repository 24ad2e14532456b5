# SPDX-License-Identifier: Apache-2.0
"""What an op is in Python, whatever its kernels are made of."""

def op_python(name, deps = [], data = [], test_deps = [], test_size = "medium", test_shard_count = None):
    """Makes the Python library of an op, and its test, from <name>.py, <name>_samples.py, <name>_test.py and __init__.py.

    Args:
      name: the op's name.
      deps: further dependencies of the library.
      data: files beside its modules.
      test_deps: further dependencies of the test.
      test_size: as `size` of py_test.
      test_shard_count: as `shard_count` of py_test.
    """
    native.py_library(
        name = name,
        srcs = ["__init__.py", name + ".py"] + native.glob([name + "_samples.py"], allow_empty = True),
        data = data,
        visibility = ["//visibility:public"],
        deps = deps + ["//tensorflow_custom_ops/core"],
    )
    native.py_test(
        name = name + "_test",
        size = test_size,
        srcs = [name + "_test.py"],
        shard_count = test_shard_count,
        deps = test_deps + [
            "//tensorflow_custom_ops",
            "//tests:op_test_case",
            "@test_packages//:site",
        ],
    )

    # Tests run an op's test elsewhere, too.
    native.exports_files(
        [name + "_test.py"],
        visibility = ["//tests:__subpackages__"],
    )
