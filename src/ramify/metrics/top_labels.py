"""Measures of the labels with the highest scores: precision at k, plain and weighted by propensities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.features.frames import as_array
from ramify.metrics.inputs import known_matrix, label_counts, label_pair, ratio
from ramify.metrics.measures import measure
from ramify.metrics.score import Score
from ramify.parameters import check_integer, check_real

if TYPE_CHECKING:
    from ramify.hierarchy import Hierarchy

_BLOCK_CELLS = 4_000_000
"""Scores of rows are sorted in blocks of about so many cells."""


@measure(larger_is_better=True, takes="scores")
def precision_at(
    y_true: Any, y_score: Any, *, k: int = 1, propensity: Any = None, hierarchy: Hierarchy | None = None
) -> Score:
    r"""Share of the k labels with the highest scores that a row has, averaged over the rows.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0/1 per label; cells where the truth is NaN are left out, and `Score.n_unknown` counts them.
    y_score : array-like or sparse matrix of the same shape
        Any finite numbers, larger for a more likely label; of equal ones the first label comes first. What a sparse
        matrix does not store counts as 0.
    k : int, default=1
        How many labels of each row are looked at, from 1 to the number of labels.
    propensity : array-like of shape (n_labels,) or None, default=None
        How often each label is noted where it applies, in (0, 1], as `label_propensities` estimates it. A hit then
        counts one over it, so that rare labels count more, and the sum is divided by the largest that can be reached.
    hierarchy : Hierarchy or None, default=None
        Closes ``y_true`` under ancestors first.

    Returns
    -------
    Score
        In [0, 1]. Without propensities a row of fewer than k labels cannot reach 1. NaN if no row has a label and
        propensities are given.

    References
    ----------
    Jain, H., Prabhu, Y. and Varma, M. (2016). Extreme multi-label loss functions for recommendation, tagging, ranking
    and other missing label applications. KDD.

    Examples
    --------
    >>> from ramify.metrics import precision_at
    >>> Y, scores = [[1, 1, 0], [0, 0, 1]], [[0.9, 0.1, 0.3], [0.2, 0.1, 0.8]]
    >>> precision_at(Y, scores, k=1), precision_at(Y, scores, k=2)
    (1.0, 0.5)
    >>> round(precision_at(Y, scores, k=2, propensity=[0.5, 0.1, 0.1]), 3)
    0.545
    """
    pair = label_pair(y_true, y_score, scores=True, hierarchy=hierarchy)
    truth, n_labels = sparse.csr_array(pair.truth), pair.truth.shape[1]
    k = check_integer("precision_at", "k", k, low=1, high=n_labels)
    top = _top_labels(pair.other, k)
    at = np.arange(0, top.size + 1, k)
    hits = truth.multiply(sparse.csr_array((np.ones(top.size), top.ravel(), at), shape=truth.shape))
    if propensity is None:
        return Score(float(ratio(hits.sum(), top.size)), n_unknown=pair.n_unknown)
    worth = 1.0 / _checked_propensity(propensity, n_labels)
    best = _best_sums(truth, worth, k)
    return Score((hits @ worth).sum() / best if best > 0 else np.nan, n_unknown=pair.n_unknown)


@measure(larger_is_better=False, takes="scores")
def one_error(y_true: Any, y_score: Any, *, hierarchy: Hierarchy | None = None) -> Score:
    """Share of the rows whose label of highest score is none of theirs.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0/1 per label; NaN is unknown.
    y_score : array-like or sparse matrix of the same shape
        Any finite numbers, larger for a more likely label.
    hierarchy : Hierarchy or None, default=None
        Closes ``y_true`` under ancestors first.

    Returns
    -------
    Score
        One minus `precision_at` for ``k=1``. A row without a label counts as an error.

    References
    ----------
    Schapire, R. E. and Singer, Y. (2000). BoosTexter: a boosting-based system for text categorization. Machine
    Learning 39, 135-168.

    Examples
    --------
    >>> from ramify.metrics import one_error
    >>> one_error([[1, 0], [0, 1]], [[0.9, 0.1], [0.8, 0.2]])
    0.5
    """
    hits = precision_at(y_true, y_score, k=1, hierarchy=hierarchy)
    return Score(1.0 - hits, n_unknown=hits.n_unknown)


def label_propensities(y: Any, *, a: float = 0.55, b: float = 1.5) -> NDArray[np.float64]:
    r"""How often each label is noted where it applies, estimated from how many rows have it.

    Parameters
    ----------
    y : array-like or sparse matrix of shape (n_samples, n_labels)
        The label sets of the training rows, 0/1 per label; NaN is unknown. At least 3 rows.
    a, b : float, default=0.55 and 1.5
        Constants of the curve; these are those of Jain et al. for most data, who give (0.5, 0.4) for Wikipedia and
        (0.6, 2.6) for Amazon.

    Returns
    -------
    ndarray of shape (n_labels,)
        In (0, 1), larger for more frequent labels.

    Notes
    -----
    With N rows of which N_l have the label, :math:`p_l = 1 / (1 + C (N_l + b)^{-a})` where
    :math:`C = (\log N - 1) (b + 1)^a`. These are assumptions about labels that were not noted, not facts about the
    data: use them to compare methods on rare labels.

    References
    ----------
    Jain, H., Prabhu, Y. and Varma, M. (2016). Extreme multi-label loss functions for recommendation, tagging, ranking
    and other missing label applications. KDD.

    Examples
    --------
    >>> from ramify.metrics import label_propensities
    >>> label_propensities([[1, 0], [1, 0], [1, 1], [1, 0]]).round(2).tolist()
    [0.8, 0.72]
    """
    a = check_real("label_propensities", "a", a, low=0)
    b = check_real("label_propensities", "b", b, low=0)
    truth, _ = known_matrix(y)
    if truth.shape[0] < 3:
        raise ValueError(f"label_propensities needs at least 3 rows. Got {truth.shape[0]} instead.")
    scale = (np.log(truth.shape[0]) - 1) * (b + 1) ** a
    return np.asarray(1 / (1 + scale * (label_counts(truth) + b) ** -a))


def _top_labels(scores: Any, k: int) -> NDArray[np.intp]:
    """The labels of the k highest scores of each row, the first of equal ones first; unknown ones last."""
    if not sparse.issparse(scores):
        return _top_of_dense(scores, k)
    rows = sparse.csr_array(scores)
    row_of = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    positive = rows.data > 0
    row_of, labels, values = row_of[positive], rows.indices[positive], rows.data[positive]
    order = np.lexsort((labels, -values, row_of))
    n_positive = np.bincount(row_of, minlength=rows.shape[0])
    first = np.cumsum(n_positive) - n_positive
    top = np.empty((rows.shape[0], k), dtype=np.intp)
    enough = n_positive >= k
    top[enough] = labels[order][first[enough, None] + np.arange(k)]
    others = np.flatnonzero(~enough)
    step = max(1, _BLOCK_CELLS // rows.shape[1])
    for start in range(0, len(others), step):
        some = others[start : start + step]
        top[some] = _top_of_dense(rows[some].toarray(), k)
    return top


def _top_of_dense(scores: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    step = max(1, _BLOCK_CELLS // scores.shape[1])
    blocks = [scores[start : start + step] for start in range(0, len(scores), step)]
    tops = [np.argsort(-block, axis=1, kind="stable")[:, :k] for block in blocks]
    return np.concatenate(tops) if tops else np.empty((0, k), dtype=np.intp)


def _best_sums(truth: sparse.csr_array, worth: NDArray[np.float64], k: int) -> float:
    """What the k labels of largest worth among those of each row add up to."""
    row_of = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr))
    values = worth[truth.indices]
    order = np.lexsort((-values, row_of))
    place = np.arange(len(order)) - truth.indptr[row_of[order]]
    return float(values[order][place < k].sum())


def _checked_propensity(propensity: Any, n_labels: int) -> NDArray[np.float64]:
    values = as_array(propensity).astype(np.float64)
    if values.shape != (n_labels,) or not ((values > 0) & (values <= 1)).all():
        raise ValueError(
            f"The 'propensity' parameter of precision_at must hold a number in (0, 1] for each of the {n_labels} "
            "labels. label_propensities estimates them from the training rows."
        )
    return values
