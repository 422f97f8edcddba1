"""Forests within redraw models: predictions of rows by trees that have not seen them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramify import _core
from ramify.ensemble.growing import feature_table
from ramify.features import Features
from ramify.ranking.discovery.predictors import FOREST_BINS, Predictors
from ramify.ranking.discovery.redraw.screening import product_columns

_MOST_FEATURES = 500
"""The forest on a residual looks at so many features: those that go best with it."""

_TREES, _FIRST_TREES = 30, 8
_HINT, _LEAST_HINT = 2.0, 0.06
"""More trees are grown if the predictions of the first correlate by so many standard errors, and by so much."""


def forest_of_all(
    predictors: Predictors, residual: np.ndarray, known: np.ndarray, order: np.ndarray, seed: int
) -> np.ndarray:
    """Predictions of a residual by trees on the features of `order`, the first of them if they are very many."""
    features = np.sort(order[:_MOST_FEATURES])
    if not len(features):
        return np.zeros(predictors.n_rows)
    own = predictors.table.take(features)
    growing = {"max_features": max(1, len(features) // 2), "min_samples_leaf": 5, "seed": seed}
    target = residual[:, None]
    first = _grown(predictors, own, target, known, n_trees=_FIRST_TREES, **growing)
    hint = correlation(_outside(predictors, [first], own, known, fill=False)[known, 0], residual[known])
    if hint <= max(_LEAST_HINT, _HINT / np.sqrt(known.sum())):
        return np.zeros(predictors.n_rows)
    more = _grown(predictors, own, target, known, first_tree=_FIRST_TREES, n_trees=_TREES - _FIRST_TREES, **growing)
    return _outside(predictors, [first, more], own, known)[:, 0]


def forest_of_some(
    predictors: Predictors,
    features: list[int],
    pairs: list[tuple[int, int]],
    targets: np.ndarray,
    known: np.ndarray,
    *,
    n_trees: int,
    min_samples_leaf: int,
    seed: int,
) -> np.ndarray:
    """Predictions of targets by trees on some features and products of columns."""
    products = product_columns(predictors, pairs)
    values = np.ascontiguousarray(np.column_stack([predictors.values[:, features], *products]))
    n_categories = np.concatenate([predictors.n_categories[features], np.zeros(len(pairs))])
    own = feature_table(Features(values, n_categories.astype(np.int32)), max_bins=FOREST_BINS, n_jobs=1)
    half = -(-values.shape[1] // 2)
    forest = _grown(
        predictors,
        own,
        targets,
        known,
        n_trees=n_trees,
        max_features=half,
        min_samples_leaf=min_samples_leaf,
        seed=seed,
    )
    return _outside(predictors, [forest], own, known)


def correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Pearson's correlation; 0 where one of the two is constant."""
    a, b = first - first.mean(), second - second.mean()
    size = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / size) if size > 0 else 0.0


def _grown(
    predictors: Predictors,
    table: Any,
    targets: np.ndarray,
    known: np.ndarray,
    *,
    seed: int,
    n_trees: int,
    max_features: int,
    min_samples_leaf: int,
    first_tree: int = 0,
) -> Any:
    growth = _core.Growth(
        seed=seed,
        first_tree=first_tree,
        n_trees=n_trees,
        max_features=max_features,
        bootstrap=True,
        random_splits=False,
        max_depth=-1,
        min_samples_split=2,
        min_samples_leaf=min_samples_leaf,
        min_impurity_decrease=0.0,
        min_weight_fraction_leaf=0.0,
        min_category_rows=10,
        oblique=0,
        backing=0,
    )
    numbers = _core.NumberRows(np.ascontiguousarray(targets), np.ones(targets.shape[1]))
    return _core.grow(table, numbers, growth, **_bagging(predictors, known), n_threads=1, progress=None)


def _outside(
    predictors: Predictors, forests: list[Any], table: Any, known: np.ndarray, *, fill: bool = True
) -> np.ndarray:
    """Out-of-bag predictions, 0 where there is none; those of all trees for rows outside of `known`."""
    forest = forests[0] if len(forests) == 1 else _core.Forest.concatenate(forests)
    rows = _core.FeatureRows(table)
    span = {"first_row": 0, "last_row": predictors.n_rows, "n_threads": 1}
    found = _core.predict_oob(forest, rows, **_bagging(predictors, known), **span)[0]
    found = np.where(np.isnan(found), 0.0, found)
    if known.all() or not fill:
        return found
    return np.where(known[:, None], found, _core.predict(forest, rows, **span))


def _bagging(predictors: Predictors, known: np.ndarray) -> dict[str, Any]:
    """What the kernels must know to draw bags, and to draw them again."""
    return {
        "sample_weight": None if known.all() else known.astype(np.float64),
        "row_groups": predictors.row_groups.kernel_groups,
    }
