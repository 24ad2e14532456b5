# SPDX-License-Identifier: Apache-2.0
"""What is made of an op says so: without one, or without all but one, nothing names it."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Collection, Mapping

from absl.testing import absltest, parameterized

from tools.ci import list_ops
from tools.new_op.names import Name
from tools.rename_project import remove_ops

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
OPS_BZL = str(list_ops.PACKAGE / "ops.bzl")
OPS = list_ops.listed((REPOSITORY / OPS_BZL).read_text())

# Where ops are named and not used: documentation, what makes other ops of them, the ops by hand, and what can
# be computed of rows.
NAMED_ONLY = re.compile(
    r".*\.(md|svg|template)|(tools|tests)/(new_op|rename_project)/.*|examples/by_hand/.*|tests/gpu/device/BUILD"
    r"|tensorflow_custom_ops/core/normalization/norm\.h|tensorflow_custom_ops/core/elementwise/(functor|op)\.h"
)
# What is called like an op and is another thing.
OTHERS = re.compile(
    r"activation=?.*gelu|\"sigmoid\", \"gelu\"|(tf\.nn|torch\.\w+|keras\.\w+)\.\w+|layers\.LayerNorm|infinite logit"
    r"|`[^`]*`"
)


def project(**files: str) -> dict[str, str]:
    """A project of the ops gelu, huber and my_op, and of other files, of which the names' __ stand for dots."""
    ops = "".join(f'    "{op}",\n' for op in ("gelu", "huber", "my_op"))
    texts = {OPS_BZL: f"OPS = [\n{ops}]\n"}
    texts |= {f"{list_ops.PACKAGE}/{op}/BUILD": "" for op in ("gelu", "huber", "my_op")}
    return texts | {path.replace("__", "."): text for path, text in files.items()}


def mentions(texts: Mapping[str, str], op: str) -> list[str]:
    """The lines that use an op, or seem to."""
    name = re.compile(rf"(?<![\w.])(gen_)?{op}\b|\b(ops|tensorflow_custom_ops)\.{op}\b|\b{Name(op).camel}(Grad)?\b")
    return [
        f"{path}: {line}"
        for path, text in texts.items()
        if not NAMED_ONLY.fullmatch(path)
        if name.search(text)
        for line in text.splitlines()
        if name.search(OTHERS.sub("", line))
    ]


class RepositoryTest(parameterized.TestCase):
    texts: dict[str, str]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        paths = [path for path in REPOSITORY.rglob("*") if path.is_file() and ".git" not in path.parts]
        left_out = re.compile(r"(bazel-|\.\w+_cache/|site/).*|.*(\.pyc|\.bazelrc\.user)|compile_commands\.json")
        contents = {str(path.relative_to(REPOSITORY)): path.read_bytes() for path in paths}
        cls.texts = {
            path: content.decode()
            for path, content in contents.items()
            if not left_out.fullmatch(path) and b"\0" not in content
        }

    def test_an_op_is_found(self) -> None:
        self.assertNotEmpty(mentions(self.texts, remove_ops.EXAMPLE))

    def test_nothing_names_an_op_that_is_removed(self) -> None:
        for op in sorted({*OPS} - {remove_ops.EXAMPLE}):
            with self.subTest(op):
                after = remove_ops.remove(self.texts, [op])
                self.assertEmpty([path for path in after if path.startswith(f"{list_ops.PACKAGE}/{op}/")])
                self.assertEqual(list_ops.listed(after[OPS_BZL]), [other for other in OPS if other != op])
                self.assertEmpty(mentions(after, op))

    def test_an_empty_start_names_no_other_op(self) -> None:
        removed = [op for op in OPS if op != remove_ops.EXAMPLE]
        after = remove_ops.remove(self.texts, removed)
        self.assertEmpty([line for op in removed for line in mentions(after, op)])
        # Refuses marks of ops that there are not.
        self.assertEqual(remove_ops.remove(after, []), after)


class MarkTest(parameterized.TestCase):
    def remove(self, removed: Collection[str], **files: str) -> dict[str, str]:
        """What is left of files."""
        before = project(**files)
        return {path: text for path, text in remove_ops.remove(before, removed).items() if "ops/" not in path}

    @parameterized.parameters(
        ("a\n# >>> only with gelu\nb\n# <<<\nc\n", "a\nc\n"),
        ("a\n  // >>> only with huber, gelu\n  b\n  // <<<\nc\n", "a\nc\n"),
        ("a\n<!-- >>> only with gelu -->\nb\n<!-- <<< -->\nc\n", "a\nc\n"),
        ("a\nb  # only with gelu\nb  // only with my_op, gelu\nc\n", "a\nc\n"),
    )
    def test_what_needs_the_op_goes(self, text: str, left: str) -> None:
        self.assertEqual(self.remove(["gelu"], a__py=text), {"a.py": left})
        self.assertEqual(self.remove(["huber"], a__py="x\n"), {"a.py": "x\n"})

    def test_what_needs_another_op_stays(self) -> None:
        text = "# >>> only with huber\na\n# <<<\nb  # only with huber\n"
        self.assertEqual(self.remove(["gelu"], a__py=text), {"a.py": text})

    def test_what_needs_a_file_goes_with_it(self) -> None:
        files = {
            "a/layer.py": "# >>> only with gelu: whole file\n",
            "a/__init__.py": "import layer  # only with layer.py\nimport other\n",
            "b/BUILD": "# >>> only with a/layer.py: whole folder\n",
            "b/c/d.py": "",
            "c.py": "x  # only with b\ny\n",
        }
        left = remove_ops.remove(project() | files, ["gelu"])
        self.assertEqual(
            {path: text for path, text in left.items() if "ops/" not in path},
            {"a/__init__.py": "import other\n", "c.py": "y\n"},
        )

    def test_pages(self) -> None:
        page = (
            "| op | |\n| --- | --- |\n| Gelu | `gelu(x)` |\n| Huber | `huber(x)` |\n\n"
            f"[Gelu]({list_ops.PACKAGE}/gelu#x), [Huber]({list_ops.PACKAGE}/huber), [other](https://a.b/c), [x](#y)\n\n"
            "    a/                 only this\n                            and this\n    c/                 not this\n"
        )
        files = {"README.md": page, "a/BUILD": "# >>> only with gelu: whole folder\n", "c/d": ""}
        self.assertEqual(
            remove_ops.remove(project() | files, ["gelu"])["README.md"],
            "| op | |\n| --- | --- |\n| Huber | `huber(x)` |\n\n"
            f"Gelu, [Huber]({list_ops.PACKAGE}/huber), [other](https://a.b/c), [x](#y)\n\n"
            "    c/                 not this\n",
        )

    @parameterized.parameters(
        ("# >>> only with gelu\n", "'# >>> only with gelu' has no end"),
        ("# >>> only with gelu\n# >>> only with huber\n# <<<\n# <<<\n", "'# >>> only with huber' is .*within another"),
        ("# >>> only with gelu\na  # only with huber\n# <<<\n", "'a  # only with huber' is misspelt, within another"),
        ("# <<<\n", "'# <<<' is misspelt, within another, or ends none"),
        ("# >>> only with Gelu!\n# <<<\n", "'# >>> only with Gelu!' is misspelt"),
        ("a  # only with\n", "'a  # only with' is misspelt"),
        ("# >>> only with mish\n# <<<\n", "a mark is about mish, which is neither an op nor a file"),
        ("a  # only with b.py\n", "a mark is about b.py, which is neither an op nor a file"),
    )
    def test_refuses_marks(self, text: str, message: str) -> None:
        with self.assertRaisesRegex(remove_ops.MarkError, f"a.py: .*{message}"):
            self.remove(["gelu"], a__py=text)

    def test_refuses_what_is_no_op(self) -> None:
        with self.assertRaisesRegex(remove_ops.MarkError, "ops.bzl does not list mish"):
            self.remove(["mish"])


if __name__ == "__main__":
    absltest.main()
