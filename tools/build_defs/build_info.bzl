# SPDX-License-Identifier: Apache-2.0
"""The Python module that tells what an op library is."""

load("@local_config_cuda//cuda:build_defs.bzl", "if_cuda")
load("//tensorflow_custom_ops:version.bzl", "VERSION")

def build_info(name, library, gpu_library, xla, **kwargs):
    """Makes _build_info.py.

    Args:
      name: the target.
      library: the op library.
      gpu_library: the library of its GPU kernels, which is there where CUDA is configured.
      xla: "true" if it has the ops' XLA kernels, else "false".
      **kwargs: passed to genrule.
    """
    toolkit = "@local_config_cuda//cuda:toolkit.json"
    native.genrule(
        name = name,
        srcs = [library] + if_cuda([gpu_library, toolkit]),
        outs = ["_build_info.py"],
        cmd = "$(location //tools/build_defs:write_build_info) --version={} ".format(VERSION) +
              if_cuda("--cuda=$(location {}) --gpu-library=$(location {}) ".format(toolkit, gpu_library), "") +
              "--xla=" + xla + " $(location {}) $@".format(library),
        message = "Asking the library what it has:",
        tools = ["//tools/build_defs:write_build_info"],
        **kwargs
    )
