# SPDX-License-Identifier: Apache-2.0
"""Tests that run on the ops' GPU kernels, emulated, in place of their CPU kernels."""

def emulated_test(name, test, test_package, deps, **kwargs):
    """Runs a test of the package once more, on the emulated kernels.

    Args:
      name: the target.
      test: the name of the test's Python file, without .py.
      test_package: the folder of that file.
      deps: dependencies of the test, beside the package.
      **kwargs: passed to py_test.
    """
    main = "//tests/gpu/emulated:run_emulated.py"
    native.py_test(
        name = name,
        srcs = [main, test + ".py"],
        args = ["{}.{}".format(test_package.replace("/", "."), test)],
        main = main,
        deps = deps + [
            "//tests:op_test_case",
            "//tests/gpu/emulated:run_emulated",
            "@test_packages//:site",
        ],
        **kwargs
    )
