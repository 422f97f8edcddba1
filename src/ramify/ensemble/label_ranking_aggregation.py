"""Consensus of rankings: the average ranking (Borda), the Mallows centre and the Mallows spread."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ramify.targets.rankings import average_ranking, break_ties, label_pairs, rank_labels

__all__ = ["MAX_SPREAD", "consensus", "mallows_centre", "mallows_spread"]

MAX_SPREAD = 10.0
"""The spread of identical rankings is infinite; it is cut here."""
EXACT_LABELS = 8
"""Up to so many labels the Mallows centre is found exactly."""


def consensus(preferences: NDArray[np.floating], n_labels: int, *, aggregate: str) -> NDArray[np.float64]:
    """Return the consensus ranking of each row of mean signs.

    Parameters
    ----------
    preferences : ndarray of shape (n_samples, n_pairs)
        Mean sign of each label pair, in the order of `ramify.targets.rankings.label_pairs`.
    n_labels : int
        The number of labels.
    aggregate : {"borda", "mallows"}
        The average ranking, ties kept, or the centre of a Mallows model.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.ensemble.label_ranking_aggregation import consensus
    >>> consensus(np.array([[1.0, 1.0, 0.5]]), 3, aggregate="borda").tolist()  # pairs (0, 1), (0, 2), (1, 2)
    [[1.0, 2.0, 3.0]]
    """
    if aggregate == "mallows":
        return mallows_centre(preferences, n_labels)
    return rank_labels(average_ranking(preferences, n_labels))


def mallows_centre(preferences: NDArray[np.floating], n_labels: int) -> NDArray[np.float64]:
    """Return the ranking with the largest Mallows likelihood for each row of mean signs.

    It disagrees with the fewest pairwise preferences (the Kemeny consensus). Up to eight labels it is exact; beyond,
    the average ranking is improved by swaps of neighbours until none helps, so it is locally optimal. Equally good
    orders are settled by label order.

    Parameters
    ----------
    preferences : ndarray of shape (n_samples, n_pairs)
        Mean sign of each label pair.
    n_labels : int
        The number of labels.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        Rankings without ties.

    References
    ----------
    .. [1] W. Cheng, J. Huhn, E. Hullermeier, "Decision Tree and Instance-Based Learning for Label Ranking", ICML, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.ensemble.label_ranking_aggregation import mallows_centre
    >>> mallows_centre(np.array([[-1.0, 0.2, 0.4]]), 3)
    array([[2., 1., 3.]])
    """
    first, second = label_pairs(n_labels)
    margins = np.zeros((len(preferences), n_labels, n_labels))
    margins[:, first, second] = preferences
    margins[:, second, first] = -np.asarray(preferences)
    order = _exact_order(margins) if n_labels <= EXACT_LABELS else _locally_best_order(margins, preferences)
    return (np.argsort(order, axis=1) + 1).astype(np.float64)


def mallows_spread(mean_distance: float, n_labels: int) -> float:
    """Return the spread of a Mallows model by maximum likelihood.

    Parameters
    ----------
    mean_distance : float
        Mean number of label pairs that the rankings order otherwise than the centre.
    n_labels : int
        The number of labels.

    Returns
    -------
    float
        Between 0 (all rankings equally likely) and `MAX_SPREAD`.

    Examples
    --------
    >>> from ramify.ensemble.label_ranking_aggregation import mallows_spread
    >>> round(mallows_spread(0.5, 3), 4)
    1.3556
    """
    if mean_distance >= _expected_distance(0.0, n_labels):
        return 0.0
    if mean_distance <= _expected_distance(MAX_SPREAD, n_labels):
        return MAX_SPREAD
    low, high = 0.0, MAX_SPREAD
    for _ in range(60):
        middle = (low + high) / 2
        if _expected_distance(middle, n_labels) > mean_distance:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _expected_distance(spread: float, n_labels: int) -> float:
    """Expected distance from the centre: insertion j of the model adds 0 to j - 1 discordances."""
    total = 0.0
    for j in range(2, n_labels + 1):
        steps = np.arange(j)
        weights = np.exp(-spread * steps)
        total += float(steps @ weights / weights.sum())
    return total


def _exact_order(margins: NDArray[np.float64]) -> NDArray[np.intp]:
    """Best order by dynamic programming over the sets of labels that go first."""
    n_rows, n_labels, _ = margins.shape
    n_sets = 1 << n_labels
    best = np.full((n_sets, n_rows), -np.inf)
    last = np.zeros((n_sets, n_rows), dtype=np.intp)
    best[0] = 0.0
    for chosen in range(1, n_sets):
        rest = [b for b in range(n_labels) if not chosen >> b & 1]
        for a in reversed(range(n_labels)):
            if chosen >> a & 1:
                value = best[chosen ^ (1 << a)] + margins[:, a, rest].sum(axis=1)
                better = value > best[chosen] + 1e-12
                best[chosen] = np.where(better, value, best[chosen])
                last[chosen] = np.where(better, a, last[chosen])
    order = np.empty((n_rows, n_labels), dtype=np.intp)
    rows = np.arange(n_rows)
    chosen_sets = np.full(n_rows, n_sets - 1)
    for position in reversed(range(n_labels)):
        order[:, position] = last[chosen_sets, rows]
        chosen_sets = chosen_sets ^ (1 << order[:, position])
    return order


def _locally_best_order(margins: NDArray[np.float64], preferences: NDArray[np.floating]) -> NDArray[np.intp]:
    n_rows, n_labels, _ = margins.shape
    order = np.argsort(break_ties(rank_labels(average_ranking(preferences, n_labels))), axis=1)
    rows = np.arange(n_rows)
    swapped = True
    while swapped:
        swapped = False
        for position in range(n_labels - 1):
            left, right = order[:, position].copy(), order[:, position + 1].copy()
            wrong = margins[rows, left, right] < -1e-12
            if wrong.any():
                swapped = True
                order[:, position] = np.where(wrong, right, left)
                order[:, position + 1] = np.where(wrong, left, right)
    return order
