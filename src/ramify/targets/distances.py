"""Distances between targets, scaled to [0, 1]: classes, numbers, label sets, hierarchies, rankings, and mixtures."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from ramify import _core
from ramify.hierarchy import Hierarchy
from ramify.targets.rankings import label_pairs, pair_signs

PairDistance = Callable[[np.ndarray, np.ndarray], np.ndarray]


def class_distance(codes: np.ndarray) -> PairDistance:
    """0 for equal classes, 1 for different ones."""
    return lambda first, second: (codes[first] != codes[second]).astype(np.float64)


def number_distance(values: np.ndarray) -> PairDistance:
    """Mean over targets of the difference divided by the target's range.

    Targets that are NaN in one of the two rows are left out; rows without a common target are at 1/2.
    """
    columns = values.reshape(len(values), -1)
    spread = np.nanmax(columns, axis=0) - np.nanmin(columns, axis=0)
    scale = np.where(spread > 0, spread, 1.0)

    def distance(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        apart = np.abs(columns[first] - columns[second]) / scale
        known = ~np.isnan(apart)
        if known.all():
            return apart.mean(axis=1)
        n_known = known.sum(axis=1)
        return np.where(n_known > 0, np.where(known, apart, 0.0).sum(axis=1) / np.maximum(n_known, 1), 0.5)

    return distance


def ranking_distance(ranks: np.ndarray) -> PairDistance:
    """Share of label pairs on which two rankings disagree, a tie against an order counting one half.

    Label pairs that one of the rankings leaves open do not count; rankings without a common pair are at 1/2.
    """
    signs = pair_signs(ranks)
    before, after = label_pairs(ranks.shape[1])
    known = ~(np.isnan(ranks[:, before]) | np.isnan(ranks[:, after]))

    def distance(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        common = known[first] & known[second]
        disagreement = (np.abs(signs[first] - signs[second]) * common).sum(axis=1) / 2
        n_common = common.sum(axis=1)
        return np.where(n_common > 0, disagreement / np.maximum(n_common, 1), 0.5)

    return distance


def label_set_distance(
    Y: sparse.csr_array,
    weights: np.ndarray,
    *,
    distance: str,
    bound: str | None,
    hierarchy: Hierarchy | None,
    unknown: sparse.csr_array | None = None,
    n_threads: int = 1,
) -> PairDistance:
    """Weighted distance of label sets, divided by its bound.

    Labels that one of the two does not know are left out, and the sum over the others is taken for all: it is
    multiplied by the weight of all labels over that of the known ones. Two sets without a common known label are half
    as far apart as the bound.

    Parameters
    ----------
    Y : CSR of shape (n_samples, n_labels)
        0/1, closed under ancestors.
    weights : ndarray of shape (n_labels,)
        Weight of each label.
    distance : {"euclidean", "hamming", "jaccard", "simgic"}
        Root of the summed weights over the symmetric difference, or the sum itself; or the share of the union that is
        not shared, counted in labels or in their information content: in [0, 1] without weights and bound.
    bound : {"observed", "paths", None}
        Divide by the largest distance of two label sets of `Y`, by the largest distance of two single paths, or not.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels.
    unknown : CSR of shape (n_samples, n_labels), optional
        True where it is not known whether a row has a label.
    n_threads : int, default=1
        Threads that look for the bound.
    """
    Y = sparse.csr_array(Y, dtype=np.float64)
    if distance in {"jaccard", "simgic"}:
        return _unshared(Y, np.ones(Y.shape[1]) if distance == "jaccard" else information_content(Y), unknown)
    largest = _largest(Y, weights, bound, hierarchy, n_threads)

    def summed(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        difference = symmetric_difference(Y, first, second)
        if unknown is None:
            return np.asarray(difference @ weights)
        hidden = sparse.csr_array((unknown[first] + unknown[second]).astype(np.float64))
        hidden.data[:] = 1.0
        seen = weights.sum() - hidden @ weights
        apart = (difference - difference.multiply(hidden)) @ weights
        return np.where(seen > 1e-12 * weights.sum(), apart * weights.sum() / np.maximum(seen, 1e-300), largest / 2)

    if distance == "euclidean":
        return lambda first, second: _limited(np.sqrt(summed(first, second)), np.sqrt(largest), bound)
    return lambda first, second: _limited(summed(first, second), largest, bound)


def information_content(Y: sparse.csr_array) -> np.ndarray:
    """Bits that having each label tells, by its frequency; 0 for one that all rows have, and for one that none has."""
    share = np.asarray(Y.sum(axis=0), dtype=np.float64).ravel() / max(1, Y.shape[0])
    return -np.log2(share, out=np.zeros_like(share), where=share > 0)


def _unshared(Y: sparse.csr_array, content: np.ndarray, unknown: sparse.csr_array | None) -> PairDistance:
    """Content of the labels that one of two rows has over that of all that they have; 0 for two empty rows."""

    def distance(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        apart, shared = symmetric_difference(Y, first, second), Y[first].multiply(Y[second]).tocsr()
        if unknown is not None:
            hidden = sparse.csr_array((unknown[first] + unknown[second]).astype(bool), dtype=np.float64)
            apart, shared = (part - part.multiply(hidden) for part in (apart, shared))
        own, common = np.asarray(apart @ content), np.asarray(shared @ content)
        return np.divide(own, own + common, out=np.zeros_like(own), where=own + common > 0)

    return distance


def node_distance(
    nodes: Sequence[str], hierarchy: Hierarchy, *, distance: str, bound: str | None
) -> tuple[PairDistance, np.ndarray]:
    """Distance of the nodes of a hierarchy as that of their label sets, by position, and the table of all of them.

    Parameters
    ----------
    nodes : sequence of str
        Names of nodes.
    hierarchy, distance, bound
        As of `label_set_distance`.
    """
    position = {name: k for k, name in enumerate(dict.fromkeys(nodes))}
    weights = hierarchy.weights * (1.0 if bound is not None else hierarchy.w0)
    Y = hierarchy.encode([[name] for name in position])
    between = label_set_distance(Y, weights, distance=distance, bound=bound, hierarchy=hierarchy)
    first, second = np.divmod(np.arange(len(position) ** 2), max(1, len(position)))
    table = between(first, second).reshape(len(position), len(position))
    codes = np.array([position[name] for name in nodes], dtype=np.int64)
    return lambda first, second: table[codes[first], codes[second]], table


def symmetric_difference(Y: sparse.csr_array, first: np.ndarray, second: np.ndarray) -> sparse.csr_array:
    """1 for each pair and label that one of the pair's two rows has and the other has not."""
    difference = abs(Y[first] - Y[second])
    difference.eliminate_zeros()
    return difference


def mean_distance(distances: list[PairDistance]) -> PairDistance:
    """Mean of several distances, for mixed targets."""
    if len(distances) == 1:
        return distances[0]
    return lambda first, second: np.mean([distance(first, second) for distance in distances], axis=0)


def _limited(values: np.ndarray, largest: float, bound: str | None) -> np.ndarray:
    if bound is None or largest == 0:
        return values
    scaled = values / largest
    if bound == "observed":
        return np.minimum(scaled, 1.0)
    if scaled.size and scaled.max() > 1 + 1e-9:
        warnings.warn(
            f"A distance between label sets is {scaled.max():.3g} times the bound of single paths, so the second term "
            "of Relief changes its sign and the ranking may come out reversed. Use bound='observed' unless you "
            "compare with CLUS.",
            UserWarning,
            stacklevel=2,
        )
    return scaled


def _largest(
    Y: sparse.csr_array, weights: np.ndarray, bound: str | None, hierarchy: Hierarchy | None, n_threads: int
) -> float:
    if bound is None:
        return 1.0
    if bound == "observed":
        return _largest_difference(_distinct_rows(Y), weights, n_threads)
    if hierarchy is None:
        return float(weights.sum())
    occurring = np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))
    paths = hierarchy.ancestor_matrix.astype(np.float64) + sparse.eye_array(len(hierarchy), format="csr")
    return _largest_difference(sparse.csr_array(paths)[occurring], weights, n_threads)


def _largest_difference(rows: sparse.csr_array, weights: np.ndarray, n_threads: int) -> float:
    """Largest summed weight of the symmetric difference of two rows, exact."""
    rows = rows.sorted_indices()
    offsets, labels = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    first, second = _core.furthest_sets(offsets, labels, weights, n_threads=n_threads)
    return float((symmetric_difference(rows, np.array([first]), np.array([second])) @ weights)[0])


def _distinct_rows(Y: sparse.csr_array) -> sparse.csr_array:
    Y = sparse.csr_array(Y).sorted_indices()
    first_of: dict[bytes, int] = {}
    for row in range(Y.shape[0]):
        first_of.setdefault(Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tobytes(), row)
    return Y[np.fromiter(first_of.values(), dtype=np.int64)]
