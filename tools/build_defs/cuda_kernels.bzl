# SPDX-License-Identifier: Apache-2.0
"""How this project's CUDA sources are compiled."""

load("@local_config_cuda//cuda:build_defs.bzl", "cuda_library", "if_cuda_is_configured")
load("//tools/build_defs:copts.bzl", "OP_COPTS")

def cuda_kernels(name, copts = [], **kwargs):
    """A library of CUDA kernels, in a build with --config=cuda only.

    Args:
      name: the target.
      copts: further options.
      **kwargs: passed to cuda_library.
    """
    cuda_library(
        name = name,
        copts = OP_COPTS + [
            # constexpr functions are for kernels too.
            "-nvcc_options=expt-relaxed-constexpr",
            # nvcc's own warnings, as those of OP_COPTS, which are of the C++ compiler.
            "-nvcc_options=Werror=all-warnings",
        ] + copts,
        target_compatible_with = if_cuda_is_configured([], ["@platforms//:incompatible"]),
        **kwargs
    )
