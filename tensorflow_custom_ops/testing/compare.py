# SPDX-License-Identifier: Apache-2.0
"""Whether results agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf

# The relative error that roundings in another order may make, of a kernel that computes at least in float32.
TOLERANCES: Mapping[str, float] = {
    "float64": 1e-10,
    "complex128": 1e-10,
    "float32": 2e-5,
    "complex64": 2e-5,
    "float16": 4e-3,
    "bfloat16": 3e-2,
}


def tolerance(dtype: object, tolerances: Mapping[str, float]) -> float:
    """The relative error allowed for a type; 0 for integers, bools and strings."""
    name = tf.as_dtype(dtype).name
    return tolerances.get(name, TOLERANCES.get(name, 0.0))


def _wide(array: np.ndarray) -> np.ndarray:
    """As a type that NumPy computes with; ml_dtypes' are none."""
    if tf.as_dtype(array.dtype).is_floating:
        return array.astype(np.float64)
    return array


def same_bits(expected: np.ndarray, actual: np.ndarray) -> bool:
    """Whether two arrays are the same to the last bit, but for NaN's kind."""
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return False
    expected, actual = _wide(expected), _wide(actual)
    if expected.dtype.kind in "fc":
        return bool(np.array_equal(expected, actual, equal_nan=True))
    return bool(np.array_equal(expected, actual))


def difference(
    expected: Sequence[np.ndarray],
    actual: Sequence[np.ndarray],
    tolerances: Mapping[str, float],
    of_type: object = None,
) -> str | None:
    """In what two lists of outputs differ, in words, or None.

    Args:
      expected: The outputs that are right.
      actual: Those that are compared.
      tolerances: Relative errors by type's name, which replace those of TOLERANCES.
      of_type: The type whose tolerance is taken, and types of outputs may differ; None: the types are to be the same.
    """
    if len(expected) != len(actual):
        return f"{len(actual)} outputs instead of {len(expected)}"
    for i, (right, found) in enumerate(zip(expected, actual, strict=True)):
        name = f"output {i}" if len(expected) > 1 else "the output"
        if found.shape != right.shape:
            return f"{name} has shape {list(found.shape)} instead of {list(right.shape)}"
        if of_type is None and found.dtype != right.dtype:
            return f"{name} has type {found.dtype} instead of {right.dtype}"
        allowed = tolerance(of_type if of_type is not None else right.dtype, tolerances)
        wrong = _wrong(_wide(right), _wide(found), allowed)
        if wrong is not None:
            index = list(map(int, np.unravel_index(int(np.argmax(wrong)), wrong.shape)))
            at = f" at {index}" if index else ""
            where = tuple(index)
            return (
                f"{name} differs in {int(wrong.sum())} of {wrong.size} elements,{at} by "
                f"{found[where]!s} instead of {right[where]!s}"
            )
    return None


def _wrong(right: np.ndarray, found: np.ndarray, allowed: float) -> np.ndarray | None:
    """Where arrays of one shape differ; None if nowhere."""
    if right.dtype.kind not in "fc" or found.dtype.kind not in "fc":
        wrong = np.asarray(right != found)
    else:
        finite = np.isfinite(right)
        scale = float(np.abs(right[finite]).max()) if finite.any() else 0.0
        # Where elements are small by cancellation, their errors are those of what was cancelled.
        limit = allowed * (np.abs(np.where(finite, right, 0)) + min(scale, 1.0))
        with np.errstate(all="ignore"):
            close = np.abs(np.where(finite, found - right, 0)) <= limit
        same = (right == found) | (np.isnan(right) & np.isnan(found))
        wrong = np.asarray(np.where(finite, ~close, ~same))
    return wrong if wrong.any() else None
