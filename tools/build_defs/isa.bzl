# SPDX-License-Identifier: Apache-2.0
"""Instruction sets: libraries that are compiled once for each, of which a kernel chooses when it is made."""

load("@org_tensorflow//tensorflow:tensorflow.bzl", "tf_kernel_library")
load("//tools/build_defs:copts.bzl", "OP_COPTS")

_AVX2 = [
    "-mavx2",
    "-mfma",
    "-mf16c",
]

_AVX512 = _AVX2 + [
    "-mavx512f",
    "-mavx512cd",
    "-mavx512bw",
    "-mavx512dq",
    "-mavx512vl",
]

# From the plainest to the best, as in core/isa.h. core/isa.cc asks the processor for the same.
ISAS = {
    "baseline": [],
    "avx2": _AVX2,
    "avx512": _AVX512,
}

# Better ones, for which only some libraries have code of their own. GCC 10 and Clang 9 are the first that know them.
MORE_ISAS = {
    "avx512_bf16": _AVX512 + ["-mavx512bf16"],
}

def isa_libraries(name, srcs, hdrs, defines, deps, more_isas = []):
    """Compiles sources once for each instruction set, as :<name>_<isa>; :<name> is all that the processor may have.

    Args:
      name: the target.
      srcs: the sources.
      hdrs: headers of theirs.
      defines: the preprocessor's definitions; {isa} in them becomes the instruction set's name.
      deps: dependencies.
      more_isas: those of MORE_ISAS that there is code for.
    """
    isas = ISAS | {isa: MORE_ISAS[isa] for isa in more_isas}
    for isa, options in isas.items():
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
            "@platforms//cpu:x86_64": [":{}_{}".format(name, isa) for isa in isas if isa != "baseline"],
            "//conditions:default": [],
        }),
    )
