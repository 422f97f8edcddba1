"""Measures of predicted numbers, per target and averaged over targets."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ramify.features.frames import as_array
from ramify.metrics.inputs import averaged, check_average, matched_by_name
from ramify.metrics.measures import measure

NumberAverage = Literal["macro"] | None


@measure(larger_is_better=False, takes="numbers")
def rmse(y_true: Any, y_pred: Any, *, average: NumberAverage = "macro") -> Any:
    """Root of the mean squared error.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_targets)
        Numbers.
    average : {"macro"} or None, default="macro"
        Mean over targets, or one value per target.

    Returns
    -------
    Score or ndarray of shape (n_targets,)

    Examples
    --------
    >>> from ramify.metrics import rmse
    >>> rmse([1.0, 2.0], [1.0, 4.0])
    1.4142135623730951
    """
    true, predicted = _number_pair(y_true, y_pred)
    return _over_targets(np.sqrt(np.mean((true - predicted) ** 2, axis=0)), average)


@measure(larger_is_better=False, takes="numbers")
def rrmse(y_true: Any, y_pred: Any, *, average: NumberAverage = "macro", mean: Any = None) -> Any:
    """Root mean squared error relative to that of predicting the mean.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_targets)
        Numbers.
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
    return _over_targets(np.sqrt(_relative_error(y_true, y_pred, mean)), average)


@measure(larger_is_better=True, takes="numbers")
def r2(y_true: Any, y_pred: Any, *, average: NumberAverage = "macro", mean: Any = None) -> Any:
    """Coefficient of determination: one minus the squared error relative to that of predicting the mean.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or (n_samples, n_targets)
        Numbers.
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
    >>> from ramify.metrics import r2
    >>> r2([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    1.0
    """
    return _over_targets(1.0 - _relative_error(y_true, y_pred, mean), average)


def _relative_error(y_true: Any, y_pred: Any, mean: Any) -> NDArray[np.float64]:
    true, predicted = _number_pair(y_true, y_pred)
    centre = true.mean(axis=0) if mean is None else np.atleast_1d(np.asarray(mean, dtype=np.float64))
    if centre.shape != (true.shape[1],):
        raise ValueError(f"'mean' must hold one number per target ({true.shape[1]}). Got shape {centre.shape} instead.")
    of_mean = np.sum((true - centre) ** 2, axis=0)
    scale = np.max(np.abs(true), axis=0)
    constant = of_mean <= true.shape[0] * (np.finfo(np.float64).eps * scale) ** 2
    error = np.sum((true - predicted) ** 2, axis=0)
    return np.divide(error, of_mean, out=np.full(error.shape, np.nan), where=~constant)


def _over_targets(values: NDArray[np.float64], average: NumberAverage) -> Any:
    check_average(average, ("macro", None))
    return averaged(values, np.ones(values.size), average, 0)


def _number_pair(y_true: Any, y_pred: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    y_true, y_pred = matched_by_name(y_true, y_pred, "y_pred")
    pair = []
    for name, y in (("y_true", y_true), ("y_pred", y_pred)):
        values = np.asarray(as_array(y), dtype=np.float64)
        values = values[:, np.newaxis] if values.ndim == 1 else values
        if values.ndim != 2 or values.shape[0] == 0:
            raise ValueError(f"{name} must have at least one row and 1 or 2 dimensions. Got {values.shape} instead.")
        if not np.isfinite(values).all():
            column = np.flatnonzero(~np.isfinite(values).all(axis=0))[0]
            raise ValueError(f"{name} must be finite. Got NaN or infinity in column {column} instead.")
        pair.append(values)
    if pair[0].shape != pair[1].shape:
        raise ValueError(f"y_true and y_pred must have the same shape. Got {pair[0].shape} and {pair[1].shape}.")
    return pair[0], pair[1]
