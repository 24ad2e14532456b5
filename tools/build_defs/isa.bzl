# SPDX-License-Identifier: Apache-2.0
"""Instruction sets: libraries that are compiled once for each, of which a kernel chooses when it is made."""

load("@org_tensorflow//tensorflow:tensorflow.bzl", "tf_kernel_library")
load("//tools/build_defs:copts.bzl", "OP_COPTS")

_AVX2 = [
    "-mavx2",
    "-mfma",
    "-mf16c",
]

# From the plainest to the best, as in core/isa.h. core/isa.cc asks the processor for the same.
ISAS = {
    "baseline": [],
    "avx2": _AVX2,
    "avx512": _AVX2 + [
        "-mavx512f",
        "-mavx512cd",
        "-mavx512bw",
        "-mavx512dq",
        "-mavx512vl",
    ],
}

def isa_libraries(name, srcs, hdrs, defines, deps):
    """Compiles sources once for each instruction set, as :<name>_<isa>; :<name> is all that the processor may have.

    Args:
      name: the target.
      srcs: the sources.
      hdrs: headers of theirs.
      defines: the preprocessor's definitions; {isa} in them becomes the instruction set's name.
      deps: dependencies.
    """
    for isa, options in ISAS.items():
        tf_kernel_library(
            name = "{}_{}".format(name, isa),
            srcs = srcs,
            hdrs = hdrs,
            copts = OP_COPTS + options + ["-D" + define.format(isa = isa) for define in defines],
            target_compatible_with = ["@platforms//cpu:x86_64"] if options else [],
            visibility = ["//visibility:public"],
            deps = deps,
        )
    native.cc_library(
        name = name,
        visibility = ["//visibility:public"],
        deps = [":{}_baseline".format(name)] + select({
            "@platforms//cpu:x86_64": [":{}_{}".format(name, isa) for isa in ISAS if isa != "baseline"],
            "//conditions:default": [],
        }),
    )
