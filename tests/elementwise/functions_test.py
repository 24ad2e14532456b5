# SPDX-License-Identifier: Apache-2.0
"""Functions of functors: how exact they are, and that they do what TensorFlow's do."""

from __future__ import annotations

import concurrent.futures
import math
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

from tensorflow_custom_ops import _build_info
from tests import instruction_sets
from tests.elementwise import functions_cases as cases
from tests.elementwise import functions_program

_LIBRARY = pathlib.Path(__file__).parent / "_functions.so"
_DOCUMENTATION = pathlib.Path("docs/elementwise.md")

# Of what differs from TensorFlow, in ulps of the derivative, or of 1 if it is smaller.
_DERIVATIVE_ULPS = 12
_SECOND_DERIVATIVE_ULPS = 24

# Where TensorFlow's results are not wanted: x^0 has a derivative, what is not selected has one that can be NaN, and
# Eigen's erf squares what is too large for it.
_NOT_AS_TENSORFLOW = ("fn_pow 0/special derivative", "fn_select/special derivative", "fn_erf/double/special")

# The columns of the documentation's table, and what they are about.
_COLUMNS = {
    "float": ("CPU", ("float",)),
    "double": ("CPU", ("double",)),
    "half, bfloat16": ("all", ("half", "bfloat16")),
    "XLA float": ("XLA", ("float",)),
    "XLA double": ("XLA", ("double",)),
}

# By mode: an instruction set, or "XLA".
_results: dict[str, dict[str, np.ndarray]] = {}


def setUpModule() -> None:
    """Computes all functions with each instruction set, and under XLA."""
    directory = pathlib.Path(absltest.TEST_TMPDIR.value)
    runs = {isa: ("eager", {"TF_CUSTOM_OPS_ISA": isa}) for isa in instruction_sets.of_processor()}
    if _build_info.XLA:
        runs["XLA"] = ("jit", {})

    def run(name: str) -> dict[str, np.ndarray]:
        mode, environment = runs[name]
        output = directory / f"{name}.npz"
        subprocess.run(
            [sys.executable, functions_program.__file__, str(_LIBRARY), str(output), mode],
            env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
        )
        return dict(np.load(output))

    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        # First what takes longest.
        names = list(reversed(runs))
        _results.update(zip(names, pool.map(run, names), strict=True))


def _documented() -> dict[str, dict[str, float]]:
    """The ulps in the table, by function and column."""
    section = re.search(r"^## Functions\n(.*?)(^## |\Z)", _DOCUMENTATION.read_text(), re.MULTILINE | re.DOTALL)
    assert section
    lines = [line for line in section[1].splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    names = rows[0]
    return {
        row[0].strip("`"): {name: float(cell) for name, cell in zip(names, row, strict=True) if name in _COLUMNS}
        for row in rows[2:]
    }


def _in_float(case: cases.Function) -> Callable[..., tf.Tensor]:
    """TensorFlow's function, of half types in float."""

    def in_float(*inputs: tf.Tensor, **attributes: float) -> tf.Tensor:
        wide = [tf.cast(x, tf.float32) if x.dtype.size == 2 else x for x in inputs]
        return case.tensorflow(*wide, **attributes)

    return in_float


def _special_under_xla(case: cases.Function) -> dict[str, np.ndarray]:
    """TensorFlow's values under XLA, which differ from others: its max(0, NaN) is 0, and its signs of zero differ."""
    function = _in_float(case)
    inputs = {name: tuple(map(tf.constant, cases.special(case, dtype))) for name, dtype in cases.DTYPES.items()}

    @tf.function(autograph=False, jit_compile=True)
    def all_types(arguments: dict[str, tuple[tf.Tensor, ...]]) -> dict[str, tf.Tensor]:
        return {name: function(*tensors, **case.attributes) for name, tensors in arguments.items()}

    return {f"{case.key}/{name}/special": value[None].numpy() for name, value in all_types(inputs).items()}


class AccuracyTest(parameterized.TestCase):
    def test_documents_all_functions(self) -> None:
        self.assertSameElements(_documented(), {case.name for case in cases.FUNCTIONS})

    @parameterized.parameters(*_COLUMNS)
    def test_is_as_documented(self, column: str) -> None:
        where, types = _COLUMNS[column]
        modes = [mode for mode in _results if where == "all" or (mode == "XLA") == (where == "XLA")]
        if not modes:
            self.skipTest("built without XLA")
        measured: dict[str, float] = {}
        for case in cases.FUNCTIONS:
            for name in types:
                dtype = cases.DTYPES[name]
                inputs = [cases.wide(array) for array in cases.points(case, dtype)]
                with np.errstate(all="ignore"):
                    expected = case.reference(*inputs, **case.attributes)
                for mode in modes:
                    result = _results[mode][f"{case.key}/{name}/points"][0].astype(dtype)
                    worst = float(cases.ulps(result, expected).max())
                    measured[case.name] = max(measured.get(case.name, 0), worst)
        documented = {name: row[column] for name, row in _documented().items()}
        print(column, {name: f"{worst:.3g}" for name, worst in measured.items()})
        worse = {name: worst for name, worst in measured.items() if worst > documented[name]}
        self.assertEmpty(worse, "less exact than documented")
        better = {
            name: worst for name, worst in measured.items() if documented[name] > max(2 * worst, math.ceil(worst))
        }
        self.assertEmpty(better, "more exact than documented")

    def test_instruction_sets_agree(self) -> None:
        match = re.search(r"differ\s+by\s+at\s+most\s+(\d+)\s+ulps", _DOCUMENTATION.read_text())
        assert match
        isas = [mode for mode in _results if mode != "XLA"]
        for key, array in _results[isas[0]].items():
            if key == "positions" or key.split("/")[-1] not in ("points", "special"):
                continue
            dtype = cases.DTYPES[key.split("/")[1]]
            for other in isas[1:]:
                difference = cases.ulps(_results[other][key].astype(dtype), array.astype(np.longdouble))
                self.assertLessEqual(difference.max(), int(match[1]), (key, other))


class PositionTest(absltest.TestCase):
    def test_results_do_not_depend_on_the_position(self) -> None:
        for mode, results in _results.items():
            self.assertEmpty(list(results["positions"]), mode)


class TensorFlowTest(parameterized.TestCase):
    @parameterized.named_parameters((case.key, case) for case in cases.FUNCTIONS)
    def test_is_as_tensorflow(self, case: cases.Function) -> None:
        eager = functions_program.compute(_in_float(case), case, "eager")
        under_xla = {**eager, **_special_under_xla(case)} if "XLA" in _results else {}
        limits = {
            "special": max(_documented()[case.name].values()) * 2,
            "special derivative": _DERIVATIVE_ULPS,
            "derivative": _DERIVATIVE_ULPS,
            "second derivative": _SECOND_DERIVATIVE_ULPS,
        }
        for mode, results in _results.items():
            for key, array in (under_xla if mode == "XLA" else eager).items():
                name, kind = key.split("/")[1:]
                if kind == "points" or key in _NOT_AS_TENSORFLOW or f"{case.key}/{kind}" in _NOT_AS_TENSORFLOW:
                    continue
                with self.subTest(mode=mode, type=name, kind=kind):
                    self.assertEqual(results[key].shape, array.shape)
                    is_value = kind == "special"
                    result = results[key].astype(cases.DTYPES[name])
                    difference = cases.ulps(result, array.astype(np.longdouble), scale=0 if is_value else 1)
                    worst = np.unravel_index(difference.argmax(), difference.shape)
                    inputs = getattr(cases, "special" if "special" in kind else "ordinary")(case, cases.DTYPES[name])
                    where = [x[worst[1]] for x in inputs], result[worst], array[worst]
                    self.assertLessEqual(difference.max(), limits[kind], where)
                    if is_value:
                        zeros = (results[key] == 0) & (array == 0)
                        np.testing.assert_array_equal(np.signbit(results[key])[zeros], np.signbit(array)[zeros])

    def test_erf_of_large_doubles(self) -> None:
        case = next(case for case in cases.FUNCTIONS if case.name == "erf")
        x = cases.special(case, cases.DTYPES["double"])[0]
        expected = np.array([math.erf(value) for value in x])
        for results in _results.values():
            np.testing.assert_allclose(results["fn_erf/double/special"][0], expected, rtol=1e-15)

    def test_derivative_of_select_is_that_of_what_is_selected(self) -> None:
        case = next(case for case in cases.FUNCTIONS if case.name == "select")
        for name, dtype in cases.DTYPES.items():
            a, b = (x.astype(np.float64) for x in cases.special(case, dtype))
            with np.errstate(over="ignore"):
                expected = np.stack([np.where(a < b, a + a, b), np.where(a < b, 0, a)]).astype(dtype)
            for results in _results.values():
                actual = results[f"fn_select/{name}/special derivative"]
                np.testing.assert_array_equal(actual, expected.astype(np.float64))

    def test_derivative_of_power_zero_is_zero(self) -> None:
        for results in _results.values():
            for name in cases.DTYPES:
                np.testing.assert_array_equal(results[f"fn_pow 0/{name}/special derivative"], 0)


if __name__ == "__main__":
    absltest.main()
