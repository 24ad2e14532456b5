# SPDX-License-Identifier: Apache-2.0
"""Repository rules for the Python that builds and tests run on.

`python_venv` installs a hash-pinned lock file into a virtual environment of its own.
`tensorflow_python` chooses the interpreter that holds TensorFlow, describes it, and makes a
Python toolchain of it, so that tests run on it without a copy of TensorFlow in their runfiles.

Variables, set with `--repo_env=NAME=VALUE` or in the environment:
  TF_PYTHON: an interpreter that has TensorFlow already; nothing is installed for it.
  TF_BASE_PYTHON: the interpreter to make virtual environments from (default: python3 on PATH).
"""

_ENVIRON = ["TF_PYTHON", "TF_BASE_PYTHON"]

def _find_python(ctx, variable, value):
    python = ctx.path(value) if value.startswith("/") else ctx.which(value)
    if not python or not python.exists:
        fail("{} is {}, and there is no such program".format(variable, value))
    return python

def _user_python(ctx):
    value = ctx.getenv("TF_PYTHON")
    return _find_python(ctx, "TF_PYTHON", value) if value else None

def _base_python(ctx):
    value = ctx.getenv("TF_BASE_PYTHON")
    return _find_python(ctx, "TF_BASE_PYTHON", value) if value else _find_python(ctx, "the default Python", "python3")

def _last_line(text):
    return text.strip().split("\n")[-1]

def _python_venv_impl(ctx):
    # The packages must fit the interpreter that imports them.
    base = _user_python(ctx) or _base_python(ctx)
    lock = ctx.path(ctx.attr.lock)
    ctx.watch(lock)
    ctx.report_progress("Installing {} (this takes a minute)".format(ctx.attr.lock))
    result = ctx.execute([base, "-B", ctx.path(ctx.attr._make_venv), "venv", lock], timeout = 3600)
    if result.return_code:
        fail("cannot install {}: {}".format(ctx.attr.lock, _last_line(result.stderr)))
    python = ctx.path("venv/bin/python3")
    site = ctx.execute([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).stdout.strip()
    ctx.symlink(site, "packages")

    # With the lock's text, so that who reads this file sees that the environment is another.
    ctx.file("python.txt", "{}\n{}".format(python, ctx.read(lock)))
    ctx.file("BUILD", """\
package(default_visibility = ["//visibility:public"])

# A source directory: one input, however many files it has.
py_library(
    name = "site",
    data = ["packages"],
    imports = ["packages"],
)

filegroup(
    name = "bin",
    srcs = glob(["venv/bin/*"]),
)
""")

python_venv = repository_rule(
    _python_venv_impl,
    doc = """A virtual environment with the packages of a lock file.

Offers `:site`, a py_library that puts them on the import path of a target, `:bin`, their programs, and
`python.txt`, whose first line is the interpreter's path.""",
    attrs = {
        "lock": attr.label(mandatory = True, allow_single_file = True, doc = "A requirements file with hashes."),
        "_make_venv": attr.label(default = "//third_party/py:make_venv.py", allow_single_file = True),
    },
    environ = _ENVIRON,
)

_TOOLCHAIN_BUILD = """\
load("@bazel_tools//tools/python:toolchain.bzl", "py_runtime_pair")

package(default_visibility = ["//visibility:public"])

exports_files(["info.json"])

py_runtime(
    name = "python3",
    interpreter_path = "{python}",
    python_version = "PY3",
    stub_shebang = "#!{python}",
)

py_runtime_pair(
    name = "runtimes",
    py3_runtime = ":python3",
)

toolchain(
    name = "toolchain",
    toolchain = ":runtimes",
    toolchain_type = "@bazel_tools//tools/python:toolchain_type",
)
"""

def _tensorflow_python_impl(ctx):
    user = _user_python(ctx)
    python = user or ctx.path(ctx.read(ctx.attr.venv).split("\n")[0])
    ctx.report_progress("Looking at TensorFlow in {}".format(python))

    # What is described must be what tests see, and they do not see the caller's PYTHONPATH.
    result = ctx.execute([python, "-B", ctx.path(ctx.attr._probe)], environment = {"PYTHONPATH": ""})
    if result.return_code:
        fail(_last_line(result.stderr))
    info = json.decode(result.stdout)
    if user:
        # An upgrade of the user's TensorFlow runs this rule again.
        ctx.watch(info["record"])
    ctx.file("info.json", result.stdout)
    ctx.file("info.bzl", "INFO = {}\n".format(info))
    ctx.file("BUILD", _TOOLCHAIN_BUILD.format(python = info["python"]))

tensorflow_python = repository_rule(
    _tensorflow_python_impl,
    doc = """The interpreter that holds TensorFlow: the user's (TF_PYTHON), or that of a python_venv.

Offers `:toolchain`, to be registered, and what third_party/tensorflow/probe.py writes, as `info.json` and as INFO in
`info.bzl`.""",
    attrs = {
        "venv": attr.label(
            mandatory = True,
            allow_single_file = True,
            doc = "`python.txt` of the python_venv that has TensorFlow; not fetched where TF_PYTHON is set.",
        ),
        "_probe": attr.label(default = "//third_party/tensorflow:probe.py", allow_single_file = True),
    },
    environ = _ENVIRON,
)
