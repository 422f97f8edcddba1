"""Predictions as figures: why one row, what many rows have in common, and whether probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from scipy import sparse

from ramify.plots.style import COLOURS, MARKERS, NEUTRAL, plain_figure, shortened

if TYPE_CHECKING:
    from ramify.ensemble import Explanation


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


def reliability(y_true: Any, probabilities: Mapping[str, Any], *, n_bins: int = 10) -> Figure:
    """How often labels occur, by the probability that was said: on the diagonal it means what it says.

    Parameters
    ----------
    y_true : 0/1 array or CSR of shape (n_samples, n_labels), or array of shape (n_samples,)
        True labels; all labels are pooled.
    probabilities : mapping of str to array of the same shape
        Predicted probabilities by the name of the model.
    n_bins : int, default=10
        Bins of equal width.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from ramify.plots import reliability
    >>> figure = reliability([0, 1, 1, 0], {"forest": [0.2, 0.8, 0.6, 0.4]})
    """
    truth = np.asarray(y_true.toarray() if sparse.issparse(y_true) else y_true, dtype=np.float64).ravel()
    figure, axes = plain_figure(5, 4.6)
    axes.plot([0, 1], [0, 1], color=NEUTRAL, linewidth=1, zorder=0)
    for number, (name, predicted) in enumerate(probabilities.items()):
        said = np.asarray(predicted.toarray() if sparse.issparse(predicted) else predicted, dtype=np.float64).ravel()
        if said.shape != truth.shape:
            raise ValueError(f"The probabilities of {name!r} must have the shape of y_true.")
        kept = np.isfinite(said)
        bins = np.minimum((said[kept] * n_bins).astype(int), n_bins - 1)
        counts = np.bincount(bins, minlength=n_bins)
        used = np.flatnonzero(counts)
        means = np.bincount(bins, said[kept], n_bins)[used] / counts[used]
        happened = np.bincount(bins, truth[kept], n_bins)[used] / counts[used]
        error = float((np.abs(means - happened) * counts[used]).sum() / counts.sum())
        colour = COLOURS[number % len(COLOURS)]
        marker = MARKERS[number % len(MARKERS)]
        axes.plot(means, happened, color=colour, marker=marker, label=f"{shortened(name)}: off by {100 * error:.1f} %")
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_aspect("equal")
    axes.set_xlabel("probability that was said")
    axes.set_ylabel("share of labels that occur")
    axes.legend(frameon=False, loc="upper left")
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
