"""Measures and tables of the thesis on L-classifier chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.base import clone

from ramify.chains import R2Screening
from ramify.chains.chain_order import label_correlation
from ramify.chains.importance import global_importance, importance_frame, importance_index
from ramify.metrics import accuracy_score, f1_score, hamming_loss, jaccard_score, precision_score, recall_score
from ramify.targets import encode_labels

PERCENTILES = (0, 25, 50, 75, 80, 85, 90, 95)


def label_set_measures(y_true: Any, y_pred: Any, *, empty: str = "zero") -> dict[str, float]:
    """The measures of section 2.5 under their names; F2 is the harmonic mean of mean precision and mean recall.

    A row on which a measure is not defined counts as in `ramify.metrics`; the printed results follow ``"skip"``.
    """
    precision, recall = (score(y_true, y_pred, empty=empty) for score in (precision_score, recall_score))
    return {
        "HL": hamming_loss(y_true, y_pred),
        "CL": accuracy_score(y_true, y_pred),
        "PR": precision,
        "RE": recall,
        "F1": f1_score(y_true, y_pred, empty=empty),
        "F2": 0.0 if precision + recall == 0 else 2.0 * precision * recall / (precision + recall),
        "AC": jaccard_score(y_true, y_pred, empty=empty),
    }


@dataclass(frozen=True)
class LabelStatistics:
    """What a set of label sets looks like.

    Attributes
    ----------
    n_samples, n_labels : int
        Rows and labels.
    cardinality : float
        Mean number of labels per row.
    density : float
        Cardinality divided by the number of labels.
    n_distinct : int
        Number of different label sets.
    label_names : tuple of str
        Names of the labels.
    label_densities : ndarray of shape (n_labels,)
        Share of rows that have each label.
    label_counts : ndarray of shape (max + 1,)
        Number of rows that have 0, 1, 2, ... labels.
    correlation : ndarray of shape (n_labels, n_labels)
        Correlation of labels; 0 where a label never changes.
    mutual_information : ndarray of shape (n_labels, n_labels)
        Bits that two labels tell about each other, by their frequencies; on the diagonal a label's own entropy.
    mean_imbalance : float
        Mean over the labels that occur of the most frequent label's count divided by the label's.
    """

    n_samples: int
    n_labels: int
    cardinality: float
    density: float
    n_distinct: int
    label_names: tuple[str, ...]
    label_densities: NDArray[np.float64]
    label_counts: NDArray[np.intp]
    correlation: NDArray[np.float64]
    mutual_information: NDArray[np.float64]
    mean_imbalance: float

    def to_frame(self) -> pd.DataFrame:
        """One row with the numbers of Tables 5.1 and 7.1."""
        names = ("n_samples", "n_labels", "cardinality", "density", "n_distinct", "mean_imbalance")
        return pd.DataFrame([{name: getattr(self, name) for name in names}])


def label_statistics(y: Any) -> LabelStatistics:
    """Statistics of label sets, sections 2.4, 5.2 and 7.2."""
    target = encode_labels(y)
    labels = target.Y.toarray()
    per_row = labels.sum(axis=1, dtype=np.intp)
    per_label = labels.sum(axis=0, dtype=np.intp)
    occurring = per_label[per_label > 0]
    return LabelStatistics(
        n_samples=labels.shape[0],
        n_labels=labels.shape[1],
        cardinality=float(per_row.mean()),
        density=float(per_row.mean() / labels.shape[1]),
        n_distinct=len(np.unique(labels, axis=0)),
        label_names=target.names,
        label_densities=per_label / labels.shape[0],
        label_counts=np.bincount(per_row),
        correlation=label_correlation(labels),
        mutual_information=label_information(labels),
        mean_imbalance=float(np.mean(occurring.max() / occurring)) if len(occurring) else float("nan"),
    )


def label_information(labels: NDArray[Any]) -> NDArray[np.float64]:
    """Mutual information of every pair of columns of a 0/1 matrix, in bits."""
    share = labels.mean(axis=0, dtype=np.float64)
    both = (labels.T.astype(np.float64) @ labels) / len(labels)
    only_first, only_second = share[:, None] - both, share[None, :] - both
    cells = (
        (both, np.outer(share, share)),
        (only_first, np.outer(share, 1 - share)),
        (only_second, np.outer(1 - share, share)),
        (1 - both - only_first - only_second, np.outer(1 - share, 1 - share)),
    )
    total = np.zeros_like(both)
    for seen, expected in cells:
        ratio = np.divide(seen, expected, out=np.ones_like(seen), where=(seen > 1e-15) & (expected > 0))
        total += seen * np.log2(ratio)
    return np.maximum(total, 0.0)


def screening_sweep(
    train: Any, validation: Any, estimator: Any, percentiles: Sequence[float] = PERCENTILES, *, empty: str = "zero"
) -> pd.DataFrame:
    """Measures on validation rows after screening at several percentiles (Table 7.4, Figure 7.4)."""
    rows = []
    for percentile in percentiles:
        screening = R2Screening(percentile).fit(train.X, train.y)
        fitted = clone(estimator).fit(screening.transform(train.X), train.y)
        measures = label_set_measures(validation.y, fitted.predict(screening.transform(validation.X)), empty=empty)
        kept = {"percentile": percentile, "n_features": int(screening.get_support().sum())}
        rows.append(kept | {name: float(measures[name]) for name in ("HL", "CL", "PR", "RE", "F2", "AC")})
    return pd.DataFrame(rows)


def top_predictors(importances: pd.DataFrame | ArrayLike, n: int = 5, *, per_label: bool = True) -> pd.DataFrame:
    """The most important predictors with their index, for each label or over all labels (Tables 7.8 and 7.9)."""
    frame = importances if isinstance(importances, pd.DataFrame) else importance_frame(importances)
    if not per_label:
        return _best_of(global_importance(frame).to_numpy(), frame, n)
    local = importance_index(frame)
    tables = [_best_of(local.iloc[row].to_numpy(), frame, n, own=row) for row in range(len(local))]
    for name, table in zip(local.index, tables, strict=True):
        table.insert(0, "label", name)
    return pd.concat(tables, ignore_index=True)


def _best_of(index: np.ndarray, frame: pd.DataFrame, n: int, own: int | None = None) -> pd.DataFrame:
    n_features = frame.shape[1] - frame.shape[0]
    order = np.argsort(-index, kind="stable")
    if own is not None:
        order = order[order != n_features + own]
    best = order[:n]
    return pd.DataFrame(
        {
            "rank": np.arange(1, len(best) + 1),
            "predictor": frame.columns[best],
            "index": index[best],
            "is_label": best >= n_features,
        }
    )


def friedman_of_ranks(ranks: Any, n_datasets: int) -> tuple[float, float]:
    """Friedman's chi-square and its p-value from average ranks as they are printed (no correction for ties)."""
    means = np.asarray(ranks, dtype=np.float64)
    n_methods = len(means)
    statistic = 12 * n_datasets / (n_methods * (n_methods + 1)) * np.sum((means - (n_methods + 1) / 2) ** 2)
    return float(statistic), float(stats.chi2.sf(statistic, n_methods - 1))
