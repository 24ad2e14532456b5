# SPDX-License-Identifier: Apache-2.0
"""Where TensorFlow's wheel has what op libraries need, for the facade and for those who compile without Bazel."""

# Below the folder of the package. XLA's headers need the second and third, and tf.sysconfig does not give them.
INCLUDE_ROOTS = [
    "include",
    "include/external/highwayhash",
    "include/external/farmhash_archive/src",
]

# In that folder.
FRAMEWORK_LIBRARY = "libtensorflow_framework.so.2"
CC_LIBRARY = "libtensorflow_cc.so.2"
