"""ColumnModel: what the other features say about a column, from all stages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ramify.ranking.discovery.predictors import FEW_VALUES, Predictors, blocks_of_rows
from ramify.ranking.discovery.redraw.classes import MOST_LOGIT, StateChances, state_chances
from ramify.ranking.discovery.redraw.location import located
from ramify.ranking.discovery.redraw.spread import spread_of

_MODE_SHARE = 0.25
"""A value that so many rows share is a state of its own, not a number among others."""

_LEAST_RATIO = 0.5
_MANY_STATES = 10


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
        Share of the variance that the expectation explains (of the Brier score, for many states).
    partner : int
        The feature that says most, -1 if none does.
    fitted : array of shape (n_samples,) or None
        Expectation of a value that is a number among others; None if there are only states.
    left : array of shape (n_samples,) or None
        Difference to `fitted` in units of `scale`, NaN where the row's value is a state.
    scale : array of shape (n_samples,) or None
        Spread of the differences.
    bin_of : int array of shape (n_samples,) or None
        Bin of each difference, -1 where there is none; None if their shape depends on nothing.
    bin_chances : array of shape (n_samples, n_bins) or None
        Probability of each bin.
    states : array of shape (n_states,)
        Values that are drawn as such, NaN for missing; the last chance is that of a number where `fitted` is given.
    chances : array of shape (n_samples, n_states + 0 or 1) or None
        Probability of each state; None if there are none.
    support : array
        The numbers that may be drawn, ascending.
    state, alike : int array of shape (n_samples,) or None
        Where states are too many to be drawn from their chances: that of each row, and sets of rows that may exchange
        theirs.
    """

    expected: np.ndarray
    residual: np.ndarray
    explained: float
    partner: int
    fitted: np.ndarray | None
    left: np.ndarray | None
    scale: np.ndarray | None
    bin_of: np.ndarray | None
    bin_chances: np.ndarray | None
    states: np.ndarray
    chances: np.ndarray | None
    support: np.ndarray
    state: np.ndarray | None = None
    alike: np.ndarray | None = None

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything that is not None, as arrays."""
        return {name: np.asarray(value) for name, value in vars(self).items() if value is not None}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> ColumnModel:
        """The inverse of `arrays`."""
        own: dict[str, Any] = {name: arrays.get(name) for name in cls.__dataclass_fields__}
        return cls(**{**own, "explained": float(arrays["explained"]), "partner": int(arrays["partner"])})


def column_model(predictors: Predictors, feature: int, without: set[int], *, seed: int) -> ColumnModel:
    """Learn a column from the features outside of `without`: location, spread and shape, or the chances of states.

    Parameters
    ----------
    predictors : Predictors
        The features.
    feature : int
        The column.
    without : set of int
        The unit that the column belongs to.
    seed : int
        Of the forests.
    """
    column = predictors.values[:, feature]
    missing = np.isnan(column)
    values, counts = np.unique(column[~missing], return_counts=True)
    if predictors.n_categories[feature] or len(values) <= FEW_VALUES:
        return _class_model(predictors, column, values, without, seed)
    atoms = values[counts >= _MODE_SHARE * len(column)]
    is_number = ~missing & ~np.isin(column, atoms)
    states = np.append(atoms, np.nan) if missing.any() else atoms
    centre, spread = column[is_number].mean(), column[is_number].std()
    spread = spread if spread > 0 else 1.0
    target = np.where(is_number, (column - centre) / spread, 0.0)
    location = located(predictors, target, is_number, without, seed=seed)
    difference = _matched(location.fit, np.where(is_number, target - location.fit, 0.0), is_number)
    shape = spread_of(predictors, difference, is_number, without, seed)
    fitted = centre + spread * location.fit
    parts: dict[str, Any] = {
        "fitted": fitted,
        "left": np.where(is_number, spread * difference / shape.scale, np.nan),
        "scale": shape.scale,
        "bin_of": shape.bin_of,
        "bin_chances": shape.chances,
        "states": states,
        "support": np.unique(column[is_number]),
    }
    if len(states) == 0:
        return _model(column, fitted, location.partner, chances=None, **parts)
    state = _state_of(column, states)
    everywhere = np.ones(predictors.n_rows, dtype=bool)
    found = state_chances(predictors, state, len(states) + 1, everywhere, without, seed=seed)
    known = ~np.isnan(states)
    weight = np.column_stack([found.chances[:, :-1][:, known], found.chances[:, -1]])
    mean = (weight[:, :-1] @ states[known] + weight[:, -1] * fitted) / np.maximum(weight.sum(axis=1), 1e-12)
    partner = found.partner if location.partner < 0 else location.partner
    return _model(column, mean, partner, chances=found.chances, **parts)


def _matched(fit: np.ndarray, left: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Residuals shrunk so that what is drawn varies like the column.

    Honest predictions hold errors that the residuals hold too, with the other sign: added up they are there twice.
    """
    variance = left[known].var()
    if variance == 0:
        return left
    ratio = 1 + 2 * float(np.cov(fit[known], left[known])[0, 1]) / variance
    return left * np.sqrt(np.clip(ratio, _LEAST_RATIO, 1.0))


def _class_model(
    predictors: Predictors, column: np.ndarray, values: np.ndarray, without: set[int], seed: int
) -> ColumnModel:
    states = np.append(values, np.nan) if np.isnan(column).any() else values
    state = _state_of(column, states)
    n_states = len(states)
    everywhere = np.ones(len(column), dtype=bool)
    found = state_chances(predictors, state, n_states, everywhere, without, seed=seed)
    leading = int(np.argmax(np.bincount(state, minlength=n_states)))
    shown = (state == leading).astype(np.float64)
    skill = _brier_skill(found, state) if n_states > _MANY_STATES else None
    model = _model(
        shown,
        found.chances[:, leading],
        found.partner if skill is None else -1,
        explained=skill,
        states=states,
        chances=found.chances,
        support=values,
    )
    if n_states <= MOST_LOGIT:
        return model
    return replace(model, state=state, alike=_rows_alike(predictors, found.sure_partner))


def _rows_alike(predictors: Predictors, partner: int) -> np.ndarray:
    """Sets of rows with the same value of a nominal feature, or with similar values of a number; -1 is no feature."""
    if partner < 0:
        return np.zeros(predictors.n_rows, dtype=np.int64)
    column = predictors.values[:, partner]
    distinct, of_row = np.unique(column, return_inverse=True)
    if predictors.n_categories[partner] or len(distinct) <= FEW_VALUES:
        return of_row.astype(np.int64)
    found = np.empty(predictors.n_rows, dtype=np.int64)
    found[np.argsort(column, kind="stable")] = blocks_of_rows(predictors.n_rows)
    return found


def _brier_skill(found: StateChances, state: np.ndarray) -> float:
    shown = state[:, None] == np.arange(found.chances.shape[1])
    plain = float(((shown - shown.mean(axis=0)) ** 2).sum())
    return 1 - float(((shown - found.chances) ** 2).sum()) / plain if plain > 0 else 0.0


def _model(
    column: np.ndarray,
    expected: np.ndarray,
    partner: int,
    *,
    states: np.ndarray,
    chances: np.ndarray | None,
    support: np.ndarray,
    explained: float | None = None,
    fitted: np.ndarray | None = None,
    left: np.ndarray | None = None,
    scale: np.ndarray | None = None,
    bin_of: np.ndarray | None = None,
    bin_chances: np.ndarray | None = None,
) -> ColumnModel:
    known = ~np.isnan(column)
    residual = np.where(known, column - expected, 0.0)
    variance = float(np.var(column[known]))
    if explained is None:
        explained = 1 - float(np.mean(residual[known] ** 2)) / variance if variance > 0 else 0.0
    return ColumnModel(
        expected, residual, explained, partner, fitted, left, scale, bin_of, bin_chances, states, chances, support
    )


def _state_of(column: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Position of each value among the states; values that are none come last."""
    found = np.full(len(column), len(states))
    for position, value in enumerate(states):
        found[np.isnan(column) if np.isnan(value) else column == value] = position
    return found
