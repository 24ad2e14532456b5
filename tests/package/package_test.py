# SPDX-License-Identifier: Apache-2.0
"""What a user of the package sees of it."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pathlib

import tensorflow as tf
from absl.testing import absltest
from tensorflow.python.framework import op_def_registry, ops

import tensorflow_custom_ops
from tensorflow_custom_ops import _build_info, _loader
from tests import op_test_case

_OP_PREFIX = os.environ["OP_PREFIX"]
_OPS_DIRECTORY = pathlib.Path(tensorflow_custom_ops.__file__).parent / "ops"
OP_FOLDERS = sorted(p.parent.name for p in _OPS_DIRECTORY.glob("*/__init__.py"))
# Those with kernels: the others are made of TensorFlow's ops.
KERNEL_OP_FOLDERS = sorted(p.parent.name for p in _OPS_DIRECTORY.glob("*/gen_*.py"))

_LOAD_WITHOUT_PACKAGE = """
import sys
import tensorflow as tf
tf.saved_model.load(sys.argv[1])
"""


class PackageTest(op_test_case.OpTestCase):
    def test_has_the_functions_of_each_op(self) -> None:
        names = ["__version__", "build_info"]
        for op in OP_FOLDERS:
            names += importlib.import_module(f"tensorflow_custom_ops.ops.{op}.{op}").__all__
        self.assertLen(set(names), len(names), "two functions have one name")
        self.assertCountEqual(tensorflow_custom_ops.__all__, names, "an op's function is missing, or two have one name")

    def test_each_registered_op_has_a_folder(self) -> None:
        for op in _build_info.OPS:
            self.assertStartsWith(op, _OP_PREFIX)
        registered = [op.removeprefix(_OP_PREFIX).lower() for op in _build_info.OPS if not op.endswith("Grad")]
        self.assertCountEqual(registered, [op.replace("_", "") for op in KERNEL_OP_FOLDERS])

    def test_functions_are_documented_and_typed(self) -> None:
        for name in set(tensorflow_custom_ops.__all__) - {"__version__", "build_info"}:
            function = getattr(tensorflow_custom_ops, name)
            signature = inspect.signature(function)
            self.assertNotEqual(signature.return_annotation, inspect.Signature.empty, name)
            for parameter in signature.parameters.values():
                self.assertNotEqual(parameter.annotation, inspect.Parameter.empty, f"{name}: {parameter}")
                self.assertIn(f"  {parameter.name}: ", function.__doc__, name)
            for section in ("Args:", "Returns:", "Raises:", "gradient"):
                self.assertIn(section, function.__doc__, name)

    def test_build_info(self) -> None:
        info = tensorflow_custom_ops.build_info()
        self.assertEqual(info["version"], tensorflow_custom_ops.__version__)
        self.assertEqual(info["tensorflow_version"], tf.__version__)
        self.assertIsInstance(info["xla"], bool)
        self.assertNotEmpty(info["ops"])
        for op in info["ops"]:
            self.assertIsNotNone(op_def_registry.get(op), op)

    def test_build_info_names_the_compiler(self) -> None:
        self.assertRegex(tensorflow_custom_ops.build_info()["compiler"], r"\d+\.\d+\.\d+")

    def test_build_info_tells_of_gpu_kernels(self) -> None:
        info = tensorflow_custom_ops.build_info()
        if not _loader.GPU_LIBRARY.exists():
            self.assertIsNone(info["cuda_version"])
            self.assertEqual(info["cuda_architectures"], ())
            self.assertEqual(info["gpu_kernels"], "this build of the package has none (--config=cuda builds some)")
            return
        self.assertRegex(info["cuda_version"], r"\A\d+\.\d+\.\d+\Z")
        self.assertNotEmpty(info["cuda_architectures"])
        for architecture in info["cuda_architectures"]:
            self.assertRegex(architecture, r"\A(sm|compute)_\d+[af]?\Z")
        has_cuda = tf.sysconfig.get_build_info()["is_cuda_build"]
        self.assertRegex(info["gpu_kernels"], "loaded" if has_cuda else "this TensorFlow .* is built without CUDA")

    def test_each_op_has_a_gradient(self) -> None:
        for op in _build_info.OPS:
            # Raises LookupError where there is none.
            self.assertTrue(callable(ops.gradient_registry.lookup(op)))

    def test_stubs_have_the_signatures_of_the_modules(self) -> None:
        for op in KERNEL_OP_FOLDERS:
            module = importlib.import_module(f"tensorflow_custom_ops.ops.{op}.gen_{op}")
            stub = ast.parse(pathlib.Path(str(module.__file__)).with_suffix(".pyi").read_text())
            functions = {n.name: n for n in stub.body if isinstance(n, ast.FunctionDef)}
            self.assertNotEmpty(functions)
            for name, node in functions.items():
                parameters = [a.arg for a in node.args.args]
                self.assertEqual(parameters, list(inspect.signature(getattr(module, name)).parameters))

    def test_saved_model_without_the_package_names_the_op(self) -> None:
        module = tf.Module()
        module.call = tf.function(tensorflow_custom_ops.my_op, input_signature=[tf.TensorSpec([2])])
        path = self.create_tempdir().full_path
        tf.saved_model.save(module, path)
        result = self.run_python(_LOAD_WITHOUT_PACKAGE, path, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("Op type not registered 'MyOp'", result.stderr)


if __name__ == "__main__":
    absltest.main()
