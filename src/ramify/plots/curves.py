"""Quality of rankings: addition curves, significance, agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from ramify.plots.style import COLOURS, MARKERS, NEUTRAL, SEQUENTIAL, plain_figure, shortened, text_colour

_MOST_LINES = 5
"""Distances between more methods than this would cover each other."""


def addition_curves(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    random: tuple[Any, Any, Any, Any] | None = None,
    measure: str = "AUPRC",
) -> Figure:
    """Quality against the number of best features used, one line per ranking.

    Parameters
    ----------
    curves : mapping of str to (sizes, values)
        Per ranking, numbers of features and the quality reached with them.
    random : (sizes, mean, low, high), optional
        The same for random rankings, as a line and a band; `low` and `high` may be None.
    measure : str, default="AUPRC"
        Name of the quality.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from ramify.plots import addition_curves
    >>> figure = addition_curves({"genie3": ([1, 2, 4], [0.3, 0.5, 0.6])}, random=([1, 4], [0.2, 0.6], None, None))
    """
    figure, axes = plain_figure(6, 3.6)
    if random is not None:
        sizes, mean, low, high = random
        if low is not None and high is not None:
            axes.fill_between(sizes, _numbers(low), _numbers(high), color=NEUTRAL, alpha=0.35, linewidth=0)
        axes.plot(sizes, _numbers(mean), color=NEUTRAL, linestyle="--", label="random order")
    for number, (name, (sizes, values)) in enumerate(curves.items()):
        axes.plot(
            sizes,
            _numbers(values),
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=4,
            label=shortened(name),
        )
    axes.set_xscale("log")
    ticks = sorted({int(size) for sizes, _ in curves.values() for size in sizes})
    if len(ticks) <= 12:
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("features used, best first")
    axes.set_ylabel(measure)
    axes.legend(frameon=False, fontsize="small")
    return figure


def _numbers(values: Any) -> np.ndarray:
    """What was measured; None is a gap."""
    return np.array(values, dtype=float)


def p_values(values: np.ndarray) -> Figure:
    """Sorted p-values against what chance alone would give.

    Parameters
    ----------
    values : array of shape (n_features,)
        One p-value per feature; NaN is left out.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.plots import p_values
    >>> figure = p_values(np.array([0.01, 0.02, 0.4, 0.9]))
    """
    known = np.sort(np.asarray(values, dtype=float)[np.isfinite(values)])
    figure, axes = plain_figure(6, 3.6)
    order = np.arange(1, len(known) + 1)
    axes.plot(order, order / max(1, len(known)), color=NEUTRAL, linestyle="--", label="chance")
    axes.plot(order, known, color=COLOURS[0], linewidth=2, label="features")
    axes.axhline(0.05, color=COLOURS[1], linewidth=1, label="0.05")
    axes.set_xlabel("features, most significant first")
    axes.set_ylabel("p-value")
    axes.legend(frameon=False, fontsize="small")
    return figure


def agreement(names: Sequence[str], correlation: np.ndarray) -> Figure:
    """Rank correlation of every pair of rankings as a table of colours with numbers.

    Parameters
    ----------
    names : sequence of str
        Of the rankings.
    correlation : array of shape (n, n)
        Symmetric, ones on the diagonal.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.plots import agreement
    >>> figure = agreement(["genie3", "relief"], np.array([[1, 0.6], [0.6, 1]]))
    """
    n = len(names)
    figure, axes = plain_figure(min(9.0, 2.2 + 0.75 * n), min(8.0, 1.4 + 0.5 * n))
    scale = Normalize(min(0.0, float(correlation.min())), 1.0)
    axes.pcolormesh(correlation[::-1], cmap=SEQUENTIAL, norm=scale)
    for row, column in np.ndindex(n, n):
        value = correlation[n - 1 - row, column]
        colour = text_colour(colormaps[SEQUENTIAL](scale(value)))
        axes.text(column + 0.5, row + 0.5, f"{value:.2f}", ha="center", va="center", fontsize=9, color=colour)
    axes.set_xticks(np.arange(n) + 0.5, [shortened(name, 18) for name in names], rotation=30, ha="right")
    axes.set_yticks(np.arange(n) + 0.5, [shortened(name, 18) for name in names[::-1]])
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    return figure


def method_map(names: Sequence[str], places: ArrayLike, *, distances: np.ndarray | None = None) -> Figure:
    """Methods as points: the nearer, the more alike their rankings.

    Parameters
    ----------
    names : sequence of str
        Of the methods.
    places : array-like of shape (n, 2)
        Where they lie, such as the `coordinates` of `ramify.ranking.agreement.method_map`.
    distances : array of shape (n, n), optional
        Written on the lines between the methods, where there are up to five.

    Returns
    -------
    matplotlib.figure.Figure

    References
    ----------
    M. Petkovic, S. Dzeroski, D. Kocev. Feature ranking for hierarchical multi-label classification with tree ensemble
    methods. Acta Polytechnica Hungarica 17, 2020, Figure 6.

    Examples
    --------
    >>> from ramify.plots import method_map
    >>> figure = method_map(["genie3", "symbolic", "relief"], [[0, 0], [0.1, 0], [0.3, 0.4]])
    """
    points = np.asarray(places, dtype=float)
    if points.shape != (len(names), 2):
        raise ValueError(f"places must have two numbers per method ({len(names)}). Got the shape {points.shape}.")
    figure, axes = plain_figure(5.5, 4.2)
    if distances is not None and len(names) <= _MOST_LINES:
        for i, j in combinations(range(len(names)), 2):
            axes.plot(*points[[i, j]].T, color=NEUTRAL, linewidth=0.8, zorder=1)
            middle = points[[i, j]].mean(axis=0)
            axes.annotate(f"{distances[i][j]:.2f}", middle, fontsize=8, color=NEUTRAL, ha="center", va="bottom")
    axes.scatter(*points.T, color=COLOURS[0], s=36, zorder=2)
    for name, place in zip(names, points, strict=True):
        axes.annotate(shortened(name), place, xytext=(5, 4), textcoords="offset points", fontsize=9)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.25)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    return figure


def shared_features(sizes: Sequence[int], shared: Sequence[float], *, by_chance: Sequence[float]) -> Figure:
    """Share of their k best features that rankings have in common, against k.

    Parameters
    ----------
    sizes : sequence of int
        Values of k.
    shared : sequence of float
        Mean share over pairs of rankings.
    by_chance : sequence of float
        The share that two random rankings have.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from ramify.plots import shared_features
    >>> figure = shared_features([1, 5, 10], [1.0, 0.8, 0.7], by_chance=[0.01, 0.05, 0.1])
    """
    figure, axes = plain_figure(6, 3.2)
    axes.plot(sizes, by_chance, color=NEUTRAL, linestyle="--", label="random rankings")
    axes.plot(sizes, shared, color=COLOURS[0], marker="o", markersize=4, label="these rankings")
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xticks(list(sizes), [str(size) for size in sizes])
    axes.set_ylim(0, 1.03)
    axes.set_xlabel("best features compared")
    axes.set_ylabel("share in common")
    axes.legend(frameon=False, fontsize="small")
    return figure
