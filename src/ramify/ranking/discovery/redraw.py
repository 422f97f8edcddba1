"""Redraw models: the distribution of a column given the others, learnt without the row it is for."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ramify import _core
from ramify.ranking.discovery.predictors import FEW_VALUES, N_FOLDS, Predictors, honest_ridge

_GAIN = 0.99
"""A later stage is kept if the honest squared error falls to this share or below."""

_BLOCK = 30
"""Rows with similar fitted values among which residuals are exchanged."""

_MOST_FOREST_FEATURES = 500
FOREST_BINS = 32
_TREES, _FIRST_TREES = 30, 8
_HINT, _LEAST_HINT = 2.0, 0.06
"""More trees are grown if the predictions of the first correlate by so many standard errors, and by so much."""

_MODE_SHARE = 0.25
"""A value that so many rows share is a state of its own, not a number among others."""


@dataclass(frozen=True)
class ColumnModel:
    """What the other features say about a column.

    Attributes
    ----------
    expected : array of shape (n_samples,)
        Expectation of the value (of the most frequent one's indicator, for a nominal column).
    residual : array of shape (n_samples,)
        The value less its expectation, 0 where it is missing.
    explained : float
        Share of the variance that the expectation explains.
    partner : int
        The feature that says most, -1 if none does.
    fitted : array of shape (n_samples,) or None
        Expectation of a value that is a number among others; None if there are only states.
    left : array of shape (n_samples,) or None
        Difference to `fitted`, NaN where the row's value is a state.
    states : array of shape (n_states,)
        Values that are drawn as such, NaN for missing; the last chance is that of a number where `fitted` is given.
    chances : array of shape (n_samples, n_states + 0 or 1) or None
        Probability of each state; None if there are none.
    support : array
        The numbers that may be drawn, ascending.
    """

    expected: np.ndarray
    residual: np.ndarray
    explained: float
    partner: int
    fitted: np.ndarray | None
    left: np.ndarray | None
    states: np.ndarray
    chances: np.ndarray | None
    support: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything that is not None, as arrays."""
        return {name: np.asarray(value) for name, value in vars(self).items() if value is not None}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> ColumnModel:
        """The inverse of `arrays`."""
        own: dict[str, Any] = {name: arrays.get(name) for name in cls.__dataclass_fields__}
        return cls(**{**own, "explained": float(arrays["explained"]), "partner": int(arrays["partner"])})

    def draw(self, random: np.random.Generator) -> np.ndarray:
        """The column drawn anew."""
        n_rows = len(self.expected)
        if self.fitted is None:
            return self.states[_sampled(self.chances, random)]
        drawn = self.fitted + _exchanged(self.fitted, self.left, random)
        drawn = _snapped(drawn, self.support)
        if self.chances is None:
            return drawn
        state = _sampled(self.chances, random)
        values = np.append(self.states, 0.0)[state]
        return np.where(state == len(self.states), drawn, values).reshape(n_rows)


def column_model(
    predictors: Predictors, feature: int, without: set[int], table: Any, *, seed: int, n_jobs: int | None
) -> ColumnModel:
    """Learn a column from the features outside of `without`: ridge, curves, products, a forest; classes by logit.

    Parameters
    ----------
    predictors : Predictors
        The features.
    feature : int
        The column.
    without : set of int
        The unit that the column belongs to.
    table : FeatureTable
        The same features, coded for forests.
    seed : int
        Of the forest.
    n_jobs : int or None
        Threads of the forest.
    """
    column = predictors.values[:, feature]
    missing = np.isnan(column)
    values, counts = np.unique(column[~missing], return_counts=True)
    if predictors.n_categories[feature] or len(values) <= FEW_VALUES:
        return _class_model(predictors, column, values, counts, without)
    atoms = values[counts >= _MODE_SHARE * len(column)]
    is_number = ~missing & ~np.isin(column, atoms)
    states = np.append(atoms, np.nan) if missing.any() else atoms
    centre, spread = column[is_number].mean(), column[is_number].std()
    spread = spread if spread > 0 else 1.0
    target = np.where(is_number, (column - centre) / spread, 0.0)
    fit, partner = _staged(predictors, target, is_number, without, table, seed, n_jobs)
    fitted = centre + spread * fit
    left = np.where(is_number, column - fitted, np.nan)
    support = np.unique(column[is_number])
    if len(states) == 0:
        return _with_explained(column, fitted, partner, fitted, left, states, None, support)
    state = _state_of(column, states)
    chances, strongest = _chances(predictors, state, len(states) + 1, without, n_curves=3)
    known = ~np.isnan(states)
    weight = np.column_stack([chances[:, :-1][:, known], chances[:, -1]])
    mean = (weight[:, :-1] @ states[known] + weight[:, -1] * fitted) / np.maximum(weight.sum(axis=1), 1e-12)
    return _with_explained(column, mean, strongest if partner < 0 else partner, fitted, left, states, chances, support)


def shuffled_rows(columns: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Rows of columns in another order: drawn given nothing."""
    return columns[random.permutation(len(columns))]


def draw_group(
    predictors: Predictors, features: list[int], models: list[ColumnModel], random: np.random.Generator
) -> np.ndarray:
    """Columns of a group drawn together: rows of residuals are exchanged, or of values where some are states."""
    expected = np.column_stack([model.expected for model in models])
    order = np.argsort(_leading(expected), kind="stable")
    donors = _block_order(order, random)
    if all(model.chances is None and model.fitted is not None for model in models):
        residuals = np.column_stack([model.residual for model in models])
        drawn = np.empty_like(expected)
        drawn[order] = expected[order] + residuals[donors]
        return np.column_stack([_snapped(drawn[:, k], model.support) for k, model in enumerate(models)])
    drawn = np.empty_like(expected)
    drawn[order] = predictors.values[donors][:, features]
    return drawn


def unit_residual(models: list[ColumnModel]) -> np.ndarray:
    """What the others leave unexplained of a column, or of the leading direction of a group's columns.

    Less its mean within each block of rows that exchange residuals: what is drawn has these means too.
    """
    if len(models) > 1:
        residual = _leading(np.column_stack([model.residual for model in models]))
        return _centred_in_blocks(residual, _leading(np.column_stack([model.expected for model in models])))
    model = models[0]
    if model.fitted is None or model.left is None:
        return model.residual
    own = ~np.isnan(model.left)
    residual = model.residual.copy()
    residual[own] = _centred_in_blocks(residual[own], model.fitted[own])
    return residual


def _staged(
    predictors: Predictors,
    target: np.ndarray,
    known: np.ndarray,
    without: set[int],
    table: Any,
    seed: int,
    n_jobs: int | None,
) -> tuple[np.ndarray, int]:
    """Honest predictions of a standardised target by stages, and the feature with the largest coefficient."""
    n_known = int(known.sum())
    strength = predictors.correlations(np.where(known, target, 0.0), without)
    columns = predictors.best_columns(strength, min(20, n_known // 10))
    if n_known < 2 * N_FOLDS or not len(columns):
        return np.zeros(predictors.n_rows), -1
    fit, slopes = honest_ridge(predictors.linear[:, columns], target, predictors.fold, known)
    partner = int(predictors.feature_of[columns[np.argmax(np.abs(slopes))]])
    error = _error(target - fit, known)
    if error >= _error(target, known):
        fit, error = np.zeros(predictors.n_rows), _error(target, known)
    residual = np.where(known, target - fit, 0.0)
    chosen = predictors.best_curves(residual, strength, without, min(10, n_known // 80))
    if chosen:
        design = np.concatenate([predictors.curves(feature) for feature in chosen], axis=1)
        bent = fit + honest_ridge(design, residual, predictors.fold, known)[0]
        if _error(target - bent, known) <= _GAIN * error:
            fit, error = bent, _error(target - bent, known)
            residual = np.where(known, target - fit, 0.0)
    crossed = fit + predictors.product_fit(residual, known, without)
    if _error(target - crossed, known) <= _GAIN * error:
        fit, error = crossed, _error(target - crossed, known)
        residual = np.where(known, target - fit, 0.0)
    if predictors.n_features - len(without) <= _MOST_FOREST_FEATURES:
        grown = fit + _forest_stage(predictors, table, residual, known, without, seed, n_jobs)
        if _error(target - grown, known) <= _GAIN * error:
            fit = grown
    return fit, partner


def _forest_stage(
    predictors: Predictors,
    table: Any,
    residual: np.ndarray,
    known: np.ndarray,
    without: set[int],
    seed: int,
    n_jobs: int | None,
) -> np.ndarray:
    """Out-of-bag predictions of a residual; rows outside of `known` are predicted by all trees."""
    others = np.array([f for f in range(predictors.n_features) if f not in without], dtype=np.int64)
    if not len(others):
        return np.zeros(predictors.n_rows)
    here, threads = table.take(others), effective_n_jobs(n_jobs)
    rows = _core.FeatureRows(here)
    target = _core.NumberRows(np.ascontiguousarray(residual[:, None]), np.ones(1))
    weights = None if known.all() else known.astype(np.float64)
    span = {"first_row": 0, "last_row": predictors.n_rows, "n_threads": threads}

    def grown(first_tree: int, n_trees: int) -> Any:
        growth = _core.Growth(
            seed=seed,
            first_tree=first_tree,
            n_trees=n_trees,
            max_features=max(1, len(others) // 2),
            bootstrap=True,
            random_splits=False,
            max_depth=-1,
            min_samples_split=2,
            min_samples_leaf=5,
            min_impurity_decrease=0.0,
            min_weight_fraction_leaf=0.0,
            min_category_rows=10,
            oblique=0,
            backing=0,
        )
        return _core.grow(
            here, target, growth, sample_weight=weights, row_groups=None, n_threads=threads, progress=None
        )

    def outside(forest: Any) -> np.ndarray:
        found = _core.predict_oob(forest, rows, sample_weight=weights, row_groups=None, **span)[0][:, 0]
        return np.where(np.isnan(found), 0.0, found)

    forest = grown(0, _FIRST_TREES)
    if _correlation(outside(forest)[known], residual[known]) <= max(_LEAST_HINT, _HINT / np.sqrt(known.sum())):
        return np.zeros(predictors.n_rows)
    forest = _core.Forest.concatenate([forest, grown(_FIRST_TREES, _TREES - _FIRST_TREES)])
    found = outside(forest)
    return found if known.all() else np.where(known, found, _core.predict(forest, rows, **span)[:, 0])


def _correlation(first: np.ndarray, second: np.ndarray) -> float:
    a, b = first - first.mean(), second - second.mean()
    size = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / size) if size > 0 else 0.0


def _class_model(
    predictors: Predictors, column: np.ndarray, values: np.ndarray, counts: np.ndarray, without: set[int]
) -> ColumnModel:
    common = np.sort(values[np.argsort(-counts, kind="stable")[:FEW_VALUES]])
    column = np.where(np.isnan(column) | np.isin(column, common), column, common[0])  # rare values: as the first one
    states = np.append(common, np.nan) if np.isnan(column).any() else common
    state = _state_of(column, states)
    chances, partner = _chances(predictors, state, len(states), without, n_curves=10)
    leading = int(np.argmax(np.bincount(state, minlength=len(states))))
    shown = (state == leading).astype(np.float64)
    return _with_explained(shown, chances[:, leading], partner, None, None, states, chances, common)


def _chances(
    predictors: Predictors, state: np.ndarray, n_states: int, without: set[int], *, n_curves: int
) -> tuple[np.ndarray, int]:
    """Honest probabilities of states by a multinomial logit on columns and curves, and the feature that says most."""
    n_rows = predictors.n_rows
    frequency = np.bincount(state, minlength=n_states) / n_rows
    indicators = [np.asarray(state == k, dtype=np.float64) for k in range(n_states)]
    strength = np.max([predictors.correlations(column, without) for column in indicators], axis=0)
    columns = predictors.best_columns(strength, min(20, n_rows // 10))
    if not len(columns):
        return np.tile(frequency, (n_rows, 1)), -1
    partner = int(predictors.feature_of[columns[0]])
    bent = list(dict.fromkeys(predictors.feature_of[columns].tolist()))[: min(n_curves, n_rows // 80)]
    straight = columns[~np.isin(predictors.feature_of[columns], bent)]
    design = np.concatenate([predictors.linear[:, straight], *(predictors.curves(f) for f in bent)], axis=1)
    chances = np.zeros((n_rows, n_states))
    for number in range(N_FOLDS):
        train, here = predictors.fold != number, predictors.fold == number
        present = np.unique(state[train])
        if len(present) < 2:
            chances[here, present[0]] = 1.0
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            logit = LogisticRegression(C=1.0, max_iter=100, tol=1e-2).fit(design[train], state[train])
        chances[np.ix_(here, present)] = logit.predict_proba(design[here])
    return chances, partner


def _with_explained(
    column: np.ndarray,
    expected: np.ndarray,
    partner: int,
    fitted: np.ndarray | None,
    left: np.ndarray | None,
    states: np.ndarray,
    chances: np.ndarray | None,
    support: np.ndarray,
) -> ColumnModel:
    known = ~np.isnan(column)
    residual = np.where(known, column - expected, 0.0)
    variance = float(np.var(column[known]))
    explained = 1 - float(np.mean(residual[known] ** 2)) / variance if variance > 0 else 0.0
    return ColumnModel(expected, residual, explained, partner, fitted, left, states, chances, support)


def _error(residual: np.ndarray, known: np.ndarray) -> float:
    return float(np.mean(residual[known] ** 2))


def _state_of(column: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Position of each value among the states; values that are none come last."""
    found = np.full(len(column), len(states))
    for position, value in enumerate(states):
        found[np.isnan(column) if np.isnan(value) else column == value] = position
    return found


def _sampled(chances: Any, random: np.random.Generator) -> np.ndarray:
    steps = np.cumsum(chances, axis=1)
    return (random.random(len(steps))[:, None] * steps[:, -1:] >= steps).sum(axis=1).clip(max=steps.shape[1] - 1)


def _exchanged(fitted: np.ndarray, left: Any, random: np.random.Generator) -> np.ndarray:
    """Differences of other rows with similar fitted values; rows without one of their own borrow at random."""
    own = np.flatnonzero(~np.isnan(left))
    order = own[np.argsort(fitted[own], kind="stable")]
    drawn = np.empty(len(fitted))
    drawn[order] = left[_block_order(order, random)]
    lacking = np.flatnonzero(np.isnan(left))
    if len(lacking):
        near = random.integers(-_BLOCK // 2, _BLOCK // 2, len(lacking))
        place = np.searchsorted(fitted[order], fitted[lacking]) + near
        drawn[lacking] = left[order[np.clip(place, 0, len(order) - 1)]]
    return drawn


def _block_order(order: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Rows in an order that is random within blocks of neighbours."""
    return order[np.lexsort((random.random(len(order)), _blocks(len(order))))]


def _blocks(n_rows: int) -> np.ndarray:
    """The block of each row, in order of fitted values."""
    return np.arange(n_rows) * max(1, n_rows // _BLOCK) // max(1, n_rows)


def _centred_in_blocks(residual: np.ndarray, fitted: np.ndarray) -> np.ndarray:
    block = np.empty(len(residual), dtype=np.int64)
    block[np.argsort(fitted, kind="stable")] = _blocks(len(residual))
    return residual - (np.bincount(block, residual) / np.bincount(block))[block]


def _snapped(drawn: np.ndarray, support: np.ndarray) -> np.ndarray:
    """The nearest values that the column has."""
    right = np.searchsorted(support, drawn).clip(1, len(support) - 1)
    low, high = support[right - 1], support[right]
    return np.where(drawn - low <= high - drawn, low, high)


def _leading(columns: np.ndarray) -> np.ndarray:
    """Scores of the first principal component of standardised columns."""
    centred = columns - columns.mean(axis=0)
    spread = centred.std(axis=0)
    centred = centred / np.where(spread > 0, spread, 1.0)
    left, strength, _ = np.linalg.svd(centred, full_matrices=False)
    return left[:, 0] * strength[0]
