# SPDX-License-Identifier: Apache-2.0
"""The loader accepts the TensorFlow that the library was built for, and explains why it refuses others."""

from __future__ import annotations

import pathlib
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
            _loader._check_tensorflow(found)

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

    def test_library_that_cannot_be_opened(self) -> None:
        broken = pathlib.Path(self.create_tempfile("_ops.so", "not a library").full_path)
        with (
            mock.patch.object(_loader, "LIBRARY", broken),
            mock.patch.object(_build_info, "OPS", ()),
            self.assertRaisesRegex(ImportError, f"cannot load {broken}, built for TensorFlow .*"),
        ):
            _loader.load()


if __name__ == "__main__":
    absltest.main()
