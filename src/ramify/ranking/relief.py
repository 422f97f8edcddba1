"""ReliefRanker: features by how they differ between neighbours with different and with similar targets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.utils import check_random_state

from ramify.ensemble.training_data import training_data
from ramify.features import Features, feature_names, learn_features
from ramify.features.distances import FeatureSpace
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_flag, check_integer, check_jobs, check_option, check_real, worker_count
from ramify.progress import progress_bar
from ramify.ranking.feature_ranking import BaseRanker, FeatureRanking
from ramify.state import ENCODED_FEATURES, State, fitting, instance
from ramify.targets import KINDS, Target, encode
from ramify.targets.distances import PairDistance, node_distance, symmetric_difference
from ramify.targets.mixed import check_nodes

DEFAULT_RAMP = (0.05, 0.10)
_PAIRS_AT_ONCE = 1 << 20
_FEWEST_PAIRS = 1 << 13  # of a thread


@dataclass(kw_only=True, eq=False, repr=False)
class ReliefRanker(BaseRanker):
    """Rank features with Relief: ReliefF, RReliefF, HMC-ReliefF and HMLC-Relief by the kind of target.

    A feature gains where it differs between near neighbours whose targets differ, and loses where it differs between
    near neighbours whose targets are alike. Interactions between features count, since neighbours are near in all of
    them.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbours (K); of each class, for classes.
    n_iterations : float or int, default=1.0
        Share (float) or number (int) of examples whose neighbours are looked at (m), drawn without replacement.
    sigma : float, optional
        Weigh the k-th neighbour (from 0) by `exp(-(sigma * k)**2)`; by default all neighbours weigh the same.
    ramp : pair of float or True, optional
        Numbers that differ by less than the first share of the range are equal, by more than the second different.
        True is (0.05, 0.10). Proposed in [3]_ to lift numeric features beside nominal ones.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels.
    distance : {"euclidean", "hamming", "jaccard", "simgic"}, default="euclidean"
        Distance of label sets: root of the summed label weights of the symmetric difference, or the sum; or, named in
        [2]_, one less the shared labels over all labels of the two, counted one by one (Jaccard) or by their
        information content in the data (simGIC). The last two need no weights and no bound.
    bound : {"observed", "paths", None}, default="observed"
        What distances of label sets are divided by: the largest one in the data (HMLC-Relief), the largest one of two
        single paths (CLUS), nothing (HMC-ReliefF).
    target : {"auto", "classes", "labels", "numbers", "rankings", "mixed"}, default="auto"
        What `y` is; "auto" decides as `ramify.targets.encode` does: one column with fractions is numbers, any other
        classes; several columns of 0 and 1 are label sets, others numbers. Rankings and mixed targets must be named.
    per_label : bool, default=False
        Whether label sets also give scores per label (rankings: per pair "a>b", below its two labels), from the same
        neighbours.
    categorical_features : "from_dtype", None, or mask, indices or names
        Which features are nominal.
    value_hierarchies : mapping of str to Hierarchy, optional
        By name, nominal features and nominal columns of a mixed target whose values are nodes of a hierarchy; two
        values are then as far apart as label sets are, by `distance` and `bound`.
    n_jobs : int, optional
        Number of threads; the result is the same for all.
    random_state : int, RandomState or None
        Seed of the drawn examples.
    verbose : int, default=0
        Whether to show progress.

    Attributes
    ----------
    ranking_ : FeatureRanking
        The ranking.
    scores_, scores_per_label_
        Its scores, globally and per label.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Classes use ReliefF (K neighbours per class, those of other classes weighted by `P(c) / (1 - P(y))`; a class with
    fewer rows gives all it has, where CLUS leaves it out), everything else Eq. 4 of [1]_ with the distance of the
    targets in [0, 1]. With `distance="hamming"`, `bound="paths"`, `sigma` and a hierarchy whose weights are summed over
    parents this is the Relief of CLUS; its bound is exceeded by label sets with several paths, and then a warning says
    so. With `bound=None` this is HMC-ReliefF [2]_, whose distances are not bounded by 1 (which [1]_ corrects); top
    labels then weigh `w0`.

    Weights of rows weigh the examples that are looked at, each one's neighbours among each other, and the shares of
    classes. Neighbours are counted as rows: a row of weight two is one neighbour that weighs twice, not two.

    Missing values differ by `1 - 1/|V|` in a nominal feature; in a numeric one by `max(t, 1 - t)`, with t the place of
    the known value in the range, and by 1 where both are missing (the conventions of CLUS).

    References
    ----------
    .. [1] M. Petkovic, S. Dzeroski, D. Kocev. Feature ranking for hierarchical multi-label classification with tree
       ensemble methods. Acta Polytechnica Hungarica 17, 2020, section 2.3.
    .. [2] I. Slavkov, J. Karcheska, D. Kocev, S. Kalajdziski, S. Dzeroski. ReliefF for hierarchical multi-label
       classification. New Frontiers in Mining Complex Patterns, 2014.
    .. [3] M. Robnik-Sikonja, I. Kononenko. Theoretical and empirical analysis of ReliefF and RReliefF. Machine Learning
       53, 2003.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ranking import ReliefRanker
    >>> data = make_hierarchical(200, depth=2, random_state=0)
    >>> ranker = ReliefRanker(15, hierarchy=data.hierarchy).fit(data.X, data.y)
    >>> bool(data.truth[ranker.ranking_.order[0]].any())
    True
    """

    fitted_state: ClassVar[State] = {**ENCODED_FEATURES, "ranking_": instance(FeatureRanking)}

    n_neighbors: int = field(default=10, kw_only=False)
    n_iterations: float = 1.0
    sigma: float | None = None
    ramp: tuple[float, float] | bool | None = None
    hierarchy: Hierarchy | None = None
    distance: str = "euclidean"
    bound: str | None = "observed"
    target: str = "auto"
    per_label: bool = False
    categorical_features: Any = "from_dtype"
    value_hierarchies: Mapping[str, Hierarchy] | None = None
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ReliefRanker:
        """Rank the features of X for the target y.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features; NaN is missing.
        y : array, CSR or frame
            Classes, label sets, numbers or rankings.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight zero takes no part, as if it were not there; see Notes.

        Returns
        -------
        ReliefRanker
            The fitted ranker.
        """
        with fitting(self):
            check_integer(self, "n_neighbors", self.n_neighbors, low=1)
            (self.ranking_,) = _rankings(self, X, y, [self.n_neighbors], [self.n_iterations], sample_weight)
        return self


def relief_path(
    X: Any,
    y: Any,
    *,
    n_neighbors: Sequence[int] = (10,),
    n_iterations: Sequence[float] = (1.0,),
    sample_weight: Any = None,
    **parameters: Any,
) -> list[FeatureRanking]:
    """Rankings for several numbers of neighbours and of iterations from one pass.

    Parameters
    ----------
    X, y
        As of `ReliefRanker.fit`.
    n_neighbors : sequence of int
        Numbers of neighbours.
    n_iterations : sequence of float or int
        Shares or numbers of examples; smaller draws are parts of larger ones.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    **parameters
        The other parameters of `ReliefRanker`.

    Returns
    -------
    list of FeatureRanking
        For each of `n_iterations`, one per `n_neighbors`; `origin` says which is which.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ranking.relief import relief_path
    >>> data = make_hierarchical(100, random_state=0)
    >>> path = relief_path(data.X, data.y, n_neighbors=[5, 15], n_iterations=[0.1, 1.0], random_state=0)
    >>> [(ranking.origin["n_iterations"], ranking.origin["n_neighbors"]) for ranking in path]
    [(10, 5), (10, 15), (100, 5), (100, 15)]
    """
    if not len(n_neighbors) or not len(n_iterations):
        raise ValueError("relief_path needs at least one value in n_neighbors and in n_iterations.")
    return _rankings(ReliefRanker(**parameters), X, y, list(n_neighbors), list(n_iterations), sample_weight)


def _rankings(
    ranker: ReliefRanker, X: Any, y: Any, n_neighbors: list[int], n_iterations: list[float], sample_weight: Any
) -> list[FeatureRanking]:
    ramp = _check_parameters(ranker)
    data = training_data(
        ranker,
        X,
        y,
        sample_weight,
        features=lambda given: learn_features(
            ranker, given, ranker.categorical_features, in_full=ranker.value_hierarchies or ()
        ),
        target=partial(_encoded, ranker),
    )
    features, target, weights, n_samples = data.features, data.target, data.weights, data.n_samples
    if n_samples < 2:
        raise ValueError(f"Relief compares examples, so it needs at least 2. Got n_samples={n_samples}.")
    if target.groups is not None and len(target.names) < 2:
        raise ValueError("Relief needs examples of at least two classes. y has one class.")
    for k in n_neighbors:
        check_integer(ranker, "n_neighbors", k, low=1, high=n_samples - 1)
    counts = [_check_iterations(ranker, m, n_samples) for m in n_iterations]
    distance = target.distance(ranker.distance, bound=ranker.bound, n_threads=worker_count(ranker.n_jobs))
    if _is_constant(distance, n_samples):
        raise ValueError("Relief needs examples with different targets. All rows of y are the same.")
    labels = target.label_columns() if ranker.per_label else None
    if ranker.per_label and labels is None:
        raise ValueError(
            "The 'per_label' parameter of ReliefRanker is for label sets (also in a hierarchy) and rankings."
        )
    seed = check_random_state(ranker.random_state).randint(np.iinfo(np.int32).max)
    tables = _value_tables(ranker, target)
    space = FeatureSpace.of(features, n_values=_declared_values(X, features), ramp=ramp, tables=tables)
    sums = _Sums(space, distance, target.groups, labels, n_neighbors, ranker, weights)
    scores = {}
    with progress_bar(max(counts), ranker.verbose, "Comparing examples") as progress:
        for m, queries in _nested_draws(counts, n_samples, seed):
            sums.add(queries, progress)
            for position, k in enumerate(n_neighbors):
                scores[m, k] = sums.scores(position)
    return [_ranking(ranker, target, *scores[m, k], m, k, seed) for m in counts for k in n_neighbors]


def _check_parameters(ranker: ReliefRanker) -> tuple[float, float] | None:
    if ranker.sigma is not None:
        check_real(ranker, "sigma", ranker.sigma, low=0)
    check_option(ranker, "distance", ranker.distance, ("euclidean", "hamming", "jaccard", "simgic"))
    check_option(ranker, "bound", ranker.bound, ("observed", "paths", None))
    check_option(ranker, "target", ranker.target, KINDS)
    check_flag(ranker, "per_label", ranker.per_label)
    check_integer(ranker, "verbose", ranker.verbose, low=0)
    check_jobs(ranker, ranker.n_jobs)
    if not isinstance(ranker.value_hierarchies, (Mapping, type(None))):
        raise TypeError(
            "The 'value_hierarchies' parameter of ReliefRanker must be None or map names of columns to hierarchies. "
            f"Got {type(ranker.value_hierarchies).__name__} instead."
        )
    if ranker.ramp is None or ranker.ramp is False:
        return None
    ramp = DEFAULT_RAMP if ranker.ramp is True else ranker.ramp
    try:
        low, high = (float(share) for share in ramp)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not 0 <= low < high <= 1:
        raise ValueError(
            "The 'ramp' parameter of ReliefRanker must be None, True or two shares of the range, the first below the "
            f"second. Got {ranker.ramp!r} instead."
        )
    return low, high


def _check_iterations(ranker: ReliefRanker, n_iterations: Any, n_samples: int) -> int:
    if isinstance(n_iterations, Integral) and not isinstance(n_iterations, (bool, np.bool_)):
        return check_integer(ranker, "n_iterations", n_iterations, low=1, high=n_samples)
    share = check_real(ranker, "n_iterations", n_iterations, low=0, high=1, open_low=True)
    return max(1, round(share * n_samples))


def _encoded(ranker: ReliefRanker, y: Any, **rows: Any) -> Target:
    if y is None:
        raise ValueError(f"{type(ranker).__name__} requires y to be passed, but the target y is None.")
    return encode(
        y,
        kind=ranker.target,
        hierarchy=ranker.hierarchy,
        value_hierarchies=ranker.value_hierarchies,
        n_samples=rows["n_samples"],
        partly_known=True,
    )


def _is_constant(distance: PairDistance, n_samples: int) -> bool:
    """Whether all rows have the same target."""
    rows = np.arange(1, n_samples)
    return not distance(np.zeros_like(rows), rows).any()


def _value_tables(ranker: ReliefRanker, target: Target) -> dict[int, np.ndarray]:
    """Differences of the values of features that are nodes of a hierarchy, by feature."""
    names = feature_names(ranker)
    tables = {}
    for name, hierarchy in (ranker.value_hierarchies or {}).items():
        if target.parts and name in target.names:
            continue
        position = names.index(name) if name in names else None
        if position is None or ranker.categories_[position] is None:
            raise ValueError(
                f"The 'value_hierarchies' parameter of ReliefRanker names {name!r}, which is not a nominal feature or "
                "column of a mixed target. Declare it with categorical_features, or leave it out."
            )
        nodes = check_nodes(name, ranker.categories_[position].tolist(), hierarchy)
        tables[position] = node_distance(nodes, hierarchy, distance=ranker.distance, bound=ranker.bound)[1]
    return tables


def _declared_values(X: Any, features: Features) -> np.ndarray | None:
    """Number of values that nominal columns of category dtype can have, seen or not."""
    dtypes = list(getattr(X, "dtypes", []))
    if not features.n_categories.any() or not any(hasattr(dtype, "categories") for dtype in dtypes):
        return None
    declared = [getattr(dtype, "categories", ()) for dtype in dtypes]
    # Categorical columns of polars share their values with other columns and do not count their own.
    return np.array([len(values) if hasattr(values, "__len__") else 0 for values in declared], dtype=np.float64)


def _nested_draws(counts: Iterable[int], n_samples: int, seed: int) -> Iterator[tuple[int, np.ndarray]]:
    """Each distinct number of examples with the examples that it adds to the smaller ones."""
    order = np.random.RandomState(seed).permutation(n_samples)
    done = 0
    for count in sorted(set(counts)):
        yield count, np.sort(order[done:count])
        done = count


@dataclass
class _Totals:
    """What has been summed for one number of neighbours."""

    features: Any = 0.0
    target: Any = 0.0


class _Sums:
    """Sums over examples and their neighbours, for several numbers of neighbours at once."""

    def __init__(
        self,
        space: FeatureSpace,
        distance: PairDistance,
        groups: np.ndarray | None,
        labels: sparse.csr_array | None,
        n_neighbors: list[int],
        ranker: ReliefRanker,
        weights: np.ndarray | None,
    ) -> None:
        self.space = space
        self.distance = distance
        self.groups = groups
        self.labels = labels
        self.partly_known = labels is not None and bool(np.isnan(labels.data).any())
        if self.partly_known:
            self.labels = _unknown_as_mean(labels)
        self.n_neighbors = n_neighbors
        self.sigma = ranker.sigma
        self.n_threads = worker_count(ranker.n_jobs)
        self.totals = [_Totals() for _ in n_neighbors]
        self.weights = weights
        self.n_added = 0
        self.weight_added = 0.0

    def add(self, queries: np.ndarray, progress: Callable[[int], None] | None = None) -> None:
        """Add the examples `queries`, in blocks whose pairs fit in memory; `progress` is told how many there are."""
        n_groups = 1 if self.groups is None else int(self.groups.max()) + 1
        step = max(16, _PAIRS_AT_ONCE // (n_groups * max(self.n_neighbors)))
        for start in range(0, len(queries), step):
            block = queries[start : start + step]
            self._add_block(block, _continued(progress, self.n_added))
            self.n_added += len(block)
            self.weight_added += len(block) if self.weights is None else float(self.weights[block].sum())

    def scores(self, position: int) -> tuple[np.ndarray, Any]:
        """Scores so far, and scores per label or None."""
        totals = self.totals[position]
        sums = totals.features / self.weight_added
        if self.groups is not None:
            return sums[:, 0], None
        different = totals.target / self.weight_added
        scores = _relevance(sums[:, [0]], sums[:, [1]], different[[0]])[:, 0]
        if self.labels is None:
            return scores, None
        # A label that all examples have or none has says nothing of any feature.
        lowest, highest = (extreme(axis=0).toarray().ravel() for extreme in (self.labels.min, self.labels.max))
        return scores, sparse.csr_array(_relevance(sums[:, [0]], sums[:, 2:], different[1:]) * (lowest < highest))

    def _add_block(self, queries: np.ndarray, progress: Callable[[int], None] | None) -> None:
        neighbors = self.space.nearest(
            self.space.rows(queries),
            own_rows=queries,
            n_neighbors=max(self.n_neighbors),
            groups=self.groups,
            n_threads=self.n_threads,
            progress=progress,
        )
        valid = neighbors >= 0
        query, group, _ = np.nonzero(valid)
        first, second = queries[query], neighbors[valid]
        own = None if self.weights is None else np.where(valid, self.weights[neighbors], 0.0)
        weights = [_neighbor_weights(valid, k, self.sigma, own)[valid] for k in self.n_neighbors]
        if self.weights is not None:
            weights = [weight * self.weights[first] for weight in weights]
        if self.groups is not None:
            signs = _class_signs(self.groups, first, group, self.weights)
            columns = [(weight * signs)[:, None] for weight in weights]
        else:
            columns = self._target_columns(first, second, weights)
        coefficients = sparse.csr_array(sparse.hstack([sparse.csr_array(block) for block in columns]))
        sums = self.space.difference_sums(first, second, coefficients, n_threads=self.n_threads)
        width = sums.shape[1] // len(self.n_neighbors)
        for position, totals in enumerate(self.totals):
            totals.features = totals.features + sums[:, position * width : (position + 1) * width]

    def _label_differences(self, first: np.ndarray, second: np.ndarray) -> sparse.csr_array:
        """1 for each pair and label in which the two rows differ; the chance of that where one is unknown."""
        labels: Any = self.labels
        if not self.partly_known:
            return symmetric_difference(labels, first, second)
        one, other = labels[first], labels[second]
        return sparse.csr_array(one + other - 2 * one.multiply(other))

    def _target_distances(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        blocks = np.array_split(np.arange(len(first)), min(self.n_threads, len(first) // _FEWEST_PAIRS + 1))
        side_by_side = Parallel(n_jobs=len(blocks), require="sharedmem")
        return np.concatenate(side_by_side(delayed(self.distance)(first[block], second[block]) for block in blocks))

    def _target_columns(self, first: np.ndarray, second: np.ndarray, weights: list[np.ndarray]) -> list[Any]:
        distance = self._target_distances(first, second)
        labels = None if self.labels is None else self._label_differences(first, second)
        columns: list[Any] = []
        for totals, weight in zip(self.totals, weights, strict=True):
            own: list[Any] = [sparse.csr_array((weight * distance)[:, None])]
            if labels is not None:
                own.append(labels.multiply(weight[:, None]))
            different = sparse.csr_array(sparse.hstack(own))
            totals.target = totals.target + np.asarray(different.sum(axis=0)).ravel()
            columns += [weight[:, None], different]
        return columns


def _unknown_as_mean(labels: sparse.csr_array | None) -> Any:
    """Label sets with the share of the known rows that have a label in place of NaN."""
    cells = sparse.csc_array(labels, copy=True)
    for label in range(cells.shape[1]):
        stored = cells.data[cells.indptr[label] : cells.indptr[label + 1]]
        unknown = np.isnan(stored)
        stored[unknown] = stored[~unknown].sum() / max(1, cells.shape[0] - int(unknown.sum()))
    return sparse.csr_array(cells)


def _continued(progress: Callable[[int], None] | None, n_before: int) -> Callable[[int], None] | None:
    """`progress` for a part that comes after `n_before` others."""
    return None if progress is None else lambda n_done: progress(n_before + n_done)


def _class_signs(codes: np.ndarray, first: np.ndarray, group: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """-1 for hits, P(class) / (1 - P(own class)) for misses (ReliefF)."""
    share = np.bincount(codes, weights=weights) / (len(codes) if weights is None else weights.sum())
    return np.where(group == codes[first], -1.0, share[group] / (1 - share[codes[first]]))


def _neighbor_weights(
    valid: np.ndarray, n_neighbors: int, sigma: float | None, own: np.ndarray | None = None
) -> np.ndarray:
    """Weight of each neighbour, 0 beyond the first `n_neighbors`, summing to 1 over those that exist."""
    rank = np.arange(valid.shape[2])
    weight = np.where(rank < n_neighbors, np.exp(-(((0.0 if sigma is None else sigma) * rank) ** 2)), 0.0)
    weights = weight * (valid if own is None else own)
    total = weights.sum(axis=2, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def _relevance(attribute: np.ndarray, both: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Eq. 4: P(attribute and target differ) / P(target) - P(attribute, not target) / P(not target); 0/0 = 0."""
    gain = np.divide(both, target, out=np.zeros_like(both), where=target != 0)
    loss = np.divide(attribute - both, 1 - target, out=np.zeros_like(both), where=target != 1)
    return gain - loss


def _ranking(
    ranker: ReliefRanker, target: Target, scores: np.ndarray, per_label: Any, m: int, k: int, seed: int
) -> FeatureRanking:
    origin = {
        "method": "relief",
        "n_neighbors": int(k),
        "n_iterations": int(m),
        "sigma": ranker.sigma,
        "ramp": ranker.ramp,
        "distance": ranker.distance,
        "bound": ranker.bound,
        "target": target.kind,
        "seed": int(seed),
    }
    names, hierarchy = target.names, target.hierarchy
    if per_label is not None:
        per_label, names, hierarchy = target.label_scores(per_label, names, hierarchy)
    return FeatureRanking(
        feature_names(ranker),
        scores,
        per_label=per_label,
        label_names=names if per_label is not None else (),
        hierarchy=hierarchy if per_label is not None else None,
        origin=origin,
    )
