# SPDX-License-Identifier: Apache-2.0
"""nvcc as a C++ compiler of Bazel's, so that headers are tracked as for C++."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load(
    "@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl",
    "action_config",
    "feature",
    "flag_group",
    "flag_set",
    "tool",
)
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")

NVCC_OPTIONS = [
    "-x",
    "cu",
    "-std=c++17",
    "-O3",
    "-Xfatbin=-compress-all",
    # CUDA 12.9 warns of each of the oldest architectures that it can do.
    "-Wno-deprecated-gpu-targets",
]

def gencode(architecture):
    """The options for one entry of TF_CUDA_COMPUTE_CAPABILITIES.

    Args:
      architecture: sm_XY, for its machine code, or compute_XY, for that and PTX.

    Returns:
      A list of strings.
    """
    virtual = architecture.replace("sm_", "compute_")
    real = architecture.replace("compute_", "sm_")
    code = real if architecture == real else "[{},{}]".format(real, virtual)
    return ["-gencode", "arch={},code={}".format(virtual, code)]

def _each(variable, *flags):
    """One group of flags for each value of a build variable."""
    return flag_group(flags = list(flags), iterate_over = variable, expand_if_available = variable)

def _nvcc_toolchain_config_impl(ctx):
    host = find_cpp_toolchain(ctx)
    options = ["-ccbin", host.compiler_executable] + NVCC_OPTIONS
    if host.compiler != "clang":
        # Else gcc names a toolkit's headers by where the toolkit is, if that is shorter, and not as Bazel knows them.
        options.append("-Xcompiler=-fno-canonical-system-headers")
    for architecture in ctx.attr.architectures:
        options += gencode(architecture)
    compile = flag_set(
        flag_groups = [
            flag_group(flags = options),
            flag_group(flags = ["-Xcompiler=-fPIC"], expand_if_available = "pic"),
            flag_group(flags = ["-MD", "-MF", "%{dependency_file}"], expand_if_available = "dependency_file"),
            _each("preprocessor_defines", "-D%{preprocessor_defines}"),
            # nvcc has no -iquote.
            _each("quote_include_paths", "-I%{quote_include_paths}"),
            _each("include_paths", "-I%{include_paths}"),
            _each("system_include_paths", "-isystem", "%{system_include_paths}"),
            _each("external_include_paths", "-isystem", "%{external_include_paths}"),
            flag_group(flags = ["-c", "%{source_file}", "-o", "%{output_file}", "--host"]),
            _each("user_compile_flags", "%{user_compile_flags}"),
        ],
    )
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        action_configs = [
            action_config(
                action_name = ACTION_NAMES.cpp_compile,
                enabled = True,
                flag_sets = [compile],
                tools = [tool(tool = ctx.file.nvcc)],
            ),
        ],
        compiler = "nvcc",
        cxx_builtin_include_directories = host.built_in_include_directories,
        features = [
            feature(name = "no_legacy_features"),
            feature(name = "supports_pic", enabled = True),
        ],
        target_cpu = host.cpu,
        target_libc = host.libc,
        target_system_name = host.target_gnu_system_name,
        toolchain_identifier = "nvcc",
    )

nvcc_toolchain_config = rule(
    _nvcc_toolchain_config_impl,
    doc = "How nvcc is called.",
    attrs = {
        "architectures": attr.string_list(doc = "What to compile for, as find_cuda.py lists it."),
        "nvcc": attr.label(allow_single_file = True, doc = "The program to run."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    provides = [CcToolchainConfigInfo],
    toolchains = use_cpp_toolchain(),
)
