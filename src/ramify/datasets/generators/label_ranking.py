"""Generated label-ranking data with planted truth."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata
from sklearn.utils import check_random_state

from ramify.datasets.dataset import Dataset
from ramify.parameters import check_integer, check_option, check_real

__all__ = ["make_label_ranking"]


def make_label_ranking(
    n_samples: int = 500,
    *,
    n_features: int = 10,
    n_informative: int = 5,
    n_labels: int = 5,
    scores: Literal["utilities", "probabilities", "columns"] = "utilities",
    noise: float = 0.1,
    ties: float = 0.0,
    unranked: float = 0.0,
    random_state: Any = None,
) -> Dataset:
    """Make a data set whose rankings follow a few of its features.

    A row ranks the labels by a score of each, highest first, plus noise. Every informative feature drives at least one
    label. Where the scores come from:

    =============== ==================================================================================================
    scores          the score of a label
    =============== ==================================================================================================
    "utilities"     a sum of straight and bent (cosine) terms of its features
    "probabilities" the log-probability of a class, given the row: each class is a normal cloud around its own centre
    "columns"       a numeric column of the same table, a linear function of hidden factors that the features show; the
                    columns have units of their own and are standardised before they are compared
    =============== ==================================================================================================

    The last two are how the data sets of label ranking were made from classification and from regression data [1]_.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    n_features, n_informative : int
        Number of features, and how many of them (at random positions) drive the rankings.
    n_labels : int
        Number of labels, at least 2.
    scores : {"utilities", "probabilities", "columns"}, default="utilities"
        What the labels are ranked by, see above.
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

    References
    ----------
    .. [1] W. Cheng, J. Huhn, E. Hullermeier, "Decision Tree and Instance-Based Learning for Label Ranking", ICML, 2009.

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
    check_option(name, "scores", scores, tuple(_SCORES))
    noise = check_real(name, "noise", noise, low=0)
    ties = check_real(name, "ties", ties, low=0, high=1)
    unranked = check_real(name, "unranked", unranked, low=0, high=1)
    generator = np.random.default_rng(check_random_state(random_state).randint(2**31))

    X, truth, values = _SCORES[scores](generator, n_samples, n_features, n_informative, n_labels)
    values += noise * values.std() * generator.standard_normal(values.shape)
    y = rankdata(-values, method="ordinal", axis=1).astype(np.float64)
    return Dataset(
        X,
        y=_hide_labels(generator, _tie_neighbors(generator, y, ties), unranked),
        target="rankings",
        feature_names=tuple(f"A{feature + 1}" for feature in range(n_features)),
        label_names=tuple(f"L{label + 1}" for label in range(n_labels)),
        truth=truth,
        source=f"make_label_ranking({n_samples}, n_features={n_features}, n_labels={n_labels})",
    )


def _utilities(
    generator: np.random.Generator, n_samples: int, n_features: int, n_informative: int, n_labels: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, the planted weights, and a sum of straight and bent terms per label."""
    X = generator.uniform(-1, 1, (n_samples, n_features))
    truth = _planted_weights(generator, n_features, n_informative, n_labels)
    bent = np.cos(np.pi * (X + generator.uniform(0, 2, n_features)))
    direction = generator.choice([-1.0, 1.0], truth.shape)
    return X, truth, X @ (truth * direction) + bent @ (truth * direction[::-1])


def _class_probabilities(
    generator: np.random.Generator, n_samples: int, n_features: int, n_informative: int, n_labels: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, the planted weights, and the log-probability of each class (up to a constant per row).

    With equal spreads and equally frequent classes, log P(class | x) = x * centre - |centre|^2 / 2 + constant.
    """
    truth = _planted_weights(generator, n_features, n_informative, n_labels)
    centres = truth * generator.choice([-1.0, 1.0], truth.shape)
    classes = generator.integers(n_labels, size=n_samples)
    X = centres.T[classes] + generator.standard_normal((n_samples, n_features))
    return X, truth, X @ centres - 0.5 * (centres**2).sum(axis=0)


def _numeric_columns(
    generator: np.random.Generator, n_samples: int, n_features: int, n_informative: int, n_labels: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features that show hidden factors, the planted weights, and the standardised columns that become labels."""
    truth = _planted_weights(generator, n_features, n_informative, n_labels)
    factors = generator.standard_normal((n_samples, n_features))
    X = factors + 0.1 * generator.standard_normal(factors.shape)
    columns = factors @ (truth * generator.choice([-1.0, 1.0], truth.shape))
    columns = columns * 10.0 ** generator.uniform(-2, 2, n_labels) + generator.uniform(-100, 100, n_labels)
    spread = columns.std(axis=0)
    return X, truth, (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


_SCORES = {"utilities": _utilities, "probabilities": _class_probabilities, "columns": _numeric_columns}


def _planted_weights(generator: np.random.Generator, n_features: int, n_informative: int, n_labels: int) -> np.ndarray:
    informative = generator.permutation(n_features)[:n_informative]
    weights = np.zeros((n_features, n_labels))
    chosen = generator.random((n_informative, n_labels)) < 0.6
    chosen[np.arange(n_informative), generator.integers(n_labels, size=n_informative)] = True
    chosen[generator.integers(n_informative, size=n_labels), np.arange(n_labels)] = True
    weights[informative] = np.where(chosen, generator.uniform(0.5, 1.5, chosen.shape), 0.0)
    return weights


def _tie_neighbors(generator: np.random.Generator, ranks: np.ndarray, share: float) -> np.ndarray:
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
