"""Features as predictors of one another: standardised columns, and curves of each feature."""

from __future__ import annotations

from functools import cached_property

import numpy as np

N_FOLDS = 5
FEW_VALUES = 10
"""Numeric features with at most so many values are redrawn as classes."""

_MOST_SCREENED = 500
"""Curves of all features are looked at up to so many features, beyond of the most correlated ones only."""

_MOST_CROSSED, _PRODUCTS = 200, 5
"""Products are looked at up to so many columns, and so many of them are taken."""


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
    """

    def __init__(self, values: np.ndarray, n_categories: np.ndarray, seed: int) -> None:
        self.values = values
        self.n_categories = n_categories
        self.n_rows, self.n_features = values.shape
        order = np.random.default_rng([seed, 0]).permutation(self.n_rows)
        self.fold = np.empty(self.n_rows, dtype=np.int64)
        self.fold[order] = np.arange(self.n_rows) * N_FOLDS // self.n_rows
        self._curves: dict[int, np.ndarray] = {}

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

    def curves(self, feature: int) -> np.ndarray:
        """Cubic splines of a feature with 6 quantile knots (indicators of few values), with orthogonal columns."""
        if feature not in self._curves:
            self._curves[feature] = _orthogonal(
                _curve_columns(self.values[:, feature], int(self.n_categories[feature]))
            )
        return self._curves[feature]

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

    def best_curves(self, residual: np.ndarray, strength: np.ndarray, without: set[int], n_most: int) -> list[int]:
        """The features whose curves explain most of a residual."""
        if self.n_features <= _MOST_SCREENED:
            candidates = [feature for feature in range(self.n_features) if feature not in without]
        else:
            near = self.feature_of[self.best_columns(strength, _MOST_SCREENED // 5)]
            candidates = sorted(set(near.tolist()) - without)
        if not candidates:
            return []
        if len(candidates) + len(without) >= self.n_features <= _MOST_SCREENED:
            basis, starts = self._all_curves
            explained = np.add.reduceat(np.append((basis.T @ residual) ** 2, 0.0), starts)
            scores = np.where(np.isin(np.arange(self.n_features), list(without)), -1.0, explained)
            scores[self._curve_sizes == 0] = -1.0
            order = np.argsort(-scores, kind="stable")[:n_most]
            return [int(feature) for feature in order if scores[feature] > 0]
        scores = np.array([float(((self.curves(feature).T @ residual) ** 2).sum()) for feature in candidates])
        return [candidates[k] for k in np.argsort(-scores, kind="stable")[:n_most] if scores[k] > 0]

    def product_fit(self, residual: np.ndarray, known: np.ndarray, without: set[int]) -> np.ndarray:
        """Honest predictions of a residual from products of two columns; each fold finds its own in the others."""
        fitted = np.zeros(self.n_rows)
        columns = np.flatnonzero(~np.isin(self.feature_of, list(without)))
        if not 2 <= len(columns) <= _MOST_CROSSED:
            return fitted
        design = self.linear[:, columns]
        first, second = np.triu_indices(len(columns))
        for number in range(N_FOLDS):
            train, here = known & (self.fold != number), self.fold == number
            strength = np.abs((design[train] * residual[train, None]).T @ design[train])[first, second]
            best = np.argpartition(-strength, min(_PRODUCTS, len(strength)) - 1)[:_PRODUCTS]
            crossed = design[:, first[best]] * design[:, second[best]]
            mean, level = crossed[train].mean(axis=0), residual[train].mean()
            centred = crossed[train] - mean
            inner = centred.T @ centred + np.eye(centred.shape[1])
            fitted[here] = level + (crossed[here] - mean) @ np.linalg.solve(inner, centred.T @ residual[train])
        return fitted

    @cached_property
    def _curve_sizes(self) -> np.ndarray:
        return np.array([self.curves(feature).shape[1] for feature in range(self.n_features)])

    @cached_property
    def _all_curves(self) -> tuple[np.ndarray, np.ndarray]:
        basis = np.concatenate([self.curves(feature) for feature in range(self.n_features)], axis=1)
        starts = np.concatenate([[0], np.cumsum(self._curve_sizes)[:-1]])
        return basis, starts


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


def _orthogonal(columns: np.ndarray) -> np.ndarray:
    """An orthogonal basis of centred columns, each with mean square 1; directions that hold nothing are dropped."""
    centred = columns - columns.mean(axis=0)
    size = np.sqrt((centred**2).sum(axis=0))
    centred = centred[:, size > 0] / size[size > 0]
    if centred.shape[1] == 0:
        return centred
    left, strength, _ = np.linalg.svd(centred, full_matrices=False)
    return left[:, strength > 1e-5 * strength[0]] * np.sqrt(len(columns))
