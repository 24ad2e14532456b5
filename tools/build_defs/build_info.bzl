# SPDX-License-Identifier: Apache-2.0
"""The Python module that tells what an op library is."""

load("@local_config_cuda//cuda:build_defs.bzl", "if_cuda")
load("//tensorflow_custom_ops:version.bzl", "VERSION")

def build_info(name, library, xla, gpu_library = None, **kwargs):
    """Makes _build_info.py.

    Args:
      name: the target.
      library: the op library.
      xla: "true" if it has the ops' XLA kernels, else "false".
      gpu_library: the library of its GPU kernels, which is there where CUDA is configured.
      **kwargs: passed to genrule.
    """
    gpu_libraries = [gpu_library] if gpu_library else []
    toolkit = "@local_config_cuda//cuda:toolkit.json"
    native.genrule(
        name = name,
        srcs = [library] + if_cuda([toolkit] + gpu_libraries),
        outs = ["_build_info.py"],
        cmd = "$(location //tools/build_defs:write_build_info) --version={} ".format(VERSION) +
              if_cuda("--cuda=$(location {}) ".format(toolkit), "") +
              "--xla=" + xla + " --out=$@ $(location {})".format(library) +
              if_cuda("".join([" $(location {})".format(each) for each in gpu_libraries]), ""),
        message = "Asking the library what it has:",
        tools = ["//tools/build_defs:write_build_info"],
        **kwargs
    )
