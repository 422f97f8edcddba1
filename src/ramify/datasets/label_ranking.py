"""Generated label-ranking data with planted truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.utils import check_random_state

from ramify.datasets.dataset import Dataset
from ramify.parameters import check_integer, check_real

__all__ = ["make_label_ranking"]


def make_label_ranking(
    n_samples: int = 500,
    *,
    n_features: int = 10,
    n_informative: int = 5,
    n_labels: int = 5,
    noise: float = 0.1,
    ties: float = 0.0,
    unranked: float = 0.0,
    random_state: Any = None,
) -> Dataset:
    """Make a data set whose rankings follow a few of its features.

    Each label has a score, a sum of bent (cosine) and straight terms of some informative features, and a row ranks the
    labels by their scores plus noise. Every informative feature drives at least one label.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    n_features, n_informative : int
        Number of features, uniform on [-1, 1], and how many of them (at random positions) drive the rankings.
    n_labels : int
        Number of labels, at least 2.
    noise : float
        Standard deviation of the noise added to the scores, in standard deviations of the scores.
    ties, unranked : float
        Share of neighbours in the ranking that are tied, and of labels that are left unranked (at least two labels
        per row stay ranked).
    random_state : int, RandomState instance or None
        The seed.

    Returns
    -------
    Dataset
        With ``target="rankings"``; ``truth`` (n_features, n_labels) holds the weight of each feature in each label's
        score, 0 for features that do not matter.

    Examples
    --------
    >>> from ramify.datasets import make_label_ranking
    >>> data = make_label_ranking(4, n_labels=3, random_state=0)
    >>> data.y.shape, int((data.truth.sum(axis=1) > 0).sum())
    ((4, 3), 5)
    """
    name = "make_label_ranking"
    n_samples = check_integer(name, "n_samples", n_samples, low=1)
    n_features = check_integer(name, "n_features", n_features, low=1)
    n_informative = check_integer(name, "n_informative", n_informative, low=1, high=n_features)
    n_labels = check_integer(name, "n_labels", n_labels, low=2)
    noise = check_real(name, "noise", noise, low=0)
    ties = check_real(name, "ties", ties, low=0, high=1)
    unranked = check_real(name, "unranked", unranked, low=0, high=1)
    generator = np.random.default_rng(check_random_state(random_state).randint(2**31))

    X = generator.uniform(-1, 1, (n_samples, n_features))
    truth = _planted_weights(generator, n_features, n_informative, n_labels)
    bent = np.cos(np.pi * (X + generator.uniform(0, 2, n_features)))
    direction = generator.choice([-1.0, 1.0], truth.shape)
    scores = X @ (truth * direction) + bent @ (truth * direction[::-1])
    scores += noise * scores.std() * generator.standard_normal(scores.shape)
    y = rankdata(-scores, method="ordinal", axis=1).astype(np.float64)
    return Dataset(
        X,
        y=_hide_labels(generator, _tie_neighbours(generator, y, ties), unranked),
        target="rankings",
        feature_names=tuple(f"A{feature + 1}" for feature in range(n_features)),
        label_names=tuple(f"L{label + 1}" for label in range(n_labels)),
        truth=truth,
        source=f"make_label_ranking({n_samples}, n_features={n_features}, n_labels={n_labels})",
    )


def _planted_weights(generator: np.random.Generator, n_features: int, n_informative: int, n_labels: int) -> np.ndarray:
    informative = generator.permutation(n_features)[:n_informative]
    weights = np.zeros((n_features, n_labels))
    chosen = generator.random((n_informative, n_labels)) < 0.6
    chosen[np.arange(n_informative), generator.integers(n_labels, size=n_informative)] = True
    chosen[generator.integers(n_informative, size=n_labels), np.arange(n_labels)] = True
    weights[informative] = np.where(chosen, generator.uniform(0.5, 1.5, chosen.shape), 0.0)
    return weights


def _tie_neighbours(generator: np.random.Generator, ranks: np.ndarray, share: float) -> np.ndarray:
    order = np.argsort(ranks, axis=1)
    tied = generator.random((len(ranks), ranks.shape[1] - 1)) < share
    dense = np.cumsum(np.column_stack([np.ones(len(ranks)), ~tied]), axis=1)
    result = np.empty_like(ranks)
    np.put_along_axis(result, order, dense, axis=1)
    return result if share else ranks


def _hide_labels(generator: np.random.Generator, ranks: np.ndarray, share: float) -> np.ndarray:
    draws = generator.random(ranks.shape)
    kept_anyway = rankdata(draws, method="ordinal", axis=1) > ranks.shape[1] - 2
    hidden = np.where((draws < share) & ~kept_anyway, np.nan, ranks)
    return rankdata(hidden, method="dense", axis=1, nan_policy="omit").astype(np.float64)
