"""Do rankings agree? Similarity of two, stability of many, and a map of methods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.utils import check_random_state

from ramify.features.frames import n_rows, take_rows
from ramify.parameters import check_integer, check_option, check_real
from ramify.ranking.feature_ranking import FeatureRanking

if TYPE_CHECKING:
    import pandas as pd


class Fuji(NamedTuple):
    """FUJI similarity of the top j features for every j, and the area under that curve."""

    curve: np.ndarray
    area: float


class Stability(NamedTuple):
    """Nogueira's stability with its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class MethodMap:
    """Distances between methods and a plane in which they are kept as well as possible."""

    distances: pd.DataFrame
    coordinates: pd.DataFrame


def fuji(first: FeatureRanking, second: FeatureRanking) -> Fuji:
    """Fuzzy Jaccard index of the top features of two rankings.

    A feature that just misses the top of one ranking counts in part, by its score relative to the last one in.

    Parameters
    ----------
    first, second : FeatureRanking
        Rankings of the same features.

    Notes
    -----
    Scores are clipped at 0, 0/0 is 1, and the area is divided by the number of features, so that a ranking has the
    similarity 1 with itself.

    References
    ----------
    M. Petkovic et al. Quantifying the effects of gyroless flying of the Mars Express spacecraft with machine learning.
    SMC-IT 2019.

    Examples
    --------
    >>> from ramify.ranking import FeatureRanking, fuji
    >>> fuji(FeatureRanking("abc", [3, 2, 1]), FeatureRanking("abc", [3, 1, 2])).curve.round(3).tolist()
    [1.0, 0.667, 1.0]
    """
    scores = [_scaled(ranking.scores) for ranking in (first, _same_features(first, second))]
    orders = [np.argsort(-score, kind="stable").tolist() for score in scores]
    curve = _fuzzy_jaccard(*(score.tolist() for score in scores), *orders)
    return Fuji(curve, float(curve.mean()))


def _scaled(scores: np.ndarray) -> np.ndarray:
    """Scores clipped at 0; where sums of them could overflow, at a scale (a power of two) on which they do not."""
    clipped = np.maximum(0.0, scores)
    return clipped if clipped.max() < 2.0**1000 else np.ldexp(clipped, -100)


def _fuzzy_jaccard(
    first: list[float], second: list[float], first_order: list[int], second_order: list[int]
) -> np.ndarray:
    """Index of the top 1, 2, ... features of both rankings.

    A feature in one of the tops belongs wholly to their union; to what they share it belongs by its score in the other
    ranking relative to the last one in. Those scores are summed exactly, so that features may also leave the sums.
    """
    n_features = len(first)
    curve = np.empty(n_features)
    is_in = [bytearray(n_features), bytearray(n_features)]
    missing_from: tuple[list[float], list[float]] = ([], [])  # sums of the scores of those that are in the other top
    n_both = 0
    for j, entering in enumerate(zip(first_order, second_order, strict=True)):
        for side, (feature, own, other) in enumerate(zip(entering, (first, second), (second, first), strict=True)):
            is_in[side][feature] = 1
            if is_in[1 - side][feature]:
                n_both += 1
                _add_exactly(missing_from[side], -own[feature])
            else:
                _add_exactly(missing_from[1 - side], other[feature])
        n_one = j + 1 - n_both
        shared = float(n_both)
        for feature, own, partials in zip(entering, (first, second), missing_from, strict=True):
            shared += math.fsum(partials) / own[feature] if own[feature] > 0 else n_one
        curve[j] = shared / (n_both + 2 * n_one)
    return curve


def _add_exactly(partials: list[float], term: float) -> None:
    """Add to a sum that is kept as several doubles without any rounding (Shewchuk's expansions)."""
    kept = 0
    for partial in partials:
        larger, smaller = (term, partial) if abs(term) >= abs(partial) else (partial, term)
        term = larger + smaller
        lost = smaller - (term - larger)
        if lost:
            partials[kept] = lost
            kept += 1
    partials[kept:] = [term]


def overlap(first: FeatureRanking, second: FeatureRanking, k: int) -> float:
    """Share of common features among the top `k` of two rankings.

    Examples
    --------
    >>> from ramify.ranking import FeatureRanking, overlap
    >>> overlap(FeatureRanking("abc", [3, 2, 1]), FeatureRanking("abc", [3, 1, 2]), 2)
    0.5
    """
    check_integer("overlap", "k", k, low=1, high=len(first))
    tops = [set(ranking.order[:k].tolist()) for ranking in (first, _same_features(first, second))]
    return len(tops[0] & tops[1]) / k


def kendall(first: FeatureRanking, second: FeatureRanking) -> float:
    """Kendall's tau-b of the scores of two rankings; 0 where one of them is constant.

    Examples
    --------
    >>> from ramify.ranking import FeatureRanking
    >>> from ramify.ranking.agreement import kendall
    >>> first, second = FeatureRanking(["a", "b", "c"], [3, 2, 1]), FeatureRanking(["a", "b", "c"], [2, 3, 1])
    >>> round(kendall(first, second), 3)
    0.333
    """
    return _correlation(stats.kendalltau, first, second)


def spearman(first: FeatureRanking, second: FeatureRanking) -> float:
    """Spearman's rank correlation of the scores of two rankings; 0 where one of them is constant.

    Examples
    --------
    >>> from ramify.ranking import FeatureRanking
    >>> from ramify.ranking.agreement import spearman
    >>> first, second = FeatureRanking(["a", "b", "c"], [3, 2, 1]), FeatureRanking(["a", "b", "c"], [2, 3, 1])
    >>> round(spearman(first, second), 3)
    0.5
    """
    return _correlation(stats.spearmanr, first, second)


def resampled_rankings(
    ranker: Any, X: Any, y: Any, *, n_resamples: int = 20, random_state: Any = None
) -> list[FeatureRanking]:
    """Rankings from bootstrap samples of the rows, for `stability`.

    Parameters
    ----------
    ranker : estimator with `ranking_`
        Cloned and fitted on each sample.
    X, y : array, CSR or frame
        The data.
    n_resamples : int, default=20
        How many.
    random_state : int, RandomState or None
        Seed.

    Examples
    --------
    >>> from ramify.datasets import make_multilabel
    >>> from ramify.ranking import ReliefRanker
    >>> from ramify.ranking.agreement import resampled_rankings
    >>> data = make_multilabel(60, random_state=0)
    >>> len(resampled_rankings(ReliefRanker(3), data.X, data.y, n_resamples=3, random_state=0))
    3
    """
    check_integer("resampled_rankings", "n_resamples", n_resamples, low=2)
    random = check_random_state(random_state)
    n_samples = n_rows(X)
    drawn = [np.sort(random.randint(n_samples, size=n_samples)) for _ in range(n_resamples)]
    return [clone(ranker).fit(take_rows(X, rows), take_rows(y, rows)).ranking_ for rows in drawn]


def stability(rankings: Sequence[FeatureRanking], k: int, *, confidence: float = 0.95) -> Stability:
    """How stable the top `k` features are over resamples of the data, corrected for chance.

    Parameters
    ----------
    rankings : sequence of FeatureRanking
        Rankings of the same features from resamples, see `resampled_rankings`.
    k : int
        How many features are looked at.
    confidence : float, default=0.95
        Confidence of the interval.

    Returns
    -------
    Stability
        1 for the same features every time, 0 as by chance.

    References
    ----------
    S. Nogueira, K. Sechidis, G. Brown. On the stability of feature selection algorithms. JMLR 18, 2018.

    Examples
    --------
    >>> from ramify.ranking import FeatureRanking, stability
    >>> stability([FeatureRanking("abc", [3, 2, 1])] * 5, 1).value
    1.0
    """
    if len(rankings) < 2:
        raise ValueError(f"Stability needs at least two rankings. Got {len(rankings)}.")
    n_features = len(rankings[0])
    check_integer("stability", "k", k, low=1, high=n_features - 1)
    check_real("stability", "confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    chosen = np.zeros((len(rankings), n_features))
    for row, ranking in zip(chosen, rankings, strict=True):
        row[_same_features(rankings[0], ranking).order[:k]] = 1
    n_rankings = len(rankings)
    share = chosen.mean(axis=0)
    chance = k / n_features * (1 - k / n_features)
    value = 1 - (n_rankings / (n_rankings - 1) * share * (1 - share)).mean() / chance
    # Each ranking's part in the value, whose spread gives the variance (the paper's Theorem 7; with k the same for all
    # rankings its other terms are constant).
    parts = (chosen @ share) / n_features / chance
    variance = 4 / n_rankings**2 * np.sum((parts - parts.mean()) ** 2)
    margin = stats.norm.ppf((1 + confidence) / 2) * np.sqrt(variance)
    return Stability(float(value), float(value - margin), float(min(1.0, value + margin)))


def method_map(rankings: Mapping[str, FeatureRanking], *, distance: str = "fuji") -> MethodMap:
    """Distances between methods, and their places in a plane.

    Parameters
    ----------
    rankings : mapping of str to FeatureRanking
        Rankings of the same features by the names of their methods.
    distance : {"fuji", "kendall", "spearman"}, default="fuji"
        1 - area under the FUJI curve, or half of 1 - the correlation.

    Examples
    --------
    >>> from ramify.ranking import FeatureRanking
    >>> from ramify.ranking.agreement import method_map
    >>> rankings = {"one": FeatureRanking("abc", [3, 2, 1]), "two": FeatureRanking("abc", [1, 2, 3])}
    >>> float(method_map(rankings, distance="kendall").distances.loc["one", "two"])
    1.0
    """
    import pandas as pd

    check_option("method_map", "distance", distance, ("fuji", "kendall", "spearman"))
    names = list(rankings)
    if len(names) < 2:
        raise ValueError(f"A map needs at least two methods. Got {len(names)}.")
    apart = np.zeros((len(names), len(names)))
    for i, first in enumerate(names):
        for j in range(i):
            pair = rankings[first], rankings[names[j]]
            apart[i, j] = apart[j, i] = (
                1 - fuji(*pair).area
                if distance == "fuji"
                else (1 - {"kendall": kendall, "spearman": spearman}[distance](*pair)) / 2
            )
    places = _classical_scaling(apart)
    return MethodMap(
        pd.DataFrame(apart, index=names, columns=names), pd.DataFrame(places, index=names, columns=["x", "y"])
    )


def _same_features(first: FeatureRanking, second: FeatureRanking) -> FeatureRanking:
    second.scores_for(first.names)
    return second


def _correlation(measure: Any, first: FeatureRanking, second: FeatureRanking) -> float:
    _same_features(first, second)
    if len(np.unique(first.scores)) < 2 or len(np.unique(second.scores)) < 2:
        return 0.0
    return float(measure(first.scores, second.scores).statistic)


def _classical_scaling(apart: np.ndarray) -> np.ndarray:
    """Coordinates in two dimensions whose distances are nearest to `apart` (Torgerson)."""
    centre = np.eye(len(apart)) - 1 / len(apart)
    values, vectors = np.linalg.eigh(-centre @ (apart**2) @ centre / 2)
    top = np.argsort(-values, kind="stable")[:2]
    places = vectors[:, top] * np.sqrt(np.maximum(values[top], 0))
    signs = np.sign(places[np.argmax(np.abs(places), axis=0), np.arange(places.shape[1])])
    placed = np.zeros((len(apart), 2))
    placed[:, : places.shape[1]] = places * np.where(signs == 0, 1, signs)
    return placed
