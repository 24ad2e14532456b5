# SPDX-License-Identifier: Apache-2.0
"""What a target is, in a build with sanitizers."""

# For `target_compatible_with` of targets with sanitizers of their own, which would not go with those of the build.
WITHOUT_SANITIZERS = select({
    "//tools/sanitizers:with_asan": ["@platforms//:incompatible"],
    "//tools/sanitizers:with_tsan": ["@platforms//:incompatible"],
    "//conditions:default": [],
})

# For `target_compatible_with` of what is about them.
ONLY_WITH_SANITIZERS = select({
    "//tools/sanitizers:with_asan": [],
    "//tools/sanitizers:with_tsan": [],
    "//tools/sanitizers:with_ubsan": [],
    "//conditions:default": ["@platforms//:incompatible"],
})
