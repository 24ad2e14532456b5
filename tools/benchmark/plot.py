# SPDX-License-Identifier: Apache-2.0
"""Draws what //tools/benchmark:elementwise measured, which it reads from the standard input as JSON.

    plot IMAGE < ratios.json

The input is `{"title": ..., "ratios": {op: {pass: {label: [[elements, ratio], ...]}}}}`.
"""

from __future__ import annotations

import json
import sys

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot


def draw(title: str, ratios: dict[str, dict[str, dict[str, list[list[float]]]]], image: str) -> None:
    """Draws one row of plots for each op, one column for each pass."""
    passes = list(next(iter(ratios.values())))
    figure, grid = pyplot.subplots(
        len(ratios), len(passes), figsize=(6 * len(passes), 3.2 * len(ratios) + 1), squeeze=False, layout="constrained"
    )
    figure.suptitle(title)
    # A label has one color, though not all plots have all labels.
    labels = dict.fromkeys(label for of_op in ratios.values() for lines in of_op.values() for label in lines)
    colors = {label: f"C{number}" for number, label in enumerate(labels)}
    for axes_of_op, (op, of_op) in zip(grid, ratios.items(), strict=True):
        for axes, (name, lines) in zip(axes_of_op, of_op.items(), strict=True):
            for label, points in lines.items():
                axes.plot(*zip(*points, strict=True), color=colors[label], marker="o", markersize=3, label=label)
            axes.axhline(1, color="black", linewidth=0.8)
            axes.set(xscale="log", yscale="log", title=f"{op}, {name}", xlabel="elements", ylabel="their time / ours")
            axes.yaxis.set_major_formatter("{x:g}x")
            axes.yaxis.set_minor_formatter("{x:g}x")
            axes.grid(which="both", linewidth=0.3)
            axes.legend(fontsize="x-small")
    figure.savefig(image, dpi=100)


if __name__ == "__main__":
    content = json.load(sys.stdin)
    draw(content["title"], content["ratios"], sys.argv[1])
