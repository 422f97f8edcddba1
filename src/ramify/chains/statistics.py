"""Label-set statistics: how many labels rows have, how often labels occur, how they go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ramify.chains.label_sets import read_label_sets


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


def label_statistics(y: ArrayLike) -> LabelStatistics:
    """Statistics of label sets.

    Parameters
    ----------
    y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
        Label sets.

    Returns
    -------
    LabelStatistics

    References
    ----------
    L-classifier chains, sections 2.4, 5.2 and 7.2.

    Examples
    --------
    >>> from ramify.chains.statistics import label_statistics
    >>> statistics = label_statistics([[1, 1], [0, 1], [0, 0], [0, 1]])
    >>> statistics.cardinality, statistics.density, statistics.n_distinct, statistics.label_counts
    (1.0, 0.5, 3, array([1, 2, 1]))
    """
    target = read_label_sets(y, refusing="label_statistics")
    labels = target.matrix
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


def label_correlation(labels: NDArray[Any]) -> NDArray[np.float64]:
    """Correlation of every pair of columns of a 0/1 matrix; 0 where a label never changes."""
    centred = labels - labels.mean(axis=0)
    norm = np.sqrt((centred**2).sum(axis=0))
    unit = centred / np.where(norm > 0, norm, 1.0)
    return unit.T @ unit


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
