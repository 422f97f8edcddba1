"""Is a ranking good? Nearest neighbours weighted by its scores against unweighted ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ramify.ensemble.row_weights import checked_sample_weight
from ramify.features import Features, apply_features, columns_of, learn_features
from ramify.features.distances import FeatureSpace
from ramify.features.frames import column_names, weighing_data
from ramify.hierarchy import Hierarchy
from ramify.metrics.target_measure import target_score
from ramify.parameters import check_integer, check_jobs, check_option, worker_count
from ramify.ranking.feature_ranking import FeatureRanking
from ramify.targets import MEASURED_KINDS, encode


class KnnQuality(NamedTuple):
    """Quality of nearest neighbours with the ranking's weights, and without."""

    weighted: float
    unweighted: float
    measure: str


def knn_quality(
    ranking: FeatureRanking | Sequence[FeatureRanking],
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    n_neighbors: int = 10,
    hierarchy: Hierarchy | None = None,
    target: str = "auto",
    categorical_features: Any = "from_dtype",
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """How much better nearest neighbours predict when features weigh by their scores.

    The distance is `sqrt(sum of weight * difference^2)` with the feature differences of Relief and the weights
    `max(0, score)`; the prediction is the mean of the neighbours. If a ranking is meaningful, the weights help.

    Parameters
    ----------
    ranking : FeatureRanking or sequence of FeatureRanking
        What to measure, computed from the training rows. A ranking without a positive score counts as unweighted.
    X, y : array, CSR or frame
        Training rows, from which ranges and neighbours come.
    X_test, y_test : array, CSR or frame
        Rows to predict.
    n_neighbors : int, default=10
        Number of neighbours; of neighbours at equal distance the first rows count.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels.
    target : {"auto", "classes", "labels", "numbers", "rankings"}, default="auto"
        What y is, as `ramify.targets.encode` decides it: classes and label sets are measured by pooled AUPRC, numbers
        by R2, rankings (which must be named) by Kendall's tau.
    categorical_features : "from_dtype", None, or mask, indices or names
        Which features are nominal.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights that the rows of X have in the means of neighbours; rows of weight zero are no neighbours. The rows
        of X_test count the same.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    KnnQuality, or list of KnnQuality where several rankings are given

    References
    ----------
    M. Petkovic, S. Dzeroski, D. Kocev. Feature ranking for hierarchical multi-label classification with tree ensemble
    methods. Acta Polytechnica Hungarica 17, 2020, section 3.3.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ranking import ReliefRanker, knn_quality
    >>> data = make_hierarchical(300, depth=2, random_state=0)
    >>> ranking = ReliefRanker(hierarchy=data.hierarchy).fit(data.X[:200], data.y[:200]).ranking_
    >>> found = knn_quality(ranking, data.X[:200], data.y[:200], data.X[200:], data.y[200:])
    >>> found.weighted > found.unweighted
    True
    """
    check_option("knn_quality", "target", target, ("auto", *MEASURED_KINDS))
    check_jobs("knn_quality", n_jobs)
    rankings = [ranking] if isinstance(ranking, FeatureRanking) else list(ranking)
    columns = columns_of("knn_quality")
    X, y, sample_weight = weighing_data(X, y, sample_weight)
    features = learn_features(columns, X, categorical_features)
    tested = apply_features(columns, X_test)
    n_samples = features.values.shape[0]
    check_integer("knn_quality", "n_neighbors", n_neighbors, low=1, high=n_samples)
    row_weights = checked_sample_weight("knn_quality", sample_weight, n_samples)
    names = column_names(X)
    weights = [np.maximum(0.0, one.scores_for(names)) for one in rankings]
    learnt = encode(y, kind=target, hierarchy=hierarchy, partly_known=True)
    vectors, truth = learnt.vectors(), learnt.truth(y_test)
    n_threads = worker_count(n_jobs)

    def quality(weight: np.ndarray) -> float:
        nearest = _nearest(features, tested, weight, n_neighbors, n_threads)
        return target_score(learnt, truth, learnt.predicted(_neighbor_means(vectors, nearest, row_weights)))

    plain = quality(np.ones(len(names)))
    qualities = [
        KnnQuality(quality(weight) if weight.any() else plain, plain, learnt.measure_title) for weight in weights
    ]
    return qualities[0] if isinstance(ranking, FeatureRanking) else qualities


def _nearest(features: Features, tested: Features, weight: np.ndarray, n_neighbors: int, n_threads: int) -> np.ndarray:
    used = np.flatnonzero(weight)
    kept = Features(features.values[:, used], features.n_categories[used])
    space = FeatureSpace.of(kept, weights=weight[used] / weight.max())
    queries = tested.values[:, used]
    own_rows = np.full(queries.shape[0], -1, dtype=np.int64)
    neighbors: np.ndarray = space.nearest(queries, own_rows=own_rows, n_neighbors=n_neighbors, n_threads=n_threads)
    return neighbors[:, 0]


def _neighbor_means(vectors: Any, nearest: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    if np.isnan(vectors.data if sparse.issparse(vectors) else vectors).any():
        return _known_means(vectors.toarray() if sparse.issparse(vectors) else vectors, nearest, weights)
    n_queries, k = nearest.shape
    shares = np.full(nearest.shape, 1.0 / k)
    if weights is not None:
        shares = weights[nearest] / weights[nearest].sum(axis=1, keepdims=True)
    if sparse.issparse(vectors):
        chosen = sparse.csr_array(
            (shares.ravel(), nearest.ravel(), np.arange(0, n_queries * k + 1, k)),
            shape=(n_queries, vectors.shape[0]),
        )
        return np.asarray((chosen @ vectors).toarray())
    if weights is None:
        return np.asarray(vectors[nearest].mean(axis=1))
    return np.einsum("qk,qkj->qj", shares, vectors[nearest])


def _known_means(vectors: np.ndarray, nearest: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Means of the neighbours of which an output is known; of all rows where none is."""
    own = np.ones(len(vectors)) if weights is None else weights
    known = ~np.isnan(vectors) * own[:, None]
    filled = np.nan_to_num(vectors) * known
    prior = filled.sum(axis=0) / known.sum(axis=0)
    total = known[nearest].sum(axis=1)
    return np.where(total > 0, filled[nearest].sum(axis=1) / np.where(total > 0, total, 1.0), prior)
