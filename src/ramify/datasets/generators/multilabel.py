"""Label sets with a chosen correlation, and features of which it is known which label they serve."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.stats import norm
from sklearn.utils import check_random_state

from ramify.datasets.dataset import Dataset
from ramify.parameters import check_integer, check_option, check_real

_OWNER = "make_multilabel"
_DEPENDENCES = ("exchangeable", "autoregressive")


def make_multilabel(
    n_samples: int = 200,
    *,
    n_features: int = 50,
    n_labels: int = 5,
    correlation: float = 0.1,
    dependence: str = "exchangeable",
    signal: float = 0.5,
    density: float | ArrayLike = 0.3,
    relevance: float = 0.2,
    truth: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Generate label sets of a given correlation and features whose relevance per label is known.

    The labels come first: each is a standard normal cut at the quantile of its density, where with probability
    sqrt(correlation) the normal is one that all labels of the row share (see `dependence`). A feature is normal with
    variance 1 around `signal` times the number of the row's labels that it is relevant for.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_features : int, default=50
        Number of features (P).
    n_labels : int, default=5
        Number of labels (L).
    correlation : float, default=0.1
        Correlation of two labels of equal density, from 0 to 1.
    dependence : {"exchangeable", "autoregressive"}, default="exchangeable"
        Which labels have this correlation: any two, or neighbours in their order, where each label takes over the
        normal of the label before it with probability `correlation`; k steps apart it is then the k-th power.
    signal : float, default=0.5
        By how much a label shifts the mean of a feature that is relevant for it (t).
    density : float or array-like of shape (n_labels,), default=0.3
        Probability of each label.
    relevance : float, default=0.2
        Probability that a feature is relevant for a label.
    truth : array-like of shape (n_features, n_labels), optional
        Which feature is relevant for which label, instead of drawing it: pass the `truth` of a first data set to get
        more rows of the same kind.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Dataset
        With `truth`, the 0/1 matrix of features by labels.

    References
    ----------
    L-classifier chains, section 6.3, after Sandrock and Steel (2016) and Oman (2009). The section describes the
    exchangeable labels; what it prints about strongly correlated ones is met by the autoregressive ones.

    Examples
    --------
    >>> from ramify.datasets import make_multilabel
    >>> data = make_multilabel(100, n_features=20, n_labels=4, random_state=0)
    >>> data
    Dataset(100 rows, 20 dense features, target='labels', 4 labels)
    >>> data.truth.shape
    (20, 4)
    """
    check_integer(_OWNER, "n_samples", n_samples, low=1)
    check_integer(_OWNER, "n_features", n_features, low=1)
    check_integer(_OWNER, "n_labels", n_labels, low=1)
    check_real(_OWNER, "correlation", correlation, low=0, high=1)
    check_option(_OWNER, "dependence", dependence, _DEPENDENCES)
    check_real(_OWNER, "signal", signal)
    check_real(_OWNER, "relevance", relevance, low=0, high=1)
    random = check_random_state(random_state)
    relevant = _relevant_features(truth, (n_features, n_labels), relevance, random)
    draw = _exchangeable_normals if dependence == "exchangeable" else _autoregressive_normals
    normals = draw((n_samples, n_labels), correlation, random)
    labels = (normals <= norm.ppf(_densities(density, n_labels))).astype(np.float64)
    X = random.standard_normal((n_samples, n_features)) + signal * (labels @ relevant.T)
    return Dataset(
        X=X,
        y=sparse.csr_array(labels.astype(np.uint8)),
        target="labels",
        label_names=tuple(f"label{l}" for l in range(n_labels)),
        truth=relevant.astype(np.uint8),
        source="make_multilabel",
    )


def _densities(density: float | ArrayLike, n_labels: int) -> np.ndarray:
    densities = np.asarray(density, dtype=np.float64)
    if densities.shape not in {(), (n_labels,)} or not ((densities >= 0) & (densities <= 1)).all():
        raise ValueError(
            f"The 'density' parameter of {_OWNER} must be a number in [0, 1], or one per label ({n_labels}). "
            f"Got {density!r} instead."
        )
    return np.broadcast_to(densities, (n_labels,))


def _relevant_features(
    truth: ArrayLike | None, shape: tuple[int, int], relevance: float, random: np.random.RandomState
) -> np.ndarray:
    if truth is None:
        return (random.random_sample(shape) < relevance).astype(np.float64)
    relevant = np.asarray(truth, dtype=np.float64)
    if relevant.shape != shape or not np.isin(relevant, (0, 1)).all():
        raise ValueError(
            f"The 'truth' parameter of {_OWNER} must be a 0/1 matrix of n_features x n_labels = {shape}. "
            f"Got one of shape {relevant.shape}."
        )
    return relevant


def _exchangeable_normals(shape: tuple[int, int], correlation: float, random: np.random.RandomState) -> np.ndarray:
    """A label's normal is the row's shared one with probability sqrt(correlation)."""
    shared = random.standard_normal((shape[0], 1))
    own = random.standard_normal(shape)
    return np.where(random.random_sample(shape) < np.sqrt(correlation), shared, own)


def _autoregressive_normals(shape: tuple[int, int], correlation: float, random: np.random.RandomState) -> np.ndarray:
    """A label's normal is that of the label before it with probability `correlation`."""
    normals = random.standard_normal(shape)
    follows = random.random_sample(shape) < correlation
    for label in range(1, shape[1]):
        normals[:, label] = np.where(follows[:, label], normals[:, label - 1], normals[:, label])
    return normals
