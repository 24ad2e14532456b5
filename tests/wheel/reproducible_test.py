# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel again from its own contents, in other circumstances."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from absl.testing import absltest

from tests.wheel import wheel_test_case
from tools.pip_package import build_wheel


class ReproducibleTest(wheel_test_case.WheelTestCase):
    def build_again(self, unpacked: Path) -> bytes:
        """Builds the wheel from other folders, in another order, at another time, as another user might."""
        (info,) = unpacked.glob("*.dist-info")
        parts = self.new_folder()
        fields, _, readme = (info / "METADATA").read_bytes().partition(b"\n\n")
        (parts / "fields").write_bytes(fields + b"\n")
        (parts / "readme").write_bytes(readme)
        names = [path.relative_to(unpacked) for path in unpacked.rglob("*") if path.is_file()]
        names = sorted((name for name in names if info.name not in name.parts), reverse=True)
        for name in names:
            os.utime(unpacked / name, (1e9, 1e9))
            (unpacked / name).chmod(0o700)
        out = parts / self.wheel.name
        subprocess.run(
            [
                *(sys.executable, build_wheel.__file__),
                *(f"{name}={unpacked / name}" for name in names),
                *("--license", info / "licenses" / "LICENSE", "--readme", parts / "readme"),
                *("--metadata", parts / "fields", "--out", out),
                *("--sbom", next((info / "sboms").iterdir())),
            ],
            cwd=unpacked,
            env={"TZ": "Pacific/Chatham", "LC_ALL": "C", "PYTHONHASHSEED": "7"},
            umask=0o077,
            check=True,
        )
        return out.read_bytes()

    def test_same_contents_give_the_same_wheel(self) -> None:
        self.assertEqual(self.build_again(self.unpack()), self.wheel.read_bytes())

    def test_other_contents_give_another_wheel(self) -> None:
        unpacked = self.unpack()
        with (unpacked / wheel_test_case.PACKAGE / "py.typed").open("a") as file:
            file.write("\n")
        self.assertNotEqual(self.build_again(unpacked), self.wheel.read_bytes())


if __name__ == "__main__":
    absltest.main()
