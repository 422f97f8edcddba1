"""Rows that belong together: groups of rows, rows that are copies of others, and rows in the order of time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse, stats
from scipy.sparse.csgraph import connected_components

from ramify.features import Features

_MANY_VALUES = 10
"""Copies are told from chance by numbers with more than one value in so many rows."""

_PROJECTED, _NEIGHBORS, _MOST_KIN = 64, 20, 9
_CHANCE, _WRONG = 0.01, 0.05
"""Chance that a table without copies is said to have some, and share of chance among the copies of one that has."""

_DENSE = 2 / 3
"""Share of the pairs within a group of copies that have to be near."""

_MANY_ROWS, _ASKED = 20_000, 2_000
"""Above so many rows, so many are asked first whether they have copies."""

_AT_ONCE = 500
_MOST_DIFFERENT, _FEWEST_PAIRS, _MOST_INDICATORS = 15, 5, 1024

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

    Near copies are much nearer than rows of so many dimensions are by chance: with d_t the distance to the t-th
    neighbour and m the local dimension, 19 (d_t / d_20)^m rows are expected within d_t. Columns are ranks, made normal;
    ties and the order of classes are drawn, so that rows that agree by chance lie apart like others. Rows that are
    equal in all numbers of many values are copies, too. In tables without such numbers, copies are rows that differ in
    fewer columns than others do: by chance there are the more pairs the more they differ.

    Parameters
    ----------
    features : Features
        The features.
    seed : int
        Of ties and of the projection to 64 columns.
    """
    values = _dense(features)
    n_rows = len(values)
    pairs = _near_pairs(_normal_scores(values, features.n_categories, seed), seed)
    n_values = [0 if k else len(np.unique(column)) for k, column in zip(features.n_categories, values.T, strict=True)]
    many = np.flatnonzero(np.array(n_values) * _MANY_VALUES > n_rows)
    if len(many) < 2:
        pairs = np.concatenate([pairs, _alike_pairs(values, seed)])
    else:
        _, first, of_row = np.unique(values[:, many], axis=0, return_index=True, return_inverse=True)
        pairs = np.concatenate([pairs, np.column_stack([first[of_row.ravel()], np.arange(n_rows)])])
    graph = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n_rows, n_rows))
    n_groups, of_row = connected_components(graph, directed=False)
    if n_groups == n_rows:
        return RowGroups.alone(n_rows), 0
    return RowGroups(of_row.astype(np.int64)), int((np.bincount(of_row)[of_row] > 1).sum())


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


def _normal_scores(values: np.ndarray, n_categories: np.ndarray, seed: int) -> np.ndarray:
    """Ranks of each column made normal, ties in random order and missing values anywhere; at most 64 columns."""
    random = np.random.default_rng([seed, 4])
    n_rows, n_columns = values.shape
    scores = stats.norm.ppf((np.arange(n_rows) + 0.5) / n_rows).astype(np.float32)
    mixed = n_columns > _PROJECTED
    found = np.zeros((n_rows, _PROJECTED if mixed else n_columns), dtype=np.float32)
    for j, column in enumerate(values.T):
        missing = np.isnan(column)
        known = np.where(missing, random.choice(column[~missing], n_rows) if not missing.all() else 0.0, column)
        if n_categories[j]:
            known = random.permutation(int(n_categories[j]))[known.astype(np.int64)]
        own = np.empty(n_rows, dtype=np.float32)
        own[np.lexsort((random.random(len(values)), known))] = scores
        if mixed:
            found += own[:, None] * (random.standard_normal(_PROJECTED) / np.sqrt(_PROJECTED)).astype(np.float32)
        else:
            found[:, j] = own
    return found


def _near_pairs(rows: np.ndarray, seed: int) -> np.ndarray:
    """Pairs of rows that are nearer than by chance: pairs x 2."""
    n_rows = len(rows)
    none = np.empty((0, 2), dtype=np.int64)
    if n_rows <= _NEIGHBORS + 1 or rows.shape[1] < 2:
        return none
    if n_rows > _MANY_ROWS:
        asked = np.random.default_rng([seed, 9]).permutation(n_rows)[:_ASKED]
        if not _kin(*_neighbors(rows, asked)).any():
            return none
    near, distance = _neighbors(rows, np.arange(n_rows))
    n_kin = _kin(near, distance)
    row = np.repeat(np.arange(n_rows), n_kin)
    kin = near[np.arange(_NEIGHBORS) < n_kin[:, None]]
    told = sparse.csr_array((np.ones(len(row)), (row, kin)), shape=(n_rows, n_rows))
    both = told.multiply(told.T)
    pairs = np.column_stack(both.nonzero()).astype(np.int64)
    component = connected_components(both, directed=False)[1]
    # Copies are near all to all. A course of rows, each near the next, is an order: then few are copies, if any.
    size, n_pairs = np.bincount(component), np.bincount(component[pairs[:, 0]], minlength=component.max() + 1)
    dense = n_pairs >= _DENSE * size * (size - 1)
    n_joined, n_dense = size[size > 1].sum(), size[(size > 1) & dense].sum()
    return pairs[dense[component[pairs[:, 0]]]] if n_dense > n_joined / 2 else none


def _kin(near: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """How many of each row's neighbours are too near for chance.

    That t rows lie within the distance of the t-th has the chance of Poisson's distribution; the t of the least chance
    counts. A row surely has kin where its chance is small even at its own dimension, if that is the lower; where some
    row has, as many count as keep the share of chance low.
    """
    ranks = np.arange(10, _NEIGHBORS)
    nearest = np.maximum(distance[:, -1:], 1e-12)
    farther = np.log(nearest / np.maximum(distance[:, ranks - 1], 1e-12)).mean(axis=1)
    dimension = np.mean(np.log(_NEIGHBORS / ranks)) / np.maximum(farther, 1e-12)
    close = distance[:, :_MOST_KIN] / nearest

    def chances(power: np.ndarray) -> np.ndarray:
        found: np.ndarray = stats.poisson.sf(np.arange(_MOST_KIN), (_NEIGHBORS - 1) * close ** power[:, None])
        return found

    typical = np.full(len(near), np.median(dimension))
    least = _MOST_KIN * chances(np.minimum(dimension, typical)).min(axis=1)
    n_kin = np.zeros(len(near), dtype=np.int64)
    if least.min() >= _CHANCE / len(near):
        return n_kin
    chance = chances(typical)
    own = _MOST_KIN * chance.min(axis=1)
    order = np.argsort(own, kind="stable")
    n_sure = np.flatnonzero(own[order] <= _WRONG * np.arange(1, len(order) + 1) / len(order)).max(initial=-1) + 1
    n_kin[order[:n_sure]] = chance[order[:n_sure]].argmin(axis=1) + 1
    return n_kin


def _alike_pairs(values: np.ndarray, seed: int) -> np.ndarray:
    """Pairs of rows that differ in fewer columns than by chance, in a table of few values: pairs x 2.

    There are more pairs that differ in at most h columns than in h + 1 to h + 3. Patterns of more than 10 rows are no
    copies but usual.
    """
    random = np.random.default_rng([seed, 10])
    _, codes, counts = np.unique(values, axis=0, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(counts[codes.ravel()] <= _MOST_KIN + 1)
    none = np.empty((0, 2), dtype=np.int64)
    if len(rows) < 2:
        return none
    shown: list[np.ndarray] = []
    n_columns = 0
    for j in random.permutation(values.shape[1]).tolist():
        own = np.unique(values[rows, j], return_inverse=True)[1].ravel()
        if n_columns and sum(part.shape[1] for part in shown) + own.max() >= _MOST_INDICATORS:
            break
        shown.append((own[:, None] == np.arange(own.max() + 1)).astype(np.float32))
        n_columns += 1
    indicators = np.concatenate(shown, axis=1)
    most = min(_MOST_DIFFERENT, n_columns // 4)

    def different(asked: np.ndarray) -> np.ndarray:
        found: np.ndarray = n_columns - (indicators[asked] @ indicators.T).round().astype(np.int64)
        found[np.arange(len(asked)), asked] = n_columns
        return found

    def alike(asked: np.ndarray) -> np.ndarray:
        """Rows x number of columns: how many others differ in so many."""
        parts = []
        for first in range(0, len(asked), _AT_ONCE):
            apart = np.minimum(different(asked[first : first + _AT_ONCE]), most + 4)
            n_own = len(apart)
            place = apart + (most + 5) * np.arange(n_own)[:, None]
            parts.append(np.bincount(place.ravel(), minlength=n_own * (most + 5)).reshape(n_own, -1))
        return np.concatenate(parts)

    asked = random.permutation(len(rows))[:_ASKED]
    n_alike = alike(asked)
    within = n_alike.cumsum(axis=1)
    for h in range(most, -1, -1):
        n_pairs, beyond = within[:, h].sum(), n_alike[:, h + 1 : h + 4].sum()
        of_few = within[within[:, h] <= _MOST_KIN, h].sum()
        if n_pairs >= 2 * _FEWEST_PAIRS and n_pairs > beyond and 2 * of_few > n_pairs:
            break
    else:
        return none
    pairs = []
    for first in range(0, len(rows), _AT_ONCE):
        own = np.arange(first, min(first + _AT_ONCE, len(rows)))
        near = different(own) <= h
        near[near.sum(axis=1) > _MOST_KIN] = False
        row, other = near.nonzero()
        pairs.append(np.column_stack([rows[own[row]], rows[other]]))
    return np.concatenate(pairs)


def _neighbors(rows: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The 20 nearest rows of those that are asked, nearest first, and their distances."""
    sizes = (rows**2).sum(axis=1)
    near = np.empty((len(asked), _NEIGHBORS), dtype=np.int64)
    distance = np.empty((len(asked), _NEIGHBORS))
    for first in range(0, len(asked), _AT_ONCE):
        own = asked[first : first + _AT_ONCE]
        here = slice(first, first + len(own))
        square = sizes[own, None] + sizes - 2 * rows[own] @ rows.T
        square[np.arange(len(own)), own] = np.inf
        part = np.argpartition(square, _NEIGHBORS, axis=1)[:, :_NEIGHBORS]
        order = np.argsort(np.take_along_axis(square, part, axis=1), axis=1, kind="stable")
        near[here] = np.take_along_axis(part, order, axis=1)
        exact = rows[near[here]].astype(np.float64) - rows[own, None].astype(np.float64)
        distance[here] = np.sqrt((exact**2).sum(axis=2))
    return near, distance
