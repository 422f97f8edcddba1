"""Figures that several studies show: values by data set, and quality by the size of an ensemble."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ramify.plots.style import COLOURS, MARKERS, NEUTRAL, plain_figure, shortened


def bars_by_dataset(values: pd.DataFrame, *, measure: str) -> Figure:
    """Bars side by side, a group per data set and a colour per column: depths, gains, shares.

    C. R. de Sa, C. Soares, A. Knobbe, P. Cortez. Label Ranking Forests. Expert Systems, 2016, Figures 4.1 and 4.2.
    """
    n_sets, n_columns = values.shape
    # On a page letters shrink with a figure that is wider than it, so bars get thin first.
    widest = max(8.0, 0.17 * n_sets)
    figure, axes = plain_figure(min(widest, max(4.0, 1.2 + n_sets * (0.16 + 0.14 * n_columns))), 3.2)
    width = 0.8 / n_columns
    for number, (name, column) in enumerate(values.items()):
        places = np.arange(n_sets) + (number - (n_columns - 1) / 2) * width
        heights = column.to_numpy(dtype=np.float64)
        axes.bar(places, heights, width, color=COLOURS[number % len(COLOURS)], label=shortened(str(name)))
    if (values.to_numpy(dtype=np.float64) < 0).any():
        axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xticks(np.arange(n_sets), [shortened(str(name), 16) for name in values.index], rotation=45, ha="right")
    axes.tick_params(axis="x", labelsize=8)
    axes.set_ylabel(measure)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    if n_columns > 1:
        n_lines = int(np.ceil(n_columns / 5))
        axes.legend(frameon=False, fontsize="small", ncols=int(np.ceil(n_columns / n_lines)))
    return figure


def quality_by_size(
    values: pd.DataFrame,
    *,
    baseline: float | None = None,
    measure: str = "AUPRC",
    size: str = "trees",
    title: str | None = None,
) -> Figure:
    """Quality of rankings against the size of what they come from, one line per column.

    M. Petkovic, S. Dzeroski, D. Kocev. Feature ranking for hierarchical multi-label classification with tree ensemble
    methods. Acta Polytechnica Hungarica 17, 2020, Figure 5.
    """
    figure, axes = plain_figure(6.4, 3.2)
    if baseline is not None:
        axes.axhline(baseline, color=NEUTRAL, linestyle="--", label="unweighted")
    for number, (name, column) in enumerate(values.items()):
        axes.plot(
            values.index,
            _numbers(column),
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=4,
            label=shortened(str(name)),
        )
    axes.set_xlabel(size)
    axes.set_ylabel(measure)
    if title is not None:
        axes.set_title(shortened(title, 60), fontsize=10)
    figure.legend(loc="outside center right", frameon=False, fontsize="small")
    return figure


def _numbers(values: Any) -> np.ndarray:
    """What was measured; None is a gap."""
    return np.array(values, dtype=float)
