# SPDX-License-Identifier: Apache-2.0
"""The rule that compiles CUDA sources. Load it from @local_config_cuda//cuda:build_defs.bzl."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")

def _cuda_library_impl(ctx):
    host = find_cpp_toolchain(ctx)
    nvcc = ctx.attr._nvcc[cc_common.CcToolchainInfo]
    infos = [dep[CcInfo] for dep in ctx.attr.deps]
    sources = [file for file in ctx.files.srcs if file.basename.endswith(".cu.cc")]
    context, outputs = cc_common.compile(
        actions = ctx.actions,
        name = ctx.label.name,
        cc_toolchain = nvcc,
        compilation_contexts = [
            info.compilation_context
            for info in infos + [ctx.attr._headers[CcInfo]]
        ],
        feature_configuration = cc_common.configure_features(ctx = ctx, cc_toolchain = nvcc),
        local_defines = ctx.attr.local_defines,
        private_hdrs = [file for file in ctx.files.srcs if file not in sources],
        public_hdrs = ctx.files.hdrs,
        srcs = sources,
        user_compile_flags = [flag for option in ctx.attr.copts for flag in ctx.tokenize(option)],
    )
    linking_context, _ = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        alwayslink = True,
        cc_toolchain = host,
        compilation_outputs = outputs,
        disallow_dynamic_library = True,
        feature_configuration = cc_common.configure_features(
            ctx = ctx,
            cc_toolchain = host,
            requested_features = ctx.features,
            unsupported_features = ctx.disabled_features,
        ),
        linking_contexts = [info.linking_context for info in infos],
        # CUDA's runtime, which only TensorFlow's CUDA build has. This undoes a -Wl,-z,defs before it.
        user_link_flags = ["-Wl,--unresolved-symbols=ignore-all"],
    )
    return [
        DefaultInfo(files = depset(outputs.pic_objects)),
        CcInfo(compilation_context = context, linking_context = linking_context),
    ]

cuda_library = rule(
    _cuda_library_impl,
    doc = """Compiles CUDA sources, each by an action of its own, to objects for a C++ binary to link.

Everything in it is linked (alwayslink). Its files are the objects, so that tests can have them as data.""",
    attrs = {
        "copts": attr.string_list(
            doc = """Options, written as for cc_library. They are the host compiler's, but for
`-nvcc_options=NAME`, which is nvcc's `--NAME`, as in TensorFlow's source tree.""",
        ),
        "deps": attr.label_list(providers = [CcInfo], doc = "As in cc_library."),
        "hdrs": attr.label_list(allow_files = True, doc = "As in cc_library."),
        "local_defines": attr.string_list(doc = "As in cc_library."),
        "srcs": attr.label_list(
            allow_files = [".cu.cc", ".h", ".inc"],
            doc = "The CUDA sources, each named *.cu.cc, and headers that only these include.",
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_headers": attr.label(default = "@local_config_cuda//cuda:cuda_headers"),
        "_nvcc": attr.label(default = "@local_config_cuda//cuda:nvcc"),
    },
    fragments = ["cpp"],
    toolchains = use_cpp_toolchain(),
)
