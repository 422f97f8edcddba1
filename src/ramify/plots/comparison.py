"""Methods compared over data sets: critical-difference diagram and bars."""

from __future__ import annotations

from typing import Any

import numpy as np
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


def _draw_scale(axes: Axes, low: int, high: int, distance: float | None) -> None:
    """The axis of ranks, and above it the length of a critical difference."""
    axes.plot([low, high], [0, 0], color="black", linewidth=1)
    for tick in range(low, high + 1):
        axes.plot([tick, tick], [0, 0.1], color="black", linewidth=1)
        axes.text(tick, 0.14, str(tick), ha="center", va="bottom", fontsize=9)
    if distance is not None and distance <= high - low:
        axes.plot([high, high - distance], [0.55, 0.55], color="black", linewidth=1.5, marker="|")
        axes.text(high - distance / 2, 0.6, f"critical difference {distance:.2f}", ha="center", va="bottom", fontsize=8)
