# SPDX-License-Identifier: Apache-2.0
"""op_check: runs one call of an op through everything that an op must satisfy."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from tensorflow_custom_ops.testing import kernels
from tensorflow_custom_ops.testing.call import Call
from tensorflow_custom_ops.testing.checks import CHECKS
from tensorflow_custom_ops.testing.report import Finding, Note, Report, Result
from tensorflow_custom_ops.testing.subject import NotApplicable, Subject
from tensorflow_custom_ops.testing.worker import CrashError, TaskError, Worker


def op_check(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    only: Collection[str] | None = None,
    skip: Mapping[str, str] | None = None,
    order: int = 2,
    differentiable: Sequence[int] | None = None,
    tolerances: Mapping[str, float] | None = None,
    libraries: Sequence[str] = (),
    modules: Sequence[str] = (),
    time_limit: float = 60.0,
) -> Report:
    """Checks an op, this package's or any other, by one call of it; the counterpart of torch.library.opcheck.

    The call is run in all ways that TensorFlow has, and with other inputs that are made of the sample's: of each type
    that the op takes, empty, large, not finite, not aligned, of shapes that do not fit. What may crash is run in
    another process, so that a crash is a finding. Everything that is found is reported, not only the first.

    The op is the one that makes the function's first output. Checks change the sizes of dimensions: those of one size
    are taken to belong together, so a sample has another size, best a prime number, for each dimension that means
    something else, and none of size 1. Its numbers should be ordinary ones, away from where the op is not
    differentiable.

    Args:
      fn: A function of tensors, which returns a tensor or a structure of tensors; it calls one op, or few.
      args: The function's arguments. NumPy arrays and tensors, also in lists, are the op's inputs, of any shapes and
        types; everything else is passed on as it is.
      kwargs: Arguments by name. Those that are strings or numbers are checked to be refused when they are wrong.
      only: The names of the checks to run; by default all.
      skip: The names of checks to leave out, and why, which the report tells.
      order: The order up to which there are to be gradients; 2 or more.
      differentiable: The positions, among the inputs, of those that there are gradients for; by default all whose
        type is a floating-point one.
      tolerances: Relative errors by a type's name, such as {"half": 1e-2}, which replace the usual ones, where
        results are compared that may be rounded differently.
      libraries: The op libraries that another process loads to have the op. This package's is loaded anyway.
      modules: The modules that another process imports to have the op.
      time_limit: The seconds after which a run counts as hanging.

    Returns:
      The report. `report.findings` is what is wrong, `report.ok` whether nothing is, and `print(report)` a table.

    Raises:
      ValueError: `only` or `skip` names no check, or a reason is missing; the function calls no op, or cannot be
        traced; or the op is not known to another process, as neither `libraries` nor `modules` registers it.
    """
    skip = dict(skip or {})
    chosen = CHECKS if only is None else only
    unknown = (set(skip) | set(chosen)) - set(CHECKS)
    if unknown:
        raise ValueError(f"op_check: no check is named {', '.join(sorted(unknown))}; there are {', '.join(CHECKS)}")
    without_reason = [name for name, reason in skip.items() if not reason]
    if without_reason:
        raise ValueError(f"op_check: skip tells no reason for {', '.join(without_reason)}")
    start = time.monotonic()
    worker = Worker(libraries, modules, time_limit)
    subject = Subject(Call(fn, args, dict(kwargs or {})), worker, tolerances or {}, order, differentiable)
    try:
        results = _first_run(subject)
        if not results:
            results = [_run(name, subject, skip.get(name)) for name in CHECKS if name in chosen]
    finally:
        worker.close()
    return Report(subject.traced.op or "a function", results, time.monotonic() - start)


def _first_run(subject: Subject) -> list[Result]:
    """Runs the sample: what no check can do without. Returns a result only if that fails."""
    try:
        traced = subject.traced
    except Exception as error:
        raise ValueError(f"op_check: the function cannot be traced: {type(error).__name__}: {error}") from error
    if not traced.op:
        raise ValueError("op_check: the function's output comes from no op")
    if not kernels.is_function(traced.op) and not subject.worker("registered", op=traced.op):
        raise ValueError(
            f"op_check: another process does not know the op {traced.op}: pass the op library in `libraries`, or the "
            "module that loads it in `modules`"
        )
    try:
        _ = subject.outputs
    except (TaskError, CrashError) as error:
        return [Result("sample", [Finding("sample", f"the sample fails: {error}")])]
    except NotApplicable:
        pass  # Checks that need another process tell.
    return []


def _run(name: str, subject: Subject, skipped: str | None) -> Result:
    result = Result(name, skipped=skipped)
    if skipped is not None:
        return result
    try:
        for text in CHECKS[name](subject):
            if isinstance(text, Note):
                result.notes.append(text)
            else:
                result.findings.append(Finding(name, text))
    except NotApplicable as reason:
        result.skipped = str(reason)
    except Exception as error:
        result.findings.append(Finding(name, f"it fails: {type(error).__name__}: {error}"))
    return result
