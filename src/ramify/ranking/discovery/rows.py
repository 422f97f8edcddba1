"""Rows that belong together: groups of rows, rows that are copies of others, and rows in the order of time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ramify.features import Features

_MANY_VALUES = 10
"""Copies are told from chance by numbers with more than one value in so many rows."""

_PROJECTED, _NEIGHBORS, _FARTHEST_COPY = 64, 20, 9
_CHANCE = 0.01
_AT_ONCE = 500

_ALIKE = 0.05
_ROWS_PER_DIRECTION = 40


@dataclass(frozen=True)
class RowGroups:
    """Which rows stand together in tests.

    Attributes
    ----------
    of_row : int64 array of shape (n_samples,)
        The group of each row, from 0 on.
    given : bool
        Whether rows are in groups at all; else each stands alone.
    """

    of_row: np.ndarray
    given: bool = True

    @classmethod
    def alone(cls, n_rows: int) -> RowGroups:
        """Every row its own group."""
        return cls(np.arange(n_rows, dtype=np.int64), given=False)

    @cached_property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.of_row.max(initial=-1)) + 1

    @property
    def kernel_groups(self) -> np.ndarray | None:
        """What the kernels take: None where rows stand alone."""
        return self.of_row if self.given else None

    def sums(self, values: np.ndarray, first: int = 0) -> np.ndarray:
        """Sums of rows of values within groups: groups x columns, or groups. `values` are of the rows from `first`."""
        if not self.given and len(values) == len(self.of_row):
            return values
        own = self.of_row[first : first + len(values)]
        member = sparse.csr_array((np.ones(len(own)), (own, np.arange(len(own)))), shape=(self.n_groups, len(own)))
        found: np.ndarray = member @ values
        return found

    def take(self, rows: np.ndarray) -> RowGroups:
        """The groups of some rows."""
        if not self.given:
            return RowGroups.alone(len(rows))
        return RowGroups(np.unique(self.of_row[rows], return_inverse=True)[1].astype(np.int64))


def effective_number(sizes: np.ndarray) -> float:
    """How many equal groups (rows) tell as much as groups (rows) of these weights.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.ranking.discovery.rows import effective_number
    >>> round(effective_number(np.array([1.0, 1.0, 2.0])), 3)
    2.667
    """
    square = float((sizes**2).sum())
    return float(sizes.sum()) ** 2 / square if square > 0 else 0.0


def copies(features: Features, seed: int) -> tuple[RowGroups, int]:
    """Groups of rows that are copies or near copies of one another, and how many rows have such a copy.

    Only numbers with many values tell copies from rows that agree by chance. Rows are equal in all of them, or much
    nearer than rows of so many dimensions are by chance: with d_t the distance to the t-th neighbour and m the local
    dimension, 19 (d_t / d_20)^m rows are expected within d_t; less than 0.01 / n is no chance.

    Parameters
    ----------
    features : Features
        The features.
    seed : int
        Of the projection to 64 columns.
    """
    values = _dense(features)
    n_rows = len(values)
    many = [
        j
        for j in range(values.shape[1])
        if not features.n_categories[j] and len(np.unique(values[:, j])) * _MANY_VALUES > n_rows
    ]
    if len(many) < 2:
        return RowGroups.alone(n_rows), 0
    columns = values[:, many]
    missing = np.isnan(columns)
    columns = np.where(missing, np.nanmean(columns, axis=0), columns)
    _, of_row = np.unique(columns, axis=0, return_inverse=True)
    first = np.unique(of_row, return_index=True)[1]
    pairs = first[_near_pairs(columns[first], seed)]
    links = np.concatenate([pairs, np.column_stack([first[of_row.ravel()], np.arange(n_rows)])])
    graph = sparse.coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(n_rows, n_rows))
    n_groups, of_row = connected_components(graph, directed=False)
    n_copied = int((np.bincount(of_row)[of_row] > 1).sum())
    if n_groups == n_rows:
        return RowGroups.alone(n_rows), 0
    return RowGroups(of_row.astype(np.int64)), n_copied


@dataclass(frozen=True)
class RowBlocks:
    """Blocks of rows in the order of time, place or batch, and how alike neighbouring rows are.

    Attributes
    ----------
    of_row : int64 array of shape (n_samples,)
        The block of each row, -1 for rows between two blocks, which take no part.
    length, gap : int
        Rows of a block, and rows left out between two.
    of_features, of_truth : float
        Median correlation of neighbouring rows over features, and over labels.
    """

    of_row: np.ndarray
    length: int
    gap: int
    of_features: float
    of_truth: float


def blocks_in_order(features: Features, truth: np.ndarray, rows: RowGroups) -> RowBlocks | None:
    """Blocks that are nearly independent, where both features and labels follow the order of rows; else None.

    Rows follow their order where the product of the median autocorrelations of features and of labels is at least
    0.05, also of what labels leave unexplained of features: a table that is sorted by its labels is in no order of
    time. With k the first lag at which the product is below, blocks have 2k rows and k rows between two are left out.

    Parameters
    ----------
    features : Features
        The features.
    truth : array of shape (n_samples, n_outputs)
        The target.
    rows : RowGroups
        Rows that are copies of one another; the first of them stands for the others.
    """
    first = np.unique(rows.of_row, return_index=True)[1]
    first.sort()
    columns, labels = _centred(_dense(features)[first]), _centred(truth[first])
    of_features, of_truth = _alike(columns, 1), _alike(labels, 1)
    if of_features * of_truth < _ALIKE or min(of_features, of_truth) <= 0:
        return None
    left = _unexplained(columns, labels)
    if _alike(left, 1) * of_truth < _ALIKE:
        return None
    lags = range(1, max(2, len(first) // 4))
    gap = next((lag for lag in lags if abs(_alike(left, lag) * _alike(labels, lag)) < _ALIKE), lags[-1])
    period = 3 * gap
    block, place = np.divmod(np.arange(len(first)), period)
    block[(place >= 2 * gap) | (block >= (len(first) + gap) // period)] = -1
    of_group = np.full(rows.n_groups, -1, dtype=np.int64)
    of_group[rows.of_row[first]] = block
    return RowBlocks(of_group[rows.of_row], 2 * gap, gap, of_features, of_truth)


def _dense(features: Features) -> np.ndarray:
    return np.asarray(features.values.toarray() if features.is_sparse else features.values, dtype=np.float64)


def _centred(columns: np.ndarray) -> np.ndarray:
    """Columns less their mean, 0 where missing; those that do not vary are left out."""
    centred = np.where(np.isnan(columns), 0.0, columns - np.nanmean(columns, axis=0))
    varied: np.ndarray = centred[:, (centred**2).sum(axis=0) > 0]
    return varied


def _alike(centred: np.ndarray, lag: int) -> float:
    """Median autocorrelation of columns of mean 0."""
    if not centred.shape[1]:
        return 0.0
    return float(np.median((centred[lag:] * centred[:-lag]).mean(axis=0) / (centred**2).mean(axis=0)))


def _unexplained(columns: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """What the leading directions of labels leave of columns."""
    leading = np.linalg.svd(labels, full_matrices=False)[0][:, : max(1, len(labels) // _ROWS_PER_DIRECTION)]
    return columns - leading @ (leading.T @ columns)


def _near_pairs(columns: np.ndarray, seed: int) -> np.ndarray:
    """Pairs of rows that are nearer than by chance: pairs x 2."""
    n_rows, n_columns = columns.shape
    if n_rows <= _NEIGHBORS + 1:
        return np.empty((0, 2), dtype=np.int64)
    spread = columns.std(axis=0)
    scaled = ((columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).astype(np.float32)
    if n_columns > _PROJECTED:
        random = np.random.default_rng([seed, 4])
        scaled = scaled @ (random.standard_normal((n_columns, _PROJECTED)) / np.sqrt(_PROJECTED)).astype(np.float32)
    near, distance = _neighbors(scaled)
    ranks = np.arange(10, _NEIGHBORS)
    farther = np.log(distance[:, -1:] / np.maximum(distance[:, ranks - 1], 1e-12)).mean(axis=1)
    dimension = np.mean(np.log(_NEIGHBORS / ranks)) / max(float(np.median(farther)), 1e-12)
    close = distance[:, :_FARTHEST_COPY] / np.maximum(distance[:, -1:], 1e-12)
    row, rank = np.nonzero((_NEIGHBORS - 1) * close**dimension < _CHANCE / n_rows)
    return np.column_stack([row, near[row, rank]])


def _neighbors(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The 20 nearest rows of each, nearest first, and their distances."""
    n_rows = len(rows)
    sizes = (rows**2).sum(axis=1)
    near = np.empty((n_rows, _NEIGHBORS), dtype=np.int64)
    distance = np.empty((n_rows, _NEIGHBORS))
    for first in range(0, n_rows, _AT_ONCE):
        own = np.arange(first, min(first + _AT_ONCE, n_rows))
        square = sizes[own, None] + sizes - 2 * rows[own] @ rows.T
        square[np.arange(len(own)), own] = np.inf
        part = np.argpartition(square, _NEIGHBORS, axis=1)[:, :_NEIGHBORS]
        order = np.argsort(np.take_along_axis(square, part, axis=1), axis=1, kind="stable")
        near[own] = np.take_along_axis(part, order, axis=1)
        exact = rows[near[own]].astype(np.float64) - rows[own, None].astype(np.float64)
        distance[own] = np.sqrt((exact**2).sum(axis=2))
    return near, distance
