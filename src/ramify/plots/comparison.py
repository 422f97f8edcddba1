"""Methods compared over data sets: critical-difference diagram and bars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ramify.plots.style import COLOURS, plain_figure, shortened


def critical_difference(comparison: Any) -> Figure:
    """Mean ranks on a line, best on the right; a bar joins methods of which no two differ significantly.

    Where a method between two others is not of their group, dots on the bar mark those that are.

    Parameters
    ----------
    comparison : Comparison
        From `ramify.compare.compare`.

    Returns
    -------
    matplotlib.figure.Figure

    References
    ----------
    J. Demsar. Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning Research 7,
    1-30, 2006.

    Examples
    --------
    >>> from ramify.compare import compare
    >>> from ramify.plots import critical_difference
    >>> figure = critical_difference(compare([[0.9, 0.8, 0.7]] * 6))
    >>> figure.savefig("ranks.svg")  # doctest: +SKIP
    """
    by_rank = comparison.ranks.sort_values(kind="stable")
    names, ranks = [str(name) for name in by_rank.index], by_rank.to_numpy()
    low, high = int(np.floor(ranks.min())), int(np.ceil(ranks.max()))
    high = max(high, low + 1)
    n_right = len(names) - len(names) // 2
    groups = [[names.index(str(name)) for name in group] for group in comparison.groups]
    figure, axes = plain_figure(7, 1.3 + 0.16 * len(groups) + 0.27 * n_right)
    _draw_scale(axes, low, high, comparison.critical_distance)
    for number, group in enumerate(groups):
        y, inside = -0.14 - 0.13 * number, ranks[group]
        axes.plot([inside.min() - 0.03, inside.max() + 0.03], [y, y], color=COLOURS[1], linewidth=3.5)
        if len(group) < np.sum((ranks >= inside.min()) & (ranks <= inside.max())):  # a method between is not of them
            axes.plot(inside, np.full(len(group), y), "o", color=COLOURS[1], markersize=6)
    margin = 0.06 * (high - low)
    for position, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        on_right = position < n_right
        row = position if on_right else len(names) - 1 - position
        y = -0.3 - 0.13 * len(groups) - 0.27 * row
        edge = low - margin if on_right else high + margin
        axes.plot([rank, rank, edge], [0, y, y], color="black", linewidth=0.8)
        text = f"{shortened(name)} ({rank:.2f})"
        axes.text(edge, y, f"  {text}" if on_right else f"{text}  ", va="center", fontsize=9,
                  ha="left" if on_right else "right")  # fmt: skip
    axes.set_xlim(high + margin, low - margin)
    axes.axis("off")
    return figure


def bars_by_dataset(values: pd.DataFrame, *, measure: str) -> Figure:
    """Bars side by side, a group per data set and a colour per column: depths, gains, shares.

    Parameters
    ----------
    values : DataFrame
        A row per data set, a column per method; NaN leaves a gap.
    measure : str
        What a bar's height is.

    Returns
    -------
    matplotlib.figure.Figure

    References
    ----------
    C. R. de Sa, C. Soares, A. Knobbe, P. Cortez. Label Ranking Forests. Expert Systems, 2016, Figures 4.1 and 4.2.

    Examples
    --------
    >>> import pandas as pd
    >>> from ramify.plots import bars_by_dataset
    >>> gains = pd.DataFrame({"LRF-RT": [0.03, -0.09], "LRF-ERT": [0.03, -0.04]}, index=["iris", "elevators"])
    >>> figure = bars_by_dataset(gains, measure="gain in tau")
    >>> figure.savefig("gains.svg")  # doctest: +SKIP
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


def _draw_scale(axes: Axes, low: int, high: int, distance: float | None) -> None:
    """The axis of ranks, and above it the length of a critical difference."""
    axes.plot([low, high], [0, 0], color="black", linewidth=1)
    for tick in range(low, high + 1):
        axes.plot([tick, tick], [0, 0.1], color="black", linewidth=1)
        axes.text(tick, 0.14, str(tick), ha="center", va="bottom", fontsize=9)
    if distance is not None and distance <= high - low:
        axes.plot([high, high - distance], [0.55, 0.55], color="black", linewidth=1.5, marker="|")
        axes.text(high - distance / 2, 0.6, f"critical difference {distance:.2f}", ha="center", va="bottom", fontsize=8)
