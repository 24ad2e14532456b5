# SPDX-License-Identifier: Apache-2.0
"""The site of the documentation has what the repository has, and what is wrong with a page fails."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess

from absl.testing import absltest, parameterized

REPOSITORY = pathlib.Path.cwd()
MKDOCS = REPOSITORY.parent / "docs_packages/venv/bin/mkdocs"

# With the pages of this repository instead.
CONFIGURATION = """
INHERIT: real.yml
nav: [index.md, page.md, api.md, contributing.md, changelog.md]
"""

FILES = {
    "README.md": "# Read me\n\n[a page](docs/page.md#two-words), [a source](code/two.cc), [a folder](code)\n",
    "CONTRIBUTING.md": "# Contributing\n\n[back](README.md)\n",
    "CHANGELOG.md": "# Changelog\n",
    "docs/BUILD": "",
    "docs/page.md": "# Page\n\n## Two words\n\n[`one`](../code/one.py), [back](../README.md), [api](https://a.b/c)\n",
    "code/one.py": "ONE = 1  # ```\n",
    "code/two.cc": "int Two();\n",
    "tensorflow_custom_ops/__init__.py": '"""P."""\n\n\ndef build_info() -> str:\n    """Tells about the build."""\n',
    "tensorflow_custom_ops/jit/__init__.py": '"""Compiles."""\n',
    "tensorflow_custom_ops/layers/__init__.py": '"""Layers."""\n',
    "tensorflow_custom_ops/testing/__init__.py": '"""Checks."""\n',
    "tensorflow_custom_ops/testing/op_check.py": 'def op_check() -> None:\n    """Checks."""\n',
    "tensorflow_custom_ops/testing/samples.py": 'def samples() -> None:\n    """Gives samples."""\n',
    "tensorflow_custom_ops/ops/__init__.py": "",
    "tensorflow_custom_ops/ops/double/__init__.py": "",
    "tensorflow_custom_ops/ops/ops.bzl": 'OPS = [\n    "double",\n]\n',
    "tensorflow_custom_ops/ops/double/double.py": '''
"""Double."""

__all__ = ["double"]


def double(x: int) -> int:
    """Doubles.

    Args:
      x: What to double.

    Returns:
      A number: the double.
    """
    return 2 * x
''',
}


class SiteTest(parameterized.TestCase):
    def build(self, name: str = "README.md", more: str = "") -> tuple[pathlib.Path, str]:
        """Makes the site of a small repository.

        Args:
          name: A file.
          more: What the file has besides.

        Returns:
          The site's folder, and what mkdocs printed if it failed.
        """
        root = pathlib.Path(self.create_tempdir().full_path)
        for path, text in {**FILES, name: FILES.get(name, "") + more}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        tools = root / "tools/docs"
        tools.mkdir(parents=True)
        shutil.copy("tools/docs/hooks.py", tools)
        shutil.copy("tools/docs/mkdocs.yml", tools / "real.yml")
        (tools / "mkdocs.yml").write_text(CONFIGURATION)
        subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
        result = subprocess.run(
            [MKDOCS, "build", "--config-file", tools / "mkdocs.yml"],
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return root / "site", result.stdout if result.returncode else ""

    def test_has_what_the_repository_has(self) -> None:
        site, errors = self.build()
        self.assertEmpty(errors)
        index = (site / "index.html").read_text()
        self.assertIn("Read me", index)
        self.assertIn('href="page.html#two-words"', index)
        self.assertIn('href="source/code/two.cc.html"', index)
        self.assertIn('href="source/code.html"', index)
        page = (site / "page.html").read_text()
        self.assertIn('href="source/code/one.py.html"', page)
        self.assertIn('href="index.html"', page)
        self.assertIn('href="https://a.b/c"', page)
        source = (site / "source/code/one.py.html").read_text()
        self.assertIn("ONE", source)
        self.assertIn("```", source)
        folder = (site / "source/code.html").read_text()
        self.assertIn("one.py", folder)
        self.assertIn("Two", folder)
        api = (site / "api.html").read_text()
        for text in ("Tells about the build.", "Doubles.", "What to double.", "A number: the double."):
            self.assertIn(text, api)

    def test_loads_nothing_from_elsewhere(self) -> None:
        site, errors = self.build()
        self.assertEmpty(errors)
        for page in site.rglob("*.html"):
            loaded = re.findall(
                r"<(?:link|script|img|iframe)\b[^>]*?\b(?:src|href)=\"?(\w+:[^\s\">]*)", page.read_text()
            )
            self.assertEmpty(loaded, page)
        for style in site.rglob("*.css"):
            self.assertNotRegex(style.read_text(), r"@import|url\(\"?https?:")

    @parameterized.parameters(
        ("docs/page.md", "\n[dead](nothing.md)\n", r"page\.md.*nothing\.md"),
        ("docs/page.md", "\n[dead](../code/nothing.py)\n", r"page\.md.*code/nothing\.py"),
        ("docs/page.md", "\n[dead](#nothing)\n", r"page\.md.*#nothing"),
        ("docs/page.md", "\n![dead](nothing.png)\n", r"page\.md.*nothing\.png"),
        ("docs/page.md", "\n[outside](/code/one.py)\n", r"page\.md.*/code/one\.py"),
        ("docs/other.md", "# In no menu\n", r"other\.md"),
        ("README.md", "\n[dead](docs/page.md#nothing)\n", r"index\.md.*page\.md#nothing"),
        ("README.md", "\n[dead](docs/nothing.md)\n", r"index\.md.*nothing\.md"),
        (
            "tensorflow_custom_ops/layers/__init__.py",
            '\ndef layer() -> None:\n    """A layer.\n\n    Args:\n      x: Not there.\n    """\n',
            r"layers/__init__\.py.*'x'",
        ),
    )
    def test_fails(self, name: str, more: str, message: str) -> None:
        _, errors = self.build(name, more)
        self.assertRegex(errors, message)


if __name__ == "__main__":
    absltest.main()
