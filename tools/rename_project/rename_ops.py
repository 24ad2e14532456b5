# SPDX-License-Identifier: Apache-2.0
"""Gives the names that ops are registered by another prefix.

The folders, the functions that users call and the modules gen_<op> keep their names. A functor is called as its op is,
so its name changes too, and so do all that are written alike: tests, Keras layers, and the documentation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tools.ci import list_ops
from tools.new_op import new_op
from tools.new_op.names import Name

# The op of docs/tutorial.md.
_TUTORIAL = "tanh_shrink"

_PREFIX = re.compile(r'^OP_PREFIX = "(\w*)"$', re.MULTILINE)
MAX_LENGTH = 8


class PrefixError(ValueError):
    """A prefix that cannot be, in a line for the user."""


def _snake(prefix: str) -> str:
    """How TensorFlow's generator begins the names of functions of ops with a prefix."""
    return "".join(f"{word.lower()}_" for word in re.findall("[A-Z][a-z]+", prefix))


def with_prefix(texts: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The project's files with another prefix of its ops, which may be empty.

    Raises:
      PrefixError: the prefix is not in CamelCase, or too long.
    """
    if not re.fullmatch("([A-Z][a-z]+)*", prefix):
        raise PrefixError(f"{prefix!r} is no prefix in CamelCase such as Acme, of letters alone")
    if len(prefix) > MAX_LENGTH:
        # Otherwise lines that no formatter breaks would be too long.
        raise PrefixError(f"{prefix} has {len(prefix)} characters, and may have {MAX_LENGTH}")
    ops_bzl = str(list_ops.PACKAGE / "ops.bzl")
    (old,) = _PREFIX.findall(texts[ops_bzl])
    ops = {*list_ops.listed(texts[ops_bzl]), *(kind.source.snake for kind in new_op.KINDS.values()), _TUTORIAL}
    camel, snake = "|".join(Name(op).camel for op in ops), "|".join(ops)
    # TensorFlow and Keras have names that are like an op's, too.
    registered = re.compile(rf"(?<!\w)(?<!losses\.){old}({camel})(Grad\w*)?\b")
    # Functions in generated modules, and in libraries that are loaded by tf.load_op_library.
    generated = re.compile(rf"\b(gen_\w+|library)\.{_snake(old)}({snake})(_grad\w*)?\b")
    after = {}
    for path, text in texts.items():
        if path.startswith("tests/rename_project/"):
            after[path] = text
            continue
        new = registered.sub(rf"{prefix}\1\2", text)
        after[path] = generated.sub(rf"\1.{_snake(prefix)}\2\3", new)
    after[ops_bzl] = _PREFIX.sub(f'OP_PREFIX = "{prefix}"', after[ops_bzl])
    return after
