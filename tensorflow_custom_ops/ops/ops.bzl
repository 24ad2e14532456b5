# SPDX-License-Identifier: Apache-2.0
"""The ops of this package: one line each, the name of the op's folder."""

OPS = [
    "flash_attention",
    "focal_logits",
    "fused_dense",
    "gelu",
    "huber",
    "layer_norm",
    "logit",
    "mish",
    "my_op",
    "rms_norm",
    "rms_norm_residual",
    "rotary_embedding",
    "row_norm",
    "scaled_silu",
    "simple_add",
    "softplus_beta",
    "squared_relu",
    "swi_glu_gate",
    "top_k_mask",
]

# With which the names that ops are registered by start. //tools/rename_project sets it.
OP_PREFIX = ""

# Modules and functions of the package, which an op of the same name would replace.
_RESERVED = ["build_info", "core", "layers", "ops", "testing"]

[fail("an op cannot have the name " + op) for op in OPS if op in _RESERVED]

def op_targets(pattern):
    """One target of each op.

    Args:
      pattern: the target's name, where {} stands for the op's.

    Returns:
      A list of labels.
    """
    return ["//tensorflow_custom_ops/ops/{}:{}".format(op, pattern.format(op)) for op in OPS]

def functions_module():
    """The source of the Python module that has the functions of all ops.

    Returns:
      A string.
    """
    imports = "".join([
        "from tensorflow_custom_ops.ops.{op} import {op} as _{op}\nfrom tensorflow_custom_ops.ops.{op}.{op} import *\n".format(op = op)
        for op in OPS
    ])
    names = "".join(["    *_{}.__all__,\n".format(op) for op in OPS])
    return '"""The functions of all ops. Generated."""\n\n{}\n__all__ = [\n{}]\n'.format(imports, names)
