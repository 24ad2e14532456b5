# SPDX-License-Identifier: Apache-2.0
"""The loader accepts the TensorFlow that the library was built for, and explains why it refuses others."""

from __future__ import annotations

import hashlib
import pathlib
import warnings
from unittest import mock

import tensorflow as tf
from absl.testing import absltest, parameterized

from tensorflow_custom_ops import _build_info, _loader


class LoaderTest(parameterized.TestCase):
    @parameterized.parameters(
        ("2.21.0", "2.21.0"),
        ("2.21.0", "2.21.3"),
        ("2.22.0-rc1", "2.22.0-rc1"),
        ("2.22.0-dev20260905", "2.22.0-dev20260905"),
    )
    def test_accepts(self, built_for: str, found: str) -> None:
        with mock.patch.object(_build_info, "TENSORFLOW_VERSION", built_for):
            _loader._check_tensorflow(found, _build_info.CXX11_ABI)

    @parameterized.parameters(
        ("2.21.0", "2.20.0"),
        ("2.21.0", "2.22.0"),
        ("2.21.0", "3.21.0"),
        ("2.1.0", "2.10.0"),
        ("2.21.0", "2.21.0-rc1"),
        ("2.22.0-rc0", "2.22.0"),
        ("2.22.0-rc0", "2.22.0-rc1"),
        ("2.22.0-dev20260904", "2.22.0-dev20260905"),
    )
    def test_refuses(self, built_for: str, found: str) -> None:
        with (
            mock.patch.object(_build_info, "TENSORFLOW_VERSION", built_for),
            mock.patch.object(tf, "__version__", found),
            mock.patch.object(tf, "load_library") as load_library,
            self.assertRaises(ImportError) as raised,
        ):
            _loader.load()
        load_library.assert_not_called()
        self.assertRegex(str(raised.exception), f"built for TensorFlow {built_for.removesuffix('.0')}")
        self.assertIn(f"TensorFlow {found} is installed", str(raised.exception))
        self.assertIn("pip install", str(raised.exception))

    def test_loading_twice_is_loading_once(self) -> None:
        _loader.load()

    def test_refuses_ops_that_another_library_has(self) -> None:
        with (
            mock.patch.object(_loader, "LIBRARY", pathlib.Path("/elsewhere/_ops.so")),
            self.assertRaisesRegex(
                ImportError, f"ops {', '.join(_build_info.OPS)} are registered .* /elsewhere/_ops.so"
            ),
        ):
            _loader.load()

    def test_refuses_another_string(self) -> None:
        other = 1 - _build_info.CXX11_ABI
        with (
            mock.patch.object(tf.sysconfig, "CXX11_ABI_FLAG", other),
            mock.patch.object(tf, "load_library") as load_library,
            self.assertRaisesRegex(
                ImportError,
                rf"compiled with _GLIBCXX_USE_CXX11_ABI={_build_info.CXX11_ABI}, and this TensorFlow .* with {other}",
            ),
        ):
            _loader.load()
        load_library.assert_not_called()

    def check_refuses(self, library: pathlib.Path, cause: str) -> None:
        """Checks that a library is not opened, and the error's cause."""
        with (
            mock.patch.object(_loader, "LIBRARY", library),
            mock.patch.object(_build_info, "OPS", ()),
            mock.patch.object(tf, "load_library") as load_library,
            self.assertRaisesRegex(ImportError, f"cannot load {library}, built for TensorFlow .*: .*{cause}"),
        ):
            _loader.load()
        load_library.assert_not_called()

    def test_library_that_is_missing(self) -> None:
        self.check_refuses(pathlib.Path(self.create_tempdir().full_path, "_ops.so"), "No such file or directory")

    @parameterized.parameters(0, 10, 1000, -1)
    def test_library_that_is_incomplete(self, end: int) -> None:
        content = _loader.LIBRARY.read_bytes()
        incomplete = pathlib.Path(self.create_tempfile("_ops.so", content[:end]).full_path)
        self.check_refuses(incomplete, f"it has {len(content[:end])} bytes instead of {len(content)}")

    def test_library_that_was_changed(self) -> None:
        content = bytearray(_loader.LIBRARY.read_bytes())
        content[len(content) // 2] ^= 1
        changed = pathlib.Path(self.create_tempfile("_ops.so", bytes(content)).full_path)
        self.check_refuses(changed, "it is not the library of this package: its SHA-256 is [0-9a-f]{64} instead of")

    @parameterized.parameters((183, "aarch64"), (3, "i386"), (62, "x86_64"), (4660, "machine 4660"))
    def test_library_for_another_processor(self, number: int, name: str) -> None:
        content = bytearray(_loader.LIBRARY.read_bytes())
        if content[18:20] == number.to_bytes(2, "little"):
            self.skipTest("this processor")
        content[18:20] = number.to_bytes(2, "little")
        library = pathlib.Path(self.create_tempfile("_ops.so", bytes(content)).full_path)
        self.check_refuses(library, f"it is for {name}, and this Python is for ")

    def test_library_that_cannot_be_opened(self) -> None:
        library = pathlib.Path(self.create_tempfile("_ops.so", "not a library").full_path)
        known = (len("not a library"), hashlib.sha256(b"not a library").hexdigest())
        with (
            mock.patch.object(_loader, "LIBRARY", library),
            mock.patch.object(_build_info, "OPS", ()),
            mock.patch.dict(_build_info.LIBRARIES, {library.name: known}),
            self.assertRaisesRegex(ImportError, f"cannot load {library}, built for TensorFlow .*"),
        ):
            _loader.load()


class GpuKernelsTest(parameterized.TestCase):
    """With builds of the package and of TensorFlow that need not be there.

    Attributes:
      library: what stands for the library of GPU kernels.
      load_library: what stands for TensorFlow's function.
      warnings: those that were given.
    """

    def setUp(self) -> None:
        super().setUp()
        self.library = pathlib.Path(self.create_tempfile("_ops_gpu.so", "a library").full_path)
        self.enter_context(mock.patch.object(_loader, "GPU_LIBRARY", self.library))
        known = (len("a library"), hashlib.sha256(b"a library").hexdigest())
        self.enter_context(mock.patch.dict(_build_info.LIBRARIES, {self.library.name: known}))
        self.load_library = self.enter_context(mock.patch.object(tf, "load_library"))
        self.warnings = self.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")

    def load(self, built_with: str | None, tensorflow_cuda: str | None) -> str:
        """Tells what comes of the GPU kernels.

        Args:
          built_with: the package's version of CUDA.
          tensorflow_cuda: TensorFlow's; None if it is built without.
        """
        info: dict[str, object] = {"is_cuda_build": False}
        if tensorflow_cuda:
            info = {"is_cuda_build": True, "cuda_version": tensorflow_cuda}
        with (
            mock.patch.object(_build_info, "CUDA_VERSION", built_with),
            mock.patch.object(tf.sysconfig, "get_build_info", return_value=info),
        ):
            return _loader._load_gpu_kernels()

    def assert_warned_once(self, reason: str) -> None:
        """Checks for one warning, with the reason."""
        (warning,) = self.warnings
        self.assertIs(warning.category, RuntimeWarning)
        self.assertEqual(str(warning.message), f"the ops of tensorflow_custom_ops run on the CPU only: {reason}")

    @parameterized.parameters(None, "12.5.1")
    def test_package_without(self, tensorflow_cuda: str | None) -> None:
        self.assertStartsWith(self.load(None, tensorflow_cuda), "this build of the package has none")
        self.load_library.assert_not_called()
        self.assertEmpty(self.warnings)

    def test_tensorflow_without_cuda(self) -> None:
        self.assertEqual(self.load("12.4.131", None), f"this TensorFlow {tf.__version__} is built without CUDA")
        self.load_library.assert_not_called()
        self.assertEmpty(self.warnings)

    @parameterized.parameters("12.5.1", "12.4", "12")
    def test_loads(self, tensorflow_cuda: str) -> None:
        self.assertEqual(self.load("12.4.131", tensorflow_cuda), "loaded")
        self.load_library.assert_called_once_with(str(self.library))
        self.assertEmpty(self.warnings)

    @parameterized.parameters(("12.4.131", "13.0"), ("13.0.88", "12.5.1"), ("12.4.131", "1.2"))
    def test_other_major_version(self, built_with: str, tensorflow_cuda: str) -> None:
        with mock.patch.object(_loader, "_DRIVER", pathlib.Path("/no/such/file")):
            reason = self.load(built_with, tensorflow_cuda)
        self.assertEqual(
            reason,
            f"cannot load {self.library}, built with CUDA {built_with}, into TensorFlow {tf.__version__}, built with "
            f"CUDA {tensorflow_cuda}; the NVIDIA driver is not there: the major versions of CUDA differ",
        )
        self.load_library.assert_not_called()
        self.assert_warned_once(reason)

    @parameterized.parameters(tf.errors.NotFoundError(None, None, "the cause"), OSError("the cause"))
    def test_library_that_cannot_be_opened(self, error: Exception) -> None:
        self.load_library.side_effect = error
        reason = self.load("12.4.131", "12.5.1")
        self.assertEndsWith(reason, ": the cause")
        self.assert_warned_once(reason)

    def test_library_that_is_missing(self) -> None:
        self.library.unlink()
        reason = self.load("12.4.131", "12.5.1")
        self.assertIn(f"No such file or directory: '{self.library}'", reason)
        self.load_library.assert_not_called()
        self.assert_warned_once(reason)

    @parameterized.parameters(
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023\nGCC: 12\n",
            "NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023",
        ),
        ("", "not there"),
    )
    def test_driver(self, text: str, driver: str) -> None:
        file = pathlib.Path(self.create_tempfile("version", text).full_path)
        with mock.patch.object(_loader, "_DRIVER", file):
            self.assertIn(f"; the NVIDIA driver is {driver}: ", self.load("12.4.131", "13.0"))


if __name__ == "__main__":
    absltest.main()
