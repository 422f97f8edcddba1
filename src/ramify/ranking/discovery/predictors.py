"""Features as predictors of one another: standardised columns, and curves of each feature."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ramify.ensemble.growing import feature_table
from ramify.features import Features
from ramify.ranking.discovery.rows import RowGroups

N_FOLDS = 5
FEW_VALUES = 10
"""Numeric features with at most so many values are redrawn as classes."""

BLOCK = 30
"""Rows that are alike and may exchange what is left of a column."""

FOREST_BINS = 32

_CLIP = 4.0
"""Products are of columns that are clipped at so many standard deviations."""


class Predictors:
    """A table of features, dense, in the two forms that redraw models regress on.

    Parameters
    ----------
    values : array of shape (n_samples, n_features), float64
        Numbers, codes of nominal features; NaN is missing.
    n_categories : array of shape (n_features,)
        Number of values of a nominal feature, 0 for a numeric one.
    seed : int
        Of the folds.
    row_groups : RowGroups or None
        Rows that stand in one fold and in one bag; None takes each to stand alone.
    """

    def __init__(
        self, values: np.ndarray, n_categories: np.ndarray, seed: int, row_groups: RowGroups | None = None
    ) -> None:
        self.values = values
        self.row_groups = RowGroups.alone(len(values)) if row_groups is None else row_groups
        self.n_categories = n_categories
        self.n_rows, self.n_features = values.shape
        n_groups = self.row_groups.n_groups
        fold = np.empty(n_groups, dtype=np.int64)
        fold[np.random.default_rng([seed, 0]).permutation(n_groups)] = np.arange(n_groups) * N_FOLDS // n_groups
        self.fold = fold[self.row_groups.of_row]

    def prepare(self) -> None:
        """Compute what many threads or processes are going to read."""
        _ = self.clipped, self.curve_basis, self.table

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "table"}

    @cached_property
    def table(self) -> Any:
        """The features, coded for forests; a process codes its own."""
        features = Features(self.values, self.n_categories.astype(np.int32))
        return feature_table(features, max_bins=FOREST_BINS, n_jobs=1)

    @cached_property
    def linear(self) -> np.ndarray:
        """Standardised columns: numbers, indicators of missing values, indicators of nominal ones."""
        return self._linear_parts[0]

    @cached_property
    def feature_of(self) -> np.ndarray:
        """The feature that each column of `linear` is of."""
        return self._linear_parts[1]

    @cached_property
    def _linear_parts(self) -> tuple[np.ndarray, np.ndarray]:
        columns, owners = [], []
        for feature in range(self.n_features):
            for column in _plain_columns(self.values[:, feature], int(self.n_categories[feature])):
                centred = column - column.mean()
                spread = np.sqrt(np.mean(centred**2))
                if spread > 1e-12 * max(1.0, np.abs(column).max()):
                    columns.append(centred / spread)
                    owners.append(feature)
        if not columns:
            return np.empty((self.n_rows, 0)), np.empty(0, dtype=np.int64)
        return np.column_stack(columns), np.array(owners)

    @cached_property
    def clipped(self) -> np.ndarray:
        """`linear` without its extremes, in single precision."""
        return np.clip(self.linear, -_CLIP, _CLIP).astype(np.float32)

    @cached_property
    def curve_basis(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Curves of all features side by side, in single precision, where each feature's start, and how many it has.

        Cubic splines with 6 quantile knots (indicators of few values); columns of a feature are orthogonal, with mean
        square 1.
        """
        curves = [
            orthogonal(_curve_columns(self.values[:, feature], int(self.n_categories[feature]))).astype(np.float32)
            for feature in range(self.n_features)
        ]
        sizes = np.array([own.shape[1] for own in curves])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return np.concatenate(curves, axis=1), starts, sizes

    def curves(self, feature: int) -> np.ndarray:
        """The curves of one feature."""
        basis, starts, sizes = self.curve_basis
        return basis[:, starts[feature] : starts[feature] + sizes[feature]].astype(np.float64)

    def correlations(self, target: np.ndarray, without: set[int]) -> np.ndarray:
        """Absolute correlation of each column of `linear` with a target; 0 for columns of features to leave out."""
        centred = target - target.mean()
        size = float(np.sqrt(centred @ centred))
        if size == 0:
            return np.zeros(len(self.feature_of))
        found = np.abs(self.linear.T @ centred) / (size * np.sqrt(self.n_rows))
        found[np.isin(self.feature_of, list(without))] = 0.0
        return found

    def best_columns(self, strength: np.ndarray, n_most: int) -> np.ndarray:
        """The columns of `linear` with the largest positive strength."""
        order = np.argsort(-strength, kind="stable")[:n_most]
        return order[strength[order] > 0]


def honest_ridge(
    design: np.ndarray, target: np.ndarray, fold: np.ndarray, known: np.ndarray | None = None, penalty: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Predictions by ridge regression from the other folds, and the mean of the folds' coefficients.

    Columns are taken as standardised; the intercept is the mean of the rows that a model is fitted on.
    """
    n_columns = design.shape[1]
    fitted, coefficients = np.zeros(len(target)), np.zeros(n_columns)
    use = np.ones(len(target), dtype=bool) if known is None else known
    parts = []
    for number in range(N_FOLDS):
        rows = use & (fold == number)
        own = design[rows]
        parts.append((own.T @ own, own.sum(axis=0), own.T @ target[rows], target[rows].sum(), len(own)))
    gram, sums, product, total, n_used = (sum(part[k] for part in parts) for k in range(5))
    for number, (own_gram, own_sums, own_product, own_total, n_own) in enumerate(parts):
        n_rest = max(1, n_used - n_own)
        mean, level = (sums - own_sums) / n_rest, (total - own_total) / n_rest
        inner = gram - own_gram - n_rest * np.outer(mean, mean)
        inner[np.diag_indices(n_columns)] += penalty
        slope = np.linalg.solve(inner, product - own_product - n_rest * mean * level)
        here = fold == number
        fitted[here] = level + (design[here] - mean) @ slope
        coefficients += slope / N_FOLDS
    return fitted, coefficients


def ridge_on_most_correlated(
    predictors: Predictors, target: np.ndarray, known: np.ndarray, without: set[int], n_most: int, penalty: float = 1.0
) -> tuple[np.ndarray, int]:
    """Predictions by ridge regression on the columns that each fold's own training rows find the most correlated.

    Returns the predictions, and the feature with the largest mean coefficient (-1 if there is none).
    """
    linear, fold = predictors.linear, predictors.fold
    centred = np.where(known, target - target[known].mean(), 0.0)
    in_fold = (fold[:, None] == np.arange(N_FOLDS)) & known[:, None]
    parts = linear.T @ (centred[:, None] * in_fold)
    sums = linear.T @ in_fold.astype(np.float64)
    left_out = np.isin(predictors.feature_of, list(without))
    fitted, coefficients = np.zeros(predictors.n_rows), np.zeros(len(left_out))
    for number in range(N_FOLDS):
        train, here = known & (fold != number), fold == number
        n_train = max(1, int(train.sum()))
        level = centred[train].mean() if train.any() else 0.0
        rest = [k for k in range(N_FOLDS) if k != number]
        strength = np.abs(parts[:, rest].sum(axis=1) - level * sums[:, rest].sum(axis=1)) / n_train
        strength[left_out] = 0.0
        columns = predictors.best_columns(strength, n_most)
        design = linear[:, columns]
        mean = design[train].mean(axis=0)
        own = design[train] - mean
        inner = own.T @ own
        inner[np.diag_indices(len(columns))] += penalty
        slope = np.linalg.solve(inner, own.T @ centred[train])
        fitted[here] = target[train].mean() + (design[here] - mean) @ slope
        coefficients[columns] += slope
    if not coefficients.any():
        return fitted, -1
    return fitted, int(predictors.feature_of[np.argmax(np.abs(coefficients))])


def _plain_columns(column: np.ndarray, n_categories: int) -> list[np.ndarray]:
    missing = np.isnan(column)
    extra = [missing.astype(np.float64)] if missing.any() else []
    if n_categories:
        return [(column == code).astype(np.float64) for code in range(n_categories)] + extra
    if missing.all():
        return extra
    return [np.where(missing, column[~missing].mean(), column), *extra]


def _curve_columns(column: np.ndarray, n_categories: int) -> np.ndarray:
    missing = np.isnan(column)
    known = column[~missing]
    extra = [missing.astype(np.float64)] if missing.any() else []
    distinct = np.unique(known)
    if n_categories or len(distinct) <= FEW_VALUES:
        return np.column_stack([*((column == value).astype(np.float64) for value in distinct[1:]), *extra, 0 * column])
    low, high = distinct[0], distinct[-1]
    unit = np.where(missing, np.median(known), column)
    unit = (unit - low) / (high - low)
    knots = np.unique((np.quantile(known, [0.2, 0.4, 0.6, 0.8]) - low) / (high - low))
    bent = [np.clip(unit - knot, 0, None) ** 3 for knot in knots]
    return np.column_stack([unit, unit**2, unit**3, *bent, *extra])


def orthogonal_curves(column: np.ndarray) -> np.ndarray:
    """Curves of a column that is none of the table's, such as a product of two."""
    return orthogonal(_curve_columns(column, 0))


def orthogonal(columns: np.ndarray) -> np.ndarray:
    """An orthogonal basis of centred columns, each with mean square 1; directions that hold nothing are dropped."""
    centred = columns - columns.mean(axis=0)
    size = np.sqrt((centred**2).sum(axis=0))
    centred = centred[:, size > 0] / size[size > 0]
    if centred.shape[1] == 0:
        return centred
    left, strength, _ = np.linalg.svd(centred, full_matrices=False)
    return left[:, strength > 1e-5 * strength[0]] * np.sqrt(len(columns))


def blocks_of_rows(n_rows: int) -> np.ndarray:
    """The block of each row, for rows in the order of what makes neighbours alike."""
    return np.arange(n_rows) * max(1, n_rows // BLOCK) // max(1, n_rows)
