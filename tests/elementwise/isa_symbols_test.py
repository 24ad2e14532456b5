# SPDX-License-Identifier: Apache-2.0
"""The objects that are compiled for one instruction set share no function with other objects.

The linker keeps one copy of an inline function that several objects have. Were that the copy with AVX-512 instructions,
the library would crash processors without them, far from the code that chooses between the instruction sets.
"""

from __future__ import annotations

import itertools
import pathlib
import re
import shutil
import subprocess
import sys

from absl.testing import absltest

_ISAS = "baseline", "avx2", "avx512"
# By name, the libraries with code for others.
_MORE_ISAS: dict[str, str] = {
    # >>> only with flash_attention
    "tiles": "avx512_bf16",
    # <<<
}
_ARCHIVE = re.compile(rf"lib(.*?)_({'|'.join((*_ISAS, *_MORE_ISAS.values()))})\.")


class IsaSymbolsTest(absltest.TestCase):
    def test_each_symbol_has_the_name_of_the_instruction_set(self) -> None:
        nm = shutil.which("nm")
        self.assertIsNotNone(nm, "no nm on PATH: install binutils")
        archives = [pathlib.Path(argument) for argument in sys.argv[1:]]
        self.assertNotEmpty(archives)
        for archive in archives:
            with self.subTest(archive.name):
                match = _ARCHIVE.match(archive.name)
                assert match, archive
                isa = match[2]
                symbols = subprocess.run(
                    [str(nm), "--defined-only", "--extern-only", "--format=just-symbols", str(archive)],
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout.split()
                # nm also prints the archive's members.
                symbols = [symbol for symbol in symbols if not symbol.endswith(":")]
                self.assertNotEmpty(symbols)
                # Namespaces of the instruction set, with the lengths of their names.
                names = isa, f"Eigen_{isa}", f"tensorflow_custom_ops_{isa}"
                own = [f"{len(name)}{name}" for name in names]
                self.assertEmpty([symbol for symbol in symbols if not any(name in symbol for name in own)])

    def test_all_instruction_sets_are_looked_at(self) -> None:
        archives = [_ARCHIVE.match(pathlib.Path(argument).name) for argument in sys.argv[1:]]
        found = {(match[1], match[2]) for match in archives if match}
        names = {name for name, _ in found}
        self.assertContainsSubset({"cpu_conversions", "functions_cpu", "my_op_functions", "tiles"}, names)
        self.assertEqual(found, {*itertools.product(names, _ISAS), *_MORE_ISAS.items()})


if __name__ == "__main__":
    absltest.main(argv=sys.argv[:1])
