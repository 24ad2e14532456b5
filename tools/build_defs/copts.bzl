# SPDX-License-Identifier: Apache-2.0
"""How this project's own C++ is compiled, beside what TensorFlow asks for."""

# Our code has no warnings. TensorFlow's headers are system headers, and exempt.
_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Werror",
]

# Of every op library, also those that users of the package compile (tensorflow_custom_ops.jit).
LIBRARY_COPTS = [
    # Ops and kernels register themselves when the library is loaded: nobody needs our symbols, and
    # two op libraries in one process must not find each other's.
    "-fvisibility=hidden",
    "-fvisibility-inlines-hidden",
    # Integers that overflow wrap around, as in TensorFlow's ops; without this they are undefined.
    "-fwrapv",
]

OP_COPTS = _WARNINGS + LIBRARY_COPTS
