# SPDX-License-Identifier: Apache-2.0
"""No op of this package crashes, hangs, leaks or answers unclearly, whatever its inputs and attributes are."""

from __future__ import annotations

import os

from absl import flags
from absl.testing import absltest, parameterized

from tests.fuzz import fuzz, targets
from tests.fuzz.watched import watched

_EXAMPLES = flags.DEFINE_integer("examples", fuzz.Settings.examples, "How many calls are drawn for each op.")
_SEED = flags.DEFINE_integer(
    "seed", None, "Of the random numbers by which they are drawn; by default they are the same."
)

# Cases of each op: calls, graphs and compilations.
_FEWEST = 10_000


class OpsTest(parameterized.TestCase):
    @parameterized.parameters(targets.names(os.environ["OPS"].split()))
    def test_is_safe(self, name: str) -> None:
        settings = fuzz.Settings(examples=_EXAMPLES.value, seed=_SEED.value)
        counts = watched(lambda note: fuzz.fuzz(targets.target(name), settings, note))
        print(f"{name}: {counts}")
        self.assertGreaterEqual(counts.total * fuzz.Settings.examples, _FEWEST * settings.examples)
        # Otherwise what an op does with its inputs is hardly tested.
        self.assertBetween(counts.results / counts.eager, 0.1, 0.97)


if __name__ == "__main__":
    absltest.main()
