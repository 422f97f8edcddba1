"""Importances of chains as a heat map: features and labels as predictors of labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import dendrogram, linkage

from ramify.chains.importance import global_importance, importance_frame, importance_index
from ramify.plots.style import COLOURS, SEQUENTIAL, ShownFigure, shortened


def importance_heatmap(
    importances: pd.DataFrame | ArrayLike, *, relative_to: str = "label", n_predictors: int | None = None
) -> Figure:
    """Importance of every predictor (rows, labels in a part of their own) for every label, ordered by a dendrogram.

    Parameters
    ----------
    importances : DataFrame or array-like of shape (n_labels, n_features + n_labels)
        Importances of L-classifier chains.
    relative_to : {"label", "matrix"}, default="label"
        What 100 stands for: the best predictor of each label, or of the whole matrix.
    n_predictors : int, optional
        Show only the features with the highest global importance, and all labels.

    Returns
    -------
    matplotlib.figure.Figure

    References
    ----------
    L-classifier chains, Figures 5.3, 5.6, 5.9, 6.7 to 6.11 and 7.6.

    Examples
    --------
    >>> import pandas as pd
    >>> from ramify.plots import importance_heatmap
    >>> importances = pd.DataFrame([[5.0, 1.0, 0.0, 2.0], [1.0, 3.0, 4.0, 0.0]], ["x", "y"], ["a", "b", "x", "y"])
    >>> figure = importance_heatmap(importances)
    >>> figure.savefig("importances.svg")  # doctest: +SKIP
    """
    frame = _as_frame(importances)
    n_labels, n_features = frame.shape[0], frame.shape[1] - frame.shape[0]
    index = importance_index(frame, relative_to=relative_to)
    shown = np.arange(n_features)
    if n_predictors is not None:
        strongest = np.argsort(-global_importance(frame).to_numpy()[:n_features], kind="stable")[:n_predictors]
        shown = np.sort(strongest)
    values = index.to_numpy()
    heights = [0.8, max(0.14, min(0.14 * len(shown), 8.0)), max(0.14, min(0.14 * n_labels, 4.0))]
    figure = ShownFigure(figsize=(2.6 + 0.35 * n_labels, 1.2 + sum(heights)), layout="constrained")
    above, features, labels = figure.subplots(3, 1, height_ratios=heights)
    order = np.arange(n_labels)
    above.axis("off")
    if n_labels > 2:
        tree = dendrogram(linkage(values, "complete"), ax=above, color_threshold=0, above_threshold_color="black")
        order = np.array(tree["leaves"])
        above.axis("off")
    parts = ((features, shown), (labels, np.arange(n_features, n_features + n_labels)))
    for (axes, predictors), height in zip(parts, heights[1:], strict=True):
        mesh = axes.pcolormesh(values[order][:, predictors].T, cmap=SEQUENTIAL, vmin=0, vmax=100)
        axes.invert_yaxis()
        step = int(np.ceil(0.08 * len(predictors) / height))  # room for a line of text
        ticks = np.arange(0, len(predictors), step)
        axes.set_yticks(ticks + 0.5, [shortened(str(index.columns[predictors[t]]), 20) for t in ticks], fontsize=6)
        axes.tick_params(length=0)
        axes.set_xticks([])
    labels.spines["top"].set(color=COLOURS[1], linewidth=1.5)
    names = [shortened(str(index.index[label]), 20) for label in order]
    labels.set_xticks(np.arange(n_labels) + 0.5, names, rotation=60, ha="right", fontsize=8)
    figure.colorbar(mesh, ax=[features, labels], label=f"importance index by {relative_to}", shrink=0.6)
    return figure


def _as_frame(importances: pd.DataFrame | ArrayLike) -> pd.DataFrame:
    return importances if isinstance(importances, pd.DataFrame) else importance_frame(importances)
