# SPDX-License-Identifier: Apache-2.0
"""A text that every Python has: the docstrings of its standard library."""

from __future__ import annotations

import ast
import pathlib
import sysconfig

import numpy as np

# What the model knows; anything else is left out.
ALPHABET = "\n" + "".join(map(chr, range(32, 127)))


def text() -> str:
    """The docstrings of the standard library's modules, in the order of their names."""
    parts: list[str] = []
    for path in sorted(pathlib.Path(sysconfig.get_path("stdlib")).glob("*.py")):
        nodes = ast.walk(ast.parse(path.read_bytes()))
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        parts.extend(ast.get_docstring(node) or "" for node in nodes if isinstance(node, kinds))
    return "\n\n".join(filter(None, parts))


def encode(text: str) -> np.ndarray:
    """The characters' places in the alphabet."""
    places = {character: place for place, character in enumerate(ALPHABET)}
    return np.array([places[character] for character in text if character in places], np.int32)


def decode(tokens: np.ndarray) -> str:
    """The text of which these are the characters' places."""
    return "".join(ALPHABET[token] for token in tokens)


def windows(tokens: np.ndarray, count: int, length: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Parts of the text, drawn at random, and the characters that follow each of theirs.

    Args:
      tokens: The text.
      count: How many.
      length: How long.
      seed: Of the draw.

    Returns:
      Two arrays of shape [count, length].
    """
    starts = np.random.default_rng(seed).integers(0, len(tokens) - length, count)
    parts = tokens[starts[:, np.newaxis] + np.arange(length + 1)]
    return parts[:, :-1], parts[:, 1:]
