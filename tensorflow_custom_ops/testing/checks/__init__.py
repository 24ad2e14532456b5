# SPDX-License-Identifier: Apache-2.0
"""The checks, by name, in the order in which they are run.

Each takes the subject and yields what is wrong; a Note is something else worth knowing. It raises NotApplicable if
there is nothing to look at. The first line of its docstring says what has to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tensorflow_custom_ops.testing.checks import (
    buffers,
    determinism,
    errors,
    gradients,
    inputs,
    modes,
    registration,
    shapes,
    surroundings,
)
from tensorflow_custom_ops.testing.subject import Subject

Check = Callable[[Subject], Iterator[str]]

_ALL: tuple[Check, ...] = (
    registration.check_kernels,
    registration.check_dtypes,
    shapes.check_static_shapes,
    shapes.check_lost_shapes,
    modes.check_eager,
    modes.check_jit,
    modes.check_gpu,
    gradients.check_gradient,
    gradients.check_higher_orders,
    gradients.check_gradient_modes,
    gradients.check_forward_mode,
    inputs.check_empty,
    inputs.check_scalar,
    inputs.check_large,
    inputs.check_non_finite,
    determinism.check_repeat,
    determinism.check_threads,
    buffers.check_alignment,
    buffers.check_forwarding,
    surroundings.check_vectorized_map,
    surroundings.check_saved_model,
    surroundings.check_keras,
    errors.check_wrong_shapes,
    errors.check_wrong_dtypes,
    errors.check_wrong_attributes,
)

CHECKS: Mapping[str, Check] = {check.__name__.removeprefix("check_"): check for check in _ALL}
