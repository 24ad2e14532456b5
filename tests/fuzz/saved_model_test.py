# SPDX-License-Identifier: Apache-2.0
"""SavedModels of ops that somebody has edited give a result or an error."""

from __future__ import annotations

import os

from absl import flags
from absl.testing import absltest, parameterized

from tests.fuzz.hostile_models import fuzz_models
from tests.fuzz.watched import watched

_MODELS = flags.DEFINE_integer("models", 150, "How many edited SavedModels there are of each op.")
_SEED = flags.DEFINE_integer("seed", 0, "Of the random numbers by which they are edited.")


class SavedModelTest(parameterized.TestCase):
    @parameterized.parameters(os.environ["OPS"].split())
    def test_gives_errors(self, op: str) -> None:
        # What ends the process is kept as an output of the test.
        folder = os.environ["TEST_UNDECLARED_OUTPUTS_DIR"]
        outcomes = watched(lambda note: fuzz_models(op, folder, _MODELS.value, _SEED.value, note))
        print(f"{op}: {outcomes}")
        refused = sum(count for outcome, count in outcomes.items() if "Error" in outcome)
        self.assertGreater(refused, sum(outcomes.values()) / 3)


if __name__ == "__main__":
    absltest.main()
