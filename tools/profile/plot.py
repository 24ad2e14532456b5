# SPDX-License-Identifier: Apache-2.0
"""Draws what the threads did in a step, which it reads from the standard input as JSON.

    plot IMAGE < bars.json

The input is `{"milliseconds": ..., "bars": [[thread, start, duration, op, whether it is ours], ...]}`.
"""

from __future__ import annotations

import collections
import json
import sys

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot

# How many ops have a color of their own, beside ours.
COLORS = 6

if __name__ == "__main__":
    content = json.load(sys.stdin)
    times: collections.Counter[str] = collections.Counter()
    for _, _, duration, op, _ in content["bars"]:
        times[op] += duration
    ours = sorted({op for *_, op, is_ours in content["bars"] if is_ours})
    others = [op for op, _ in times.most_common() if op not in ours][:COLORS]
    colors = {op: pyplot.get_cmap("turbo")((i + 0.5) / len(ours)) for i, op in enumerate(ours)}
    colors |= {op: str(0.35 + 0.08 * i) for i, op in enumerate(others)}
    threads = sorted({thread for thread, *_ in content["bars"]})
    figure, axes = pyplot.subplots(figsize=(12, 1 + max(0.6 * len(threads), 0.2 * len(colors))), layout="constrained")
    for thread, start, duration, op, _ in content["bars"]:
        axes.barh(threads.index(thread), duration, left=start, height=0.8, color=colors.get(op, "0.85"))
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=color) for color in colors.values()]
    axes.legend(handles, colors, loc="upper left", bbox_to_anchor=(1, 1), fontsize="x-small")
    axes.set(xlabel="milliseconds", ylabel="threads", yticks=[], xlim=(0, content["milliseconds"]))
    axes.set_title("A training step: this package's ops in color, TensorFlow's in grey")
    figure.savefig(sys.argv[1], dpi=100)
