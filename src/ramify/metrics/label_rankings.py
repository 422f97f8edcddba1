"""Measures for predicted rankings of labels, with ties and unranked labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ramify.metrics.inputs import matched_by_name
from ramify.metrics.measures import measure
from ramify.targets.rankings import check_rankings, label_pairs

__all__ = ["kendall_tau", "spearman_footrule", "spearman_rho", "top_k_overlap"]

Average = Literal["samples"] | None
BLOCK_CELLS = 4_000_000
"""Sign vectors are compared in blocks of rows of about so many cells."""


@measure(larger_is_better=True, takes="rankings")
def kendall_tau(
    y_true: Any, y_pred: Any, *, variant: Literal["a", "b"] = "b", average: Average = "samples"
) -> float | NDArray[np.float64]:
    """Kendall's rank correlation between true and predicted rankings.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples, n_labels)
        Ranks: 1 is best, equal is a tie, NaN is unranked. Labels that either ranking leaves out are not compared.
    variant : {"a", "b"}
        ``"b"`` divides by the geometric mean of the pairs that each ranking orders (tau-b), ``"a"`` by the number of
        pairs. Without ties they are equal.
    average : {"samples", None}
        The mean over rows, or one value per row.

    Returns
    -------
    float or ndarray of shape (n_samples,)
        In [-1, 1]. A prediction that ties all labels scores 0. A row whose true ranking orders no pair is NaN and is
        left out of the mean.

    References
    ----------
    .. [1] C. R. de Sa, C. Soares, A. Knobbe, P. Cortez, "Label Ranking Forests", Expert Systems, 2016, section 4.2.1.

    Examples
    --------
    >>> from ramify.metrics import kendall_tau
    >>> round(kendall_tau([[1, 2, 3], [1, 2, 3]], [[1, 3, 2], [1, 2, 3]]), 2)
    0.67
    """
    if variant not in {"a", "b"}:
        raise ValueError(f"The 'variant' parameter of kendall_tau must be 'a' or 'b'. Got {variant!r} instead.")
    return _measure(_tau_rows, y_true, y_pred, average, "kendall_tau", variant=variant)


@measure(larger_is_better=True, takes="rankings")
def spearman_rho(y_true: Any, y_pred: Any, *, average: Average = "samples") -> float | NDArray[np.float64]:
    """Spearman's rank correlation between true and predicted rankings.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples, n_labels)
        Ranks: 1 is best, equal is a tie, NaN is unranked. Both are ranked anew among the labels that both rank.
    average : {"samples", None}
        The mean over rows, or one value per row.

    Returns
    -------
    float or ndarray of shape (n_samples,)
        In [-1, 1]; all predicted labels tied gives 0, no order in the true ranking NaN, left out of the mean.

    Examples
    --------
    >>> from ramify.metrics import spearman_rho
    >>> spearman_rho([[1, 2, 3]], [[1, 3, 2]])
    0.5
    """
    return _measure(_rho_rows, y_true, y_pred, average, "spearman_rho")


@measure(larger_is_better=False, takes="rankings")
def spearman_footrule(
    y_true: Any, y_pred: Any, *, normalize: bool = True, average: Average = "samples"
) -> float | NDArray[np.float64]:
    """Spearman's footrule: the sum of the labels' absolute differences in rank (smaller is better).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples, n_labels)
        Ranks: 1 is best, equal is a tie, NaN is unranked. Both are ranked anew among the labels that both rank.
    normalize : bool
        Divide by the largest possible value, ``floor(m**2 / 2)`` for m labels.
    average : {"samples", None}
        The mean over rows, or one value per row.

    Returns
    -------
    float or ndarray of shape (n_samples,)
        Rows with fewer than two labels in common are NaN and left out of the mean.

    Examples
    --------
    >>> from ramify.metrics import spearman_footrule
    >>> spearman_footrule([[1, 2, 3]], [[3, 2, 1]], normalize=False)
    4.0
    """
    return _measure(_footrule_rows, y_true, y_pred, average, "spearman_footrule", normalize=normalize)


@measure(larger_is_better=True, takes="rankings")
def top_k_overlap(y_true: Any, y_pred: Any, *, k: int = 1, average: Average = "samples") -> float | NDArray[np.float64]:
    """Share of the true top k labels that are predicted among the top k.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples, n_labels)
        Ranks: 1 is best, equal is a tie, NaN is unranked. Both are ranked anew among the labels that both rank.
    k : int
        How many labels count as the top. Labels that tie for the last places share them equally.
    average : {"samples", None}
        The mean over rows, or one value per row.

    Returns
    -------
    float or ndarray of shape (n_samples,)
        In [0, 1]. Rows with fewer than ``k`` labels in common are NaN and left out of the mean.

    Examples
    --------
    >>> from ramify.metrics import top_k_overlap
    >>> top_k_overlap([[1, 2, 3, 4]], [[2, 3, 1, 4]], k=2)
    0.5
    """
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ValueError(f"The 'k' parameter of top_k_overlap must be an int >= 1. Got {k!r} instead.")
    return _measure(_overlap_rows, y_true, y_pred, average, "top_k_overlap", k=int(k))


def _measure(
    rows: Callable[..., NDArray[np.float64]], y_true: Any, y_pred: Any, average: Average, name: str, **options: Any
) -> float | NDArray[np.float64]:
    if average not in {"samples", None}:
        raise ValueError(f"The 'average' parameter of {name} must be 'samples' or None. Got {average!r} instead.")
    y_true, y_pred = matched_by_name(y_true, y_pred, "y_pred")
    true = check_rankings(y_true, name="y_true")
    pred = check_rankings(y_pred, n_labels=true.shape[1], name="y_pred")
    if len(true) != len(pred):
        raise ValueError(f"y_true has {len(true)} rows and y_pred {len(pred)}. Pass one prediction per true ranking.")
    unranked = np.isnan(true) | np.isnan(pred)
    if unranked.any():
        true = rankdata(np.where(unranked, np.nan, true), axis=1, nan_policy="omit")
        pred = rankdata(np.where(unranked, np.nan, pred), axis=1, nan_policy="omit")
    values = np.concatenate([rows(true[block], pred[block], **options) for block in _blocks(true)])
    if average is None:
        return values
    return float(np.mean(values[~np.isnan(values)])) if not np.isnan(values).all() else float("nan")


def _blocks(ranks: NDArray[np.float64]) -> Iterator[slice]:
    n_rows, n_labels = ranks.shape
    step = max(1, BLOCK_CELLS // (n_labels * n_labels))
    return (slice(start, start + step) for start in range(0, n_rows, step))


def _tau_rows(true: NDArray[np.float64], pred: NDArray[np.float64], *, variant: str) -> NDArray[np.float64]:
    first, second = label_pairs(true.shape[1])
    true_signs = np.nan_to_num(np.sign(true[:, second] - true[:, first]))
    pred_signs = np.nan_to_num(np.sign(pred[:, second] - pred[:, first]))
    agreement = np.sum(true_signs * pred_signs, axis=1)
    true_ordered = np.sum(true_signs != 0, axis=1)
    pred_ordered = np.sum(pred_signs != 0, axis=1)
    n_ranked = np.sum(~np.isnan(true), axis=1)
    size = np.sqrt(true_ordered * pred_ordered) if variant == "b" else n_ranked * (n_ranked - 1) / 2
    tau = np.divide(agreement, size, out=np.zeros_like(agreement), where=size > 0)
    return np.where(true_ordered > 0, tau, np.nan)


def _rho_rows(true: NDArray[np.float64], pred: NDArray[np.float64]) -> NDArray[np.float64]:
    centre = (np.sum(~np.isnan(true), axis=1, keepdims=True) + 1) / 2
    true, pred = np.nan_to_num(true - centre), np.nan_to_num(pred - centre)
    covariance = np.sum(true * pred, axis=1)
    true_size, pred_size = np.sum(true**2, axis=1), np.sum(pred**2, axis=1)
    size = np.sqrt(true_size * pred_size)
    rho = np.divide(covariance, size, out=np.zeros_like(covariance), where=size > 0)
    return np.where(true_size > 0, rho, np.nan)


def _footrule_rows(true: NDArray[np.float64], pred: NDArray[np.float64], *, normalize: bool) -> NDArray[np.float64]:
    n_ranked = np.sum(~np.isnan(true), axis=1)
    distance = np.nansum(np.abs(true - pred), axis=1)
    if normalize:
        distance /= np.maximum(n_ranked**2 // 2, 1)
    return np.where(n_ranked > 1, distance, np.nan)


def _overlap_rows(true: NDArray[np.float64], pred: NDArray[np.float64], *, k: int) -> NDArray[np.float64]:
    overlap = np.sum(np.minimum(_top_share(true, k), _top_share(pred, k)), axis=1) / k
    return np.where(np.sum(~np.isnan(true), axis=1) >= k, overlap, np.nan)


def _top_share(ranks: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return how much of each label is in the top k: tied labels share the places they cover."""
    lowest = rankdata(ranks, method="min", axis=1, nan_policy="omit")
    highest = rankdata(ranks, method="max", axis=1, nan_policy="omit")
    return np.nan_to_num(np.clip((k - lowest + 1) / (highest - lowest + 1), 0, 1))
