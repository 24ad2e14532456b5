# SPDX-License-Identifier: Apache-2.0
"""The facade's table of labels fits the wheel."""

from __future__ import annotations

import pathlib

import tensorflow as tf
from absl.testing import absltest

LABELS_BZL = pathlib.Path("third_party/tensorflow/labels.bzl")

# Older wheels lack some of the headers, and with them the labels.
COMPLETE_SINCE = (2, 21)


def read_labels() -> dict[str, dict[str, dict[str, dict[str, str]]]]:
    """The table. It uses no more of Starlark than what is Python too."""
    namespace: dict[str, dict[str, dict[str, dict[str, dict[str, str]]]]] = {}
    exec(LABELS_BZL.read_text(), namespace)
    return namespace["LABELS"]


class LabelsTest(absltest.TestCase):
    def test_wheel_has_the_header_of_each_label(self) -> None:
        if tuple(map(int, tf.__version__.split(".")[:2])) < COMPLETE_SINCE:
            self.skipTest(f"TensorFlow {tf.__version__} has fewer headers")
        include = pathlib.Path(tf.sysconfig.get_include())
        missing = [
            f"@{repository}//{package}:{target} ({header})"
            for repository, libraries in read_labels().items()
            for packages in libraries.values()
            for package, targets in packages.items()
            for target, header in targets.items()
            if not (include / header).exists()
        ]
        self.assertEmpty(missing)

    def test_each_package_has_one_table_a_library(self) -> None:
        for repository, libraries in read_labels().items():
            labels = [
                f"@{repository}//{package}:{target}"
                for packages in libraries.values()
                for package, targets in packages.items()
                for target in targets
            ]
            self.assertLen(set(labels), len(labels), f"a label of {repository} is there twice")


if __name__ == "__main__":
    absltest.main()
