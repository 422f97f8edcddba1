"""Rankings of labels: checking, pairs of labels, sign vectors, rank vectors and average rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ramify.features.frames import as_array, refuse_broken
from ramify.hierarchy import Hierarchy

__all__ = [
    "average_ranking",
    "break_ties",
    "check_rankings",
    "label_pairs",
    "mean_preferences",
    "order_text",
    "pair_hierarchy",
    "pair_names",
    "pair_signs",
    "rank_labels",
    "rank_vectors",
    "ranking_names",
    "sign_vectors",
]

TIE_DECIMALS = 9
"""Average ranks that agree to so many decimals are a tie, not a rounding error."""


def check_rankings(y: Any, *, n_labels: int | None = None, name: str = "y") -> NDArray[np.float64]:
    """Return rankings as a matrix of ranks after checking every row.

    Parameters
    ----------
    y : array-like of shape (n_samples, n_labels)
        Ranks: 1 is best, equal ranks are a tie, NaN is an unranked label. Ties may be written as 1, 2, 2, 3
        (dense), 1, 2, 2, 4 or 1, 3, 3, 4 (competition) or 1, 2.5, 2.5, 4 (average). Rows with unranked labels
        may leave gaps: only the order of their ranks is used.
    n_labels : int, optional
        The number of labels that every row must have.
    name : str
        What the argument is called in messages.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        The average rank of each label among the ranked labels of its row; NaN where unranked.

    Examples
    --------
    >>> from ramify.targets.rankings import check_rankings
    >>> check_rankings([[1, 2, 2], [3, 1, 2]])
    array([[1. , 2.5, 2.5],
           [3. , 1. , 2. ]])
    """
    refuse_broken(name, y)
    ranks = _rank_matrix(y, name)
    n_columns = ranks.shape[1]
    if n_labels is not None and n_columns != n_labels:
        raise ValueError(
            f"{name} ranks {n_columns} labels (first in row 0), but {n_labels} labels are known. "
            "Pass one column of ranks per label, in the same order."
        )
    if n_columns < 2:
        raise ValueError(
            f"{name} ranks a single label (first in row 0), so there is nothing to order. "
            "Pass one column of ranks for each of two or more labels."
        )
    average = _average_ranks(ranks)
    _refuse_impossible_ranks(ranks, average, name)
    return average


def label_pairs(n_labels: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and the second label of every pair, in the order of all pair vectors.

    Examples
    --------
    >>> from ramify.targets.rankings import label_pairs
    >>> [pair.tolist() for pair in label_pairs(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    return np.triu_indices(n_labels, k=1)


def pair_names(label_names: Sequence[str]) -> list[str]:
    """Return ``"a>b"`` for every pair of labels, in the order of `label_pairs`.

    Examples
    --------
    >>> from ramify.targets.rankings import pair_names
    >>> pair_names(["a", "b", "c"])
    ['a>b', 'a>c', 'b>c']
    """
    first, second = label_pairs(len(label_names))
    return [f"{label_names[a]}>{label_names[b]}" for a, b in zip(first, second, strict=True)]


def pair_hierarchy(label_names: Sequence[str]) -> Hierarchy:
    """Return labels with each pair ``"a>b"`` below both of its labels: a label's branch is what decides its place.

    Examples
    --------
    >>> from ramify.targets.rankings import pair_hierarchy
    >>> pair_hierarchy(["a", "b", "c"]).names
    ('a', 'b', 'c', 'a>b', 'a>c', 'b>c')
    """
    names = pair_names(label_names)
    first, second = label_pairs(len(label_names))
    edges = [(label_names[label], name) for a, b, name in zip(first, second, names, strict=True) for label in (a, b)]
    return Hierarchy.from_edges(edges, nodes=(*label_names, *names))


def ranking_names(y: Any, n_labels: int) -> list[str]:
    """Return the column names of a frame of rankings, or ``L1, L2, ...``.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.targets.rankings import ranking_names
    >>> ranking_names(np.array([[1, 2]]), 2)
    ['L1', 'L2']
    """
    columns = getattr(y, "columns", None)
    if columns is None:
        return [f"L{label + 1}" for label in range(n_labels)]
    return [str(column) for column in columns]


def pair_signs(ranks: NDArray[np.floating]) -> NDArray[np.int8]:
    """Return one sign per label pair: 1 if the first is preferred, -1 if the second, 0 if tied or unranked.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.targets.rankings import pair_signs
    >>> pair_signs(np.array([[1.0, 3.0, 2.0], [1.0, np.nan, 1.0]]))
    array([[ 1,  1, -1],
           [ 0,  0,  0]], dtype=int8)
    """
    first, second = label_pairs(ranks.shape[1])
    before, after = ranks[:, first], ranks[:, second]
    return (before < after).astype(np.int8) - (before > after).astype(np.int8)


def sign_vectors(ranks: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return sign vectors of unit length, whose inner products are Kendall's tau-b.

    A row without a preference (all labels tied or unranked) is the zero vector.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.targets.rankings import sign_vectors
    >>> first, second = sign_vectors(np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0]]))
    >>> round(float(first @ second), 3)
    0.333
    """
    return _unit_rows(pair_signs(ranks).astype(np.float64))


def rank_vectors(ranks: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return centred rank vectors of unit length, whose inner products are Spearman's rho.

    An unranked label stands at the centre, which is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.targets.rankings import rank_vectors
    >>> first, second = rank_vectors(np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0]]))
    >>> round(float(first @ second), 3)
    0.5
    """
    average = _average_ranks(np.asarray(ranks, dtype=np.float64))
    n_ranked = np.sum(~np.isnan(average), axis=1, keepdims=True)
    return _unit_rows(np.nan_to_num(average - (n_ranked + 1) / 2, nan=0.0))


def mean_preferences(ranks: NDArray[np.floating], weight: NDArray[np.floating] | None = None) -> NDArray[np.float64]:
    """Return the weighted mean sign of each label pair over the rows that compare it, 0 where none does.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.targets.rankings import mean_preferences
    >>> mean_preferences(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [1.0, 2.0]])).tolist()
    [0.5]
    """
    signs = pair_signs(ranks).astype(np.float64)
    first, second = label_pairs(ranks.shape[1])
    compared = ~(np.isnan(ranks[:, first]) | np.isnan(ranks[:, second]))
    weight = np.ones(len(ranks)) if weight is None else np.asarray(weight, dtype=np.float64)
    total = weight @ compared
    return np.divide(weight @ signs, total, out=np.zeros_like(total), where=total > 0)


def average_ranking(preferences: NDArray[np.floating], n_labels: int) -> NDArray[np.float64]:
    """Return the average rank of each label from mean signs of label pairs.

    The average rank of a label is one plus the expected number of labels preferred to it, a tie counting one half.
    For rankings of all labels this is exactly the mean of its ranks (the average ranking, or Borda count); for
    incomplete rankings each pair is averaged over the examples that compare it.

    Parameters
    ----------
    preferences : ndarray of shape (..., n_pairs)
        Mean signs, in the order of `label_pairs`.
    n_labels : int
        The number of labels.

    Returns
    -------
    ndarray of shape (..., n_labels)

    References
    ----------
    .. [1] C. R. de Sa, C. Soares, A. Knobbe, P. Cortez, "Label Ranking Forests", Expert Systems, 2016, section 4.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.targets.rankings import average_ranking
    >>> average_ranking(np.array([1.0, 1.0, 0.5]), 3).tolist()  # pairs (0, 1), (0, 2), (1, 2)
    [1.0, 2.25, 2.75]
    """
    first, second = label_pairs(n_labels)
    wins = np.zeros((*preferences.shape[:-1], n_labels))
    for pair, (a, b) in enumerate(zip(first, second, strict=True)):
        wins[..., a] += preferences[..., pair]
        wins[..., b] -= preferences[..., pair]
    return 1 + (n_labels - 1 - wins) / 2


def rank_labels(average_ranks: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the ranking by average rank, tied labels sharing their mean rank.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.targets.rankings import rank_labels
    >>> rank_labels(np.array([1.5, 2.0, 3.0, 3.5]))
    array([1., 2., 3., 4.])
    """
    return rankdata(np.round(average_ranks, TIE_DECIMALS), method="average", axis=-1)


def break_ties(rankings: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return rankings without ties: among tied labels the first column goes first.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.targets.rankings import break_ties
    >>> break_ties(np.array([[2.5, 1.0, 2.5]])).tolist()
    [[2.0, 1.0, 3.0]]
    """
    return rankdata(rankings, method="ordinal", axis=-1).astype(np.float64)


def order_text(ranks: Mapping[str, float]) -> str:
    """Return a ranking in words, best label first.

    Examples
    --------
    >>> from ramify.targets.rankings import order_text
    >>> order_text({"a": 2.5, "b": 1.0, "c": 2.5})
    'b > a = c'
    """
    best_first = sorted(ranks.items(), key=lambda item: item[1])
    text = ""
    for place, (name, rank) in enumerate(best_first):
        if place:
            text += " = " if rank == best_first[place - 1][1] else " > "
        text += name
    return text


def _rank_matrix(y: Any, name: str) -> NDArray[np.float64]:
    if hasattr(y, "to_numpy"):
        y = as_array(y)
    if not isinstance(y, np.ndarray):
        y = _rows_of_equal_length(y, name)
    if y.dtype.kind in "OUS":
        _refuse_orders(y, name)
    try:
        ranks = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold ranks (numbers), one column per label. {error}") from error
    if ranks.ndim != 2:
        raise ValueError(
            f"{name} must be a matrix of ranks with one column per label. Got {ranks.ndim} dimension(s) instead; "
            "an order such as 'a>b>c' is read by ramify.datasets.read_rankings."
        )
    if len(ranks) == 0:
        raise ValueError(f"{name} has no rows. Pass at least one ranking.")
    return ranks


def _rows_of_equal_length(y: Any, name: str) -> NDArray[Any]:
    rows = list(y) if not hasattr(y, "shape") else np.asarray(y)
    lengths = [len(row) if hasattr(row, "__len__") and not isinstance(row, str) else 0 for row in rows]
    for row, length in enumerate(lengths):
        if length != lengths[0]:
            raise ValueError(
                f"Row {row} of {name} ranks {length} labels, row 0 ranks {lengths[0]}. "
                "Give every row one rank per label, NaN for a label that is not ranked."
            )
    return np.asarray([np.asarray(row) for row in rows]) if lengths and lengths[0] else np.asarray(rows)


def _refuse_orders(y: NDArray[Any], name: str) -> None:
    for row, values in enumerate(y.reshape(len(y), -1)):
        for value in values:
            if isinstance(value, str) and not _is_number(value):
                raise ValueError(
                    f"Row {row} of {name} holds {str(value)!r}, which is not a rank. Ranks are numbers, 1 for the best "
                    "label; orders such as 'a>b>c' are read by ramify.datasets.read_rankings. Do not mix the two."
                )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _average_ranks(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    return rankdata(ranks, method="average", axis=1, nan_policy="omit")


def _refuse_impossible_ranks(ranks: NDArray[np.float64], average: NDArray[np.float64], name: str) -> None:
    unranked = np.isnan(ranks)
    n_labels = ranks.shape[1]
    smallest = rankdata(ranks, method="min", axis=1, nan_policy="omit")
    largest = rankdata(ranks, method="max", axis=1, nan_policy="omit")
    dense = rankdata(ranks, method="dense", axis=1, nan_policy="omit")
    notations = [np.all((ranks == form) | unranked, axis=1) for form in (average, smallest, largest, dense)]
    gaps_allowed = unranked.any(axis=1) & np.all(((ranks >= 1) & (ranks <= n_labels)) | unranked, axis=1)
    good = np.any(notations, axis=0) | gaps_allowed
    if not good.all():
        row = int(np.argmin(good))
        values = ", ".join(f"{value:g}" for value in ranks[row])
        raise ValueError(
            f"Row {row} of {name} is no ranking of {n_labels} labels: [{values}]. Ranks run from 1 (best) without "
            "gaps, equal ranks are a tie and NaN is an unranked label."
        )
    if unranked.all():
        raise ValueError(f"{name} ranks no label in any row (first in row 0). Pass at least one rank.")


def _unit_rows(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.sqrt(np.sum(vectors**2, axis=1, keepdims=True))
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
