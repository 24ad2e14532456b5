# SPDX-License-Identifier: Apache-2.0
"""Tests of FusedDense."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from unittest import mock

import ml_dtypes
import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized

import tensorflow_custom_ops as ops
from tensorflow_custom_ops import _build_info
from tensorflow_custom_ops.ops.fused_dense import gen_fused_dense
from tests import instruction_sets, op_test_case

DTYPES = (tf.half, tf.bfloat16, tf.float32, tf.float64)

# Each activation, in NumPy and in TensorFlow.
ACTIVATIONS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], Callable[[tf.Tensor], tf.Tensor]]] = {
    "linear": (lambda x: x, tf.identity),
    "relu": (lambda x: np.maximum(x, 0), tf.nn.relu),
    "tanh": (np.tanh, tf.tanh),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), tf.sigmoid),
}

# The shape of the input, and the units. Empty ones, single rows and columns, and sizes beside those of vectors and
# blocks; 2100 is more than half types convert at once.
SHAPES = (
    ((1,), 1),
    ((3,), 5),
    ((0, 4), 3),
    ((2, 0), 3),
    ((3, 4), 0),
    ((1, 300), 257),
    ((7, 33), 17),
    ((65, 129), 70),
    ((17, 2100), 33),
    ((2, 1, 3, 1, 7), 4),
)

# Errors of an activation's own code, in units of the last place of the type in which it is computed.
ACTIVATION_ULPS = 8

# Steps of difference quotients: a quotient's error is some eps / step + step ** 2.
GRADIENT_STEP = {tf.float32: 2.0**-8, tf.float64: 2.0**-17}
GRADIENT_TOLERANCE = {tf.float32: 1e-3, tf.float64: 1e-8}

# Programs for other processes print what the test compares.
_PRINT_DIGESTS = """
import hashlib, sys
import numpy as np
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[1]))
import tensorflow_custom_ops as ops
for dtype in (tf.half, tf.bfloat16, tf.float32, tf.float64):
    for rows, size, units in ((1, 3000, 1000), (700, 300, 530), (5000, 40, 7)):
        generator = np.random.default_rng(0)
        arrays = [generator.standard_normal(shape) for shape in ((rows, size), (size, units), (units,))]
        y = ops.fused_dense(*(tf.cast(array, dtype) for array in arrays), activation="tanh")
        print(hashlib.sha256(y.numpy().tobytes()).hexdigest())
"""

_RUN = """
import sys
import numpy as np
import tensorflow as tf
import tensorflow_custom_ops as ops
inputs = [tf.constant(array) for array in np.load(sys.argv[1]).values()]
for dtype in (tf.half, tf.bfloat16, tf.float32, tf.float64):
    for activation in ("linear", "relu", "tanh", "sigmoid"):
        y = ops.fused_dense(*(tf.cast(x, dtype) for x in inputs), activation=activation)
        np.save(f"{sys.argv[2]}/{dtype.name}_{activation}.npy", tf.cast(y, tf.float64).numpy())
"""


def reference(activation: str, x: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The exact result, and the error that an implementation may have.

    A sum of n products in floating point is within n / 2 units of the last place of the sum of the absolute products,
    in any order. No activation enlarges an error. A half type then is rounded, by half a unit of the last place.
    """
    exact = np.longdouble
    terms = np.abs(x).astype(exact) @ np.abs(weights).astype(exact) + np.abs(bias).astype(exact)
    sums = x.astype(exact) @ weights.astype(exact) + bias.astype(exact)
    y = ACTIVATIONS[activation][0](sums)
    wide = np.float64 if x.dtype == np.float64 else np.float32
    unit = np.finfo(wide).eps
    error = (len(weights) + 1) / 2 * unit * terms + ACTIVATION_ULPS * unit * np.abs(y)
    if x.dtype != wide:
        info = ml_dtypes.finfo(x.dtype)
        error += float(info.eps) / 2 * (np.abs(y) + error) + float(info.smallest_subnormal)
    return y, error


class FusedDenseTest(op_test_case.OpTestCase):
    def inputs(self, shape: tuple[int, ...], units: int, dtype: tf.DType) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        # Sums of this size are in the range in which activations do something.
        scale = dtype.as_numpy_dtype(1 / np.sqrt(shape[-1] + 1))
        return (
            self.random(shape, dtype, seed=1),
            np.asarray(self.random((shape[-1], units), dtype, seed=2) * scale),
            self.random((units,), dtype, seed=3),
        )

    def assert_near(self, expected: tuple[np.ndarray, np.ndarray], actual: np.ndarray) -> None:
        y, error = expected
        self.assertEqual(actual.shape, y.shape)
        excess = np.abs(actual.astype(np.longdouble) - y) - error
        self.assertTrue(
            np.all(excess <= 0), f"{np.sum(excess > 0)} elements are off, the worst by {np.max(excess, initial=0)}"
        )

    @parameterized.product(dtype=DTYPES, activation=tuple(ACTIVATIONS), mode=op_test_case.MODES)
    def test_value(self, dtype: tf.DType, activation: str, mode: str) -> None:
        function = self.in_mode(mode, lambda *inputs: ops.fused_dense(*inputs, activation=activation))
        for shape, units in SHAPES:
            with self.subTest(shape=shape, units=units):
                arrays = self.inputs(shape, units, dtype)
                y = function(*map(tf.constant, arrays))
                self.assertEqual(y.dtype, dtype)
                self.assert_near(reference(activation, *arrays), y.numpy())

    @parameterized.parameters(*DTYPES)
    def test_many_tiles(self, dtype: tf.DType) -> None:
        arrays = self.inputs((530, 150), 700, dtype)
        self.assert_near(reference("tanh", *arrays), ops.fused_dense(*map(tf.constant, arrays), "tanh").numpy())

    def test_half_types_are_rounded_once(self) -> None:
        # Each step of a sum in half or bfloat16 would lose the small terms.
        for dtype in (tf.half, tf.bfloat16):
            x = np.array([[4096.0] + [1.0] * 4096]).astype(dtype.as_numpy_dtype)
            for mode in op_test_case.MODES:
                function = self.in_mode(mode, ops.fused_dense)
                y = function(tf.constant(x), tf.ones([4097, 1], dtype), tf.ones([1], dtype))
                self.assertEqual(float(y[0, 0]), 8192.0, (dtype, mode))

    @parameterized.product(dtype=DTYPES, mode=op_test_case.MODES)
    def test_special_values(self, dtype: tf.DType, mode: str) -> None:
        x = np.array([np.inf, -np.inf, np.nan, 0.0, -60000.0, 60000.0]).astype(dtype.as_numpy_dtype)
        expected = {
            "linear": x,
            "relu": [np.inf, 0, np.nan, 0, 0, x[-1]],
            "tanh": [1, -1, np.nan, 0, -1, 1],
            "sigmoid": [1, 0, np.nan, 0.5, 0, 1],
        }
        for activation, values in expected.items():
            function = self.in_mode(mode, lambda *inputs, a=activation: ops.fused_dense(*inputs, activation=a))
            y = function(tf.constant(x[:, None]), tf.ones([1, 1], dtype), tf.zeros([1], dtype))
            # Where TensorFlow's threads flush denormals to zero, sigmoid does not underflow to the same.
            np.testing.assert_allclose(
                y.numpy()[:, 0].astype(np.float64), np.asarray(values, np.float64), atol=1e-30, err_msg=activation
            )

    def test_takes_what_converts(self) -> None:
        y = ops.fused_dense([[1.0, 2.0]], tf.Variable([[1.0], [2.0]]), np.array([0.5], np.float32))
        np.testing.assert_array_equal(y, [[5.5]])

    def test_does_not_depend_on_the_number_of_threads(self) -> None:
        digests = {self.run_python(_PRINT_DIGESTS, str(threads)).stdout for threads in (1, 2, 5)}
        self.assertLen(digests, 1)
        self.assertLen(digests.pop().split(), 12)

    @op_test_case.cpu_only
    @parameterized.product(isa=instruction_sets.of_processor())
    def test_instruction_set(self, isa: str) -> None:
        directory = pathlib.Path(self.create_tempdir().full_path)
        arrays = self.inputs((67, 1030), 83, tf.float64)
        np.savez(directory / "inputs.npz", *arrays)
        log = {"TF_CPP_VMODULE": "fused_dense_kernel=1", "TF_CPP_MIN_LOG_LEVEL": "0"}
        with mock.patch.dict(os.environ, {"TF_CUSTOM_OPS_ISA": isa, **log}):
            result = self.run_python(_RUN, str(directory / "inputs.npz"), str(directory))
        self.assertRegex(result.stderr, rf"FusedDense: the code for {isa}\n")
        self.assertNotRegex(result.stderr, rf"FusedDense: the code for (?!{isa}\n)")
        for dtype in DTYPES:
            # By TensorFlow, as in the program, for NumPy's bfloat16 may round a float64 twice.
            cast = [tf.cast(array, dtype).numpy() for array in arrays]
            for activation in ACTIVATIONS:
                with self.subTest(dtype=dtype.name, activation=activation):
                    y = np.load(directory / f"{dtype.name}_{activation}.npy")
                    self.assert_near(reference(activation, *cast), y)

    @op_test_case.cpu_only
    def test_chooses_the_best_instruction_set(self) -> None:
        log = {"TF_CPP_VMODULE": "fused_dense_kernel=1", "TF_CPP_MIN_LOG_LEVEL": "0"}
        environment = {name: value for name, value in os.environ.items() if name != "TF_CUSTOM_OPS_ISA"}
        with mock.patch.dict(os.environ, {**environment, **log}, clear=True):
            result = self.run_python("import tensorflow_custom_ops as ops; ops.fused_dense([[1.0]], [[1.0]], [1.0])")
        self.assertRegex(result.stderr, rf"FusedDense: the code for {instruction_sets.of_processor()[-1]}\n")

    @op_test_case.cpu_only
    def test_refuses_an_instruction_set_that_there_is_not(self) -> None:
        with mock.patch.dict(os.environ, {"TF_CUSTOM_OPS_ISA": "avx1024"}):
            result = self.run_python(
                "import tensorflow_custom_ops as ops; ops.fused_dense([[1.0]], [[1.0]], [1.0])", check=False
            )
        self.assertEqual(result.returncode, 1)
        self.assertRegex(
            result.stderr,
            "InvalidArgumentError: .*TF_CUSTOM_OPS_ISA is 'avx1024', and this processor has "
            f"{', '.join(instruction_sets.of_processor(more=True))}. Set it to one of these, or unset it",
        )

    @parameterized.parameters(
        ([2, 4], [4, 3], [3], [2, 3]),
        ([None, 4], [4, 3], [3], [None, 3]),
        ([5, None, None], [None, 3], [None], [5, None, 3]),
        ([5, None], [4, None], [3], [5, 3]),
        ([5, None], None, [3], [5, 3]),
        ([5, 4], [None, None], None, [5, None]),
        ([5, 4], None, None, [5, None]),
        ([4], [4, 3], [3], [3]),
        (None, [4, 3], [3], None),
        (None, None, None, None),
    )
    def test_static_shape(
        self,
        input: list[int | None] | None,
        weights: list[int | None] | None,
        bias: list[int | None] | None,
        expected: list[int | None] | None,
    ) -> None:
        signature = [tf.TensorSpec(shape, tf.float32) for shape in (input, weights, bias)]
        function = tf.function(ops.fused_dense, input_signature=signature)
        shape = function.get_concrete_function().structured_outputs.shape
        self.assertEqual(None if shape.rank is None else shape.as_list(), expected)

    @parameterized.product(
        case=[
            ((), (4, 3), (3,), r"input must have shape \[..., in\], but it is a scalar"),
            ((2, 4), (4,), (3,), r"weights must have shape \[in, units\], but it has shape \[4\]"),
            ((2, 4), (1, 4, 3), (3,), r"weights must have shape \[in, units\], but it has shape \[1,4,3\]"),
            ((2, 4), (4, 3), (), r"bias must have shape \[units\], but it has shape \[\]"),
            ((2, 4), (4, 3), (1, 3), r"bias must have shape \[units\], but it has shape \[1,3\]"),
            (
                (2, 4),
                (5, 3),
                (3,),
                r"weights must have as many rows as input has columns, 4, "
                r"but input has shape \[2,4\] and weights has shape \[5,3\]",
            ),
            (
                (2, 4),
                (4, 3),
                (1,),
                r"bias must have as many elements as weights has columns, 3, "
                r"but weights has shape \[4,3\] and bias has shape \[1\]",
            ),
            ((0, 4), (5, 0), (0,), r"weights must have as many rows as input has columns, 4"),
        ]
    )
    def test_refuses_shapes(self, case: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], str]) -> None:
        *shapes, message = case
        inputs = [tf.zeros(shape) for shape in shapes]
        message = "FusedDense: " + message
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            ops.fused_dense(*inputs)
        for mode in set(op_test_case.MODES) - {"eager"}:
            # While it is traced, where shapes are known.
            with self.assertRaisesRegex(ValueError, message):
                self.in_mode(mode, ops.fused_dense)(*inputs)
            unknown = tf.function(ops.fused_dense, input_signature=[tf.TensorSpec(None)] * 3, jit_compile=mode == "jit")
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
                unknown(*inputs)

    def test_refuses_outputs_larger_than_any_tensor(self) -> None:
        # The inputs are empty, but for the bias, for which no memory would suffice.
        specs = [tf.TensorSpec(shape) for shape in ((2**40, 0), (0, 2**40), (2**40,))]
        with self.assertRaisesRegex(
            ValueError,
            r"FusedDense: the output must have less than 2\^63 elements, but .* \[1099511627776,1099511627776\]",
        ):
            tf.function(ops.fused_dense).get_concrete_function(*specs)

    def test_refuses_partial_shapes_that_cannot_fit(self) -> None:
        signature = [tf.TensorSpec(shape) for shape in ([None, 4], [5, None], [None])]
        message = r"FusedDense: weights must have as many rows .* 4, but input has shape \[\?,4\] .* shape \[5,\?\]"
        with self.assertRaisesRegex(ValueError, message):
            tf.function(ops.fused_dense, input_signature=signature).get_concrete_function()

    def test_refuses_other_activations(self) -> None:
        inputs = [tf.zeros(shape) for shape in ([2, 4], [4, 3], [3])]
        message = 'activation.*gelu.*"linear", "relu", "tanh", "sigmoid"'
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, message):
            ops.fused_dense(*inputs, activation="gelu")
        with self.assertRaisesRegex(ValueError, message):
            tf.function(ops.fused_dense)(*inputs, activation="gelu")

    def test_refuses_other_types(self) -> None:
        inputs = [tf.zeros(shape, tf.int32) for shape in ([2, 4], [4, 3], [3])]
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "'T' of int32 .*allowed values: half, .*double"):
            ops.fused_dense(*inputs)
        with self.assertRaisesRegex(TypeError, "'input' has DataType int32 not in list of allowed values"):
            tf.function(ops.fused_dense)(*inputs)

    @parameterized.product(
        dtype=tuple(GRADIENT_TOLERANCE), activation=tuple(ACTIVATIONS), shape=[(4,), (2, 3), (2, 1, 3)]
    )
    def test_gradient(self, dtype: tf.DType, activation: str, shape: tuple[int, ...]) -> None:
        inputs = [tf.constant(array) for array in self.inputs(shape, 2, dtype)]
        analytic, numeric = tf.test.compute_gradient(
            lambda *xs: ops.fused_dense(*xs, activation=activation), inputs, delta=GRADIENT_STEP[dtype]
        )
        for one, other in zip(analytic, numeric, strict=True):
            np.testing.assert_allclose(one, other, rtol=GRADIENT_TOLERANCE[dtype], atol=GRADIENT_TOLERANCE[dtype])

    @parameterized.parameters(*ACTIVATIONS)
    def test_second_gradient(self, activation: str) -> None:
        inputs = [tf.constant(array) for array in self.inputs((3, 4), 2, tf.float64)]

        def gradients(*inputs: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                y = tf.reduce_sum(ops.fused_dense(*inputs, activation=activation) ** 3)
            return tf.concat([tf.reshape(g, [-1]) for g in tape.gradient(y, inputs)], axis=0)

        analytic, numeric = tf.test.compute_gradient(gradients, inputs, delta=GRADIENT_STEP[tf.float64])
        for one, other in zip(analytic, numeric, strict=True):
            np.testing.assert_allclose(
                one, other, rtol=GRADIENT_TOLERANCE[tf.float64], atol=GRADIENT_TOLERANCE[tf.float64]
            )

    def gradients(
        self, function: Callable[..., tf.Tensor], inputs: tuple[tf.Tensor, tf.Tensor, tf.Tensor], weight: tf.Tensor
    ) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = function(*inputs) * weight
        result: list[tf.Tensor] = tape.gradient(y, inputs)
        return result

    @parameterized.product(dtype=DTYPES, activation=tuple(ACTIVATIONS), mode=op_test_case.MODES)
    def test_gradient_of_every_type(self, dtype: tf.DType, activation: str, mode: str) -> None:
        inputs = tuple(tf.constant(array) for array in self.inputs((6, 9), 5, dtype))
        weight = tf.constant(self.random((6, 5), dtype, seed=4))
        function = self.in_mode(
            mode, lambda *xs: self.gradients(lambda *ys: ops.fused_dense(*ys, activation=activation), xs[:3], xs[3])
        )
        # The same by TensorFlow's ops, in float64.
        exact = self.gradients(
            lambda x, w, b: ACTIVATIONS[activation][1](tf.matmul(x, w) + b),
            tuple(tf.cast(x, tf.float64) for x in inputs),
            tf.cast(weight, tf.float64),
        )
        # The output, its derivative, the product with the gradient and the sum are rounded, and at most 9 are added.
        tolerance = 16 * float(ml_dtypes.finfo(dtype.as_numpy_dtype).eps)
        for one, other in zip(function(*inputs, weight), exact, strict=True):
            self.assertEqual(one.dtype, dtype)
            np.testing.assert_allclose(one.numpy().astype(np.float64), other, rtol=tolerance, atol=tolerance)

    @parameterized.product(shape=[(0, 4), (2, 0), (0, 0), (2, 0, 3)], units=[0, 3], mode=op_test_case.MODES)
    def test_gradient_of_empty(self, shape: tuple[int, ...], units: int, mode: str) -> None:
        inputs = tuple(tf.constant(array) for array in self.inputs(shape, units, tf.float32))

        def gradients(*inputs: tf.Tensor) -> list[tf.Tensor]:
            return self.gradients(ops.fused_dense, inputs, tf.constant(2.0))

        actual = self.in_mode(mode, gradients)(*inputs)
        rows = np.prod(shape[:-1])
        expected = [np.zeros(shape), np.zeros((shape[-1], units)), np.full(units, 2.0 * rows)]
        for one, other in zip(actual, expected, strict=True):
            np.testing.assert_array_equal(one.numpy(), other.astype(np.float32), strict=True)

    @parameterized.product(mode=[mode for mode in op_test_case.MODES if mode != "eager"])
    def test_unknown_shapes(self, mode: str) -> None:
        for shapes in ([[None, 4], [4, 3], [3]], [[None, None], [None, None], [None]], [None, None, None]):
            signature = [tf.TensorSpec(shape, tf.float32) for shape in shapes]
            function = tf.function(
                lambda *xs: (ops.fused_dense(*xs, "tanh"), self.gradients(ops.fused_dense, xs, tf.constant(1.0))),
                input_signature=signature,
                jit_compile=mode == "jit",
            )
            for rows in (2, 5):
                arrays = self.inputs((rows, 4), 3, tf.float32)
                y, gradients = function(*map(tf.constant, arrays))
                self.assert_near(reference("tanh", *arrays), y.numpy())
                np.testing.assert_allclose(gradients[0], np.tile(arrays[1].sum(1), (rows, 1)), rtol=1e-5, atol=1e-6)
                np.testing.assert_allclose(gradients[1], np.tile(arrays[0].sum(0)[:, None], 3), rtol=1e-5, atol=1e-6)
                np.testing.assert_array_equal(gradients[2], [rows] * 3)

    def test_gradient_of_one_input(self) -> None:
        inputs = [tf.constant(array) for array in self.inputs((3, 4), 2, tf.float32)]
        for index, shape in enumerate([(3, 4), (4, 2), (2,)]):
            with tf.GradientTape() as tape:
                tape.watch(inputs[index])
                y = ops.fused_dense(*inputs)
            self.assertEqual(tape.gradient(y, inputs[index]).shape, shape)

    def test_forward_mode(self) -> None:
        x, w, b = (tf.constant(array) for array in self.inputs((3, 4), 2, tf.float64))
        tangent = tf.ones_like(x)
        with tf.autodiff.ForwardAccumulator(x, tangent) as accumulator:
            y = ops.fused_dense(x, w, b, "tanh")
        np.testing.assert_allclose(accumulator.jvp(y), (1 - y**2) * tf.matmul(tangent, w), rtol=1e-12)

    @parameterized.parameters(*op_test_case.MODES)
    def test_vectorized_map(self, mode: str) -> None:
        arrays = self.inputs((5, 3, 4), 2, tf.float32)
        x, w, b = map(tf.constant, arrays)
        function = self.in_mode(mode, lambda x: tf.vectorized_map(lambda row: ops.fused_dense(row, w, b, "tanh"), x))
        self.assert_near(reference("tanh", *arrays), function(x).numpy())

    def test_vectorized_map_makes_no_loop(self) -> None:
        w, b = tf.ones([4, 2]), tf.ones([2])
        function = tf.function(
            lambda x: tf.vectorized_map(lambda row: ops.fused_dense(row, w, b), x), autograph=False
        ).get_concrete_function(tf.TensorSpec([5, 4]))
        types = {node.type for node in function.graph.get_operations()}
        self.assertIn("FusedDense", types)
        self.assertNoCommonElements({"While", "StatelessWhile"}, types)

    def test_vectorized_map_over_weights(self) -> None:
        x, _, b = (tf.constant(array) for array in self.inputs((5, 3, 4), 2, tf.float32))
        w = tf.constant(self.random((5, 4, 2), tf.float32))
        y = tf.vectorized_map(lambda pair: ops.fused_dense(*pair, b), (x, w))
        np.testing.assert_allclose(y, tf.matmul(x, w) + b, rtol=1e-5, atol=1e-6)

    def test_saved_model(self) -> None:
        self.assert_saved_model_runs_elsewhere(ops.fused_dense, *self.inputs((3, 5), 4, tf.float32))

    def test_refuses_an_activation_that_is_no_name(self) -> None:
        with self.assertRaisesRegex(TypeError, "fused_dense: activation must be a str, but is None"):
            ops.fused_dense(tf.ones([1, 2]), tf.ones([2, 3]), tf.ones([3]), activation=None)

    def test_refuses_sizes_that_xla_does_not_know(self) -> None:
        if not _build_info.XLA:
            self.skipTest("this build has no XLA kernels")
        a = tf.constant([1.0, 2.0, 3.0, -1.0])
        weights, bias = tf.ones([4, 2]), tf.zeros([2])

        def row(a: tf.Tensor) -> tf.Tensor:
            return ops.fused_dense(tf.boolean_mask(a, a > 0)[tf.newaxis], weights, bias)

        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "FusedDense: under XLA, .* but input has f32"):
            tf.function(row, jit_compile=True)(a)

        def batch(a: tf.Tensor) -> tf.Tensor:
            return ops.fused_dense(tf.boolean_mask(tf.ones([4, 4]), a > 0), weights, bias)

        np.testing.assert_array_equal(tf.function(batch, jit_compile=True)(a), np.full([3, 2], 4.0))

        def empty(a: tf.Tensor) -> tf.Tensor:
            return ops.fused_dense(tf.boolean_mask(tf.ones([4, 0]), a > 0), weights[:0], bias)

        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "FusedDense: .* arrays are empty, but input has"):
            tf.function(empty, jit_compile=True)(a)

    def test_name(self) -> None:
        with tf.Graph().as_default():
            y = ops.fused_dense([[1.0]], [[1.0]], [1.0], name="layer")
            self.assertEqual((y.op.name, y.op.type), ("layer", "FusedDense"))

    def test_documentation(self) -> None:
        self.assertIn("A vector of shape [units].", gen_fused_dense.fused_dense.__doc__)


if __name__ == "__main__":
    absltest.main()
