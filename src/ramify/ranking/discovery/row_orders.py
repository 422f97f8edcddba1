"""Random orders of rows, in which rows that belong together stay together."""

from __future__ import annotations

import numpy as np

from ramify.ranking.discovery.outcome import Untestable

_FEWEST_GROUPS = 20


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
    n_groups, n_moved = sum(map(len, places)), sum(alike.size for alike in places)
    if n_groups < _FEWEST_GROUPS or n_moved < len(row_groups) / 2:
        raise Untestable(
            f"association exchanges groups of rows with groups of the same size, and needs at least {_FEWEST_GROUPS} "
            f"such groups with half of the rows. Of {len(size)} groups, {n_groups} have a partner, with {n_moved} of "
            f"{len(row_groups)} rows; give one row of each group, or as many rows of each."
        )
    return places
