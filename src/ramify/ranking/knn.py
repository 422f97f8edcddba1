"""Is a ranking good? Nearest neighbours weighted by its scores against unweighted ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse

from ramify.features import Features, apply_features, columns_of, learn_features
from ramify.features.distances import FeatureSpace
from ramify.features.frames import column_names, is_numbers, n_rows
from ramify.hierarchy import Hierarchy
from ramify.metrics import auprc, kendall_tau, r2
from ramify.parameters import check_integer, check_jobs, check_option
from ramify.ranking.feature_ranking import FeatureRanking
from ramify.targets import encode_labels, encode_numbers
from ramify.targets.rankings import check_rankings, rank_labels

KINDS = ("auto", "labels", "numbers", "rankings")


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
        Order of the labels.
    target : {"auto", "labels", "numbers", "rankings"}, default="auto"
        What y is: "labels" (also classes), measured by pooled AUPRC, "numbers" by R2, "rankings" by Kendall's tau.
        "auto" takes one column of floats and matrices of other numbers than 0 and 1 for numbers.
    categorical_features : "from_dtype", None, or mask, indices or names
        Which features are nominal.
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
    check_option("knn_quality", "target", target, KINDS)
    check_jobs("knn_quality", n_jobs)
    rankings = [ranking] if isinstance(ranking, FeatureRanking) else list(ranking)
    columns = columns_of("knn_quality")
    features = learn_features(columns, X, categorical_features)
    tested = apply_features(columns, X_test)
    n_samples = features.values.shape[0]
    check_integer("knn_quality", "n_neighbors", n_neighbors, low=1, high=n_samples)
    names = column_names(X)
    weights = [np.maximum(0.0, one.scores_for(names)) for one in rankings]
    vectors, evaluate, measure = _vectors(y, y_test, hierarchy, target)
    n_threads = effective_n_jobs(n_jobs)

    def quality(weight: np.ndarray) -> float:
        nearest = _nearest(features, tested, weight, n_neighbors, n_threads)
        return float(evaluate(_neighbor_means(vectors, nearest)))

    plain = quality(np.ones(len(names)))
    found = [KnnQuality(quality(weight) if weight.any() else plain, plain, measure) for weight in weights]
    return found[0] if isinstance(ranking, FeatureRanking) else found


def _nearest(features: Features, tested: Features, weight: np.ndarray, n_neighbors: int, n_threads: int) -> np.ndarray:
    used = np.flatnonzero(weight)
    kept = Features(features.values[:, used], features.n_categories[used])
    space = FeatureSpace.of(kept, weights=weight[used] / weight.max())
    queries = tested.values[:, used]
    own_rows = np.full(queries.shape[0], -1, dtype=np.int64)
    found: np.ndarray = space.nearest(queries, own_rows=own_rows, n_neighbors=n_neighbors, n_threads=n_threads)
    return found[:, 0]


def _neighbor_means(vectors: Any, nearest: np.ndarray) -> np.ndarray:
    if sparse.issparse(vectors):
        n_queries, k = nearest.shape
        chosen = sparse.csr_array(
            (np.full(n_queries * k, 1.0 / k), nearest.ravel(), np.arange(0, n_queries * k + 1, k)),
            shape=(n_queries, vectors.shape[0]),
        )
        return np.asarray((chosen @ vectors).toarray())
    return np.asarray(vectors[nearest].mean(axis=1))


def _vectors(
    y: Any, y_test: Any, hierarchy: Hierarchy | None, target: str
) -> tuple[Any, Callable[[np.ndarray], float], str]:
    """Targets of the training rows as vectors, what measures predicted vectors, and its name."""
    kind = target if target != "auto" else "numbers" if hierarchy is None and is_numbers(y) else "labels"
    if kind == "labels":
        train = encode_labels(y, hierarchy=hierarchy)
        if train.kind == "classes":
            classes = {value: code for code, value in enumerate(train.classes.tolist())}  # type: ignore[union-attr]
            codes = [classes.get(value, -1) for value in np.asarray(y_test).ravel().tolist()]
            truth: Any = (np.array(codes)[:, None] == np.arange(len(classes))).astype(int)
        else:
            truth = encode_labels(y_test, hierarchy=hierarchy).Y
        Y = sparse.csr_array(train.Y, dtype=np.float64)
        return Y, lambda predicted: auprc(truth, predicted), "pooled AUPRC"
    if kind == "rankings":
        ranks, tested = check_rankings(y), check_rankings(y_test)
        return ranks, lambda predicted: float(kendall_tau(tested, rank_labels(predicted))), "Kendall's tau"
    numbers = encode_numbers(y)
    given = np.asarray(y_test, dtype=np.float64).reshape(n_rows(y_test), -1)
    return (
        numbers.Y * numbers.scale + numbers.mean,
        lambda predicted: float(r2(given, predicted, mean=numbers.mean)),
        "R2",
    )
