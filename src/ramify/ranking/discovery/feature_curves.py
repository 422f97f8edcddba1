"""What a test of association compares of a feature: orthonormal curves of its ranks, or its categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

N_CURVES = 4
_MOST_TIED = 0.01
_FEW_VALUES = 8
_MOST_CATEGORIES = 64
"""Rarer categories count as one."""


@dataclass(frozen=True)
class Curves:
    """Orthonormal columns of mean 0 that span what is compared of a feature.

    Attributes
    ----------
    columns : float32 array of shape (n_samples, n_columns)
        The columns; for numbers the first rises with the feature.
    rises : bool
        Whether the first column rises with the feature.
    n_missing : int
        Rows without a value, if the last column says which these are; else 0.
    n_free : int
        Dimensions that the columns span.
    """

    columns: np.ndarray
    rises: bool
    n_missing: int
    n_free: int


def curves_of_ranks(n_rows: int) -> Curves:
    """Curves of the ranks 0, 1, ..., for features whose values differ."""
    columns = _orthonormal(_legendre(np.arange(n_rows) + 1.0, n_rows))
    return Curves(columns.astype(np.float32), rises=True, n_missing=0, n_free=columns.shape[1])


def feature_curves(column: np.ndarray, n_categories: int) -> Curves:
    """Curves of a feature with ties or missing values, or the indicators of its categories.

    Parameters
    ----------
    column : float array of shape (n_samples,)
        Numbers, or codes of categories; NaN is missing.
    n_categories : int
        Number of categories, 0 for a numeric feature.
    """
    missing = np.isnan(column)
    if n_categories:
        return _category_curves(np.where(missing, n_categories, column).astype(np.int64))
    known = column[~missing]
    within = _orthonormal(_shapes(known)) if len(known) else np.empty((0, 0))
    columns = np.zeros((len(column), within.shape[1] + missing.any()))
    columns[~missing, : within.shape[1]] = within
    if missing.any() and len(known):
        columns[:, -1] = (missing - missing.mean()) / np.sqrt(missing.mean() * len(known))
    n_missing = int(missing.sum()) if len(known) else 0
    n_free = within.shape[1] + (n_missing > 0)
    return Curves(columns.astype(np.float32), rises=within.shape[1] > 0, n_missing=n_missing, n_free=n_free)


def ranks_without_ties(column: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Ranks from 0 on; equal values are ordered at random."""
    ranks = np.empty(len(column), dtype=np.int64)
    ranks[np.lexsort((random.random(len(column)), column))] = np.arange(len(column))
    return ranks


def is_smooth(column: np.ndarray) -> bool:
    """Whether the known values of a number are so many that their ranks hardly tie."""
    known = column[~np.isnan(column)]
    counts = np.unique(known, return_counts=True)[1].astype(np.float64)
    n = float(len(known))
    return len(counts) > _FEW_VALUES and float((counts**3 - counts).sum()) <= _MOST_TIED * (n**3 - n)


def _shapes(known: np.ndarray) -> np.ndarray:
    values, codes = np.unique(known, return_inverse=True)
    ranks = rankdata(known)
    if len(values) > _FEW_VALUES:
        return _legendre(ranks, len(known))
    return np.column_stack([ranks, *(codes == code for code in range(1, len(values)))]).astype(np.float64)


def _legendre(ranks: np.ndarray, n_rows: int) -> np.ndarray:
    u = (2 * ranks - 1) / n_rows - 1
    return np.column_stack([u, (3 * u**2 - 1) / 2, (5 * u**3 - 3 * u) / 2, (35 * u**4 - 30 * u**2 + 3) / 8])


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """Centred columns made orthonormal in their order, without those that the ones before span."""
    centred = columns - columns.mean(axis=0)
    basis, triangle = np.linalg.qr(centred)
    size = np.abs(np.diag(triangle))
    found: np.ndarray = basis[:, size > 1e-9 * max(float(np.abs(triangle).max(initial=0.0)), 1e-12)]
    return found


def _category_curves(codes: np.ndarray) -> Curves:
    """Indicators, each divided by the root of its number of rows: together a projection on what categories span."""
    _, codes, counts = np.unique(codes, return_inverse=True, return_counts=True)
    if len(counts) > _MOST_CATEGORIES:
        place = np.minimum(np.argsort(np.argsort(-counts, kind="stable")), _MOST_CATEGORIES - 1)
        codes = place[codes]
        counts = np.bincount(codes)
    if len(counts) == 1:
        return Curves(np.zeros((len(codes), 0), dtype=np.float32), rises=False, n_missing=0, n_free=0)
    columns = (codes[:, None] == np.arange(len(counts))) - counts / len(codes)
    columns /= np.sqrt(counts)
    return Curves(columns.astype(np.float32), rises=False, n_missing=0, n_free=len(counts) - 1)
