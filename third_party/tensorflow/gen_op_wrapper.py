# SPDX-License-Identifier: Apache-2.0
"""Writes the Python functions of the ops that a library registers, by TensorFlow's own generator."""

from __future__ import annotations

import argparse
import os
import pathlib
import re

# Before TensorFlow is imported, for it prints and looks for GPUs.
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework import _pywrap_python_op_gen


def registered_ops(library: str) -> op_def_pb2.OpList:
    """The ops that loading `library` registers."""
    handle = pywrap_tf_session.TF_LoadLibrary(os.path.abspath(library))
    return op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetOpList(handle))


def hide(source: str, op_names: list[str]) -> str:
    """Puts an underscore before the functions of some ops."""
    functions = dict(re.findall(r'tf_export\("raw_ops\.(\w+)"\)\(_ops\.to_raw_op\((\w+)\)\)', source))
    for op_name in op_names:
        # Not in a string, nor as the name of an argument.
        use = rf"(?<![\w.'\"]){functions[op_name]}(_eager_fallback)?\b(?!['\"=:])"
        source = re.sub(use, lambda match: f"_{match[0]}", source)
    return source


def names(text: str) -> list[str]:
    """Names between commas or on lines of their own; a line that is no name is a comment."""
    return [n for n in re.split(r"[,\n]", text) if re.fullmatch(r"[A-Za-z]\w*", n.strip())]


def main() -> None:
    """Generates one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", help="a shared library that registers ops")
    parser.add_argument("out", type=pathlib.Path, help="the Python file to write")
    parser.add_argument("--hidden", type=names, default=[], help="ops with an underscore")
    parser.add_argument("--hidden_file", type=pathlib.Path, help="a file with such ops")
    parser.add_argument("--op_allowlist", type=names, default=[], help="the only ops to wrap")
    args = parser.parse_args()

    ops = registered_ops(args.library)
    hidden = args.hidden + (names(args.hidden_file.read_text()) if args.hidden_file else [])
    known = {op.name for op in ops.op}
    unknown = sorted(set(hidden + args.op_allowlist) - known)
    if not known:
        parser.error(f"{args.library} registers no op")
    if unknown:
        parser.error(f"{args.library} registers no {', '.join(unknown)}; it has {', '.join(sorted(known))}")
    wanted = [op for op in ops.op if not args.op_allowlist or op.name in args.op_allowlist]
    source = _pywrap_python_op_gen.GetPythonWrappers(op_def_pb2.OpList(op=wanted).SerializeToString())
    source = source.decode() if isinstance(source, bytes) else source
    args.out.write_text(hide(source, hidden))


if __name__ == "__main__":
    main()
