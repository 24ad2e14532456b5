# SPDX-License-Identifier: Apache-2.0
"""Checks an op from the command line, and prints what is found.

python -m tensorflow_custom_ops.testing my_op
python -m tensorflow_custom_ops.testing tf.nn.relu
python -m tensorflow_custom_ops.testing tf.linalg.matmul --args 'normal(3, 5), normal(5, 7)'
python -m tensorflow_custom_ops.testing mine.double --module mine

Exits with status 1 if there are findings.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tensorflow_custom_ops.testing.checks import CHECKS
from tensorflow_custom_ops.testing.samples import Sample, default_sample, normal, samples


def _function(path: str) -> Callable[..., Any]:
    """The function of a name like tf.nn.relu or module.function."""
    module, *attributes = path.split(".")
    found: Any = tf if module == "tf" else importlib.import_module(module)
    for attribute in attributes:
        found = getattr(found, attribute)
    function: Callable[..., Any] = found
    return function


def _pair(text: str) -> tuple[str, str]:
    """Parses CHECK=REASON."""
    name, separator, reason = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is not CHECK=REASON")
    return name, reason


def _evaluate(expression: str) -> Any:  # noqa: ANN401 - of any type
    """The value of an expression of the user's own, with the names that samples are made of."""
    return eval(expression, {"np": np, "tf": tf, "normal": normal, "dict": dict})


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tensorflow_custom_ops.testing",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="The checks:\n"
        + "\n".join(f"  {name:18}{(check.__doc__ or '').splitlines()[0]}" for name, check in CHECKS.items()),
    )
    parser.add_argument("op", help="an op of this package, or a function such as tf.nn.relu")
    parser.add_argument("--args", help="its arguments, a Python expression of np, tf and normal(*shape)")
    parser.add_argument("--kwargs", default="{}", help="those by name, likewise a dict")
    parser.add_argument("--only", nargs="+", metavar="CHECK", help="the checks to run")
    parser.add_argument("--skip", nargs="+", type=_pair, default=[], metavar="CHECK=REASON", help="those to leave out")
    parser.add_argument("--order", type=int, help="the order up to which there are to be gradients")
    parser.add_argument("--library", nargs="+", default=[], help="op libraries to load")
    parser.add_argument("--module", nargs="+", default=[], help="modules to import, which register the op")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Runs the command, and returns its status."""
    options = _parse(arguments)
    for library in options.library:
        tf.load_op_library(library)
    for module in options.module:
        importlib.import_module(module)
    function = _function(options.op if "." in options.op else f"tensorflow_custom_ops.{options.op}")
    if options.args is not None:
        args = _evaluate(options.args)
        chosen = {"--args": Sample(args if isinstance(args, tuple) else (args,), _evaluate(options.kwargs))}
    elif "." in options.op:
        chosen = {"default": default_sample(function)}
    else:
        chosen = samples(options.op)
    given = {"only": options.only, "order": options.order}
    status = 0
    for name, sample in chosen.items():
        report = sample.check(
            function,
            **{option: value for option, value in given.items() if value is not None},
            skip={**sample.options.get("skip", {}), **dict(options.skip)},
            libraries=options.library,
            modules=options.module,
        )
        print(f"{name}: {report}" if len(chosen) > 1 else report)
        status |= not report.ok
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
