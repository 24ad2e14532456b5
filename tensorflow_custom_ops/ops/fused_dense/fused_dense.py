# SPDX-License-Identifier: Apache-2.0
"""FusedDense: a dense layer in one op."""

from __future__ import annotations

import tensorflow as tf

from tensorflow_custom_ops.core import vectorization
from tensorflow_custom_ops.ops.fused_dense import gen_fused_dense

__all__ = ["fused_dense"]


def fused_dense(
    input: tf.types.experimental.TensorLike,
    weights: tf.types.experimental.TensorLike,
    bias: tf.types.experimental.TensorLike,
    activation: str = "linear",
    name: str | None = None,
) -> tf.Tensor:
    """A dense layer in one op: `activation(input @ weights + bias)`.

    Half and bfloat16 are summed in float32, and rounded once, after the activation. The result does not depend on the
    number of threads; it may differ in the last bits between processors with other vector instructions, and from what
    XLA computes, also in the sign of zero and in denormal numbers. The environment variable TF_CUSTOM_OPS_ISA
    (baseline, avx2 or avx512) forces the instructions. On a processor with AMX, TensorFlow's own product of bfloat16
    matrices is several times faster, for it uses those instructions.

    The gradient with respect to `input`, `weights` and `bias` is made of TensorFlow's ops, and has gradients itself. It
    is for outputs of less than 2^31 elements, a limit of TensorFlow's BiasAddGrad.

    Args:
      input: A tensor of shape `[..., in]`, of rank 1 at least, or what converts to one. Its type is half, bfloat16,
        float32 or float64.
      weights: A matrix of shape `[in, units]` and the type of `input`.
      bias: A vector of shape `[units]` and the type of `input`.
      activation: `"linear"`, `"relu"`, `"tanh"` or `"sigmoid"`.
      name: A name for the operation.

    Returns:
      A tensor of shape `[..., units]` and the type of `input`.

    Raises:
      tf.errors.InvalidArgumentError: in eager mode, the shapes do not fit, the types differ or are others, or the
        activation is another. In a tf.function, the shapes turn out not to fit when it runs. Under XLA, a size other
        than the batch's is not known while it compiles.
      ValueError: in a tf.function, the shapes are known not to fit while it is traced, or the activation is another.
      TypeError: in a tf.function, the types differ or are others; in any mode, `activation` is no str.
    """
    if not isinstance(activation, str):
        # None would be the default.
        raise TypeError(f"fused_dense: activation must be a str, but is {activation!r}")
    return gen_fused_dense.fused_dense(input, weights, bias, activation=activation, name=name)


def _sum_grad(activation: bytes, output: tf.Tensor, grad: tf.Tensor) -> tf.Tensor:
    """The gradient with respect to what the activation was applied to, which the output tells."""
    if activation == b"relu":
        return tf.raw_ops.ReluGrad(gradients=grad, features=output)
    if activation == b"tanh":
        return tf.raw_ops.TanhGrad(y=output, dy=grad)
    if activation == b"sigmoid":
        return tf.raw_ops.SigmoidGrad(y=output, dy=grad)
    return grad


def _as_matrix(tensor: tf.Tensor) -> tf.Tensor:
    """A tensor of shape [..., n] as a matrix [rows, n]; eager mode, which is slow with small ops, mostly has one."""
    if tensor.shape.rank == 2:
        return tensor
    # Not -1, which is ambiguous where another dimension is 0.
    if tensor.shape.is_fully_defined():
        return tf.reshape(tensor, [tensor.shape[:-1].num_elements(), tensor.shape[-1]])
    shape = tf.shape(tensor, tf.int64)
    return tf.reshape(tensor, [tf.reduce_prod(shape[:-1]), shape[-1]])


@tf.RegisterGradient("FusedDense")
def _fused_dense_grad(op: tf.Operation, grad: tf.Tensor) -> tuple[tf.Tensor | None, tf.Tensor | None, tf.Tensor | None]:
    input, weights, _ = op.inputs
    grad = _as_matrix(_sum_grad(op.get_attr("activation"), op.outputs[0], grad))
    # Eager mode tells which gradients nobody asked for.
    skipped = getattr(op, "skip_input_indices", None) or ()
    input_grad = weights_grad = bias_grad = None
    if 0 not in skipped:
        input_grad = tf.raw_ops.MatMul(a=grad, b=weights, transpose_b=True)
        if input.shape.rank != 2:
            input_grad = tf.reshape(input_grad, tf.shape(input))
    if 1 not in skipped:
        weights_grad = tf.raw_ops.MatMul(a=_as_matrix(input), b=grad, transpose_a=True)
    if 2 not in skipped:
        bias_grad = tf.raw_ops.BiasAddGrad(out_backprop=grad)
    return input_grad, weights_grad, bias_grad


vectorization.register_batched("FusedDense", gen_fused_dense.fused_dense, ("activation",))
