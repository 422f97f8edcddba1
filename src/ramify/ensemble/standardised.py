"""Rows as standardised numbers, for models that compare or add up features: neighbours, kernels, networks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ramify.features import Features

FARTHEST = 4.0
"""Standard deviations from the mean beyond which a value counts as no farther."""


def standardised(features: Features, centre: np.ndarray, spread: np.ndarray, start: np.ndarray) -> Features:
    """Numbers in standard deviations from the mean, at most 4, less `start`; missing ones are at the mean.

    Parameters
    ----------
    features : Features
        Rows; codes of nominal features stay as they are.
    centre, spread : arrays of shape (n_features,)
        What `centre_and_spread` gives.
    start : array of shape (n_features,)
        What is subtracted. Sparse rows need the place of zero, so that zeros stay zeros.
    """
    is_nominal = features.n_categories > 0

    def moved(values: np.ndarray, column: Any) -> np.ndarray:
        with np.errstate(over="ignore"):
            placed = np.clip((values - centre[column]) / spread[column], -FARTHEST, FARTHEST)
        placed = np.where(np.isnan(placed), 0.0, placed) - start[column]
        return np.where(is_nominal[column], values, placed)

    if not features.is_sparse:
        values = moved(np.asarray(features.values, dtype=np.float64), np.arange(len(start)))
        return Features(values, features.n_categories)
    values = sparse.csc_array(features.values, dtype=np.float64, copy=True)
    values.data = moved(values.data, np.repeat(np.arange(len(start)), np.diff(values.indptr)))
    return Features(values, features.n_categories)


def centre_and_spread(features: Features) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each number; for a nominal feature 0 and the root of its Gini impurity."""
    n_rows, n_features = features.values.shape
    centre, spread = np.zeros(n_features), np.ones(n_features)
    by_column = sparse.csc_array(features.values) if features.is_sparse else None
    for j in range(n_features):
        if by_column is None:
            values = np.asarray(features.values[:, j], dtype=np.float64)
        else:
            values = np.zeros(n_rows)
            part = slice(by_column.indptr[j], by_column.indptr[j + 1])
            values[by_column.indices[part]] = by_column.data[part]
        values = values[~np.isnan(values)]
        if not len(values):
            continue
        if features.n_categories[j] > 0:
            shares = np.bincount(values.astype(np.intp)) / len(values)
            spread[j] = np.sqrt(1.0 - np.sum(shares**2))
        else:
            size = np.abs(values).max() or 1.0  # squares of what is left neither overflow nor vanish
            centre[j], relative = size * np.mean(values / size), np.std(values / size)
            spread[j] = max(size * relative, np.nextafter(0.0, 1.0)) if relative > 0 else 0.0
        if not spread[j] > 0:
            spread[j] = 1.0
    return centre, spread
