# SPDX-License-Identifier: Apache-2.0
"""Reads the functor of an elementwise op, and says how the op is compiled."""

from __future__ import annotations

import dataclasses
import keyword
import re
from collections.abc import Mapping, Sequence

from tensorflow_custom_ops import _build_info
from tensorflow_custom_ops.jit import _options
from tensorflow_custom_ops.jit._plan import Plan, Unit

Attribute = bool | int | float

_HEADER = "functor.h"
_OP_HEADER = "functor_op.h"
_DEFINITION = "definition.h"

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRUCT = re.compile(r"\bstruct\s+(\w+)\s*(?:final\s*)?:\s*(?:public\s+)?(?:\w+\s*::\s*)*Elementwise\s*<")
_APPLY = re.compile(r"\bApply\s*\(([^()]*)\)")
_PARAMETER = re.compile(r"(?P<type>.*[\s&])(?P<name>[A-Za-z_]\w*)", re.DOTALL)

# What the gradient op and TensorFlow's functions call theirs.
_TAKEN = {"T", "grad", "name", "orders", "output"}

_WRAPPER = """\
#include "tensorflow_custom_ops/core/elementwise/functor.h"
namespace tensorflow_custom_ops {{
#include "{header}"
}}
"""

_DEFINE = """\
namespace tensorflow_custom_ops {{
REGISTER_ELEMENTWISE_OP({op}){inputs}{attributes}.Doc(R"doc_({doc})doc_");
}}
"""


@dataclasses.dataclass(frozen=True)
class Functor:
    """A functor.

    Attributes:
      op: the op's name, which is its struct's.
      text: the struct.
      inputs: the names of the op's inputs.
      attributes: its attributes and their defaults.
      doc: its documentation.
    """

    op: str
    text: str
    inputs: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    doc: str

    def add_to(self, plan: Plan) -> None:
        """Adds to a plan what makes the op."""
        isa, isa_flags = _options.instruction_set()
        defines = [f"-DELEMENTWISE_OP={self.op}", f'-DELEMENTWISE_HEADER="{_OP_HEADER}"', f"-DELEMENTWISE_ISA={isa}"]
        of_op = [f'-DELEMENTWISE_NAME="{self.op}"', f'-DELEMENTWISE_DEFINITION="{_DEFINITION}"']
        if _build_info.XLA:
            of_op.append("-DELEMENTWISE_XLA")
        package = _options.INCLUDE / "tensorflow_custom_ops"
        plan.texts |= {
            _HEADER: self.text,
            _OP_HEADER: _WRAPPER.format(header=_HEADER),
            _DEFINITION: _DEFINE.format(
                op=self.op,
                inputs="".join(f'.Input("{name}")' for name in self.inputs),
                attributes="".join(f'.Attribute("{_spec(*item)}")' for item in self.attributes.items()),
                doc=self.doc,
            ),
        }
        # The longest first.
        plan.units += [
            Unit(str(package / "core/elementwise/cpu_functions.cc"), ("-iquote.", *defines, *isa_flags)),
            Unit(str(package / "jit/functor_op.cc"), ("-iquote.", *defines, *of_op)),
        ]


def _spec(name: str, default: Attribute) -> str:
    """An attribute as REGISTER_OP takes it."""
    kind = type(default).__name__
    return f"{name}: {kind} = {str(default).lower() if isinstance(default, bool) else repr(default)}"


def read(
    text: str, inputs: Sequence[str] | None, attributes: Mapping[str, Attribute] | None, doc: str | None
) -> Functor:
    """Reads a functor.

    Args:
      text: the struct, and what else it needs.
      inputs: the names of the inputs, if not those of Apply's parameters.
      attributes: their defaults.
      doc: the op's documentation.

    Raises:
      ValueError, TypeError: it is not the functor of an op, or the names do not fit.
    """
    # Comments become blanks, so that nothing moves.
    code = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    structs = list(_STRUCT.finditer(code))
    if len(structs) != 1:
        found = ", ".join(match[1] for match in structs) or "none"
        raise ValueError(
            "functor must have one struct that derives from Elementwise, as in "
            f"`struct Cube : Elementwise</*inputs=*/1> {{ ... }};`, but it has {found}"
        )
    op = structs[0][1]
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", op):
        raise ValueError(f"the functor's name becomes the op's, and must be in CamelCase, but it is {op}")
    if re.search(r"^\s*#\s*include\b|\bnamespace\s+tensorflow_custom_ops\b", code, re.MULTILINE):
        raise ValueError(
            f"functor must be the struct {op} alone, without #include and namespace: it is put into the namespace "
            "tensorflow_custom_ops, after core/elementwise/functor.h"
        )
    input_names, attribute_names = _parameters(op, code[structs[0].end() :])
    if inputs is not None:
        if len(inputs) != len(input_names):
            raise ValueError(
                f"{op}::Apply takes {len(input_names)} inputs ({', '.join(input_names)}), but inputs has {len(inputs)}"
            )
        input_names = list(inputs)
    defaults = dict(attributes or {})
    if list(defaults) != attribute_names:
        takes = f"the attributes {', '.join(attribute_names)}, in this order" if attribute_names else "no attributes"
        example = ", ".join(f'"{name}": 1.0' for name in attribute_names)
        raise ValueError(
            f"{op}::Apply takes {takes}, but attributes has {', '.join(defaults) or 'none'}. Give their default "
            f"values: attributes={{{example}}}"
        )
    for name, default in defaults.items():
        if not isinstance(default, bool | int | float):
            raise TypeError(f"the default of {op}'s attribute {name} must be a bool, int or float, but is {default!r}")
    names = [*input_names, *attribute_names]
    for name in names:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name) or name in _TAKEN:
            raise ValueError(f"{name!r} cannot be the name of an input or attribute of {op}; take one in lower case")
    if len(set(names)) != len(names):
        raise ValueError(f"the names of {op}'s inputs and attributes must differ, but are {', '.join(names)}")
    doc = doc or f"{op}, compiled from a functor by tensorflow_custom_ops.jit."
    if ')doc_"' in doc:
        raise ValueError(f'the documentation of {op} must not have )doc_"')
    return Functor(op, text, tuple(input_names), defaults, doc)


def _parameters(op: str, code: str) -> tuple[list[str], list[str]]:
    """The names of the inputs and attributes that Apply takes."""
    apply = _APPLY.search(code)
    if not apply:
        raise ValueError(f"{op} has no function Apply")
    inputs: list[str] = []
    attributes: list[str] = []
    for i, parameter in enumerate(apply[1].split(",")):
        match = _PARAMETER.fullmatch(parameter.strip())
        is_attribute = "Constant" in parameter
        name = match["name"] if match and match["name"] not in ("Constant", "const") else ""
        if is_attribute and not name:
            raise ValueError(f"parameter {i + 1} of {op}::Apply needs a name, which becomes the attribute's")
        (attributes if is_attribute else inputs).append(name or f"input{i}")
    return inputs, attributes
