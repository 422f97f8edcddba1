"""Several numbers as one standardised matrix with a weight per target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array


@dataclass(frozen=True)
class NumberTarget:
    """A target of numbers in the form the kernels take.

    Attributes
    ----------
    Y : array of shape (n_samples, n_targets)
        Standardised numbers: mean 0 and variance 1 per target (constant targets are 0).
    mean, scale : arrays of shape (n_targets,)
        What takes a standardised value back: `value * scale + mean`.
    weights : array of shape (n_targets,)
        Weight of each target in the impurity.
    names : tuple of str
        Names of the targets.
    is_single : bool
        Whether y was one-dimensional, so that predictions go back one-dimensional.
    """

    Y: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    weights: np.ndarray
    names: tuple[str, ...]
    is_single: bool


def encode_numbers(
    y: Any, *, target_weight: Any = None, sample_weight: np.ndarray | None = None, n_samples: int | None = None
) -> NumberTarget:
    """Check y and standardise it, weighted by `sample_weight` where given.

    Examples
    --------
    >>> from ramify.targets import encode_numbers
    >>> encode_numbers([1.0, 3.0]).Y.ravel()
    array([-1.,  1.])
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    columns = getattr(y, "columns", None)
    # Row by row in memory: the order of summation, and so the last bit, must not depend on the layout of y.
    array = finite_numbers(y)
    is_single = array.ndim == 1
    if is_single:
        array = array.reshape(-1, 1)
    if n_samples is not None and array.shape[0] != n_samples:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[n_samples, array.shape[0]]}")
    weights = np.ones(array.shape[1]) if target_weight is None else np.asarray(target_weight, dtype=np.float64)
    if weights.shape != (array.shape[1],) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"target_weight must hold one finite number >= 0 per target ({array.shape[1]}).")
    mean = np.average(array, axis=0, weights=sample_weight)
    centred = array - mean
    largest = np.abs(centred).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    scale = unit * np.sqrt(np.average((centred / unit) ** 2, axis=0, weights=sample_weight))
    constant = scale <= 1e-12 * np.maximum(np.abs(mean), np.finfo(np.float64).tiny)
    safe = np.where(constant, 1.0, scale)
    Y = np.where(constant, 0.0, centred / safe)
    names = tuple(map(str, columns)) if columns is not None else tuple(f"y{j}" for j in range(array.shape[1]))
    return NumberTarget(Y, mean, safe, weights, names, is_single)


def finite_numbers(y: Any) -> np.ndarray:
    """A numeric target as an array of floats, or an error that names the first row that has none."""
    array = check_array(
        y, dtype=np.float64, order="C", ensure_2d=False, input_name="y", allow_nd=False, ensure_all_finite=False
    )
    for word, wrong in (("NaN", np.isnan(array)), ("infinity", np.isinf(array))):
        if wrong.any():
            row = int(np.argwhere(wrong)[0][0])
            raise ValueError(
                f"Input y contains {word} (first in row {row}). Rows without a target are refused: nothing is guessed; "
                "remove those rows or fill the numbers in."
            )
    return array
