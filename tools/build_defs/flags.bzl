# SPDX-License-Identifier: Apache-2.0
"""Flags of this project's builds."""

bool_flag = rule(
    implementation = lambda _: [],
    build_setting = config.bool(flag = True),
    doc = "A flag that is true or false, for config_setting.",
)

# For `target_compatible_with`: a build of everything with --xla=false skips such a target.
ONLY_WITH_XLA = select({
    "//tools/build_defs:with_xla": [],
    "//conditions:default": ["@platforms//:incompatible"],
})
