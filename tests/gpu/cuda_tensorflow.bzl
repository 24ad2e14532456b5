# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's CUDA build for tests: the TensorFlow that the build uses, or the repository @cuda_tensorflow."""

load("@local_config_cuda//cuda:build_defs.bzl", "if_cuda")
load("@org_tensorflow//tensorflow:tf_version.bzl", "MAJOR_VERSION", "MINOR_VERSION")
load("@tf_python//:info.bzl", "INFO")

_IS_OWN = INFO["is_cuda_build"]

# The repository's version must be that of the headers.
_FITS = MAJOR_VERSION + "." + MINOR_VERSION == "2.21"

# For `target_compatible_with`: for what needs TensorFlow's CUDA build, and for what needs GPU kernels too.
ONLY_WITH_CUDA_TENSORFLOW = [] if _IS_OWN or if_cuda(_FITS, False) else ["@platforms//:incompatible"]
ONLY_WITH_GPU_KERNELS = if_cuda(ONLY_WITH_CUDA_TENSORFLOW, ["@platforms//:incompatible"])

# For `data` and `env`.
CUDA_TENSORFLOW_DATA = [] if _IS_OWN or ONLY_WITH_CUDA_TENSORFLOW else ["@cuda_tensorflow//:site"]
CUDA_TENSORFLOW_ENV = {"CUDA_TENSORFLOW": "" if _IS_OWN else "cuda_tensorflow"}
