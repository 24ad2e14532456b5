# SPDX-License-Identifier: Apache-2.0
"""Draws a loss curve, which it reads from the standard input as JSON.

    plot IMAGE < losses.json

The input is `{"title": ..., "losses": [...]}`.
"""

from __future__ import annotations

import json
import sys

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot

if __name__ == "__main__":
    content = json.load(sys.stdin)
    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    axes.plot(range(1, len(content["losses"]) + 1), content["losses"], linewidth=0.8)
    axes.set(title=content["title"], xlabel="step", ylabel="loss (nats for each character)")
    axes.grid(linewidth=0.3)
    figure.savefig(sys.argv[1], dpi=100)
