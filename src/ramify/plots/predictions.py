"""Predictions as figures: why one row, what many rows have in common, and whether probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from scipy import sparse

from ramify.metrics import calibration_error
from ramify.plots.style import COLOURS, MARKERS, NEUTRAL, ShownFigure, plain_figure, shortened
from ramify.shown import shown_number

if TYPE_CHECKING:
    import pandas as pd

    from ramify.ensemble.explanation import Explanation


def explained_prediction(explanation: Explanation, *, n_features: int = 10) -> Figure:
    """One prediction, from the base to what the features add, the largest first.

    Parameters
    ----------
    explanation : Explanation
        Of one row and label: `explanation.of(row, label)`.
    n_features : int, default=10
        Features shown; the others are one bar.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from ramify import ForestClassifier
    >>> from ramify.plots import explained_prediction
    >>> forest = ForestClassifier(5, random_state=0).fit([[0, 1], [1, 1], [2, 1], [3, 0]], [0, 0, 1, 1])
    >>> figure = explained_prediction(forest.shap_values([[3, 0]], labels="1").of(0))
    """
    if np.ndim(explanation.values) != 1:
        raise ValueError("explained_prediction draws one row and label: give explanation.of(row, label).")
    order = [j for j in np.argsort(-np.abs(explanation.values), kind="stable").tolist() if explanation.values[j]]
    shown, rest = order[:n_features], order[n_features:]
    added = [float(explanation.values[j]) for j in shown]
    names = [f"{shortened(explanation.feature_names[j])} = {_cell(explanation.data[j])}" for j in shown]
    if rest:
        added.append(float(np.sum(explanation.values[rest])))
        names.append(f"{len(rest)} other features")
    base = float(explanation.base_values)
    ends = base + np.cumsum(added)
    starts = np.concatenate([[base], ends[:-1]]) if added else np.zeros(0)
    figure, axes = plain_figure(7, 1.4 + 0.34 * max(1, len(added)))
    colours = [COLOURS[0] if value > 0 else COLOURS[1] for value in added]
    axes.barh(np.arange(len(added)), added, left=starts, color=colours, height=0.7)
    for place, (start, value) in enumerate(zip(starts, added, strict=True)):
        side = "left" if value > 0 else "right"
        axes.annotate(
            f"{value:+.3f}",
            (start + value, place),
            xytext=(3 if value > 0 else -3, 0),
            textcoords="offset points",
            ha=side,
            va="center",
            fontsize=8,
        )
    axes.axvline(base, color=NEUTRAL, linewidth=1, linestyle=":")
    final = float(ends[-1]) if len(ends) else base
    axes.axvline(final, color=NEUTRAL, linewidth=1)
    axes.set_yticks(np.arange(len(added)), names)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.use_sticky_edges = False
    axes.margins(x=0.12)
    title = shortened(explanation.label_names[0], 40)
    axes.set_xlabel(f"{title}: from {base:.3f} (dotted) to {final:.3f}")
    return figure


def explained_rows(explanation: Explanation, *, n_features: int = 12) -> Figure:
    """What the features add to one label over many rows: a point per row, coloured by the feature's value.

    Parameters
    ----------
    explanation : Explanation
        Of one label: `explanation.label(name)`.
    n_features : int, default=12
        Features shown, those that add most in size on average.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from ramify import ForestClassifier
    >>> from ramify.plots import explained_rows
    >>> X = [[0, 1], [1, 1], [2, 1], [3, 0]]
    >>> forest = ForestClassifier(5, random_state=0).fit(X, [0, 0, 1, 1])
    >>> figure = explained_rows(forest.shap_values(X, labels="1"))
    """
    values = explanation.values
    if np.ndim(values) != 2 or sparse.issparse(values):
        raise ValueError("explained_rows draws the rows of one label: give explanation.label(name).")
    best = np.argsort(-np.abs(values).mean(axis=0), kind="stable")[:n_features]
    figure, axes = plain_figure(7, 1.2 + 0.36 * len(best))
    colours = colormaps["cividis"]
    for place, feature in enumerate(best.tolist()):
        across = _spread(values[:, feature])
        shade = _shade(explanation.data[:, [feature]])
        points = {"c": shade, "cmap": colours, "vmin": 0, "vmax": 1} if shade is not None else {"color": NEUTRAL}
        axes.scatter(
            values[:, feature], place + 0.38 * across, s=9, linewidths=0, rasterized=len(values) > 500, **points
        )
    axes.axvline(0, color=NEUTRAL, linewidth=1, zorder=0)
    axes.set_yticks(np.arange(len(best)), [shortened(explanation.feature_names[j]) for j in best])
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"added to the prediction of {shortened(explanation.label_names[0], 40)}")
    scale = figure.colorbar(ScalarMappable(Normalize(0, 1), colours), ax=axes, shrink=0.7, aspect=30)
    scale.set_ticks([0, 1], labels=["low", "high"])
    scale.set_label("value of the feature")
    return figure


def reliability(bins: Mapping[str, pd.DataFrame]) -> Figure:
    """How often labels occur, by the probability that was said: on the diagonal it means what it says.

    Below stands how many probabilities each bin holds; a bin with few of them says little.

    Parameters
    ----------
    bins : mapping of str to DataFrame
        From `ramify.metrics.reliability_bins`, by the name of the model.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from ramify.metrics import reliability_bins
    >>> from ramify.plots import reliability
    >>> figure = reliability({"forest": reliability_bins([0, 1, 1, 0], [0.2, 0.8, 0.6, 0.4])})
    """
    figure = ShownFigure(figsize=(5, 5.6), layout="constrained")
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    for one in (axes, below):
        one.spines[["top", "right"]].set_visible(False)
    axes.plot([0, 1], [0, 1], color=NEUTRAL, linewidth=1, zorder=0)
    for number, (name, table) in enumerate(bins.items()):
        used = table[table["count"] > 0]
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        label = f"{shortened(name)}: off by {100 * calibration_error(table):.2g} %"
        axes.plot(used["said"], used["happened"], color=colour, marker=marker, label=label)
        width = (used["high"] - used["low"]) * 0.8 / len(bins)
        start = used["low"] + 0.1 * (used["high"] - used["low"]) + number * width
        below.bar(start, used["count"], width, align="edge", color=colour)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_ylabel("share of labels that occur")
    figure.legend(*axes.get_legend_handles_labels(), frameon=False, loc="outside upper left")
    below.set_yscale("log")
    below.yaxis.set_major_formatter("{x:,.0f}")
    below.yaxis.set_minor_formatter(NullFormatter())
    below.set_ylabel("predictions")
    below.set_xlabel("probability that was said")
    return figure


def measured_bars(measures: pd.DataFrame) -> Figure:
    """Every measure of a model beside that of the prior alone, each pair relative to its larger value.

    Parameters
    ----------
    measures : frame
        From `ramify.metrics.measure_table`: columns model, prior and better by measure.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import pandas as pd
    >>> from ramify.plots.predictions import measured_bars
    >>> table = pd.DataFrame({"model": [0.8], "prior": [0.3], "better": ["higher"]}, index=["AUPRC"])
    >>> [round(float(bar.get_width()), 3) for bar in measured_bars(table).axes[0].patches]
    [1.0, 0.375]
    """
    figure, axes = plain_figure(7, 0.7 + 0.42 * len(measures))
    for at, (name, values) in enumerate(zip(("model", "prior"), (measures["model"], measures["prior"]), strict=True)):
        largest = measures[["model", "prior"]].abs().max(axis=1).replace(0, 1)
        label = "model" if name == "model" else "prior"
        places = np.arange(len(measures)) + 0.36 * at
        axes.barh(places, (values / largest).fillna(0), height=0.34, color=(COLOURS[0], NEUTRAL)[at], label=label)
        for y, value, share in zip(places, values, (values / largest).fillna(0), strict=True):
            axes.text(max(share, 0) + 0.01, y, shown_number(value), va="center", fontsize=8)
    names = [f"{name} (lower is better)" if b == "lower" else str(name) for name, b in measures["better"].items()]
    axes.set_yticks(np.arange(len(measures)) + 0.18, names, fontsize=9)
    axes.set_ylim(len(measures) - 0.3, -0.5)
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="both", length=0)
    axes.set_xticks([])
    figure.legend(*axes.get_legend_handles_labels(), frameon=False, loc="outside upper left", ncols=2)
    return figure


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return shortened(value, 12)
    return "missing" if value is None or value != value else f"{float(value):.4g}"


def _spread(values: np.ndarray) -> np.ndarray:
    """Places between -1 and 1 that keep rows of like values apart, without chance."""
    low, high = float(values.min()), float(values.max())
    bins = np.zeros(len(values), dtype=int) if high == low else ((values - low) / (high - low) * 60).astype(int)
    counts = np.bincount(bins)
    place = np.empty(len(values))
    for number in np.unique(bins).tolist():
        rows = np.flatnonzero(bins == number)
        steps = (np.arange(len(rows)) + 1) // 2 * np.where(np.arange(len(rows)) % 2, 1, -1)
        place[rows] = steps / max(1, counts.max() // 2 + 1)
    return place


def _shade(column: Any) -> np.ndarray | None:
    """The feature's values by rank, from 0 to 1; None where they are no numbers."""
    cells = column.toarray().ravel() if sparse.issparse(column) else np.asarray(column).ravel()
    try:
        numbers = cells.astype(np.float64)
    except (TypeError, ValueError):
        return None
    known = np.unique(numbers[np.isfinite(numbers)])
    if len(known) < 2:
        return np.full(len(numbers), 0.5)
    return np.asarray(np.searchsorted(known, numbers) / (len(known) - 1)).clip(0, 1)
