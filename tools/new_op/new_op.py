# SPDX-License-Identifier: Apache-2.0
"""Makes a new op: a copy of one of its kind, by another name, which builds and passes its tests.

    bazel run //tools/new_op -- NAME                    an elementwise op, made from one function
    bazel run //tools/new_op -- NAME --kind=full        an op whose kernels for CPU, GPU and XLA are written by hand
    bazel run //tools/new_op -- NAME --kind=composite   a Python function of TensorFlow's ops, with its own gradient

The op's folder is new, and its name is added to ops.bzl. The exit status is 2 if that cannot be.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence

from tools.ci import list_ops
from tools.lint import lint
from tools.new_op import names
from tools.new_op.names import Name, RefusedError

_CORE = "tensorflow_custom_ops/core/**/*.h"

# Where the files are that it copies if their op has been removed, and how their names end there.
TEMPLATES = "tools/new_op/templates"
TEMPLATE_SUFFIX = ".template"


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of ops.

    Attributes:
      source: The name of the op that is copied.
      files: Patterns of its files, from the repository's root.
      replaced: What becomes something else beside the name.
      next: What to write first.
    """

    source: Name
    files: tuple[str, ...]
    next: str
    replaced: tuple[tuple[str, str], ...] = ()


KINDS = {
    "elementwise": Kind(
        source=Name("scaled_silu"),
        files=("tensorflow_custom_ops/ops/scaled_silu/*",),
        next="the function in {op}.h, its inputs and attributes in {op}.cc (docs/elementwise.md)",
    ),
    # The package's SimpleAdd is elementwise; that by hand has the same Python function.
    "full": Kind(
        source=Name("simple_add"),
        files=("tensorflow_custom_ops/ops/simple_add/*.py", "examples/by_hand/simple_add/*"),
        next="the definition in {op}.cc, kernels in {op}_kernel.h, {op}_gpu.cu.cc and {op}_xla.cc (docs/by_hand.md)",
        replaced=(
            ("examples/by_hand:by_hand_op.bzl", "tools/build_defs:custom_op.bzl"),
            ("by_hand_op", "custom_op"),
            ("examples/by_hand/", "tensorflow_custom_ops/ops/"),
            ("EXAMPLES_BY_HAND_", "TENSORFLOW_CUSTOM_OPS_OPS_"),
        ),
    ),
    "composite": Kind(
        source=Name("row_norm"),
        files=("tensorflow_custom_ops/ops/row_norm/*",),
        next="what it computes, and the gradient, in _{op} of {op}.py",
    ),
}

_NEXT = """\
{folder} is new, and in the list of {ops_bzl}. It is a copy of {source}, and computes the same. Now write
  1. {next};
  2. the Python function in {op}.py: its arguments, docstring and gradient;
  3. what it should compute, by NumPy, in {op}_test.py, and how op_check should call it in {op}_samples.py, which an op
     whose arguments are all tensors of one shape need not have (docs/testing.md);
  4. a line in README.md's table of ops.
Before that and after it,
  ./bazelw test //{folder}/...
  ./bazelw test //tests/testing:ops_test --test_filter=fault_{op}_
  ./bazelw run //tools/lint
To undo it, delete the folder and its line in the list."""


def tensorflow_ops() -> list[str]:
    """The names of all ops that TensorFlow registers."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # Not at the top: it takes seconds, for which a name that is wrong need not wait.
    from tensorflow.core.framework import op_def_pb2  # noqa: PLC0415
    from tensorflow.python.client import pywrap_tf_session  # noqa: PLC0415

    buffer = pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList())
    return [op.name for op in op_def_pb2.OpList.FromString(buffer).op]


def _sources(repository: pathlib.Path, patterns: Iterable[str]) -> dict[str, str]:
    """The texts of the files that fit patterns, by their paths in the repository."""
    found = {}
    for pattern in patterns:
        paths = {path: path.relative_to(repository) for path in repository.glob(pattern)}
        templates = repository / TEMPLATES
        paths |= {
            path: path.relative_to(templates).with_name(path.name.removesuffix(TEMPLATE_SUFFIX))
            for path in templates.glob(pattern + TEMPLATE_SUFFIX)
        }
        texts = {str(name): path.read_text() for path, name in sorted(paths.items()) if path.is_file()}
        if not texts:
            raise RefusedError(f"there is no {pattern}, of which the op would be made")
        found.update(texts)
    return found


def check_name(repository: pathlib.Path, name: str, kind: Kind, registered: Callable[[], Iterable[str]]) -> None:
    """Refuses a name that a new op cannot have.

    Args:
      repository: the repository's root.
      name: the name.
      kind: the op's kind.
      registered: returns the names of TensorFlow's ops.

    Raises:
      RefusedError: why.
    """
    names.check_style(name)
    folder = list_ops.PACKAGE / name
    if (repository / folder).exists() or (repository / folder).is_symlink():
        raise RefusedError(f"{folder} exists, and nothing is overwritten")
    text = (repository / list_ops.PACKAGE / "ops.bzl").read_text()
    reserved = re.search(r"^_RESERVED = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    prefix = re.search(r'^OP_PREFIX = "(\w*)"$', text, re.MULTILINE)
    names.check_new(
        name,
        list_ops.listed(text),
        re.findall(r'"(\w+)"', reserved[1]) if reserved else [],
        registered(),
        prefix[1] if prefix else "",
    )
    sources = _sources(repository, (*kind.files, _CORE))
    # In the others, the name stands after that of a module.
    around = {path: text for path, text in sources.items() if path.endswith((f"/{kind.source.snake}.py", ".cc", ".h"))}
    names.check_unused(name, around)


def make_op(repository: pathlib.Path, name: str, kind: Kind) -> pathlib.Path:
    """Makes the folder of an op, of which the name has been checked, all or nothing, and adds it to the list.

    Args:
      repository: the repository's root.
      name: the op's name.
      kind: its kind.

    Returns:
      The folder, from the root.

    Raises:
      RefusedError: there is no op of the kind, or a formatter fails.
    """
    new, folder = Name(name), list_ops.PACKAGE / name
    files = _sources(repository, kind.files)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix=".new_op.", dir=repository / list_ops.PACKAGE))
    try:
        scratch.chmod(0o755)
        for path, source in files.items():
            text = source
            for old, replacement in kind.replaced:
                text = text.replace(old, replacement)
            (scratch / new.replace(kind.source, pathlib.Path(path).name)).write_text(new.replace(kind.source, text))
        # What buildifier formats is the same for every name.
        formatted = [path.relative_to(repository) for path in sorted(scratch.iterdir()) if path.suffix]
        failures = lint.rewrite(repository, formatted)
        if failures:
            raise RefusedError(f"a formatter fails: {'; '.join(failures)}")
        scratch.rename(repository / folder)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    ops_bzl = repository / list_ops.PACKAGE / "ops.bzl"
    text = ops_bzl.read_text()
    ops_bzl.write_text(list_ops.with_ops(text, sorted([*list_ops.listed(text), name])))
    return folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Makes what the command line says; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="bazel run //tools/new_op --",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", metavar="NAME", help="in lower case with underscores, such as soft_clip")
    parser.add_argument("--kind", choices=tuple(KINDS), default="elementwise", help="default: %(default)s")
    options = parser.parse_args(arguments)
    if "BUILD_WORKSPACE_DIRECTORY" not in os.environ:
        print("new_op: BUILD_WORKSPACE_DIRECTORY is not set: use `bazel run //tools/new_op`", file=sys.stderr)
        return 2
    repository = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]).resolve()
    kind = KINDS[options.kind]
    try:
        check_name(repository, options.name, kind, tensorflow_ops)
        folder = make_op(repository, options.name, kind)
    except (RefusedError, OSError, ValueError) as error:
        print(f"new_op: {error}", file=sys.stderr)
        return 2
    print(
        _NEXT.format(
            folder=folder,
            ops_bzl=list_ops.PACKAGE / "ops.bzl",
            source=kind.source.snake,
            op=options.name,
            next=kind.next.format(op=options.name),
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
