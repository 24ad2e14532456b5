# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's Python with the runtime of a sanitizer."""

load("@bazel_tools//tools/python:toolchain.bzl", "py_runtime_pair")
load("@tf_python//:info.bzl", "INFO")

def sanitized_python(name, preload):
    """Makes a Python toolchain :<name>_toolchain, whose interpreter :<name> loads libraries before all others.

    Args:
      name: the script that starts the interpreter.
      preload: names of libraries that the compiler brings.
    """
    native.genrule(
        name = name,
        srcs = ["python.sh"],
        outs = [name + ".sh"],
        cmd = """
libraries=
for library in {preload}; do
  path=$$($(CC) -print-file-name=$$library)
  case $$path in
    /*) libraries="$$libraries $$path" ;;
    *) echo "$(CC) has no $$library, which this sanitizer needs" >&2; exit 1 ;;
  esac
done
sed -e "s|@libraries@|$${{libraries# }}|" -e 's|@python@|{python}|' $< > $@
""".format(preload = " ".join(preload), python = INFO["python"]),
        executable = True,
        # Built where it is needed only: a compiler may lack the libraries.
        tags = ["manual"],
        toolchains = ["@bazel_tools//tools/cpp:current_cc_toolchain"],
    )
    native.py_runtime(
        name = name + "_runtime",
        tags = ["manual"],
        interpreter = name,
        python_version = "PY3",
        stub_shebang = "#!" + INFO["python"],
    )
    py_runtime_pair(
        name = name + "_runtimes",
        tags = ["manual"],
        py3_runtime = name + "_runtime",
    )
    native.toolchain(
        name = name + "_toolchain",
        toolchain = name + "_runtimes",
        toolchain_type = "@bazel_tools//tools/python:toolchain_type",
    )
