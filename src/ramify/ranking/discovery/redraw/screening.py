"""Screening: which features, and which products of two, go with a target. Any number of features, no labels of y."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats

from ramify.ranking.discovery.predictors import Predictors

STRONG_LEVEL = 0.05
"""A feature is strong if the best of all features goes with a target as well by chance in so many tables."""

_MOST_CROSSED = 200
"""Products are looked at among so many columns: those whose feature goes best with a target or with its size."""

_PRODUCTS, _PRODUCT_LEVEL, _PRODUCT_MARGIN = 5, 0.02, 1.3
_MOST_TARGETS = 10


@dataclass(frozen=True)
class Screen:
    """How each feature goes with a target.

    Attributes
    ----------
    order : int array
        Features that can go with it, those that go best with the target first.
    strong : list of int
        Those that surely do, best first.
    products : list of tuple of int
        Pairs of columns whose product surely does.
    """

    order: np.ndarray
    strong: list[int]
    products: list[tuple[int, int]]

    @property
    def is_empty(self) -> bool:
        """Whether nothing surely goes with the target."""
        return not self.strong and not self.products


def screened(
    predictors: Predictors, targets: np.ndarray, without: set[int], most: int, *, level: float = STRONG_LEVEL
) -> Screen:
    """Screen the features and products of two for targets that belong together.

    Parameters
    ----------
    predictors : Predictors
        The features.
    targets : array of shape (n_samples, n_targets)
        Columns of mean 0 and mean square 1 (`standardised`), or scaled indicators of states (`scaled_indicators`),
        which have one degree of freedom less than columns.
    without : set of int
        Features to leave out.
    most : int
        So many strong features at most.
    level : float
        Chance that the best of all features is taken for strong where none is.
    """
    n_free = max(1, targets.shape[1] - 1)
    squares = _squares_by_feature(predictors, targets)
    sizes = predictors.curve_basis[2] * n_free
    scores = (squares - sizes) / np.sqrt(2 * np.maximum(sizes, 1))
    scores[sizes == 0] = -np.inf
    scores[list(without)] = -np.inf
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > -np.inf]
    steps = {int(size): _sure(level / predictors.n_features, int(size)) for size in np.unique(sizes[sizes > 0])}
    strong = [f for f in order[:most].tolist() if squares[f] > steps[int(sizes[f])]]
    return Screen(order, strong, _products(predictors, targets, without, scores, n_free))


def standardised(target: np.ndarray, known: np.ndarray) -> np.ndarray:
    """A target as one column of mean 0 and mean square 1; 0 where it is not known."""
    centred = np.where(known, target - target[known].mean(), 0.0)
    size = np.sqrt(np.mean(centred**2))
    column: np.ndarray = (centred / (size if size > 0 else 1.0))[:, None]
    return column


def scaled_indicators(state: np.ndarray, n_states: int, known: np.ndarray) -> np.ndarray:
    """Indicators of states less their frequency, by its root: squares of projections sum to a chi-square."""
    n_known = max(1, int(known.sum()))
    frequency = np.bincount(state[known], minlength=n_states) / n_known
    present = np.flatnonzero(frequency)
    shown = ((state[:, None] == present) - frequency[present]) / np.sqrt(frequency[present])
    return np.where(known[:, None], shown, 0.0) * np.sqrt(len(state) / n_known)


def product_columns(predictors: Predictors, pairs: list[tuple[int, int]]) -> list[np.ndarray]:
    """The products themselves, of columns that are clipped at 4 standard deviations."""
    clipped = predictors.clipped
    return [(clipped[:, first] * clipped[:, second]).astype(np.float64) for first, second in pairs]


def _squares_by_feature(predictors: Predictors, targets: np.ndarray) -> np.ndarray:
    """Sum of squared projections of all targets on the curves of each feature."""
    basis, starts, _ = predictors.curve_basis
    projected = basis.T @ targets.astype(np.float32)
    squares = np.einsum("ij,ij->i", projected, projected, dtype=np.float64) / len(targets)
    return np.add.reduceat(np.append(squares, 0.0), starts)


def _products(
    predictors: Predictors, targets: np.ndarray, without: set[int], scores: np.ndarray, n_free: int
) -> list[tuple[int, int]]:
    columns = np.flatnonzero(~np.isin(predictors.feature_of, list(without)))
    if len(columns) > _MOST_CROSSED:
        # A product of two shows in neither, but its size goes with the size of both.
        sizes = np.abs(targets[:, :_MOST_TARGETS])
        sizes = sizes - sizes.mean(axis=0)
        spread = np.sqrt(np.mean(sizes**2, axis=0))
        by_size = _squares_by_feature(predictors, sizes / np.where(spread > 0, spread, 1.0))
        n_curves = predictors.curve_basis[2] * sizes.shape[1]
        best = np.maximum(scores, (by_size - n_curves) / np.sqrt(2 * np.maximum(n_curves, 1)))
        columns = np.sort(columns[np.argsort(-best[predictors.feature_of[columns]], kind="stable")[:_MOST_CROSSED]])
    if len(columns) < 2:
        return []
    design = np.ascontiguousarray(predictors.clipped[:, columns])
    if targets.shape[1] > _MOST_TARGETS:
        targets = targets[:, np.argsort(-(targets**2).sum(axis=0), kind="stable")[:_MOST_TARGETS]]
    squares = np.zeros((len(columns), len(columns)))
    for target in targets.T.astype(np.float32):
        weight = target - target.mean()
        size = float(weight @ weight)
        if size > 0:
            squares += ((design * weight[:, None]).T @ design).astype(np.float64) ** 2 / size
    squares[np.tril_indices(len(columns))] = 0.0
    n_pairs = len(columns) * (len(columns) - 1) // 2
    best = np.argpartition(-squares, min(_PRODUCTS, squares.size - 1), axis=None)[:_PRODUCTS]
    best = best[np.argsort(-squares.ravel()[best], kind="stable")]
    sure = _PRODUCT_MARGIN * _sure(_PRODUCT_LEVEL / n_pairs, min(n_free, _MOST_TARGETS))
    pairs = [divmod(int(pair), len(columns)) for pair in best if squares.ravel()[pair] > sure]
    return [(int(columns[first]), int(columns[second])) for first, second in pairs]


@lru_cache(maxsize=4096)
def _sure(chance: float, n_free: int) -> float:
    return float(stats.chi2.isf(chance, n_free))
