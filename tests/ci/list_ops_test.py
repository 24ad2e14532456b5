# SPDX-License-Identifier: Apache-2.0
"""Lists some of the ops; //tests/source_tree:build_test builds with such a list."""

from __future__ import annotations

import pathlib

from absl.testing import absltest

from tools.ci import list_ops

REPOSITORY = pathlib.Path(__file__).absolute().parents[2]


class ListOpsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)

    def test_lists_these_and_changes_nothing_else(self) -> None:
        text = (REPOSITORY / list_ops.PACKAGE / "ops.bzl").read_text()
        # In another order than they are in.
        some = list_ops.listed(text)[-2:][::-1]
        list_ops.list_ops(REPOSITORY, self.folder, some)
        package = self.folder / list_ops.PACKAGE
        self.assertCountEqual([path.name for path in package.iterdir()], ["BUILD", "__init__.py", "ops.bzl"])
        before, _, rest = text.partition("OPS = [")
        _, _, after = rest.partition("]")
        lines = "".join(f'    "{op}",\n' for op in some)
        expected = f"{before}OPS = [\n{lines}]{after}"
        self.assertEqual((package / "ops.bzl").read_text(), expected)
        self.assertEqual(list_ops.listed(expected), some)

    def test_refuses_what_is_no_op(self) -> None:
        with self.assertRaisesRegex(ValueError, r"ops\.bzl does not list no_op, other_op"):
            list_ops.list_ops(REPOSITORY, self.folder, ["my_op", "other_op", "no_op"])

    def test_refuses_a_file_without_a_list(self) -> None:
        with self.assertRaisesRegex(ValueError, r"ops/ops\.bzl has no list OPS"):
            list_ops.listed("OPS = []\n")


if __name__ == "__main__":
    absltest.main()
