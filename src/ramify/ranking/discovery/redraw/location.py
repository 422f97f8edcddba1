"""Location: honest predictions of a target by stages, of which a later one is kept if the error falls by 1 %."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ramify.ranking.discovery.predictors import (
    N_FOLDS,
    Predictors,
    honest_ridge,
    orthogonal_curves,
    ridge_on_most_correlated,
)
from ramify.ranking.discovery.redraw.outside import forest_of_all, forest_of_some
from ramify.ranking.discovery.redraw.screening import product_columns, screened, standardised

_GAIN = 0.99
"""A later stage is kept if the honest squared error falls to this share or below."""

_LINEAR_LEVEL, _LEAST_LINEAR = 0.03, 3.5
_MOST_LINEAR = 20
_FULL_GAIN = 0.97
"""Ridge on the most correlated columns, sure or not, has to do so much better than on the sure ones."""

_MOST_STRONG, _ROWS_PER_STRONG = 10, 80
_TREES, _LEAF, _LINEAR_IN_TREES = 30, 10, 5


@dataclass(frozen=True)
class Location:
    """What the features say about a target.

    Attributes
    ----------
    fit : array of shape (n_samples,)
        Honest predictions.
    error : float
        Their mean squared error.
    partner : int
        The feature that says most, -1 if none does.
    """

    fit: np.ndarray
    error: float
    partner: int


def located(
    predictors: Predictors,
    target: np.ndarray,
    known: np.ndarray,
    without: set[int],
    *,
    seed: int,
    only_sure: bool = False,
) -> Location:
    """Learn the expectation of a target: ridge, curves, products of two columns, forests.

    Parameters
    ----------
    predictors : Predictors
        The features.
    target : array of shape (n_samples,)
        Of mean 0 and variance 1 over the rows that are known.
    known : bool array of shape (n_samples,)
        Rows to learn from.
    without : set of int
        Features to leave out.
    seed : int
        Of the forests.
    only_sure : bool
        Whether the target is left alone unless something surely matters, and the forest on all features is left out.
    """
    n_known = int(known.sum())
    zero = np.zeros(predictors.n_rows)

    def error_of(fit: np.ndarray) -> float:
        return mean_square(target - fit, known)

    best = Location(zero, error_of(zero), -1)
    if n_known < 2 * N_FOLDS:
        return best

    def better(candidates: list[np.ndarray], share: float = _GAIN) -> bool:
        nonlocal best
        errors = [error_of(fit) for fit in candidates]
        first = int(np.argmin(errors))
        if errors[first] > share * best.error:
            return False
        best = Location(candidates[first], errors[first], best.partner)
        return True

    def ridge(parts: list[np.ndarray], goal: np.ndarray) -> np.ndarray:
        return honest_ridge(np.concatenate(parts, axis=1), goal, predictors.fold, known)[0]

    strength = predictors.correlations(np.where(known, target, 0.0), without)
    sure = sure_columns(predictors, strength, n_known)
    if len(sure):
        fit, slopes = honest_ridge(predictors.linear[:, sure], target, predictors.fold, known)
        if better([fit], 0.995):
            partner = int(predictors.feature_of[sure[np.argmax(np.abs(slopes))]])
            best = Location(best.fit, best.error, partner)
    n_most = min(_MOST_LINEAR, n_known // 10)
    most = predictors.best_columns(strength, n_most)
    if len(sure) < len(most) and (len(sure) or not only_sure):
        fit, partner = ridge_on_most_correlated(predictors, target, known, without, n_most)
        if better([fit], _FULL_GAIN):
            best = Location(best.fit, best.error, partner)

    residual = np.where(known, target - best.fit, 0.0)
    screen = screened(
        predictors, standardised(residual, known), without, min(_MOST_STRONG, n_known // _ROWS_PER_STRONG)
    )
    curves = [predictors.curves(feature) for feature in screen.strong]
    # Refitted together with the linear columns: on what is left of those alone, curves are fitted to their errors.
    linear = [
        predictors.linear[:, columns[~np.isin(predictors.feature_of[columns], screen.strong)]]
        for columns in (sure, most)
    ]
    if curves:
        better([best.fit + ridge(curves, residual), *(ridge([own, *curves], target) for own in linear)])
        if best.partner < 0:
            best = Location(best.fit, best.error, screen.strong[0])
    if screen.products:
        crossed = [orthogonal_curves(product) for product in product_columns(predictors, screen.products)]
        left = np.where(known, target - best.fit, 0.0)
        better([best.fit + ridge(crossed, left), *(ridge([own, *curves, *crossed], target) for own in linear)])
    if not screen.is_empty:
        pairs = [int(predictors.feature_of[column]) for pair in screen.products for column in pair]
        few = predictors.feature_of[sure[:_LINEAR_IN_TREES]].tolist()
        features = list(dict.fromkeys([*screen.strong, *pairs, *few]))
        left = np.where(known, target - best.fit, 0.0)[:, None]
        size: dict[str, int] = {"n_trees": _TREES, "min_samples_leaf": _LEAF, "seed": seed}
        better([best.fit + forest_of_some(predictors, features, screen.products, left, known, **size)[:, 0]])
    if not only_sure:
        left = np.where(known, target - best.fit, 0.0)
        better([best.fit + forest_of_all(predictors, left, known, screen.order, seed)])
    return best


def sure_columns(predictors: Predictors, strength: np.ndarray, n_known: int) -> np.ndarray:
    """The columns whose correlation with a target is beyond what the best of all reaches by chance, best first."""
    n_columns = max(1, len(strength))
    least = max(_LEAST_LINEAR, float(stats.norm.isf(_LINEAR_LEVEL / 2 / n_columns)))
    columns = predictors.best_columns(strength, min(_MOST_LINEAR, n_known // 10))
    return columns[strength[columns] * np.sqrt(n_known) > least]


def mean_square(residual: np.ndarray, known: np.ndarray) -> float:
    """Mean of squares over the rows that are known."""
    return float(np.mean(residual[known] ** 2))
