# SPDX-License-Identifier: Apache-2.0
"""Names of ops: the forms that a name has, and which names an op cannot have."""

from __future__ import annotations

import builtins
import dataclasses
import io
import keyword
import re
import tokenize
from collections.abc import Iterable, Mapping

# For a longer one, lines that no formatter breaks would be too long.
MAX_LENGTH = 30

_CPP_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do
double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace
new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return
short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef
typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
"""


class RefusedError(ValueError):
    """Why an op cannot be made, in a line for the user."""


@dataclasses.dataclass(frozen=True)
class Name:
    """An op's name.

    Attributes:
      snake: That of the folder and of the Python function.
    """

    snake: str

    @property
    def camel(self) -> str:
        """The name that the op is registered by, but for a prefix that all have."""
        return "".join(word.capitalize() for word in self.snake.split("_"))

    def replace(self, other: Name, text: str) -> str:
        """A text with this name in place of another, in all forms."""
        text = text.replace(other.snake, self.snake).replace(other.camel, self.camel)
        return text.replace(other.snake.upper(), self.snake.upper())


def check_style(name: str) -> None:
    """Refuses a name that cannot be that of an op, whatever else there is.

    Raises:
      RefusedError: why.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise RefusedError(f"{name!r} is no name in lower case with underscores between words, such as soft_clip")
    if len(name) > MAX_LENGTH:
        raise RefusedError(f"{name} has {len(name)} characters, and may have {MAX_LENGTH}")
    if keyword.iskeyword(name):
        raise RefusedError(f"{name} is a reserved word of Python")
    if name in _CPP_KEYWORDS.split():
        raise RefusedError(f"{name} is a reserved word of C++")
    if hasattr(builtins, name):
        raise RefusedError(f"{name} is a function or type of Python, which the op's would hide")
    if name.endswith("_grad"):
        raise RefusedError(f"{name} is the name of a gradient, which is made with its op")


def check_new(
    name: str, ops: Iterable[str], reserved: Iterable[str], tensorflow_ops: Iterable[str], prefix: str = ""
) -> None:
    """Refuses a name that something else has, or one that differs in capitals and underscores only.

    Args:
      name: the name.
      ops: those of this package's ops.
      reserved: other names of the package's.
      tensorflow_ops: the names that TensorFlow has registered ops by.
      prefix: with which those of this package start.

    Raises:
      RefusedError: why.
    """
    if name in reserved:
        raise RefusedError(f"{name} is a module or function of the package")
    for op in ops:
        if op.replace("_", "") == name.replace("_", ""):
            raise RefusedError(f"{name}: the package has an op {op}")
    # An elementwise op has a gradient that is an op, too.
    taken = {f"{prefix}{Name(name).camel}{end}".lower() for end in ("", "Grad")}
    for op in tensorflow_ops:
        if op.lower() in taken:
            raise RefusedError(f"{name}: TensorFlow has an op {op}")


def check_unused(name: str, sources: Mapping[str, str]) -> None:
    """Refuses a name that means something else in the sources around the op.

    Args:
      name: the name.
      sources: texts of Python and C++, by their paths.

    Raises:
      RefusedError: why.
    """
    in_python, in_cpp = {name, f"gen_{name}"}, {Name(name).camel, f"{Name(name).camel}Grad", name.upper()}
    for path, text in sources.items():
        used = in_python & _python_names(text) if path.endswith(".py") else in_cpp & _cpp_names(text)
        for other in sorted(used):
            raise RefusedError(f"{name}: {path} uses {other} for something else")


def _python_names(text: str) -> set[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


def _cpp_names(text: str) -> set[str]:
    code = re.sub(r'(?s:R"doc\(.*?\)doc")|//.*|"(?:\\.|[^"\\\n])*"', " ", text)
    return set(re.findall(r"[A-Za-z_]\w*", code))
