"""Measures of predicted numbers, per target and averaged over targets."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ramify.features.frames import as_array
from ramify.metrics.inputs import averaged, check_average, matched_by_name, ratio
from ramify.metrics.measures import measure

NumberAverage = Literal["macro"] | None


@measure(larger_is_better=False, takes="numbers")
def root_mean_squared_error(y_true: Any, y_pred: Any, *, average: NumberAverage = "macro") -> Any:
    """Root of the mean squared error.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_targets)
        Numbers; of several targets, NaN in ``y_true`` is unknown and left out.
    average : {"macro"} or None, default="macro"
        Mean over targets, or one value per target.

    Returns
    -------
    Score or ndarray of shape (n_targets,)

    Examples
    --------
    >>> from ramify.metrics import root_mean_squared_error
    >>> root_mean_squared_error([1.0, 2.0], [1.0, 4.0])
    1.4142135623730951
    """
    true, predicted = _number_pair(y_true, y_pred)
    return _over_targets(np.sqrt(_mean((true - predicted) ** 2)), average, true)


@measure(larger_is_better=False, takes="numbers")
def rrmse(y_true: Any, y_pred: Any, *, average: NumberAverage = "macro", mean: Any = None) -> Any:
    """Root mean squared error relative to that of predicting the mean.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_targets)
        Numbers; of several targets, NaN in ``y_true`` is unknown and left out.
    average : {"macro"} or None, default="macro"
        Mean over targets (aRRMSE), or one value per target.
    mean : array-like of shape (n_targets,) or None, default=None
        What the baseline predicts, usually the training means; None takes the means of ``y_true``.

    Returns
    -------
    Score or ndarray of shape (n_targets,)
        A target on which the baseline has no error is NaN, left out of the mean and counted in ``n_left_out``.

    Examples
    --------
    >>> from ramify.metrics import rrmse
    >>> rrmse([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    1.0
    """
    true, predicted = _number_pair(y_true, y_pred)
    return _over_targets(np.sqrt(_relative_error(true, predicted, mean)), average, true)


@measure(larger_is_better=True, takes="numbers")
def r2_score(y_true: Any, y_pred: Any, *, average: NumberAverage = "macro", mean: Any = None) -> Any:
    """Coefficient of determination: one minus the squared error relative to that of predicting the mean.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_targets)
        Numbers; of several targets, NaN in ``y_true`` is unknown and left out.
    average : {"macro"} or None, default="macro"
        Mean over targets, or one value per target.
    mean : array-like of shape (n_targets,) or None, default=None
        What the baseline predicts; None takes the means of ``y_true``.

    Returns
    -------
    Score or ndarray of shape (n_targets,)
        A target on which the baseline has no error is NaN, left out of the mean and counted in ``n_left_out``.

    Examples
    --------
    >>> from ramify.metrics import r2_score
    >>> r2_score([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    1.0
    """
    true, predicted = _number_pair(y_true, y_pred)
    return _over_targets(1.0 - _relative_error(true, predicted, mean), average, true)


def _relative_error(true: NDArray[np.float64], predicted: NDArray[np.float64], mean: Any) -> NDArray[np.float64]:
    centre = _mean(true) if mean is None else np.atleast_1d(np.asarray(mean, dtype=np.float64))
    if centre.shape != (true.shape[1],):
        raise ValueError(f"'mean' must hold one number per target ({true.shape[1]}). Got shape {centre.shape} instead.")
    of_mean = np.nansum((true - centre) ** 2, axis=0)
    scale = np.max(np.abs(np.nan_to_num(true)), axis=0)
    constant = of_mean <= true.shape[0] * (np.finfo(np.float64).eps * scale) ** 2
    error = np.nansum((true - predicted) ** 2, axis=0)
    return np.divide(error, of_mean, out=np.full(error.shape, np.nan), where=~constant)


def _mean(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of each column over its known numbers; NaN where there are none."""
    known = ~np.isnan(columns)
    return columns.mean(axis=0) if known.all() else ratio(np.nansum(columns, axis=0), known.sum(axis=0))


def _over_targets(values: NDArray[np.float64], average: NumberAverage, true: NDArray[np.float64]) -> Any:
    check_average(average, ("macro", None))
    return averaged(values, np.ones(values.size), average, 0, int(np.isnan(true).sum()))


def _number_pair(y_true: Any, y_pred: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    y_true, y_pred = matched_by_name(y_true, y_pred, "y_pred")
    pair = []
    for name, y in (("y_true", y_true), ("y_pred", y_pred)):
        values = np.asarray(as_array(y), dtype=np.float64)
        values = values[:, np.newaxis] if values.ndim == 1 else values
        if values.ndim != 2 or values.shape[0] == 0:
            raise ValueError(f"{name} must have at least one row and 1 or 2 dimensions. Got {values.shape} instead.")
        wrong = ~np.isfinite(values)
        if name == "y_true" and values.shape[1] > 1:
            wrong &= ~np.isnan(values)
        if wrong.any():
            column = np.flatnonzero(wrong.any(axis=0))[0]
            raise ValueError(f"{name} must be finite. Got NaN or infinity in column {column} instead.")
        pair.append(values)
    if pair[0].shape != pair[1].shape:
        raise ValueError(f"y_true and y_pred must have the same shape. Got {pair[0].shape} and {pair[1].shape}.")
    return pair[0], pair[1]
