# SPDX-License-Identifier: Apache-2.0
"""What is compiled for one instruction set, in all that some targets are linked from."""

load("//tools/build_defs:isa.bzl", "ISAS", "MORE_ISAS")

def _isa_archives_impl(ctx):
    archives = []
    for dep in ctx.attr.deps:
        for linker_input in dep[CcInfo].linking_context.linker_inputs.to_list():
            if [isa for isa in ISAS | MORE_ISAS if linker_input.owner.name.endswith("_" + isa)]:
                archives += [lib.pic_static_library or lib.static_library for lib in linker_input.libraries]
    return DefaultInfo(files = depset(archives))

isa_archives = rule(
    implementation = _isa_archives_impl,
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
    doc = "The archives of the targets that isa_libraries makes, as far as `deps` are linked from them.",
)
