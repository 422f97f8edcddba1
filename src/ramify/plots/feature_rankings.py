"""Rankings as figures: the best features, features by labels, a hierarchy coloured by a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from scipy import sparse

from ramify.plots.style import COLOURS, MARKERS, SEQUENTIAL, plain_figure, shortened, text_colour

if TYPE_CHECKING:
    from ramify.hierarchy import Hierarchy
    from ramify.ranking import FeatureRanking


def ranking_bars(ranking: FeatureRanking, *, n_features: int = 20) -> Figure:
    """The best features and their scores as horizontal bars.

    Parameters
    ----------
    ranking : FeatureRanking
        What to show.
    n_features : int, default=20
        How many of the best.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from ramify.plots import ranking_bars
    >>> from ramify.ranking import FeatureRanking
    >>> figure = ranking_bars(FeatureRanking(["a", "b"], [0.2, 0.7]))
    >>> [bar.get_text() for bar in figure.axes[0].get_yticklabels()]
    ['b', 'a']
    """
    best = ranking.order[:n_features]
    figure, axes = plain_figure(6, 0.8 + 0.24 * len(best))
    axes.barh(np.arange(len(best)), ranking.scores[best], color=COLOURS[0], height=0.7)
    axes.set_yticks(np.arange(len(best)), [shortened(ranking.names[j]) for j in best])
    axes.invert_yaxis()
    axes.set_xlabel("score")
    axes.tick_params(axis="y", length=0)
    return figure


def ranking_development(rankings: Sequence[FeatureRanking], *, n_features: int = 8) -> Figure:
    """How the share of the best features in all scores develops with the number of trees or rounds.

    Parameters
    ----------
    rankings : sequence of FeatureRanking
        Of one forest or of boosted trees, what {py:obj}`~ramify.ranking.nested_rankings` returns.
    n_features : int, default=8
        How many features, those that are best in the last ranking.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from ramify.plots import ranking_development
    >>> from ramify.ranking import FeatureRanking
    >>> sizes = {10: [3.0, 1.0], 50: [1.0, 1.0]}
    >>> rankings = [FeatureRanking(["a", "b"], s, origin={"n_estimators": n}) for n, s in sizes.items()]
    >>> ranking_development(rankings).axes[0].lines[0].get_ydata().tolist()
    [0.75, 0.5]
    """
    if not rankings:
        raise ValueError("ranking_development needs at least one ranking; nested_rankings gives them.")
    if any(ranking.names != rankings[0].names or "n_estimators" not in ranking.origin for ranking in rankings):
        raise ValueError("The rankings must be of the same features, each with its number of trees in its origin.")
    totals = [np.abs(ranking.scores).sum() for ranking in rankings]
    shares = np.array([r.scores / (total if total > 0 else 1.0) for r, total in zip(rankings, totals, strict=True)])
    sizes = [int(ranking.origin["n_estimators"]) for ranking in rankings]
    figure, axes = plain_figure(6, 3.6)
    for number, feature in enumerate(rankings[-1].order[:n_features].tolist()):
        axes.plot(
            sizes,
            shares[:, feature],
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=4,
            label=shortened(rankings[0].names[feature]),
        )
    axes.set_xlabel("trees")
    axes.set_ylabel("share of all scores")
    axes.legend(frameon=False, fontsize="small")
    return figure


def label_heatmap(ranking: FeatureRanking, *, n_features: int = 30, labels: Sequence[str] | None = None) -> Figure:
    """Scores of the best features per label, each label scaled to its best feature.

    Parameters
    ----------
    ranking : FeatureRanking
        With scores per label.
    n_features : int, default=30
        How many of the best features.
    labels : sequence of str, optional
        Which labels, in this order; all by default.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from ramify.plots import label_heatmap
    >>> from ramify.ranking import FeatureRanking
    >>> ranking = FeatureRanking(["a", "b"], [0.2, 0.7], per_label=[[0.2, 0.0], [0.5, 0.9]], label_names=["x", "y"])
    >>> [tick.get_text() for tick in label_heatmap(ranking).axes[0].get_xticklabels()]
    ['x', 'y']
    """
    if ranking.per_label is None:
        raise ValueError("This ranking has no scores per label; rank with ForestRanker() to get them.")
    names = list(ranking.label_names)
    columns = list(range(len(names))) if labels is None else [names.index(label) for label in labels]
    best = ranking.order[:n_features]
    scores = np.maximum(sparse.csr_array(ranking.per_label)[best][:, columns].toarray(), 0)
    tops = scores.max(axis=0)
    scores = scores / np.where(tops > 0, tops, 1.0)
    figure, axes = plain_figure(min(14.0, 2.6 + 0.22 * len(columns)), 1.6 + 0.2 * len(best))
    mesh = axes.pcolormesh(scores, cmap=SEQUENTIAL, vmin=0, vmax=1)
    axes.invert_yaxis()
    axes.set_yticks(np.arange(len(best)) + 0.5, [shortened(ranking.names[j]) for j in best], fontsize=8)
    if len(columns) <= 60:
        shown = [shortened(names[j], 24) for j in columns]
        axes.set_xticks(np.arange(len(columns)) + 0.5, shown, rotation=60, ha="right", fontsize=8)
    else:
        axes.set_xticks([])
        axes.set_xlabel(f"{len(columns)} labels")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    figure.colorbar(mesh, ax=axes, label="share of the label's best score", shrink=0.6)
    return figure


def hierarchy_icicle(hierarchy: Hierarchy, values: np.ndarray, *, name: str = "value") -> Figure:
    """A hierarchy as blocks below their parents, coloured by one value per node.

    Parameters
    ----------
    hierarchy : Hierarchy
        Tree or DAG; a node with several parents stands below the first.
    values : array of shape (n_nodes,)
        One value per node, in the order of `hierarchy.names`; NaN is left white.
    name : str, default="value"
        What the values are.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.plots import hierarchy_icicle
    >>> tree = Hierarchy.from_paths(["a/b", "a/c", "d"])
    >>> figure = hierarchy_icicle(tree, tree.weights, name="weight")
    """
    values = np.asarray(values, dtype=float)
    if values.shape != (len(hierarchy),):
        raise ValueError(f"values must have one entry per node ({len(hierarchy)}). Got the shape {values.shape}.")
    start, width, level = _blocks(hierarchy)
    figure, axes = plain_figure(9, 0.8 + 0.55 * (level.max(initial=0) + 1))
    finite = values[np.isfinite(values)]
    scale = Normalize(float(finite.min()) if finite.size else 0.0, float(finite.max()) if finite.size else 1.0)
    colours = colormaps[SEQUENTIAL](scale(np.nan_to_num(values)))
    colours[~np.isfinite(values)] = 1.0
    total = width[level == 0].sum()
    axes.bar(start, 1, width=width, bottom=-level - 1, align="edge", color=colours, edgecolor="white", linewidth=0.6)
    for node in np.flatnonzero(width / total > 0.04):
        room = int(110 * width[node] / total)
        text = shortened(hierarchy.names[node], max(2, room))
        axes.text(start[node] + width[node] / 2, -level[node] - 0.5, text, ha="center", va="center", fontsize=8,
                  color=text_colour(colours[node]))  # fmt: skip
    axes.set_xlim(0, total)
    axes.axis("off")
    figure.colorbar(ScalarMappable(scale, SEQUENTIAL), ax=axes, label=name, shrink=0.8)
    return figure


def _blocks(hierarchy: Hierarchy) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Left edge, width (leaves below) and level of every node, each below its first parent."""
    n_nodes = len(hierarchy)
    matrix = hierarchy.parent_matrix
    n_parents = np.diff(matrix.indptr)
    parent = np.full(n_nodes, -1)
    parent[n_parents > 0] = matrix.indices[matrix.indptr[:-1][n_parents > 0]]
    order = hierarchy.topological_order.tolist()
    width = np.zeros(n_nodes)
    for node in reversed(order):
        width[node] = width[node] or 1.0
        if parent[node] >= 0:
            width[parent[node]] += width[node]
    start, used = np.zeros(n_nodes), np.zeros(n_nodes + 1)
    level: np.ndarray = np.zeros(n_nodes, dtype=int)
    for node in order:
        above = parent[node]
        level[node] = level[above] + 1 if above >= 0 else 0
        start[node] = used[above] + (start[above] if above >= 0 else 0.0)
        used[above] += width[node]
    return start, width, level
