"""Measures of scores over all thresholds: areas under precision-recall and ROC curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.metrics.inputs import Average, averaged, check_average, column_scores, label_counts, label_pair
from ramify.metrics.measures import measure
from ramify.metrics.score import Score

if TYPE_CHECKING:
    from ramify.hierarchy import Hierarchy


@measure(larger_is_better=True, takes="scores")
def auprc(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: Average = "micro",
    exclude_universal: bool = False,
) -> Any:
    r"""Area under the precision-recall curve, interpolated as Davis and Goadrich do.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels)
        0/1 per label; cells where the truth is NaN are left out, and `Score.n_unknown` counts them.
    y_score : array-like or sparse matrix of the same shape
        Any finite numbers, larger for a more likely label. What a sparse matrix does not store counts as 0.
    hierarchy : Hierarchy or None, default=None
        Closes ``y_true`` under ancestors first.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        Pooled over all (row, label) pairs, mean of the labels, mean weighted by their frequency in ``y_true``, or one
        value per label.
    exclude_universal : bool, default=False
        Leave out labels that every row has, such as the root of an ontology. They lift the pooled value without skill.

    Returns
    -------
    Score or ndarray of shape (n_labels,)
        Labels without a positive row are left out of ``"macro"`` and ``"weighted"``, and ``n_left_out`` counts them;
        with ``average=None`` they are NaN (and universal labels are absent if excluded).

    Notes
    -----
    Between two neighbouring points of the curve the false positives grow in proportion to the true positives; the
    curve is evaluated at each whole number of true positives in between and the area taken by trapezoids.

    References
    ----------
    Davis, J. and Goadrich, M. (2006). The relationship between precision-recall and ROC curves. ICML.

    Examples
    --------
    >>> from ramify.metrics import auprc
    >>> auprc([[1, 0], [0, 1]], [[0.9, 0.2], [0.1, 0.8]])
    1.0
    """
    return _area(_interpolated_area, y_true, y_score, hierarchy, average, exclude_universal, needs_negatives=False)


@measure(larger_is_better=True, takes="scores")
def average_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: Average = "macro",
    exclude_universal: bool = False,
) -> Any:
    """Mean of the precision at each positive: the precision-recall curve as a step function.

    Parameters and return value are those of :func:`auprc`.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels)
        0/1 per label; cells where the truth is NaN are left out, and `Score.n_unknown` counts them.
    y_score : array-like or sparse matrix of the same shape
        Any finite numbers, larger for a more likely label.
    hierarchy : Hierarchy or None, default=None
        Closes ``y_true`` under ancestors first.
    average : {"macro", "micro", "weighted"} or None, default="macro"
        As for :func:`auprc`; the default is scikit-learn's.
    exclude_universal : bool, default=False
        Leave out labels that every row has.

    Returns
    -------
    Score or ndarray of shape (n_labels,)

    Examples
    --------
    >>> from ramify.metrics import average_precision_score
    >>> round(average_precision_score([0, 1, 1], [0.9, 0.8, 0.1]), 4)
    0.5833
    """
    return _area(_stepwise_area, y_true, y_score, hierarchy, average, exclude_universal, needs_negatives=False)


@measure(larger_is_better=True, takes="scores")
def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: Average = "macro",
    exclude_universal: bool = False,
) -> Any:
    """Area under the ROC curve: how often a positive scores higher than a negative, ties counting half.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels)
        0/1 per label; cells where the truth is NaN are left out, and `Score.n_unknown` counts them.
    y_score : array-like or sparse matrix of the same shape
        Any finite numbers, larger for a more likely label.
    hierarchy : Hierarchy or None, default=None
        Closes ``y_true`` under ancestors first.
    average : {"macro", "micro", "weighted"} or None, default="macro"
        As for :func:`auprc`; the default is scikit-learn's.
    exclude_universal : bool, default=False
        Leave out labels that every row has.

    Returns
    -------
    Score or ndarray of shape (n_labels,)
        Labels that no row or every row has are left out of the means, and NaN with ``average=None``.

    Examples
    --------
    >>> from ramify.metrics import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    return _area(_ranked_area, y_true, y_score, hierarchy, average, exclude_universal, needs_negatives=True)


@dataclass(frozen=True)
class _ThresholdCounts:
    """Positives and negatives around each distinct score of a positive, from the highest score down.

    ``above`` counts those with a higher score, ``at`` those with that score or a higher one.
    """

    positives_above: NDArray[np.int64]
    positives_at: NDArray[np.int64]
    negatives_above: NDArray[np.int64]
    negatives_at: NDArray[np.int64]
    n_positives: int
    n_negatives: int


def _threshold_counts(
    positive_scores: NDArray[np.float64], all_scores: NDArray[np.float64], n_zero: int
) -> _ThresholdCounts:
    """Counts at the positives' scores; ``n_zero`` scores of zero are not stored in ``all_scores``."""
    positive_scores, all_scores = np.sort(positive_scores), np.sort(all_scores)
    thresholds = np.unique(positive_scores)[::-1]
    positives_above = positive_scores.size - np.searchsorted(positive_scores, thresholds, side="right")
    positives_at = positive_scores.size - np.searchsorted(positive_scores, thresholds, side="left")
    above = all_scores.size - np.searchsorted(all_scores, thresholds, side="right") + n_zero * (thresholds < 0)
    at = all_scores.size - np.searchsorted(all_scores, thresholds, side="left") + n_zero * (thresholds <= 0)
    return _ThresholdCounts(
        positives_above,
        positives_at,
        above - positives_above,
        at - positives_at,
        positive_scores.size,
        all_scores.size + n_zero - positive_scores.size,
    )


def _interpolated_area(counts: _ThresholdCounts) -> float:
    steps = counts.positives_at - counts.positives_above
    slope = (counts.negatives_at - counts.negatives_above) / steps
    true_positives = np.arange(1, counts.n_positives + 1, dtype=np.float64)
    false_positives = np.repeat(counts.negatives_above, steps) + np.repeat(slope, steps) * (
        true_positives - np.repeat(counts.positives_above, steps)
    )
    at_end = true_positives / (true_positives + false_positives)
    # A trapezoid starts where the last one ended, except where only negatives lie in between: the curve drops there.
    before = np.arange(counts.n_positives, dtype=np.float64)
    first = np.concatenate(([0], np.cumsum(steps)[:-1]))
    at_start = np.concatenate(([0.0], at_end[:-1]))
    at_start[first] = np.divide(
        before[first],
        before[first] + counts.negatives_above,
        out=np.zeros(first.size),
        where=before[first] + counts.negatives_above > 0,
    )
    if counts.negatives_above[0] == 0:
        at_start[0] = at_end[0]
    return float(np.sum(at_start + at_end) / (2.0 * counts.n_positives))


def _stepwise_area(counts: _ThresholdCounts) -> float:
    precision = counts.positives_at / (counts.positives_at + counts.negatives_at)
    return float(np.sum((counts.positives_at - counts.positives_above) * precision) / counts.n_positives)


def _ranked_area(counts: _ThresholdCounts) -> float:
    below = counts.n_negatives - counts.negatives_at
    equal = counts.negatives_at - counts.negatives_above
    won = np.sum((counts.positives_at - counts.positives_above) * (below + 0.5 * equal))
    return float(won / counts.n_positives / counts.n_negatives)


def _area(
    area: Callable[[_ThresholdCounts], float],
    y_true: Any,
    y_score: Any,
    hierarchy: Hierarchy | None,
    average: Average,
    exclude_universal: bool,
    *,
    needs_negatives: bool,
) -> Any:
    check_average(average)
    pair = label_pair(y_true, y_score, scores=True, hierarchy=hierarchy, exclude_universal=exclude_universal)
    truth, scores = pair.truth, pair.other
    n_labels = truth.shape[1]
    n_positives = label_counts(truth)
    positive_scores = _scores_of_positives(truth, scores)
    if average == "micro":
        n_pairs, n_all = positive_scores.size, int(pair.known_counts().sum())
        if n_pairs == 0 or (needs_negatives and n_pairs == n_all):
            return Score(np.nan, n_left_out=n_labels + pair.n_left_out, n_unknown=pair.n_unknown)
        stored = scores.data if sparse.issparse(scores) else scores.ravel(order="K")
        if pair.unknown is not None:
            stored = stored[~np.isnan(stored)]
        value = area(_threshold_counts(positive_scores, stored, n_all - stored.size))
        return Score(value, n_left_out=pair.n_left_out, n_unknown=pair.n_unknown)
    per_label = np.full(n_labels, np.nan)
    defined = n_positives > 0
    if needs_negatives:
        defined &= n_positives < pair.known_counts()
    for label in np.flatnonzero(defined).tolist():
        own = positive_scores[truth.indptr[label] : truth.indptr[label + 1]]
        per_label[label] = area(_threshold_counts(own, *column_scores(scores, label)))
    return averaged(per_label, n_positives, average, pair.n_left_out, pair.n_unknown)


def _scores_of_positives(truth: sparse.csc_array, scores: Any) -> NDArray[np.float64]:
    columns = np.repeat(np.arange(truth.shape[1]), label_counts(truth))
    if not sparse.issparse(scores):
        return scores[truth.indices, columns]
    n_rows = truth.shape[0]
    scores.sort_indices()
    stored = scores.indices + np.repeat(np.arange(scores.shape[1]), np.diff(scores.indptr)) * np.int64(n_rows)
    wanted = truth.indices + columns * np.int64(n_rows)
    place = np.searchsorted(stored, wanted)
    place[place == stored.size] = 0
    is_stored = stored[place] == wanted if stored.size else np.zeros(wanted.size, dtype=bool)
    values = np.zeros(wanted.size)
    values[is_stored] = scores.data[place[is_stored]]
    return values
