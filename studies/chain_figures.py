"""Figures of the thesis on L-classifier chains: measures by method, importances, label sets, screening and orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from ramify_studies.chain_tables import LabelStatistics
from scipy import sparse
from scipy.stats import gaussian_kde
from sklearn.metrics import roc_auc_score, roc_curve

from ramify.chains.importance import global_importance, importance_frame, importance_index
from ramify.plots.style import COLOURS, NEUTRAL, plain_figure, shortened

MEASURES = {
    "HL": "Hamming loss",
    "CL": "Classification accuracy",
    "PR": "Precision",
    "RE": "Recall",
    "F2": "F2",
    "AC": "Accuracy",
}


def measures_by_method(results: pd.DataFrame, *, group: str | None = None, share_y: bool = False) -> Figure:
    """Box plots of each measure, one box per method (and group).

    L-classifier chains, Figures 5.1, 5.4, 5.7 and 6.1 to 6.6.
    """
    names = [name for name in results.columns if name not in {"method", group}]
    groups = [None] if group is None else list(dict.fromkeys(results[group]))
    methods = list(dict.fromkeys(results["method"]))
    figure, grid = _grid(len(names), width=1.2 + 0.45 * len(methods) * len(groups))
    for axes, name in zip(grid, names, strict=True):
        for number, value in enumerate(groups):
            chosen = results if group is None else results[results[group] == value]
            boxes = [chosen.loc[chosen["method"] == method, name].dropna() for method in methods]
            positions = np.arange(len(methods)) + number * (len(methods) + 1)
            drawn = axes.boxplot(
                boxes, positions=positions, widths=0.6, patch_artist=True, medianprops={"color": "black"}
            )
            for box in drawn["boxes"]:
                box.set(facecolor=COLOURS[number % len(COLOURS)], alpha=0.55)
        shown = [shortened(str(method), 12) for method in methods] * len(groups)
        places = [m + number * (len(methods) + 1) for number in range(len(groups)) for m in range(len(methods))]
        axes.set_xticks(places, shown, rotation=45 if len(places) > 4 else 0, fontsize=8)
        axes.set_title(MEASURES.get(name, shortened(str(name))), fontsize=10)
        axes.grid(axis="y", alpha=0.3)
        if share_y:
            axes.set_ylim(0, 1)
    if group is not None:
        _legend(figure, [f"{group}: {value}" for value in groups])
    return figure


def importance_densities(importances: pd.DataFrame | ArrayLike) -> Figure:
    """Distribution of the importance index of each label's predictors, its best one named.

    L-classifier chains, Figures 5.2, 5.5 and 5.8.
    """
    frame = _as_frame(importances)
    index = importance_index(frame)
    n_features = frame.shape[1] - frame.shape[0]
    grid_points = np.linspace(0, 100, 201)
    figure, grid = _grid(len(index), n_columns=3 if len(index) > 4 else 2, height=1.7)
    for row, axes in enumerate(grid):
        values = np.delete(index.iloc[row].to_numpy(), n_features + row)
        if values.std() > 0:
            axes.fill_between(grid_points, gaussian_kde(values)(grid_points), color=COLOURS[0], alpha=0.5)
        best = int(np.argmax(index.iloc[row].to_numpy()))
        colour = COLOURS[1] if best >= n_features else "black"
        axes.axvline(100, color=colour, linewidth=1)
        best_name = shortened(str(index.columns[best]), 18)
        axes.text(97, 0.85, best_name, transform=axes.get_xaxis_transform(), ha="right", fontsize=8, color=colour)
        axes.set_title(shortened(str(index.index[row])), fontsize=9)
        axes.set_yticks([])
    figure.supxlabel("importance index (best predictor = 100; orange: another label)", fontsize=9)
    return figure


def global_importance_bars(importances: pd.DataFrame | ArrayLike, *, n_predictors: int = 30) -> Figure:
    """The predictors that matter most over all labels; labels as predictors have a colour of their own.

    L-classifier chains, Figure 7.7 and Table 7.8.
    """
    frame = _as_frame(importances)
    index = global_importance(frame)
    best = np.argsort(-index.to_numpy(), kind="stable")[:n_predictors]
    is_label = best >= frame.shape[1] - frame.shape[0]
    figure, axes = plain_figure(6, 0.8 + 0.2 * len(best))
    colours = [COLOURS[1] if label else COLOURS[0] for label in is_label]
    axes.barh(np.arange(len(best)), index.to_numpy()[best], color=colours)
    axes.set_yticks(np.arange(len(best)), [shortened(str(index.index[j])) for j in best], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("global importance index (orange: labels)")
    return figure


def roc_curves(
    y_true: ArrayLike, y_score: ArrayLike, *, labels: Sequence[int] | None = None, names: Sequence[str] | None = None
) -> Figure:
    """One receiver operating characteristic per label, with its area.

    L-classifier chains, Figure 7.5.
    """
    truth, scores = _dense(y_true), np.asarray(y_score, dtype=np.float64)
    chosen = list(range(truth.shape[1])) if labels is None else list(labels)
    figure, grid = _grid(len(chosen), n_columns=min(len(chosen), 4), height=2.3)
    for axes, label in zip(grid, chosen, strict=True):
        title = f"label {label}" if names is None else shortened(str(names[label]))
        axes.plot([0, 1], [0, 1], color=NEUTRAL, linestyle="--", linewidth=1)
        if 0 < truth[:, label].sum() < len(truth):
            false_positive, true_positive, _ = roc_curve(truth[:, label], scores[:, label])
            axes.plot(false_positive, true_positive, color=COLOURS[0])
            area = roc_auc_score(truth[:, label], scores[:, label])
            axes.text(0.95, 0.08, f"AUC {area:.3f}", ha="right", fontsize=9)
        else:
            axes.text(0.95, 0.08, "one class only", ha="right", fontsize=9)
        axes.set_title(title, fontsize=9)
        axes.set_aspect("equal")
    figure.supxlabel("false positive rate", fontsize=9)
    figure.supylabel("true positive rate", fontsize=9)
    return figure


def label_predictions(
    y_true: ArrayLike,
    y_score: ArrayLike,
    rows: Sequence[int],
    *,
    threshold: float | ArrayLike = 0.5,
    names: Sequence[str] | None = None,
) -> Figure:
    """Scores and true labels of chosen rows.

    L-classifier chains, Figure 7.8.
    """
    truth, scores = _dense(y_true), np.asarray(y_score, dtype=np.float64)
    n_labels = truth.shape[1]
    cut = np.broadcast_to(np.asarray(threshold, dtype=np.float64), (n_labels,))
    figure, grid = _grid(len(rows), n_columns=min(len(rows), 2), width=max(3.0, 0.3 * n_labels), height=2.2)
    place = np.arange(n_labels)
    for axes, row in zip(grid, rows, strict=True):
        axes.bar(place, scores[row], color=COLOURS[0], alpha=0.6)
        axes.step(
            np.append(place - 0.5, n_labels - 0.5), np.append(cut, cut[-1]), where="post", color=NEUTRAL, linestyle="--"
        )
        present = np.flatnonzero(truth[row])
        axes.scatter(present, np.full(len(present), 1.05), marker="v", color=COLOURS[1])
        shown = [str(label) for label in place] if names is None else [shortened(str(n), 14) for n in names]
        axes.set_xticks(place, shown, rotation=0 if names is None else 60, fontsize=7)
        axes.set_ylim(0, 1.12)
        axes.set_title(f"row {row}", fontsize=9)
    _legend(figure, ["score", "true label"])
    return figure


def order_losses(losses: ArrayLike, *, measure: str = "Hamming loss") -> Figure:
    """Distribution of a loss over the orders of a chain.

    L-classifier chains, Figure 3.2.
    """
    return _histogram(np.asarray(losses, dtype=np.float64), f"{measure} of {np.size(losses)} orders", "orders")


def label_counts(statistics: LabelStatistics) -> Figure:
    """Share of rows with 0, 1, 2, ... labels.

    L-classifier chains, Figure 7.1.
    """
    shares = statistics.label_counts / statistics.n_samples
    return _bars([str(n) for n in range(len(shares))], shares, "number of labels per row", "share of rows")


def label_densities(statistics: LabelStatistics) -> Figure:
    """Share of rows that have each label.

    L-classifier chains, Figure 7.2.
    """
    return _bars(list(statistics.label_names), statistics.label_densities, "label", "density")


def r2_histogram(r2: ArrayLike, *, cut: float | None = None) -> Figure:
    """Distribution of the R2 of features on the labels, with the cut of a screening.

    L-classifier chains, Figure 7.3.
    """
    figure = _histogram(np.asarray(r2, dtype=np.float64), "R2 of the feature on the labels", "features")
    if cut is not None:
        figure.axes[0].axvline(cut, color=COLOURS[1])
    return figure


def screening_curves(sweep: pd.DataFrame) -> Figure:
    """Measures on validation rows against the share of features that a screening left out.

    L-classifier chains, Figure 7.4.
    """
    names = [name for name in sweep.columns if name not in {"percentile", "n_features"}]
    figure, grid = _grid(len(names), height=1.9)
    half_range = max((sweep[name].max() - sweep[name].min()) / 2 for name in names) + 1e-3
    for axes, name in zip(grid, names, strict=True):
        axes.plot(range(len(sweep)), sweep[name], color=COLOURS[0], marker="o", markersize=4)
        middle = (sweep[name].max() + sweep[name].min()) / 2
        axes.set_ylim(middle - 1.1 * half_range, middle + 1.1 * half_range)
        axes.set_xticks(range(len(sweep)), [f"{p:g}" for p in sweep["percentile"]], fontsize=8)
        axes.set_title(MEASURES.get(name, shortened(str(name))), fontsize=10)
        axes.grid(alpha=0.3)
    figure.supxlabel("percentile of R2 below which features are left out", fontsize=9)
    return figure


def _grid(n: int, *, n_columns: int = 3, width: float = 3.0, height: float = 2.4) -> tuple[Figure, list[Axes]]:
    """A figure with one plot per item, row by row; what is left over stays empty."""
    n_columns = max(1, min(n, n_columns))
    n_rows = -(-n // n_columns)
    figure = Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    grid = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for axes in grid[n:]:
        axes.axis("off")
    for axes in grid[:n]:
        axes.spines[["top", "right"]].set_visible(False)
    return figure, list(grid[:n])


def _legend(figure: Figure, texts: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(color=COLOURS[i % len(COLOURS)], label=shortened(text, 40)) for i, text in enumerate(texts)]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(texts), frameon=False, fontsize=9)


def _histogram(values: np.ndarray, name: str, counted: str) -> Figure:
    figure, axes = plain_figure(5, 3)
    axes.hist(values[np.isfinite(values)], bins=min(20, max(1, values.size)), color=COLOURS[0], edgecolor="white")
    axes.set_xlabel(name)
    axes.set_ylabel(f"number of {counted}")
    return figure


def _bars(names: list[str], values: np.ndarray, name: str, measure: str) -> Figure:
    figure, axes = plain_figure(max(4.0, 1 + 0.4 * len(names)), 3)
    bars = axes.bar(np.arange(len(names)), values, color=COLOURS[0])
    if len(names) <= 20:
        axes.bar_label(bars, fmt="%.3f", fontsize=7)
    long = max((len(text) for text in names), default=0) > 3
    step = max(1, len(names) // 60)
    places = np.arange(0, len(names), step)
    axes.set_xticks(places, [shortened(names[j], 20) for j in places], rotation=60 if long else 0, fontsize=8)
    axes.set_xlabel(name)
    axes.set_ylabel(measure)
    return figure


def _as_frame(importances: pd.DataFrame | ArrayLike) -> pd.DataFrame:
    return importances if isinstance(importances, pd.DataFrame) else importance_frame(importances)


def _dense(labels: Any) -> np.ndarray:
    return labels.toarray() if sparse.issparse(labels) else np.asarray(labels)
