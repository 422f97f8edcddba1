"""Random orders of rows, in which rows that belong together stay together."""

from __future__ import annotations

import numpy as np

from ramify.ranking.discovery.outcome import Untestable

_FEWEST_GROUPS, _FEWEST_ALIKE = 20, 10


class RowOrders:
    """Orders in which rows, or groups of as many rows, could as well have come.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    row_groups : array of shape (n_rows,) or None
        Which rows belong together; a group changes places with groups of its size only.
    seed : int
        Of all orders.
    """

    def __init__(self, n_rows: int, row_groups: np.ndarray | None, seed: int) -> None:
        self.n_rows = n_rows
        self.seed = seed
        self.grouped = row_groups is not None
        self._places = [np.arange(n_rows)[:, None]] if row_groups is None else _by_size(row_groups)

    def draw(self, n_orders: int, *salt: int) -> np.ndarray:
        """Orders x rows; the same for the same salt."""
        random = np.random.default_rng([self.seed, *salt])
        found = np.tile(np.arange(self.n_rows, dtype=np.int32), (n_orders, 1))
        for places in self._places:
            moved = random.permuted(np.tile(np.arange(len(places)), (n_orders, 1)), axis=1)
            found[:, places.ravel()] = places[moved].reshape(n_orders, -1)
        return found


def _by_size(row_groups: np.ndarray) -> list[np.ndarray]:
    """For each size of groups, groups x rows; sizes that only one group has are left out."""
    _, group, size = np.unique(row_groups, return_inverse=True, return_counts=True)
    rows = np.split(np.argsort(group, kind="stable"), np.cumsum(size)[:-1])
    of_size = [np.array([rows[k] for k in np.flatnonzero(size == number)]) for number in np.unique(size)]
    places = [alike for alike in of_size if len(alike) > 1]
    n_groups = sum(map(len, places))
    if n_groups < _FEWEST_GROUPS:
        raise Untestable(
            f"association exchanges groups of rows with groups of the same size, and needs at least {_FEWEST_GROUPS} "
            f"such groups. Of {len(size)} groups, {n_groups} have a partner; give more groups, or none if rows do not "
            "belong together."
        )
    return places


def of_even_sizes(row_groups: np.ndarray, seed: int) -> np.ndarray:
    """Rows to keep, ascending, so that each size of groups is that of many.

    Groups of similar size are cut to the smallest of them, by rows drawn at random, and groups that few are like are
    left out: sizes are divided so that as many rows as possible stay.

    Parameters
    ----------
    row_groups : array of shape (n_rows,)
        The group of each row.
    seed : int
        Of the rows that are left out.
    """
    _, group, size = np.unique(row_groups, return_inverse=True, return_counts=True)
    numbers, count = np.unique(size, return_counts=True)
    n_before = np.concatenate([[0], np.cumsum(count)])
    most = np.zeros(len(numbers) + 1, dtype=np.int64)  # rows that stay of the groups below a size
    start = np.zeros(len(numbers) + 1, dtype=np.int64)
    for last in range(1, len(numbers) + 1):
        n_groups = n_before[last] - n_before[:last]
        kept = most[:last] + np.where(n_groups >= _FEWEST_ALIKE, n_groups * numbers[:last], 0)
        start[last], most[last] = np.argmax(kept), kept.max()
    cut = np.empty(len(numbers), dtype=np.int64)
    last = len(numbers)
    while last:
        is_many = n_before[last] - n_before[start[last]] >= _FEWEST_ALIKE
        cut[start[last] : last] = numbers[start[last]] if is_many else 0
        last = start[last]
    order = np.lexsort((np.random.default_rng([seed, 11]).random(len(group)), group))
    place = np.empty(len(group), dtype=np.int64)
    place[order] = np.arange(len(group)) - np.repeat(np.cumsum(size) - size, size)
    return np.flatnonzero(place < cut[np.searchsorted(numbers, size)][group])
