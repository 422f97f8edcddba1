"""The four counts of a label and the rates made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ramify.metrics.inputs import Average, averaged, check_average, label_counts, label_pair, ratio
from ramify.metrics.measures import measure
from ramify.metrics.score import Score

if TYPE_CHECKING:
    from ramify.hierarchy import Hierarchy


def confusion(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: str | None = None,
    exclude_universal: bool = False,
    pos_label: Any = None,
) -> NDArray[np.int64]:
    """Confusion matrices ``[[tn, fp], [fn, tp]]``, one per label or one for all pairs.

    Parameters
    ----------
    y_true, y_pred : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels)
        0/1 per label, or classes (n_samples,) with ``pos_label``.
    hierarchy : Hierarchy or None, default=None
        Closes both under ancestors first.
    average : {"micro"} or None, default=None
        One matrix per label, or one over all (row, label) pairs.
    exclude_universal : bool, default=False
        Leave out labels that every row has.
    pos_label : object, default=None
        For classes, the one that counts as positive.

    Returns
    -------
    ndarray of shape (n_labels, 2, 2) or (2, 2)

    Examples
    --------
    >>> from ramify.metrics import confusion
    >>> confusion([1, 0, 1, 1], [1, 1, 0, 1], average="micro").tolist()
    [[0, 1], [1, 2]]
    """
    check_average(average, ("micro", None))
    counts, _, _ = _counts(y_true, y_pred, hierarchy, exclude_universal, pos_label)
    return counts.sum(axis=0) if average == "micro" else counts


@measure(larger_is_better=True)
def true_positive_rate(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: Average = "micro",
    exclude_universal: bool = False,
    pos_label: Any = None,
) -> Any:
    """Sensitivity (TPR): the share of positives that are predicted positive.

    Parameters
    ----------
    y_true, y_pred : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels)
        0/1 per label, or classes (n_samples,) with ``pos_label``.
    hierarchy : Hierarchy or None, default=None
        Closes both under ancestors first.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        Pooled over all pairs, mean over labels, mean weighted by their frequency, or one value per label.
    exclude_universal : bool, default=False
        Leave out labels that every row has.
    pos_label : object, default=None
        For classes, the one that counts as positive.

    Returns
    -------
    Score or ndarray of shape (n_labels,)
        Labels on which the rate is not defined are left out of means and counted in ``n_left_out``.

    Examples
    --------
    >>> from ramify.metrics import true_positive_rate
    >>> true_positive_rate(["a", "b", "a"], ["a", "a", "b"], pos_label="a")
    0.5
    """
    return _rate("tpr", y_true, y_pred, hierarchy, average, exclude_universal, pos_label)


@measure(larger_is_better=True)
def true_negative_rate(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: Average = "micro",
    exclude_universal: bool = False,
    pos_label: Any = None,
) -> Any:
    """Specificity (TNR): the share of negatives that are predicted negative.

    Parameters and return value are those of :func:`true_positive_rate`.

    Examples
    --------
    >>> from ramify.metrics import true_negative_rate
    >>> true_negative_rate([1, 0, 0, 0], [1, 1, 0, 0])
    0.6666666666666666
    """
    return _rate("tnr", y_true, y_pred, hierarchy, average, exclude_universal, pos_label)


@measure(larger_is_better=False)
def false_positive_rate(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: Average = "micro",
    exclude_universal: bool = False,
    pos_label: Any = None,
) -> Any:
    """FPR: the share of negatives that are predicted positive.

    Parameters and return value are those of :func:`true_positive_rate`.

    Examples
    --------
    >>> from ramify.metrics import false_positive_rate
    >>> false_positive_rate([1, 0, 0, 0], [1, 1, 0, 0])
    0.3333333333333333
    """
    return _rate("fpr", y_true, y_pred, hierarchy, average, exclude_universal, pos_label)


@measure(larger_is_better=False)
def false_negative_rate(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: Average = "micro",
    exclude_universal: bool = False,
    pos_label: Any = None,
) -> Any:
    """FNR: the share of positives that are predicted negative.

    Parameters and return value are those of :func:`true_positive_rate`.

    Examples
    --------
    >>> from ramify.metrics import false_negative_rate
    >>> false_negative_rate([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """
    return _rate("fnr", y_true, y_pred, hierarchy, average, exclude_universal, pos_label)


@measure(larger_is_better=True)
def geometric_mean(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    average: Average = "micro",
    exclude_universal: bool = False,
    pos_label: Any = None,
) -> Any:
    """GM: square root of sensitivity times specificity.

    Parameters
    ----------
    y_true, y_pred : array-like or sparse matrix of shape (n_samples,) or (n_samples, n_labels)
        0/1 per label, or classes (n_samples,). Classes without ``pos_label`` are taken one against the rest in turn.
    hierarchy : Hierarchy or None, default=None
        Closes both under ancestors first.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        As for :func:`true_positive_rate`. ``"weighted"`` gives the class-weighted average for three or more classes.
    exclude_universal : bool, default=False
        Leave out labels that every row has.
    pos_label : object, default=None
        For classes, the one that counts as positive.

    Returns
    -------
    Score or ndarray of shape (n_labels,)
        Labels that no row or every row has are left out of means and counted in ``n_left_out``.

    Examples
    --------
    >>> from ramify.metrics import geometric_mean
    >>> geometric_mean([1, 1, 0, 0], [1, 0, 0, 0])
    0.7071067811865476
    """
    return _rate("gm", y_true, y_pred, hierarchy, average, exclude_universal, pos_label)


def _counts(
    y_true: Any, y_pred: Any, hierarchy: Hierarchy | None, exclude_universal: bool, pos_label: Any
) -> tuple[NDArray[np.int64], int, int]:
    if pos_label is not None:
        y_true, y_pred = np.asarray(y_true) == pos_label, np.asarray(y_pred) == pos_label
    elif np.ndim(y_true) == 1 and not _is_zero_one(y_true):
        classes = np.unique(np.concatenate([np.asarray(y_true), np.asarray(y_pred)]))
        y_true, y_pred = (np.asarray(y)[:, np.newaxis] == classes for y in (y_true, y_pred))
    pair = label_pair(y_true, y_pred, scores=False, hierarchy=hierarchy, exclude_universal=exclude_universal)
    tp, true, predicted = (label_counts(matrix) for matrix in (pair.shared(), pair.truth, pair.other))
    fp, fn = predicted - tp, true - tp
    tn = pair.known_counts() - tp - fp - fn
    counts = np.stack([np.stack([tn, fp], axis=1), np.stack([fn, tp], axis=1)], axis=1)
    return counts, pair.n_left_out, pair.n_unknown


def _is_zero_one(y: Any) -> bool:
    values = np.asarray(y)
    return values.dtype.kind in "biuf" and bool(np.isin(values, (0, 1)).all())


def _rate(
    rate: str,
    y_true: Any,
    y_pred: Any,
    hierarchy: Hierarchy | None,
    average: Average,
    exclude_universal: bool,
    pos_label: Any,
) -> Any:
    check_average(average)
    counts, n_left_out, n_unknown = _counts(y_true, y_pred, hierarchy, exclude_universal, pos_label)
    if average == "micro":
        pooled = float(_of_confusion(rate, counts.sum(axis=0)))
        return Score(pooled, n_left_out=n_left_out, n_unknown=n_unknown)
    return averaged(_of_confusion(rate, counts), counts[:, 1, :].sum(axis=1), average, n_left_out, n_unknown)


def _of_confusion(rate: str, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    tn, fp, fn, tp = counts[..., 0, 0], counts[..., 0, 1], counts[..., 1, 0], counts[..., 1, 1]
    if rate == "tpr":
        return ratio(tp, tp + fn)
    if rate == "fnr":
        return ratio(fn, tp + fn)
    if rate == "tnr":
        return ratio(tn, tn + fp)
    if rate == "fpr":
        return ratio(fp, tn + fp)
    return np.sqrt(ratio(tp, tp + fn) * ratio(tn, tn + fp))
