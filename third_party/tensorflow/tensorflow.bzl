# SPDX-License-Identifier: Apache-2.0
"""The macros of TensorFlow's own tensorflow.bzl that custom ops use, over the pip wheel.

Names and parameters are those of the source tree, so that a BUILD file written for it works here
unchanged. Parameters that mean nothing for a wheel are accepted and said to be so.
"""

load("@local_config_cuda//cuda:build_defs.bzl", "cuda_library", "if_cuda")
load("//:wheel.bzl", "WHEEL")

visibility("public")

# What an op library needs in a build with a sanitizer.
_SANITIZER_DEPS = select({
    "@tensorflow_custom_ops//tools/sanitizers:with_tsan": ["@tensorflow_custom_ops//tools/sanitizers/runtime:order"],
    "//conditions:default": [],
})

def clean_dep(dep):
    """A label of this repository as seen from any other.

    Args:
      dep: a label, as written in this repository.

    Returns:
      The label with its repository's name.
    """
    return str(Label(dep))

def tf_copts(
        android_optimization_level_override = "-O2",  # buildifier: disable=unused-variable
        is_external = False,  # buildifier: disable=unused-variable
        allow_exceptions = False):
    """The options that code built into TensorFlow needs.

    Args:
      android_optimization_level_override: not used: no Android build.
      is_external: not used: it matters on Windows only.
      allow_exceptions: leaves out -fno-exceptions.

    Returns:
      A list of compiler options: those of the wheel, by tf.sysconfig, and those of the source tree.
    """
    return WHEEL.cxx_flags + [
        "-pthread",
        "-ftemplate-depth=900",
        "-Wno-sign-compare",
        "-DEIGEN_AVOID_STL_ARRAY",
    ] + ([] if allow_exceptions else ["-fno-exceptions"])

# Named by its libraries, as in the source tree.
# buildifier: disable=unnamed-macro
def tf_gen_op_libs(
        op_lib_names,
        sub_directory = "ops/",
        deps = None,
        is_external = True,
        compatible_with = None,
        features = []):
    """Makes a library `<name>_op_lib` of each source that defines ops.

    Args:
      op_lib_names: names of sources, without folder and .cc.
      sub_directory: the sources' folder, with a slash at the end.
      deps: further C++ dependencies.
      is_external: as in tf_copts.
      compatible_with: as in every rule.
      features: as in cc_library.
    """
    for name in op_lib_names:
        native.cc_library(
            name = name + "_op_lib",
            srcs = [sub_directory + name + ".cc"],
            copts = tf_copts(is_external = is_external),
            compatible_with = compatible_with,
            features = features,
            linkstatic = 1,
            visibility = ["//visibility:public"],
            deps = (deps or []) + [clean_dep("//tensorflow/core:framework")],
            alwayslink = 1,
        )

def tf_kernel_library(
        name,
        prefix = None,
        srcs = None,
        gpu_srcs = None,
        hdrs = None,
        deps = None,
        gpu_deps = None,
        alwayslink = 1,
        copts = None,
        gpu_copts = None,
        is_external = False,
        compatible_with = None,
        textual_hdrs = None,
        **kwargs):
    """A library of kernels, all of it linked into what depends on it.

    Args:
      name: the target.
      prefix: adds <prefix>*.cc to srcs, <prefix>*.h to hdrs and <prefix>*impl.h to textual_hdrs, but no
        tests; and <prefix>*.cu.cc to gpu_srcs, with <prefix>*.h.
      srcs: C++ sources.
      gpu_srcs: CUDA sources, each named *.cu.cc or *.h; compiled where CUDA is configured.
      hdrs: headers.
      deps: C++ dependencies.
      gpu_deps: dependencies of gpu_srcs, beside deps.
      alwayslink: as in cc_library, on by default.
      copts: options, before those of tf_copts.
      gpu_copts: options of gpu_srcs.
      is_external: as in tf_copts.
      compatible_with: as in every rule.
      textual_hdrs: headers that are not compiled alone.
      **kwargs: passed to cc_library.
    """
    srcs = srcs or []
    gpu_srcs = gpu_srcs or []
    hdrs = hdrs or []
    deps = deps or []
    textual_hdrs = textual_hdrs or []
    if prefix:
        tests = [prefix + "*test*"]
        srcs = srcs + native.glob([prefix + "*.cc"], exclude = tests + [prefix + "*.cu.cc"], allow_empty = True)
        hdrs = hdrs + native.glob(
            [prefix + "*.h"],
            exclude = tests + [prefix + "*.cu.h", prefix + "*impl.h"],
            allow_empty = True,
        )
        textual_hdrs = textual_hdrs + native.glob([prefix + "*impl.h"], exclude = tests, allow_empty = True)
        if native.glob([prefix + "*.cu.cc"], exclude = tests, allow_empty = True):
            gpu_srcs = gpu_srcs + native.glob([prefix + "*.cu.cc", prefix + "*.h"], exclude = tests)
    native.cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        copts = (copts or []) + tf_copts(is_external = is_external) + _cuda_defines(gpu_srcs),
        compatible_with = compatible_with,
        linkstatic = 1,
        textual_hdrs = textual_hdrs,
        deps = deps + _gpu_library(
            name = name + "_gpu",
            srcs = gpu_srcs,
            compatible_with = compatible_with,
            copts = gpu_copts or [],
            testonly = kwargs.get("testonly"),
            deps = deps + (gpu_deps or []),
        ),
        alwayslink = alwayslink,
        **kwargs
    )

def _cuda_defines(gpu_srcs):
    """The options of C++ sources beside gpu_srcs.

    The source tree gives them to all sources, which would compile all of them again for --config=cuda.
    """
    return if_cuda(["-DGOOGLE_CUDA=1"] if gpu_srcs else [])

def _gpu_library(name, srcs, copts, deps, **kwargs):
    """Makes the library of the CUDA sources, if there are any; returns what depends on them needs."""
    if not srcs:
        return []
    for src in srcs:
        if src.endswith(".cc") and not src.endswith(".cu.cc"):
            fail("{} is in gpu_srcs; a CUDA source must be named *.cu.cc".format(src))
    cuda_library(
        name = name,
        srcs = srcs,
        copts = copts + tf_copts() + [
            "-DGOOGLE_CUDA=1",
            "-nvcc_options=expt-relaxed-constexpr",
            "-nvcc_options=ftz=true",
        ],
        deps = deps,
        **kwargs
    )
    return if_cuda([":" + name])

def tf_custom_op_library_additional_deps():
    """The headers that every custom op needs.

    Returns:
      A list of labels.
    """
    return [
        "@com_google_protobuf//:protobuf_headers",
        "@eigen_archive//:eigen3",
        clean_dep("//tensorflow/core:framework_headers_lib"),
    ]

def tf_custom_op_library(
        name,
        srcs = [],
        gpu_srcs = [],
        deps = [],
        gpu_deps = None,
        linkopts = [],
        copts = [],
        **kwargs):
    """A shared library of ops and kernels, for tf.load_op_library.

    Args:
      name: the target, which is the file's name: *.so.
      srcs: C++ sources.
      gpu_srcs: CUDA sources, each named *.cu.cc or *.h; compiled where CUDA is configured. They need
        CUDA's runtime, which is in TensorFlow's CUDA build: without that the library does not load.
      deps: C++ dependencies.
      gpu_deps: dependencies of gpu_srcs, beside deps.
      linkopts: options for the linker.
      copts: options, before those of tf_copts.
      **kwargs: passed to cc_binary.
    """
    deps = deps + tf_custom_op_library_additional_deps()
    native.cc_binary(
        name = name,
        srcs = srcs,
        copts = copts + tf_copts(is_external = True) + _cuda_defines(gpu_srcs),
        # An ABI or symbol mistake fails here, and not when a user loads the library.
        linkopts = linkopts + ["-Wl,-z,defs", "-Wl,-soname," + name.split("/")[-1]],
        linkshared = 1,
        deps = deps + [clean_dep("//:framework")] + _SANITIZER_DEPS + _gpu_library(
            name = name.split(".")[0] + "_gpu",
            srcs = gpu_srcs,
            copts = copts,
            testonly = kwargs.get("testonly"),
            deps = deps + (gpu_deps or []),
        ),
        **kwargs
    )

def tf_gen_op_wrapper_py(
        name,
        out = None,
        hidden = None,
        visibility = None,
        deps = [],
        require_shape_functions = False,  # buildifier: disable=unused-variable
        hidden_file = None,
        generated_target_name = None,
        op_whitelist = [],
        op_allowlist = [],
        cc_linkopts = [],
        api_def_srcs = [],
        compatible_with = [],
        testonly = False,
        copts = [],
        extra_py_deps = None,
        py_lib_rule = native.py_library):
    """The Python functions of the ops that `deps` define.

    Args:
      name: the target, and part of the names of intermediate files.
      out: the Python file; ops/gen_<name>.py by default.
      hidden: names of ops whose functions get an underscore before their name.
      visibility: of the Python library.
      deps: C++ libraries, such as tf_gen_op_libs makes. They are not dependencies of the result: what uses
        the functions must load a library that has the kernels.
      require_shape_functions: not used, in the source tree neither.
      hidden_file: a file with the names for `hidden`, one on each line.
      generated_target_name: the Python library's name, if not `name`.
      op_whitelist: the old name of op_allowlist.
      op_allowlist: if given, the only ops that get a function.
      cc_linkopts: linker options for the intermediate library.
      api_def_srcs: cannot be used with the wheel: they change TensorFlow's own tf.* names.
      compatible_with: as in every rule.
      testonly: as in every rule.
      copts: compiler options for the intermediate library.
      extra_py_deps: dependencies of the Python library.
      py_lib_rule: the rule that makes the Python library.
    """
    op_allowlist = op_allowlist or op_whitelist
    if (hidden or hidden_file) and op_allowlist:
        fail("tf_gen_op_wrapper_py {}: hidden ops and op_allowlist exclude one another".format(name))
    if api_def_srcs:
        fail("tf_gen_op_wrapper_py {}: api_def_srcs needs TensorFlow's source tree".format(name))

    library = "lib{}_wrapped_ops.so".format(name)
    tf_custom_op_library(
        name = library,
        compatible_with = compatible_with,
        copts = copts,
        linkopts = cc_linkopts,
        testonly = testonly,
        visibility = ["//visibility:private"],
        deps = deps or [clean_dep("//tensorflow/core:{}_op_lib".format(name))],
    )
    args = ["$(location {})".format(library), "$@"]
    if hidden:
        args.append("--hidden=" + ",".join(hidden))
    if hidden_file:
        args.append("--hidden_file=$(location {})".format(hidden_file))
    if op_allowlist:
        args.append("--op_allowlist=" + ",".join(op_allowlist))
    out = out or "ops/gen_{}.py".format(name)
    generator = clean_dep("//:gen_op_wrapper")
    native.genrule(
        name = name + "_pygenrule",
        srcs = [library] + ([hidden_file] if hidden_file else []),
        outs = [out],
        cmd = "$(location {}) {}".format(generator, " ".join(args)),
        compatible_with = compatible_with,
        message = "Generating the Python wrapper",
        testonly = testonly,
        tools = [generator],
    )
    py_lib_rule(
        name = generated_target_name or name,
        srcs = [out],
        compatible_with = compatible_with,
        testonly = testonly,
        visibility = visibility,
        deps = [clean_dep("//tensorflow:tensorflow_py")] + (extra_py_deps or []),
    )
