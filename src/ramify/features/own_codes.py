"""Nominal columns of small whole numbers, looked at all at once: wide tables have thousands, mostly of 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ramify.features.frames import canonical


def zero_one_values(X: Any) -> dict[int, np.ndarray]:
    """By column of an array or sparse matrix that holds nothing but 0, 1 and NaN, those of 0 and 1 that occur in it.

    Examples
    --------
    >>> from ramify.features.own_codes import zero_one_values
    >>> zero_one_values(np.array([[1.0, 0.0, 2.0], [1.0, np.nan, 0.0], [1.0, 1.0, 1.0]]))
    {0: array([1.]), 1: array([0., 1.])}
    """
    matrix = _numbers(X)
    if matrix is None:
        return {}
    if sparse.issparse(matrix):
        n_rows, n_columns = matrix.shape
        of_column = np.repeat(np.arange(n_columns), np.diff(matrix.indptr))
        is_one = matrix.data == 1
        is_other = ~(is_one | np.isnan(matrix.data))
        has_zero = np.diff(matrix.indptr) < n_rows
        has_one = np.bincount(of_column[is_one], minlength=n_columns) > 0
        has_other = np.bincount(of_column[is_other], minlength=n_columns) > 0
    else:
        is_zero, is_one = matrix == 0, matrix == 1
        has_zero, has_one = is_zero.any(axis=0), is_one.any(axis=0)
        has_other = ~(is_zero | is_one | np.isnan(matrix)).all(axis=0)
    return {
        j: np.array([0.0] * bool(has_zero[j]) + [1.0] * bool(has_one[j])) for j in np.flatnonzero(~has_other).tolist()
    }


def own_codes(X: Any, categories: list[Any]) -> np.ndarray:
    """Whether each nominal column of an array or sparse matrix holds nothing but its own codes and NaN.

    A cell is its own code where it is a whole number k and value number k of the column is k.
    """
    n_values = np.array([_n_own(values) for values in categories], dtype=np.int64)
    matrix = _numbers(X) if n_values.any() else None
    if matrix is None:
        return np.zeros(len(categories), dtype=bool)
    if sparse.issparse(matrix):
        of_column = np.repeat(np.arange(len(categories)), np.diff(matrix.indptr))
        wrong = ~_are_codes(matrix.data, n_values[of_column])
        return (n_values > 0) & (np.bincount(of_column[wrong], minlength=len(categories)) == 0)
    return (n_values > 0) & _are_codes(matrix, n_values).all(axis=0)


def _numbers(X: Any) -> Any:
    """X as float64, sparse by columns or dense, where it is an array or sparse matrix of numbers; else None."""
    if not isinstance(X, np.ndarray) and not sparse.issparse(X):
        return None
    if X.ndim != 2 or X.dtype.kind not in "fiub" or X.dtype.itemsize > 8:
        return None
    if sparse.issparse(X):
        return canonical(sparse.csc_array(X)).astype(np.float64)
    return X.astype(np.float64, copy=False)


def _n_own(values: Any) -> int:
    """How many values there are if they are 0, 1, 2, ...; else 0."""
    if values is None or values.dtype.kind != "f":
        return 0
    return len(values) if values.tolist() == list(range(len(values))) else 0


def _are_codes(numbers: np.ndarray, n_values: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.isnan(numbers) | ((numbers >= 0) & (numbers < n_values) & (numbers == np.floor(numbers)))
