"""Measures of predicted label sets: per example, per label and pooled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ramify.metrics.inputs import (
    LabelPair,
    averaged,
    check_average,
    class_columns,
    label_counts,
    label_pair,
    ratio,
    row_counts,
)
from ramify.metrics.measures import measure
from ramify.metrics.score import Score

if TYPE_CHECKING:
    from ramify.hierarchy import Hierarchy

SetAverage = Literal["samples", "micro", "macro", "weighted"] | None
_SET_AVERAGES = ("samples", "micro", "macro", "weighted", None)


@measure(larger_is_better=False)
def hamming_loss(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: Literal["micro"] | None = "micro",
    exclude_universal: bool = False,
) -> Any:
    """Hamming loss (HL): the share of (row, label) pairs that are predicted wrongly.

    Parameters
    ----------
    y_true, y_pred : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels)
        0/1 per label; cells where the truth is NaN are left out, and `Score.n_unknown` counts them.
    hierarchy : Hierarchy or None, default=None
        Closes both under ancestors first.
    average : {"micro"} or None, default="micro"
        Over all pairs (the mean over labels is the same number), or one value per label.
    exclude_universal : bool, default=False
        Leave out labels that every row has.

    Returns
    -------
    Score or ndarray of shape (n_labels,)

    Examples
    --------
    >>> from ramify.metrics import hamming_loss
    >>> hamming_loss([[1, 1, 0, 1, 0]], [[1, 0, 0, 1, 0]])
    0.2
    """
    check_average(average, ("micro", None))
    pair = label_pair(y_true, y_pred, scores=False, hierarchy=hierarchy, exclude_universal=exclude_universal)
    both = label_counts(pair.shared())
    wrong = label_counts(pair.truth) + label_counts(pair.other) - 2 * both
    n_known = pair.known_counts()
    per_label = ratio(wrong, n_known)
    if average is None:
        return per_label
    how = "macro" if pair.unknown is None else "weighted"  # by the rows of which each label is known
    return averaged(per_label, n_known, how, pair.n_left_out, pair.n_unknown)


@measure(larger_is_better=True)
def accuracy_score(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    exclude_universal: bool = False,
) -> Score:
    """Share of rows that are right: their class, or their whole label set (CL of the thesis).

    Parameters
    ----------
    y_true, y_pred : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels)
        0/1 per label, or classes (n_samples,); cells where the truth is NaN are left out, and `Score.n_unknown`
        counts them.
    hierarchy : Hierarchy or None, default=None
        Closes both under ancestors first.
    exclude_universal : bool, default=False
        Leave out labels that every row has.

    Returns
    -------
    Score

    Examples
    --------
    >>> from ramify.metrics import accuracy_score
    >>> accuracy_score([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """
    y_true, y_pred = class_columns(y_true, y_pred)
    pair = label_pair(y_true, y_pred, scores=False, hierarchy=hierarchy, exclude_universal=exclude_universal)
    both, true, predicted = _row_counts(pair)
    right = (both == true) & (both == predicted)
    return Score(float(ratio(right.sum(), right.size)), n_left_out=pair.n_left_out, n_unknown=pair.n_unknown)


@measure(larger_is_better=True)
def precision_score(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: SetAverage = "samples",
    empty: Literal["zero", "skip"] = "zero",
    exclude_universal: bool = False,
    pos_label: Any = None,
) -> Any:
    """Share of the predicted labels that are true; PR of the thesis with ``average="samples"``.

    Parameters
    ----------
    y_true, y_pred : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels)
        0/1 per label, or classes (n_samples,), taken one against the rest in turn without ``pos_label``. Cells where
        the truth is NaN are left out, and `Score.n_unknown` counts them.
    hierarchy : Hierarchy or None, default=None
        Closes both under ancestors first.
    average : {"samples", "micro", "macro", "weighted"} or None, default="samples"
        Mean over rows, pooled over all pairs, mean over labels, mean weighted by the labels' frequency in ``y_true``,
        or one value per label. With a single label ``"samples"`` is that label's value, as scikit-learn's
        ``"binary"``; classes need one of the others.
    empty : {"zero", "skip"}, default="zero"
        For ``average="samples"``, a row where nothing was predicted: 1 if nothing is true either and 0 otherwise, or
        left out. Labels where nothing was predicted are left out of means over labels.
    exclude_universal : bool, default=False
        Leave out labels that every row has.
    pos_label : object, default=None
        For classes, the one that counts as positive.

    Returns
    -------
    Score or ndarray of shape (n_labels,)
        ``n_left_out`` counts the rows or labels that were left out.

    References
    ----------
    Thesis on L-classifier chains, section 2.5.

    Examples
    --------
    >>> from ramify.metrics import precision_score
    >>> precision_score([[1, 1, 0, 1, 0]], [[1, 1, 1, 1, 1]])
    0.6
    """
    return _set_measure("precision", y_true, y_pred, hierarchy, average, empty, exclude_universal, pos_label)


@measure(larger_is_better=True)
def recall_score(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: SetAverage = "samples",
    empty: Literal["zero", "skip"] = "zero",
    exclude_universal: bool = False,
    pos_label: Any = None,
) -> Any:
    """Share of the true labels that are predicted; RE of the thesis with ``average="samples"``.

    Parameters
    ----------
    y_true, y_pred : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels)
        0/1 per label, or classes (n_samples,), taken one against the rest in turn without ``pos_label``. Cells where
        the truth is NaN are left out, and `Score.n_unknown` counts them.
    hierarchy : Hierarchy or None, default=None
        Closes both under ancestors first.
    average : {"samples", "micro", "macro", "weighted"} or None, default="samples"
        As for :func:`precision_score`.
    empty : {"zero", "skip"}, default="zero"
        For ``average="samples"``, a row without a true label: 1 if nothing was predicted and 0 otherwise, or left out.
    exclude_universal : bool, default=False
        Leave out labels that every row has.
    pos_label : object, default=None
        For classes, the one that counts as positive.

    Returns
    -------
    Score or ndarray of shape (n_labels,)

    Examples
    --------
    >>> from ramify.metrics import recall_score
    >>> round(recall_score([[1, 1, 0, 1, 0]], [[1, 0, 0, 0, 0]]), 2)
    0.33
    """
    return _set_measure("recall", y_true, y_pred, hierarchy, average, empty, exclude_universal, pos_label)


@measure(larger_is_better=True)
def f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: SetAverage = "samples",
    empty: Literal["zero", "skip"] = "zero",
    exclude_universal: bool = False,
    pos_label: Any = None,
) -> Any:
    """Harmonic mean of precision and recall, row by row; F1 of the thesis with ``average="samples"``.

    Parameters
    ----------
    y_true, y_pred : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels)
        0/1 per label, or classes (n_samples,), taken one against the rest in turn without ``pos_label``. Cells where
        the truth is NaN are left out, and `Score.n_unknown` counts them.
    hierarchy : Hierarchy or None, default=None
        Closes both under ancestors first.
    average : {"samples", "micro", "macro", "weighted"} or None, default="samples"
        As for :func:`precision_score`.
    empty : {"zero", "skip"}, default="zero"
        For ``average="samples"``, a row where both sets are empty: 1, or left out.
    exclude_universal : bool, default=False
        Leave out labels that every row has.
    pos_label : object, default=None
        For classes, the one that counts as positive.

    Returns
    -------
    Score or ndarray of shape (n_labels,)

    Examples
    --------
    >>> from ramify.metrics import f1_score
    >>> f1_score([[1, 1, 0, 1, 0]], [[1, 1, 1, 1, 1]])
    0.75
    """
    return _set_measure("f1", y_true, y_pred, hierarchy, average, empty, exclude_universal, pos_label)


@measure(larger_is_better=True)
def jaccard_score(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: SetAverage = "samples",
    empty: Literal["zero", "skip"] = "zero",
    exclude_universal: bool = False,
    pos_label: Any = None,
) -> Any:
    """Shared labels over all labels of the two sets; accuracy (AC) of the thesis with ``average="samples"``.

    Parameters
    ----------
    y_true, y_pred : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels)
        0/1 per label, or classes (n_samples,), taken one against the rest in turn without ``pos_label``. Cells where
        the truth is NaN are left out, and `Score.n_unknown` counts them.
    hierarchy : Hierarchy or None, default=None
        Closes both under ancestors first.
    average : {"samples", "micro", "macro", "weighted"} or None, default="samples"
        As for :func:`precision_score`.
    empty : {"zero", "skip"}, default="zero"
        For ``average="samples"``, a row where both sets are empty: 1, or left out.
    exclude_universal : bool, default=False
        Leave out labels that every row has.
    pos_label : object, default=None
        For classes, the one that counts as positive.

    Returns
    -------
    Score or ndarray of shape (n_labels,)

    Examples
    --------
    >>> from ramify.metrics import jaccard_score
    >>> round(jaccard_score([[1, 1, 0, 1, 0]], [[1, 0, 0, 1, 0]]), 2)
    0.67
    """
    return _set_measure("jaccard", y_true, y_pred, hierarchy, average, empty, exclude_universal, pos_label)


def _set_measure(
    measure: str,
    y_true: Any,
    y_pred: Any,
    hierarchy: Hierarchy | None,
    average: SetAverage,
    empty: str,
    exclude_universal: bool,
    pos_label: Any,
) -> Any:
    check_average(average, _SET_AVERAGES)
    if empty not in ("zero", "skip"):
        raise ValueError(f"The 'empty' parameter must be 'zero' or 'skip'. Got {empty!r} instead.")
    classes, predicted_classes = class_columns(y_true, y_pred, pos_label)
    if average == "samples" and classes is not y_true and classes.shape[1] > 1:
        raise ValueError(
            "A mean over rows is for label sets. For classes pass average='macro', 'micro' or 'weighted', or None, or "
            "name the positive class with pos_label."
        )
    pair = label_pair(
        classes, predicted_classes, scores=False, hierarchy=hierarchy, exclude_universal=exclude_universal
    )
    if average == "samples" and pair.truth.shape[1] + pair.n_left_out == 1:
        average = "micro"
    if average == "samples":
        both, true, predicted = _row_counts(pair)
        values = _of_counts(measure, both, true, predicted)
        if empty == "zero":
            values = np.where(np.isnan(values), (true == 0) & (predicted == 0), values)
        return averaged(values, both, "macro", 0, pair.n_unknown)
    both, true, predicted = (label_counts(m) for m in (pair.shared(), pair.truth, pair.other))
    if average == "micro":
        pooled = _of_counts(measure, both.sum(), true.sum(), predicted.sum())
        return Score(float(pooled), n_left_out=pair.n_left_out, n_unknown=pair.n_unknown)
    return averaged(_of_counts(measure, both, true, predicted), true, average, pair.n_left_out, pair.n_unknown)


def _of_counts(measure: str, both: Any, true: Any, predicted: Any) -> NDArray[np.float64]:
    if measure == "precision":
        return ratio(both, predicted)
    if measure == "recall":
        return ratio(both, true)
    if measure == "f1":
        return ratio(2 * both, true + predicted)
    return ratio(both, true + predicted - both)


def _row_counts(pair: LabelPair) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    return row_counts(pair.shared()), row_counts(pair.truth), row_counts(pair.other)
