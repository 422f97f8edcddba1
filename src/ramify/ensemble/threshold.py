"""From probabilities to label sets: thresholds given, or chosen on predictions of rows that the trees did not see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ramify.hierarchy import Hierarchy
from ramify.parameters import check_real
from ramify.targets import target_type
from ramify.targets.closure import with_all_ancestors

RULES = ("f1", "cardinality", "density")
"""Thresholds that are chosen; a mapping of costs is one, too."""


def cardinality_threshold(
    scores: ArrayLike,
    cardinality: float,
    *,
    candidates: ArrayLike | None = None,
    sample_weight: NDArray[np.float64] | None = None,
) -> float:
    """The threshold that brings predicted label cardinality closest to a given one.

    A label is predicted where its score is at least the threshold. Of equally good thresholds the smallest is taken.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Shares of votes or probabilities.
    cardinality : float
        Mean number of labels per row to come close to, usually that of the training set.
    candidates : array-like, optional
        Thresholds to choose from; by default every score that occurs. For votes of M chains these are 1/M, ..., M/M.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    float

    References
    ----------
    L-classifier chains, section 3.3.1; J. Read et al., Classifier chains for multi-label classification, 2011.

    Examples
    --------
    >>> from ramify.ensemble.threshold import cardinality_threshold
    >>> cardinality_threshold([[0.9, 0.4], [0.8, 0.1]], cardinality=1.0)
    0.8
    """
    scores = np.asarray(scores, dtype=np.float64)
    weights = np.ones(len(scores)) if sample_weight is None else sample_weight
    return _closest(scores.ravel(), np.repeat(weights, scores.shape[1]), cardinality * weights.sum(), candidates)


def density_thresholds(
    scores: ArrayLike,
    densities: ArrayLike,
    *,
    candidates: ArrayLike | None = None,
    sample_weight: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """One threshold per label, so that each label's predicted density is closest to the given one.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Shares of votes or probabilities.
    densities : array-like of shape (n_labels,)
        Share of rows that have the label, usually in the training set.
    candidates : array-like, optional
        Thresholds to choose from; by default every score that the label has.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    ndarray of shape (n_labels,)

    Examples
    --------
    >>> from ramify.ensemble.threshold import density_thresholds
    >>> density_thresholds([[0.9, 0.4], [0.8, 0.1]], densities=[1.0, 0.5])
    array([0.8, 0.4])
    """
    scores = np.asarray(scores, dtype=np.float64)
    weights = np.ones(len(scores)) if sample_weight is None else sample_weight
    wanted = np.asarray(densities, dtype=np.float64) * weights.sum()
    return np.array(
        [_closest(column, weights, count, candidates) for column, count in zip(scores.T, wanted, strict=True)]
    )


def f1_thresholds(
    scores: ArrayLike, truth: Any, *, sample_weight: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """One threshold per label, the one of largest F1 on these rows.

    A label is predicted where its score is at least the threshold. Of equally good thresholds the largest is taken; a
    label that no row has keeps one half.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Probabilities, best of rows not learnt from.
    truth : 0/1 array or CSR of the same shape
        True label sets; cells that are NaN are left out.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows.

    Examples
    --------
    >>> from ramify.ensemble.threshold import f1_thresholds
    >>> f1_thresholds([[0.9], [0.3], [0.2], [0.1]], [[1], [1], [0], [0]])
    array([0.25])
    """

    def f1(hits: NDArray[np.float64], wrong: NDArray[np.float64], total: float) -> NDArray[np.float64]:
        return np.asarray(2 * hits / (hits + wrong + total))

    return _best_cuts(scores, truth, sample_weight, f1)


def cost_thresholds(
    scores: ArrayLike,
    truth: Any,
    *,
    false_positive: float,
    false_negative: float,
    sample_weight: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """One threshold per label, the one of smallest cost of errors on these rows.

    Parameters
    ----------
    scores, truth, sample_weight
        As in `f1_thresholds`.
    false_positive, false_negative : float
        Cost of a label predicted wrongly, and of one missed.

    Examples
    --------
    >>> from ramify.ensemble.threshold import cost_thresholds
    >>> cost_thresholds([[0.9], [0.3], [0.2], [0.1]], [[1], [0], [1], [0]], false_positive=1, false_negative=5)
    array([0.15])
    """

    def gain(hits: NDArray[np.float64], wrong: NDArray[np.float64], total: float) -> NDArray[np.float64]:
        return np.asarray(false_negative * (hits - total) - false_positive * wrong)

    return _best_cuts(scores, truth, sample_weight, gain, may_be_empty=True)


def check_threshold(estimator: Any, rules: tuple[str, ...] = RULES) -> None:
    """Refuse a `threshold` that is no number from 0 to 1, no row of them, no rule and no mapping of costs."""
    value = estimator.threshold
    if isinstance(value, Mapping):
        if set(value) != {"fp", "fn"}:
            raise ValueError(
                f"The costs in the 'threshold' parameter of {type(estimator).__name__} must be "
                f"{{'fp': cost of a false positive, 'fn': cost of a false negative}}. Got {dict(value)!r} instead."
            )
        for cost in value.values():
            check_real(estimator, "threshold", cost, low=0, high=1e100, open_low=True)
    elif isinstance(value, str):
        if value not in rules:
            listed = ", ".join(repr(rule) for rule in rules)
            raise ValueError(
                f"The 'threshold' parameter of {type(estimator).__name__} must be a number from 0 to 1, one per label, "
                f"a mapping of costs, or one of {listed}. Got {value!r} instead."
            )
    elif np.ndim(value) == 0:
        check_real(estimator, "threshold", value, low=0, high=1)


def is_chosen(threshold: Any) -> bool:
    """Whether a threshold is to be learnt from predictions of unseen rows."""
    return isinstance(threshold, Mapping) or (isinstance(threshold, str) and threshold in RULES)


def given_threshold(estimator: Any, n_labels: int) -> Any:
    """The number, or the checked array of one per label, that the `threshold` parameter holds."""
    if np.ndim(estimator.threshold) == 0:
        return float(estimator.threshold)
    thresholds = np.asarray(estimator.threshold, dtype=np.float64)
    if thresholds.shape != (n_labels,) or not ((thresholds >= 0) & (thresholds <= 1)).all():
        raise ValueError(
            f"The 'threshold' parameter of {type(estimator).__name__} must be one number from 0 to 1, or one per label "
            f"({n_labels}). Got {thresholds.shape} numbers instead."
        )
    return thresholds


def chosen_threshold(
    rule: Any,
    scores: NDArray[np.float64],
    truth: Any,
    *,
    sample_weight: NDArray[np.float64] | None = None,
    candidates: ArrayLike | None = None,
) -> Any:
    """The threshold that a rule or costs choose on these rows: a label is predicted where its score is at least it."""
    if isinstance(rule, Mapping):
        fp, fn = float(rule["fp"]), float(rule["fn"])
        return cost_thresholds(scores, truth, false_positive=fp, false_negative=fn, sample_weight=sample_weight)
    if rule == "f1":
        return f1_thresholds(scores, truth, sample_weight=sample_weight)
    labels = sparse.csr_array(truth)
    weights = np.ones(len(scores)) if sample_weight is None else sample_weight
    kept = np.flatnonzero(weights)
    scores, labels, weights = scores[kept], labels[kept], weights[kept]
    if np.isnan(labels.data).any():
        return _of_known_cells(rule, scores, labels.toarray(), weights, candidates)
    weight = max(weights.sum(), np.finfo(float).tiny)
    options: dict[str, Any] = {"candidates": candidates, "sample_weight": weights}
    if rule == "cardinality":
        return cardinality_threshold(scores, float(weights @ labels.sum(axis=1)) / weight, **options)
    return density_thresholds(scores, (weights @ labels) / weight, **options)


def _of_known_cells(
    rule: str,
    scores: NDArray[np.float64],
    cells: NDArray[np.float64],
    weights: NDArray[np.float64],
    candidates: ArrayLike | None,
) -> Any:
    """As many labels predicted as there are, in all or per label, where that is known."""
    known = ~np.isnan(cells)
    of_cells = np.broadcast_to(weights[:, None], cells.shape)
    if rule == "cardinality":
        return _closest(scores[known], of_cells[known], float(cells[known] @ of_cells[known]), candidates)
    columns = zip(scores.T, cells.T, known.T, strict=True)
    return np.array(
        [_closest(own[seen], weights[seen], float(has[seen] @ weights[seen]), candidates) for own, has, seen in columns]
    )


def fitted_threshold(estimator: Any, kind: str, n_labels: int) -> Any:
    """What `threshold_` is before one is chosen: the number, one per label, or one half; refused but for label sets."""
    if not target_type(kind).has_sets and not (np.ndim(estimator.threshold) == 0 and estimator.threshold == 0.5):
        otherwise = ": the most probable class is predicted." if target_type(kind).has_one_label else "."
        next_step = "Use class_weight to prefer some." if hasattr(estimator, "class_weight") else "Leave it at 0.5."
        raise ValueError(
            f"The 'threshold' parameter of {type(estimator).__name__} is for label sets, but y holds {kind}{otherwise} "
            f"{next_step}"
        )
    return 0.5 if is_chosen(estimator.threshold) else given_threshold(estimator, n_labels)


def exceeded_threshold(
    rule: Any, scores: NDArray[np.float64], truth: Any, *, sample_weight: NDArray[np.float64] | None = None
) -> Any:
    """`chosen_threshold` for predictions that must exceed, not only reach it."""
    below = np.maximum(np.nextafter(chosen_threshold(rule, scores, truth, sample_weight=sample_weight), -1.0), 0.0)
    return float(below) if np.ndim(below) == 0 else below


def label_sets(probabilities: NDArray[np.float64], threshold: Any, hierarchy: Hierarchy | None) -> NDArray[np.int64]:
    """Labels whose probability exceeds its threshold, as 0 and 1; with a hierarchy only with all their ancestors."""
    present = probabilities > threshold
    if hierarchy is not None and np.ndim(threshold) == 1:
        present = with_all_ancestors(present, hierarchy)
    return present.astype(np.int64)


def is_fitted_threshold(threshold: Any, n_labels: int) -> bool:
    """Whether `threshold_` is a number that a probability can exceed or not, or one per label."""
    limits = np.asarray(threshold, dtype=np.float64)
    return limits.shape in {(), (n_labels,)} and bool(((limits >= 0) & (limits < 2)).all())


def _best_cuts(
    scores: ArrayLike,
    truth: Any,
    sample_weight: NDArray[np.float64] | None,
    quality: Any,
    *,
    may_be_empty: bool = False,
) -> NDArray[np.float64]:
    """Per label, the cut halfway between two scores at which the quality of what lies above is largest."""
    values = np.asarray(scores, dtype=np.float64)
    labels = sparse.csc_array(truth)
    weights = np.ones(len(values)) if sample_weight is None else sample_weight
    cuts = np.full(values.shape[1], 0.5)
    for label in range(values.shape[1]):
        has = np.zeros(len(values))
        stored = slice(labels.indptr[label], labels.indptr[label + 1])
        has[labels.indices[stored]] = labels.data[stored]
        known = np.flatnonzero(~np.isnan(has))
        has, of_rows, own = has[known], weights[known], values[known, label]
        total = float(has @ of_rows)
        if total == 0:
            continue
        order = np.argsort(-own, kind="stable")
        descending = own[order]
        hits, wrong = np.cumsum((has * of_rows)[order]), np.cumsum(((1 - has) * of_rows)[order])
        last = np.flatnonzero(np.append(descending[1:] < descending[:-1], True))  # of equal scores
        qualities = quality(hits[last], wrong[last], total)
        best = int(np.argmax(qualities))
        if may_be_empty and qualities[best] <= quality(np.zeros(1), np.zeros(1), total)[0]:
            cuts[label] = (descending[0] + 1) / 2 if descending[0] < 1 else np.nextafter(1.0, 2.0)
            continue
        low = descending[last[best]]
        below = descending[last[best] + 1] if last[best] + 1 < len(descending) else 0.0
        cuts[label] = (low + below) / 2 if below < low else low
    return cuts


def _closest(
    scores: NDArray[np.float64], weights: NDArray[np.float64], wanted: float, candidates: ArrayLike | None
) -> float:
    """The candidate for which the weight of the scores at or above it is closest to `wanted`."""
    if scores.size == 0:
        return 0.5
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    possible = np.unique(ordered if candidates is None else np.asarray(candidates, dtype=np.float64))
    if candidates is None:
        possible = np.append(possible, np.nextafter(possible[-1], np.inf))
    below = np.concatenate([[0.0], np.cumsum(weights[order])])
    predicted = below[-1] - below[np.searchsorted(ordered, possible, side="left")]
    return float(possible[np.argmin(np.abs(predicted - wanted))])
