# SPDX-License-Identifier: Apache-2.0
"""Tests of //tools/lint:spdx."""

import subprocess
from pathlib import Path

from absl.testing import absltest, parameterized

PROGRAM = Path("tools/lint/spdx").absolute()
LINE = "SPDX-License-Identifier: Apache-2.0"


class SpdxTest(parameterized.TestCase):
    def check(self, *texts: str) -> tuple[int, str]:
        """Returns the exit status and the output for files 0, 1 and so on with these texts."""
        folder = Path(self.create_tempdir().full_path)
        for number, text in enumerate(texts):
            (folder / str(number)).write_text(text)
        names = map(str, range(len(texts)))
        result = subprocess.run([PROGRAM, *names], cwd=folder, capture_output=True, text=True, check=False)
        self.assertEmpty(result.stderr)
        return result.returncode, result.stdout

    @parameterized.parameters(f"# {LINE}\n", f"// {LINE}\n\nint a;\n", f"#!/usr/bin/env bash\n# {LINE}\nset -e\n")
    def test_passes(self, text: str) -> None:
        self.assertEqual(self.check(text), (0, ""))

    @parameterized.parameters(
        "",
        "#!/usr/bin/env bash\n",
        f"{LINE}\n",
        f"\n# {LINE}\n",
        f"import os\n# {LINE}\n",
        f"# {LINE} WITH LLVM-exception\n",
        "# SPDX-License-Identifier: MIT\n",
    )
    def test_fails(self, text: str) -> None:
        status, output = self.check(text)
        self.assertEqual(status, 1)
        self.assertRegex(output, r"\A0:1: .*SPDX-License-Identifier: Apache-2\.0\n\Z")

    def test_names_each_file_that_lacks_the_line(self) -> None:
        status, output = self.check("a", f"# {LINE}\n", "b")
        self.assertEqual(status, 1)
        self.assertEqual([line[:2] for line in output.splitlines()], ["0:", "2:"])


if __name__ == "__main__":
    absltest.main()
