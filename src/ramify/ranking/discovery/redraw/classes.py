"""Classes: honest chances of states, by a logit or a discriminant that is joined with a forest."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import optimize

from ramify.ranking.discovery.predictors import N_FOLDS, Predictors, orthogonal_curves
from ramify.ranking.discovery.redraw.location import sure_columns
from ramify.ranking.discovery.redraw.outside import forest_of_some
from ramify.ranking.discovery.redraw.screening import STRONG_LEVEL, product_columns, scaled_indicators, screened

MOST_LOGIT = 16
"""More states are told apart by a discriminant."""

_GAIN = 0.005
_SURE_LEVEL = 0.01
_MOST_CURVES, _ROWS_PER_CURVE = 10, 80
_MOST_COLUMNS, _MOST_WIDE_COLUMNS = 20, 100
_TREES, _LEAF = 50, 20
_PRIOR = 0.01
"""Weight of the frequencies in the chances that the forest gives."""

_ALONE: list[tuple[float, ...]] = [(0.6,), (0.8,), (0.9,), (1.0,), (1.1,)]
_STEPS = (0.0, 0.3, 0.6, 0.8, 1.0, 1.2)
_TOGETHER: list[tuple[float, ...]] = [powers for powers in product(_STEPS, _STEPS) if 0.7 <= sum(powers) <= 1.8]
_SHRINKAGE = 0.05
_TEMPERATURES = (1.0, 0.7, 0.5, 0.3, 0.15)


@dataclass(frozen=True)
class StateChances:
    """Chances of states.

    Attributes
    ----------
    chances : array of shape (n_samples, n_states)
        Honest probabilities.
    partner : int
        The feature that says most, -1 if none does.
    gain : float
        Nats per row gained over the frequencies.
    sure_partner : int
        The feature that surely goes with the states and says most, -1 if none does.
    """

    chances: np.ndarray
    partner: int
    gain: float
    sure_partner: int = -1


def state_chances(
    predictors: Predictors,
    state: np.ndarray,
    n_states: int,
    known: np.ndarray,
    without: set[int],
    *,
    seed: int,
    only_sure: bool = False,
) -> StateChances:
    """Learn the chances of states from the features outside of `without`.

    A logit (shrunken linear discriminants for many states) on the most correlated columns and on curves, or on what
    surely matters alone, is multiplied with a forest on what surely matters, each to a power. Sums instead of products
    would put mass on combinations that cannot be.

    Parameters
    ----------
    predictors : Predictors
        The features.
    state : int array of shape (n_samples,)
        The state of each row.
    n_states : int
        Number of states.
    known : bool array of shape (n_samples,)
        Rows to learn from.
    without : set of int
        Features to leave out.
    seed : int
        Of the forest.
    only_sure : bool
        Whether nothing but what surely matters is taken, at a stricter level.
    """
    n_known = int(known.sum())
    frequency = np.bincount(state[known], minlength=n_states) / n_known
    plain = np.tile(frequency, (predictors.n_rows, 1))
    nothing = _score(plain, state, known)
    targets = scaled_indicators(state, n_states, known)
    n_curves = max(1, min(_MOST_CURVES, n_known // _ROWS_PER_CURVE))
    screen = screened(predictors, targets, without, n_curves, level=_SURE_LEVEL if only_sure else STRONG_LEVEL)
    if not len(screen.order) or (only_sure and screen.is_empty):
        return StateChances(plain, -1, 0.0)
    partner = int(screen.order[0])
    crossed = [orthogonal_curves(column) for column in product_columns(predictors, screen.products)]
    of_pairs = [int(predictors.feature_of[column]) for pair in screen.products for column in pair]
    strong = list(dict.fromkeys([*screen.strong, *of_pairs]))
    designs = _designs(predictors, targets, n_known, n_states, without, strong, n_curves, only_sure)
    bases = []
    for columns, bent in designs:
        parts = [predictors.linear[:, columns], *(predictors.curves(feature) for feature in bent), *crossed]
        design = np.concatenate(parts, axis=1)
        if not design.shape[1]:
            continue
        if n_states <= MOST_LOGIT:
            bases.append(_logit(design, state, n_states, predictors.fold, known))
        else:
            bases.append(_discriminant(design, state, n_states, predictors.fold, known, frequency))
    sure_partner = screen.strong[0] if screen.strong else -1
    if not bases:
        return StateChances(plain, -1, 0.0, sure_partner)
    base = max(bases, key=lambda chances: _score(chances, state, known))
    best = _joined([base], _ALONE, frequency, state, known)
    score = _score(best, state, known)
    if score < nothing:
        best, score = plain, nothing
    if strong:
        shown = np.asarray(state[:, None] == np.arange(n_states), dtype=np.float64)
        size: dict[str, int] = {"n_trees": _TREES, "min_samples_leaf": _LEAF, "seed": seed}
        own = forest_of_some(predictors, strong, screen.products, shown, known, **size)
        own = np.clip(own, 0, None) + _PRIOR * frequency
        own /= own.sum(axis=1, keepdims=True)
        both = _joined([base, own], _TOGETHER, frequency, state, known)
        if _score(both, state, known) > score + _GAIN:
            best, score = both, _score(both, state, known)
    return StateChances(best, partner, score - nothing, sure_partner)


def _designs(
    predictors: Predictors,
    targets: np.ndarray,
    n_known: int,
    n_states: int,
    without: set[int],
    strong: list[int],
    n_curves: int,
    only_sure: bool,
) -> list[tuple[np.ndarray, list[int]]]:
    """Columns, and features whose curves are taken: the most correlated ones, and what surely matters alone."""
    if only_sure:
        return [(np.empty(0, dtype=np.int64), strong)]
    strength = np.max([predictors.correlations(target, without) for target in targets.T], axis=0)
    n_most = min(_MOST_COLUMNS, n_known // 10) if n_states <= MOST_LOGIT else min(_MOST_WIDE_COLUMNS, n_known // 8)
    columns = predictors.best_columns(strength, n_most)
    owners = predictors.feature_of[columns]
    nearest = [int(feature) for feature in dict.fromkeys(owners.tolist()) if feature not in strong]
    bent = [*strong, *nearest[: max(0, n_curves - len(strong))]]
    designs = [(columns[~np.isin(owners, bent)], bent)]
    sure = sure_columns(predictors, strength, n_known)
    sure = sure[~np.isin(predictors.feature_of[sure], strong)]
    if n_states <= MOST_LOGIT and strong and (len(sure) < len(designs[0][0]) or len(strong) < len(bent)):
        designs.append((sure, strong))
    return designs


def _logit(design: np.ndarray, state: np.ndarray, n_states: int, fold: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Chances by a multinomial logit with a ridge penalty, each fold's from the others."""
    chances = np.zeros((len(design), n_states))
    with_one = np.column_stack([design, np.ones(len(design))])
    for number in range(N_FOLDS):
        train, here = known & (fold != number), fold == number
        present = np.unique(state[train])
        if len(present) < 2:
            chances[here, present] = 1.0
            continue
        slopes = _logit_slopes(with_one[train], np.searchsorted(present, state[train]), len(present))
        chances[np.ix_(here, present)] = _normalised(with_one[here] @ slopes)
    return chances


def _logit_slopes(design: np.ndarray, state: np.ndarray, n_states: int) -> np.ndarray:
    """Slopes, the last row the intercepts: columns x states. Stops early: slopes near convergence say no more."""
    n_rows, n_columns = design.shape
    shown = np.asarray(state[:, None] == np.arange(n_states), dtype=np.float64)
    penalty = np.ones((n_columns, 1)) / n_rows
    penalty[-1] = 0.0

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        slopes = flat.reshape(n_columns, n_states)
        logs = design @ slopes
        logs -= logs.max(axis=1, keepdims=True)
        chances = np.exp(logs)
        total = chances.sum(axis=1, keepdims=True)
        value = float((np.log(total[:, 0]) - np.einsum("ij,ij->i", logs, shown)).mean())
        gradient = design.T @ (chances / total - shown) / n_rows + penalty * slopes
        return value + 0.5 * float((penalty * slopes**2).sum()), gradient.ravel()

    start = np.zeros(n_columns * n_states)
    options = {"maxiter": 100, "gtol": 1e-2, "ftol": 1e-10}
    found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
    slopes: np.ndarray = found.x.reshape(n_columns, n_states)
    return slopes


def _discriminant(
    design: np.ndarray, state: np.ndarray, n_states: int, fold: np.ndarray, known: np.ndarray, frequency: np.ndarray
) -> np.ndarray:
    """Chances by shrunken linear discriminants, at the temperature with the best held-out score."""
    logs = np.zeros((len(design), n_states))
    for number in range(N_FOLDS):
        train, here = known & (fold != number), fold == number
        own, columns = state[train], design[train]
        count, mean = np.bincount(own, minlength=n_states), columns.mean(axis=0)
        means = np.zeros((n_states, design.shape[1]))
        np.add.at(means, own, columns - mean)
        means /= (count + 1.0)[:, None]
        within = columns - mean - means[own]
        covariance = within.T @ within / max(1, len(own) - n_states)
        covariance[np.diag_indices(len(covariance))] += _SHRINKAGE
        slopes = np.linalg.solve(covariance, means.T)
        level = np.log((count + 1e-3) / len(own)) - 0.5 * (means * slopes.T).sum(axis=1)
        logs[here] = (design[here] - mean) @ slopes + level
    candidates = (0.995 * _normalised(heat * logs) + 0.005 * frequency for heat in _TEMPERATURES)
    return max(candidates, key=lambda chances: _score(chances, state, known))


def _joined(
    models: list[np.ndarray],
    powers: list[tuple[float, ...]],
    frequency: np.ndarray,
    state: np.ndarray,
    known: np.ndarray,
) -> np.ndarray:
    """The product of models to the powers with the best held-out score; mean chances are made the frequencies."""
    logs = [np.log(np.clip(model, 1e-5, 1)) for model in models]
    candidates = (_normalised(sum(power * log for power, log in zip(own, logs, strict=True))) for own in powers)
    chances = max(candidates, key=lambda found: _score(found, state, known))
    for _ in range(3):
        chances = chances * (frequency / np.maximum(chances[known].mean(axis=0), 1e-9))
        chances /= chances.sum(axis=1, keepdims=True)
    return chances


def _normalised(logs: np.ndarray) -> np.ndarray:
    chances: np.ndarray = np.exp(logs - logs.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True)


def _score(chances: np.ndarray, state: np.ndarray, known: np.ndarray) -> float:
    """Mean log of the chance of a row's state."""
    own = chances[known, state[known]]
    return float(np.log(np.clip(own, 1e-6, 1)).mean())
