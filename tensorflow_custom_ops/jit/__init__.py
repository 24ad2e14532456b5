# SPDX-License-Identifier: Apache-2.0
"""Compiles ops from Python, without Bazel.

The functions return a module with a Python function for each op. What is compiled is kept on disk, and compiled again
only if something that it depends on has changed.
"""

from __future__ import annotations

import os
import pathlib
import re
import types
from collections.abc import Mapping, Sequence

from tensorflow_custom_ops.jit import _compiler, _cuda, _functor, _library, _options, _plan
from tensorflow_custom_ops.jit._compiler import CompileError as CompileError

__all__ = ["CompileError", "get_compile_flags", "get_link_flags", "load", "load_inline", "load_library"]

Path = str | os.PathLike[str]

# What a C++ or a CUDA source is called.
_SUFFIXES = (".cc", ".cpp", ".cxx", ".C", ".cu")


def get_compile_flags() -> list[str]:
    """The flags by which a C++ source of an op library is compiled: those of this package, and TensorFlow's.

    Returns:
      Flags for g++ and clang++, among them where the headers of TensorFlow and of this package are.
    """
    return _options.compile_flags()


def get_link_flags() -> list[str]:
    """The flags by which an op library is linked.

    Returns:
      Flags for g++ and clang++, to come after the objects.
    """
    return [*_compiler.linker_flags(_compiler.find_compiler()), *_options.link_flags()]


def load(
    name: str,
    sources: Path | Sequence[Path],
    *,
    include_dirs: Sequence[Path] = (),
    compile_flags: Sequence[str] = (),
    cuda_flags: Sequence[str] = (),
    link_flags: Sequence[str] = (),
    verbose: bool = False,
) -> types.ModuleType:
    """Compiles source files to an op library, and loads it.

    Args:
      name: The library's name: a Python identifier.
      sources: C++ files, and CUDA files, called *.cu.cc or *.cu. They register at least one op.
      include_dirs: Further folders with headers.
      compile_flags: Further flags for C++ sources.
      cuda_flags: Further flags for CUDA sources.
      link_flags: Further flags for linking.
      verbose: Whether to show the commands and what they print, on stderr.

    Returns:
      A module with a function for each op. It has no gradients: register these with `tf.RegisterGradient`.

    Raises:
      CompileError: There is no compiler, or it reports an error.
      FileNotFoundError: There is no such source.
      ImportError: The library cannot be loaded, or has no op.
      OSError: The cache cannot be written.
      RuntimeError: There are CUDA sources, and this TensorFlow is built without CUDA.
      TypeError, ValueError: An argument is wrong, or this process has an op of that name.
    """
    files = [_source(source) for source in ([sources] if isinstance(sources, str | os.PathLike) else sources)]
    if not files:
        raise ValueError("sources is empty; give at least one C++ source")
    plan = _new_plan(
        name,
        include_dirs=include_dirs,
        compile_flags=compile_flags,
        cuda_flags=cuda_flags,
        link_flags=link_flags,
        verbose=verbose,
    )
    plan.units += _plan.units_of([str(file) for file in files])
    return _compile(plan, [op for file in files for op in _library.registered_by(file.read_text(errors="replace"))])


def load_inline(
    name: str,
    cpp_source: str | None = None,
    cuda_source: str | None = None,
    xla_source: str | None = None,
    functor: str | None = None,
    *,
    inputs: Sequence[str] | None = None,
    attributes: Mapping[str, bool | int | float] | None = None,
    doc: str | None = None,
    include_dirs: Sequence[Path] = (),
    compile_flags: Sequence[str] = (),
    cuda_flags: Sequence[str] = (),
    link_flags: Sequence[str] = (),
    verbose: bool = False,
) -> types.ModuleType:
    """Compiles strings to an op library, and loads it.

    Args:
      name: The library's name: a Python identifier.
      cpp_source: A C++ source: ops and kernels.
      cuda_source: A CUDA source, for nvcc.
      xla_source: A C++ source with the ops' XLA kernels: `REGISTER_XLA_LOWERING`, or TensorFlow's `REGISTER_XLA_OP`.
      functor: The struct of an elementwise op, as in docs/elementwise.md. Its name is the op's. Kernels for CPU and XLA
        and gradients are made from it.
      inputs: Of the functor: names of the op's inputs, if not those of the parameters of Apply.
      attributes: Of the functor: its attributes, which are the parameters of Apply of type `fn::Constant`, with their
        default values, of type bool, int or float.
      doc: Of the functor: the op's documentation.
      include_dirs: Further folders with headers.
      compile_flags: Further flags for C++ sources.
      cuda_flags: Further flags for the CUDA source.
      link_flags: Further flags for linking.
      verbose: Whether to show the commands and what they print, on stderr.

    Returns:
      A module with a function for each op. The op of a functor has its gradients, of every order that it has.

    Raises:
      CompileError: There is no compiler, or it reports an error, with the lines of the string, which it calls after the
        argument: `cpp_source.cc:3:1`.
      ImportError: The library cannot be loaded, or has no op.
      OSError: The cache cannot be written.
      RuntimeError: There is a CUDA source, and this TensorFlow is built without CUDA.
      TypeError, ValueError: An argument is wrong, or this process has an op of that name.
    """
    texts = {"cpp_source.cc": cpp_source, "cuda_source.cu.cc": cuda_source, "xla_source.cc": xla_source}
    for argument, text in (*texts.items(), ("functor", functor)):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{argument.partition('.')[0]} must be a string, but is {text!r}")
    if cpp_source is None and functor is None:
        raise ValueError("give cpp_source, functor, or both: without them there is no op")
    plan = _new_plan(
        name,
        include_dirs=include_dirs,
        compile_flags=compile_flags,
        cuda_flags=cuda_flags,
        link_flags=link_flags,
        verbose=verbose,
    )
    given = {file: text for file, text in texts.items() if text is not None}
    plan.texts |= given
    plan.units += _plan.units_of(list(given))
    plan.uses_tensorflow = bool(given)
    ops = [op for text in given.values() for op in _library.registered_by(text)]
    if functor is None:
        for argument, value in (("inputs", inputs), ("attributes", attributes), ("doc", doc)):
            if value is not None:
                raise ValueError(f"{argument} is of a functor, and there is none: a C++ source says it itself")
        return _compile(plan, ops)
    op = _functor.read(functor, inputs, attributes, doc)
    op.add_to(plan)
    return _compile(plan, [*ops, op.op, f"{op.op}Grad"], functor=op.op)


def load_library(path: Path) -> types.ModuleType:
    """Loads an op library that something else has compiled: make, CMake, setuptools.

    Args:
      path: The library. Loading it once more gives the same module.

    Returns:
      A module with a function for each op.

    Raises:
      FileNotFoundError: There is no such file.
      ImportError: It is no library that this TensorFlow can load, or it has no op that is new.
    """
    file = pathlib.Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"there is no library {file.absolute()}")
    return _library.load(file)


def _source(source: Path) -> pathlib.Path:
    """The absolute path of a source."""
    file = pathlib.Path(source).absolute()
    if not file.is_file():
        raise FileNotFoundError(f"there is no source {file}")
    if file.suffix not in _SUFFIXES:
        raise ValueError(f"the source {file} must be called *{', *'.join(_SUFFIXES)}")
    return file


def _new_plan(
    name: str,
    *,
    include_dirs: Sequence[Path],
    compile_flags: Sequence[str],
    cuda_flags: Sequence[str],
    link_flags: Sequence[str],
    verbose: bool,
) -> _plan.Plan:
    """A plan without sources."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", name):
        raise ValueError(f"name must be a Python identifier, of up to 100 ASCII characters, but is {name!r}")
    flags = {"compile_flags": compile_flags, "cuda_flags": cuda_flags, "link_flags": link_flags}
    for argument, value in (*flags.items(), ("include_dirs", include_dirs)):
        if isinstance(value, str):
            raise TypeError(f"{argument} must be a list, but is the string {value!r}")
    includes = tuple(f"-I{pathlib.Path(folder).absolute()}" for folder in include_dirs)
    return _plan.Plan(
        name,
        compile_flags=(*includes, *compile_flags),
        cuda_flags=(*includes, *cuda_flags),
        link_flags=tuple(link_flags),
        verbose=verbose,
    )


def _compile(plan: _plan.Plan, ops: Sequence[str], functor: str | None = None) -> types.ModuleType:
    """Compiles and loads a library that registers these ops."""
    found = plan.find()
    module = found and _library.loaded(found)
    if module:
        return module
    _library.check_are_new(ops)
    if any(unit.is_cuda for unit in plan.units):
        _cuda.check_tensorflow()
    library = found or plan.make()
    module = _library.load(library)
    if functor:
        _library.register_functor(functor, module)
    return module
