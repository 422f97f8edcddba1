"""Hierarchical label sets with planted drivers: the controlled setting in which a ranking can be checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import norm
from sklearn.utils import check_random_state

from ramify.datasets.dataset import Dataset
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_integer, check_real

_OWNER = "make_hierarchical"


def make_hierarchical(
    n_samples: int = 500,
    *,
    n_features: int = 60,
    depth: int = 3,
    width: int = 2,
    balance: float = 1.0,
    extra_parents: float = 0.0,
    n_drivers: int = 1,
    label_probability: float = 0.5,
    noise: float = 0.05,
    density: float | None = None,
    missing: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Generate label sets under a hierarchy, each label driven by features of its own.

    A label applies to a row if all its parents do and the sum of its own driving features is high (for sparse
    features: one of them is present). So the features that drive a label are its own and those of its ancestors, and
    the others are noise.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows.
    n_features : int, default=60
        Number of features, at least `n_drivers` times the number of labels.
    depth : int, default=3
        Number of levels of the hierarchy.
    width : int, default=2
        Number of top labels, and of children of every label that has any.
    balance : float, default=1.0
        Probability that a label above the last level has children; the first one of every family always has, so the
        depth is reached. 1 is a balanced hierarchy.
    extra_parents : float, default=0.0
        Probability that a label below the second level has a second parent; above 0 the hierarchy is a DAG.
    n_drivers : int, default=1
        Number of features that drive each label; no two labels share one.
    label_probability : float, default=0.5
        Probability of a label where its parents apply: how densely the hierarchy is populated. Sparse features
        decide it themselves, by their density.
    noise : float, default=0.05
        Probability that a label is decided by a coin of the same probability instead of its features.
    density : float, optional
        None for dense features of the standard normal distribution; else the share of ones in sparse 0/1 features.
    missing : float, default=0.0
        Share of cells that are missing; for dense features only.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Dataset
        With `truth`, the 0/1 matrix of features by labels.

    References
    ----------
    I. Slavkov, J. Karcheska, D. Kocev, S. Kalajdziski, S. Dzeroski. ReliefF for hierarchical multi-label
    classification. New Frontiers in Mining Complex Patterns, 2014, section 5.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> data = make_hierarchical(100, depth=2, width=3, random_state=0)
    >>> data.hierarchy
    Hierarchy(12 nodes, 9 edges, tree, depth 2)
    >>> int(data.truth[:, data.hierarchy.index("1")].sum())
    1
    """
    _check(n_samples, n_features, depth, width, balance, extra_parents, n_drivers, label_probability, noise)
    random = check_random_state(random_state)
    hierarchy = _draw_hierarchy(depth, width, balance, extra_parents, random)
    drivers = _draw_drivers(n_features, len(hierarchy), n_drivers, random)
    X = _draw_features(n_samples, n_features, density, random)
    y = _decide_labels(X, drivers, hierarchy, label_probability if density is None else None, noise, random)
    if check_real(_OWNER, "missing", missing, low=0, high=1, open_high=True):
        if density is not None:
            raise ValueError("The 'missing' parameter of make_hierarchical needs dense features: leave 'density' out.")
        X[random.random_sample(X.shape) < missing] = np.nan
    return Dataset(
        X=X,
        y=y,
        target="hierarchy",
        label_names=hierarchy.names,
        hierarchy=hierarchy,
        truth=_truth(drivers, hierarchy, n_features),
        source=_OWNER,
    )


def _check(
    n_samples: int,
    n_features: int,
    depth: int,
    width: int,
    balance: float,
    extra_parents: float,
    n_drivers: int,
    label_probability: float,
    noise: float,
) -> None:
    for name, count in (("n_samples", n_samples), ("n_features", n_features), ("depth", depth), ("width", width)):
        check_integer(_OWNER, name, count, low=1)
    check_integer(_OWNER, "n_drivers", n_drivers, low=1)
    for name, share in (("balance", balance), ("extra_parents", extra_parents), ("noise", noise)):
        check_real(_OWNER, name, share, low=0, high=1)
    check_real(_OWNER, "label_probability", label_probability, low=0, high=1, open_low=True, open_high=True)


def _draw_hierarchy(
    depth: int, width: int, balance: float, extra_parents: float, random: np.random.RandomState
) -> Hierarchy:
    level = [str(k + 1) for k in range(width)]
    names, edges = list(level), []
    for number in range(2, depth + 1):
        below = []
        for position, parent in enumerate(level):
            if position % width and random.random_sample() >= balance:
                continue
            for k in range(width):
                child = f"{parent}.{k + 1}"
                below.append(child)
                edges.append((parent, child))
                others = [other for other in level if other != parent]
                if number > 2 and others and random.random_sample() < extra_parents:
                    edges.append((others[random.randint(len(others))], child))
        names += below
        level = below
    return Hierarchy.from_edges(edges, nodes=names)


def _draw_drivers(n_features: int, n_labels: int, n_drivers: int, random: np.random.RandomState) -> np.ndarray:
    """Features that drive each label, one row per label."""
    if n_labels * n_drivers > n_features:
        raise ValueError(
            f"The 'n_features' parameter of make_hierarchical must be at least {n_labels * n_drivers}, for {n_labels} "
            f"labels with {n_drivers} drivers each. Got {n_features}; raise it, or lower 'depth' or 'width'."
        )
    chosen: np.ndarray = random.permutation(n_features)[: n_labels * n_drivers]
    return chosen.reshape(n_labels, n_drivers)


def _draw_features(n_samples: int, n_features: int, density: float | None, random: np.random.RandomState) -> Any:
    if density is None:
        return random.standard_normal((n_samples, n_features))
    check_real(_OWNER, "density", density, low=0, high=1, open_low=True)
    columns = [np.flatnonzero(random.random_sample(n_samples) < density) for _ in range(n_features)]
    bounds = np.concatenate([[0], np.cumsum([len(rows) for rows in columns])])
    return sparse.csc_array((np.ones(bounds[-1]), np.concatenate(columns), bounds), shape=(n_samples, n_features))


def _decide_labels(
    X: Any,
    drivers: np.ndarray,
    hierarchy: Hierarchy,
    probability: float | None,
    noise: float,
    random: np.random.RandomState,
) -> sparse.csr_array:
    n_samples = X.shape[0]
    columns: list[np.ndarray] = [np.empty(0)] * len(hierarchy)
    for label in hierarchy.topological_order.tolist():
        own = X[:, drivers[label]]
        score = np.asarray(own.sum(axis=1), dtype=np.float64).ravel()
        high = score > (0 if probability is None else norm.isf(probability) * np.sqrt(drivers.shape[1]))
        share = float(high.mean()) if probability is None else probability
        coin = random.random_sample(n_samples) < share
        decided = np.where(random.random_sample(n_samples) < noise, coin, high)
        for parent in hierarchy.parents[hierarchy.names[label]]:
            decided = decided & columns[hierarchy.index(parent)]
        columns[label] = decided
    return sparse.csr_array(np.column_stack(columns).astype(np.uint8))


def _truth(drivers: np.ndarray, hierarchy: Hierarchy, n_features: int) -> np.ndarray:
    n_labels, n_drivers = drivers.shape
    own = np.zeros((n_features, n_labels), dtype=np.uint8)
    own[drivers.ravel(), np.repeat(np.arange(n_labels), n_drivers)] = 1
    inherited = own @ hierarchy.ancestor_matrix.T.toarray()
    return np.minimum(own + inherited, 1).astype(np.uint8)
