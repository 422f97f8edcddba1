"""Measures of hierarchical label sets: Kiritchenko's precision, recall and F, and CAFA's Fmax and Smin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.metrics.inputs import (
    in_hierarchy_order,
    known_matrix,
    label_counts,
    label_pair,
    ratio,
    row_counts,
    score_matrix,
    zero_one_matrix,
)
from ramify.metrics.label_sets import f1_score, precision_score, recall_score
from ramify.metrics.measures import measure
from ramify.metrics.score import Score

if TYPE_CHECKING:
    from ramify.hierarchy import Hierarchy

_CAFA_THRESHOLDS = np.arange(1, 101) / 100


@measure(larger_is_better=True)
def hierarchical_precision(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy,
    average: Literal["micro", "samples"] = "micro",
    exclude_universal: bool = False,
) -> Score:
    """Share of predicted labels and their ancestors that are true labels or ancestors of one.

    Parameters
    ----------
    y_true, y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        0/1 per label, columns in the order of ``hierarchy.names``; closed under ancestors here.
    hierarchy : Hierarchy
        Of the labels.
    average : {"micro", "samples"}, default="micro"
        Pooled as Kiritchenko defines it, or mean over rows.
    exclude_universal : bool, default=False
        Leave out labels that every row has; Kiritchenko leaves out the root.

    Returns
    -------
    Score

    References
    ----------
    Kiritchenko, S., Matwin, S. and Famili, A. F. (2005). Functional annotation of genes using hierarchical text
    categorization. BioLINK SIG.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import hierarchical_precision
    >>> tree = Hierarchy.from_paths(["a", "a/b", "a/c"])
    >>> hierarchical_precision([[0, 1, 0]], [[0, 0, 1]], hierarchy=tree)
    0.5
    """
    return precision_score(y_true, y_pred, hierarchy=hierarchy, average=average, exclude_universal=exclude_universal)


@measure(larger_is_better=True)
def hierarchical_recall(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy,
    average: Literal["micro", "samples"] = "micro",
    exclude_universal: bool = False,
) -> Score:
    """Share of true labels and their ancestors that were predicted, themselves or through a descendant.

    Parameters and return value are those of :func:`hierarchical_precision`.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import hierarchical_recall
    >>> tree = Hierarchy.from_paths(["a", "a/b", "a/c"])
    >>> hierarchical_recall([[0, 1, 0]], [[1, 0, 0]], hierarchy=tree)
    0.5
    """
    return recall_score(y_true, y_pred, hierarchy=hierarchy, average=average, exclude_universal=exclude_universal)


@measure(larger_is_better=True)
def hierarchical_f(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy,
    average: Literal["micro", "samples"] = "micro",
    exclude_universal: bool = False,
) -> Score:
    """Harmonic mean of hierarchical precision and recall.

    Parameters and return value are those of :func:`hierarchical_precision`.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import hierarchical_f
    >>> tree = Hierarchy.from_paths(["a", "a/b", "a/c"])
    >>> round(hierarchical_f([[0, 1, 0]], [[1, 0, 0]], hierarchy=tree), 4)
    0.6667
    """
    return f1_score(y_true, y_pred, hierarchy=hierarchy, average=average, exclude_universal=exclude_universal)


@measure(larger_is_better=True, takes="scores")
def fmax(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    information: Any = None,
    thresholds: Any = None,
    exclude_universal: bool = False,
) -> Score:
    """CAFA's Fmax: the best F of mean precision and mean recall over all thresholds.

    Precision at a threshold is the mean over the rows that predict something there, recall the mean over all rows.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0/1 per label; cells where the truth is NaN are left out, and `Score.n_unknown` counts them.
    y_score : array-like or sparse matrix of the same shape
        Scores in [0, 1].
    hierarchy : Hierarchy or None, default=None
        Closes ``y_true`` under ancestors first, and raises the score of a label to those of its descendants, as CAFA
        does.
    information : array-like of shape (n_labels,) or None, default=None
        Bits of each label, as for :func:`smin`, by which labels count in precision and recall (the weighted Fmax); None
        counts each label once.
    thresholds : array-like or None, default=None
        Thresholds to try; None takes CAFA's 0.01, 0.02, ..., 1. A label is predicted where its score reaches one.
    exclude_universal : bool, default=False
        Leave out labels that every row has, as CAFA leaves out the roots.

    Returns
    -------
    Score
        With the best ``threshold``. Rows without a true label are left out, and ``n_left_out`` counts them.

    References
    ----------
    Radivojac, P. et al. (2013). A large-scale evaluation of computational protein function prediction. Nature Methods.

    Examples
    --------
    >>> from ramify.metrics import fmax
    >>> score = fmax([[1, 0], [1, 1]], [[0.9, 0.3], [0.8, 0.6]])
    >>> score, score.threshold
    (1.0, 0.31)
    """
    pair, bits = _pair_and_bits(y_true, y_score, hierarchy, information, exclude_universal)
    levels = _checked_thresholds(thresholds)
    n_predicted, n_hit = _weights_reached(pair, levels, bits)
    n_true = np.asarray(sparse.csr_array(pair.truth) @ bits)
    used = row_counts(pair.truth) > 0
    if not used.any():
        return Score(np.nan, n_left_out=n_true.size, n_unknown=pair.n_unknown)
    n_predicted, n_hit = n_predicted[used], n_hit[used]
    row_precision = ratio(n_hit, n_predicted)
    predicts = n_predicted > 0
    mean_precision = ratio(np.where(predicts, row_precision, 0.0).sum(axis=0), predicts.sum(axis=0))
    of_rows = np.broadcast_to(n_true[used, np.newaxis], n_hit.shape)
    mean_recall = np.nan_to_num(ratio(n_hit, of_rows)).mean(axis=0)
    values = np.nan_to_num(ratio(2 * mean_precision * mean_recall, mean_precision + mean_recall))
    best = int(np.argmax(values))
    left_out = int((~used).sum())
    return Score(values[best], n_left_out=left_out, threshold=float(levels[best]), n_unknown=pair.n_unknown)


@measure(larger_is_better=False, takes="scores")
def smin(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    information: Any = None,
    thresholds: Any = None,
    exclude_universal: bool = False,
) -> Score:
    """CAFA's Smin: the smallest distance of (remaining uncertainty, misinformation) from zero over all thresholds.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0/1 per label; cells where the truth is NaN are left out, and `Score.n_unknown` counts them.
    y_score : array-like or sparse matrix of the same shape
        Scores in [0, 1].
    hierarchy : Hierarchy or None, default=None
        Closes ``y_true`` and raises scores as in :func:`fmax`, and tells the parents that ``information`` is computed
        from.
    information : array-like of shape (n_labels,) or None, default=None
        Bits that each label adds to its parents; None computes them from ``y_true`` by :func:`label_information`.
        Compute them from the training rows to compare models on different test rows.
    thresholds : array-like or None, default=None
        As for :func:`fmax`.
    exclude_universal : bool, default=False
        Leave out labels that every row has; their information is 0 in any case.

    Returns
    -------
    Score
        With the best ``threshold``. Smaller is better.

    References
    ----------
    Clark, W. T. and Radivojac, P. (2013). Information-theoretic evaluation of predicted ontological annotations.
    Bioinformatics 29.

    Examples
    --------
    >>> from ramify.metrics import smin
    >>> smin([[1, 0], [1, 1]], [[0.9, 0.3], [0.8, 0.6]], information=[0.0, 1.0])
    0.0
    """
    if information is None:
        information = label_information(y_true, hierarchy=hierarchy)
    pair, bits = _pair_and_bits(y_true, y_score, hierarchy, information, exclude_universal)
    levels = _checked_thresholds(thresholds)
    predicted, hit = _weights_reached(pair, levels, bits)
    true = np.asarray(sparse.csr_array(pair.truth) @ bits)
    if true.size == 0:
        return Score(np.nan, n_left_out=pair.n_left_out, n_unknown=pair.n_unknown)
    uncertainty = _difference(true[:, np.newaxis], hit).mean(axis=0)
    misinformation = _difference(predicted, hit).mean(axis=0)
    values = np.hypot(uncertainty, misinformation)
    best = int(np.argmin(values))
    threshold = float(levels[best])
    return Score(values[best], n_left_out=pair.n_left_out, threshold=threshold, n_unknown=pair.n_unknown)


def _pair_and_bits(
    y_true: Any, y_score: Any, hierarchy: Hierarchy | None, information: Any, exclude_universal: bool
) -> tuple[Any, NDArray[np.float64]]:
    """Truth and raised scores of the labels that count, and the bits of each; ones where none are given."""
    scores = _raised(y_score, hierarchy)
    pair = label_pair(y_true, scores, scores=True, hierarchy=hierarchy)
    n_labels = pair.truth.shape[1]
    bits = np.ones(n_labels) if information is None else checked_information(information, n_labels)
    if exclude_universal:
        bits = bits[label_counts(pair.truth) < pair.known_counts()]
        pair = label_pair(y_true, scores, scores=True, hierarchy=hierarchy, exclude_universal=True)
    return pair, bits


def checked_information(information: Any, n_labels: int) -> NDArray[np.float64]:
    """One finite number >= 0 per label, or an error that says so."""
    bits = np.asarray(information, dtype=np.float64)
    if bits.shape != (n_labels,) or not np.isfinite(bits).all() or (bits < 0).any():
        raise ValueError(
            f"The 'information' parameter must hold one finite number >= 0 per label ({n_labels} labels). "
            f"Got an array of shape {bits.shape} instead."
        )
    return bits


def _difference(of: NDArray[np.float64], what: NDArray[np.float64]) -> NDArray[np.float64]:
    """What is left of sums over the same labels; rounding in another order of adding leaves nothing."""
    left = of - what
    return np.where(np.abs(left) <= 1e-12 * np.abs(of), 0.0, left)


def label_information(y: Any, *, hierarchy: Hierarchy | None = None) -> NDArray[np.float64]:
    """Bits that a label adds when its parents are known: ``-log2 P(label | all its parents)``.

    Parameters
    ----------
    y : array-like or sparse matrix of shape (n_samples, n_labels)
        0/1 per label, usually of the training rows; rows of which a label is unknown (NaN) do not count for it.
    hierarchy : Hierarchy or None, default=None
        Closes ``y`` and gives the parents; without it no label has any.

    Returns
    -------
    ndarray of shape (n_labels,)
        A label that no row has counts as if one further row had it and its parents, so that its bits stay finite.

    Examples
    --------
    >>> from ramify.metrics.hierarchical import label_information
    >>> label_information([[1, 0], [1, 1]]).tolist()
    [0.0, 1.0]
    """
    matrix, unknown = known_matrix(y if hierarchy is None else in_hierarchy_order(y, hierarchy, "y"), hierarchy)
    n_rows, n_labels = matrix.shape
    n_with_parents = np.full(n_labels, n_rows, dtype=np.int64)
    if hierarchy is not None:
        if unknown is None:
            matrix = zero_one_matrix(hierarchy.close(sparse.csr_array(matrix)), "y")
        position = {name: j for j, name in enumerate(hierarchy.names)}
        n_with = label_counts(matrix)
        for j, name in enumerate(hierarchy.names):
            parents = [position[parent] for parent in hierarchy.parents[name]]
            if len(parents) == 1:
                n_with_parents[j] = n_with[parents[0]]
            elif parents:
                n_with_parents[j] = (row_counts(matrix[:, parents]) == len(parents)).sum()
    if unknown is not None:
        n_with_parents = _rows_that_count(matrix, unknown, hierarchy)
    n_with = label_counts(matrix)
    unseen = n_with == 0
    share = np.where(unseen, 1, n_with) / (n_with_parents + unseen)
    return -np.log2(share) + 0.0


def _rows_that_count(
    matrix: sparse.csc_array, unknown: sparse.csc_array, hierarchy: Hierarchy | None
) -> NDArray[np.int64]:
    """Per label, the rows that have all its parents and of which the label itself is known."""
    counts = np.empty(matrix.shape[1], dtype=np.int64)
    for j in range(matrix.shape[1]):
        known = unknown[:, [j]].toarray().ravel() == 0
        parents = [] if hierarchy is None else [hierarchy.index(name) for name in hierarchy.parents[hierarchy.names[j]]]
        counts[j] = int((known & (row_counts(matrix[:, parents]) == len(parents))).sum())
    return counts


def _raised(y_score: Any, hierarchy: Hierarchy | None) -> Any:
    """Scores in which no label has less than its descendants."""
    if hierarchy is None:
        return y_score
    scores = score_matrix(in_hierarchy_order(y_score, hierarchy, "y_score"))
    if scores.shape[1] != len(hierarchy):
        return scores  # refused by what compares it with y_true
    parents = sparse.csr_array(hierarchy.parent_matrix)
    larger = sparse.csc_array.maximum if sparse.issparse(scores) else np.maximum
    columns = [scores[:, [j]] for j in range(scores.shape[1])]
    for child in hierarchy.topological_order[::-1].tolist():
        for parent in parents.indices[parents.indptr[child] : parents.indptr[child + 1]].tolist():
            columns[parent] = larger(columns[parent], columns[child])
    return sparse.hstack(columns, format="csc") if sparse.issparse(scores) else np.hstack(columns)


def _checked_thresholds(thresholds: Any) -> NDArray[np.float64]:
    if thresholds is None:
        return _CAFA_THRESHOLDS
    levels = np.unique(np.asarray(thresholds, dtype=np.float64))
    if levels.ndim != 1 or levels.size == 0 or not np.isfinite(levels).all() or levels[0] <= 0:
        raise ValueError(f"The 'thresholds' parameter must hold finite numbers > 0. Got {thresholds!r} instead.")
    return levels


def _weights_reached(
    pair: Any, levels: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per row and threshold, the weight of the labels whose score reaches it: all of them, and the true ones."""
    scores = pair.other
    n_rows = pair.truth.shape[0]
    if not sparse.issparse(scores):
        scores = sparse.csc_array(np.where(scores >= levels[0], scores, 0.0))
    columns = np.repeat(np.arange(scores.shape[1]), np.diff(scores.indptr))
    reached = np.searchsorted(levels, scores.data, side="right")
    keys = scores.indices + columns * np.int64(n_rows)
    truth_columns = np.repeat(np.arange(pair.truth.shape[1]), label_counts(pair.truth))
    true = np.isin(keys, pair.truth.indices + truth_columns * np.int64(n_rows))
    cells = scores.indices * np.int64(levels.size + 1) + reached

    def totals(chosen: Any) -> NDArray[np.float64]:
        table = np.bincount(cells[chosen], weights=weights[columns[chosen]], minlength=n_rows * (levels.size + 1))
        table = table.reshape(n_rows, levels.size + 1)
        return table[:, :0:-1].cumsum(axis=1)[:, ::-1]

    return totals(slice(None)), totals(true)
