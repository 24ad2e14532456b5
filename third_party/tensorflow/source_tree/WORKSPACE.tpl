# SPDX-License-Identifier: Apache-2.0
# Written by make_workspace.py from WORKSPACE.tpl and the WORKSPACE file of a TensorFlow checkout.

workspace(name = "tensorflow_custom_ops")

local_repository(
    name = "org_tensorflow",
    path = "%{checkout}",
)

%{tensorflow_workspace}

load("//third_party/py:python_configure.bzl", "python_venv")

# What our tests import beside TensorFlow.
python_venv(
    name = "test_packages",
    lock = "//tests:requirements_lock.txt",
)
