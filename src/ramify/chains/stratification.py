"""Splits in which every label has its share in every part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from ramify.chains.label_sets import read_label_sets
from ramify.ensemble.training_data import checked_row_groups
from ramify.parameters import check_integer


@dataclass(kw_only=True, eq=False, repr=False)
class IterativeStratification(BaseCrossValidator):
    """Folds of label sets in which each label has the same share, rare labels first.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    random_state : int, RandomState or None
        Seed.

    References
    ----------
    K. Sechidis, G. Tsoumakas and I. Vlahavas, On the stratification of multi-label data, 2011.

    Examples
    --------
    >>> from ramify.chains import IterativeStratification
    >>> from ramify.datasets import make_multilabel
    >>> data = make_multilabel(random_state=0)
    >>> [len(test) for _, test in IterativeStratification(4, random_state=0).split(data.X, data.y)]
    [50, 50, 50, 50]
    """

    n_splits: int = field(default=5, kw_only=False)
    random_state: int | np.random.RandomState | None = None

    def split(
        self, X: Any, y: ArrayLike | None = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the rows of each training and test part.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features; not looked at.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Label sets.
        groups : array-like of shape (n_samples,), optional
            Which rows belong together; whole groups go to one part.
        """
        check_integer(self, "n_splits", self.n_splits, low=2)
        if y is None:
            raise ValueError("IterativeStratification needs the label sets: pass y to split.")
        yield from super().split(X, y, groups)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Number of folds.

        Parameters
        ----------
        X, y, groups : object
            Not used.
        """
        return self.n_splits

    def _iter_test_indices(self, X: Any, y: ArrayLike, groups: Any = None) -> Iterator[NDArray[np.intp]]:  # noqa: ARG002
        shares = [1 / self.n_splits] * self.n_splits
        part = stratified_parts(y, shares, row_groups=groups, random_state=self.random_state)
        for number in range(self.n_splits):
            yield np.flatnonzero(part == number)


def stratified_parts(
    y: ArrayLike,
    shares: Sequence[float],
    *,
    row_groups: Any = None,
    random_state: int | np.random.RandomState | None = None,
) -> NDArray[np.intp]:
    """Number of the part that each row goes to, so that every label has its share in every part.

    Parameters
    ----------
    y : array-like or sparse matrix of shape (n_samples, n_labels)
        Label sets; where labels are unknown (NaN), the unknown ones of each label are shared out, too.
    shares : sequence of float
        Share of the rows of each part, such as 0.5, 0.25, 0.25 for training, validation and test.
    row_groups : array-like of shape (n_samples,), optional
        Which rows belong together (patients, families); whole groups go to one part, and a group counts by its rows
        and by the rows that have each label.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    ndarray of shape (n_samples,)

    References
    ----------
    K. Sechidis, G. Tsoumakas and I. Vlahavas, On the stratification of multi-label data, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.chains.stratification import stratified_parts
    >>> from ramify.datasets import make_multilabel
    >>> np.bincount(stratified_parts(make_multilabel(random_state=0).y, [0.5, 0.25, 0.25], random_state=0))
    array([100,  50,  50])
    """
    share = np.asarray(shares, dtype=np.float64)
    if share.ndim != 1 or len(share) < 1 or (share <= 0).any() or not np.isclose(share.sum(), 1.0):
        raise ValueError(f"The 'shares' of stratified_parts must be positive and sum to 1. Got {shares!r} instead.")
    labels = read_label_sets(y).matrix
    if labels.dtype.kind == "f":  # what is not known counts as a label of its own, to be spread as well
        labels = np.hstack([labels == 1, np.isnan(labels)])
    groups = checked_row_groups("stratified_parts", row_groups, len(labels))
    unit = np.arange(len(labels)) if groups is None else groups
    n_rows = np.bincount(unit)
    n_labels = np.zeros((len(n_rows), labels.shape[1]), dtype=np.int64)
    np.add.at(n_labels, unit, labels.astype(np.int64))
    random = check_random_state(random_state)
    rows_wanted = share * len(labels)
    labels_wanted = share[:, None] * n_labels.sum(axis=0)
    part = np.full(len(n_rows), -1, dtype=np.intp)
    remaining = n_labels.sum(axis=0)
    while remaining.any():
        rarest = int(np.argmin(np.where(remaining > 0, remaining, np.iinfo(np.intp).max)))
        having = random.permutation(np.flatnonzero((n_labels[:, rarest] > 0) & (part < 0)))
        for own in having[np.argsort(-n_labels[having, rarest], kind="stable")]:  # small groups even out large ones
            chosen = _neediest(labels_wanted[:, rarest], rows_wanted, random)
            part[own] = chosen
            rows_wanted[chosen] -= n_rows[own]
            labels_wanted[chosen] -= n_labels[own]
            remaining = remaining - n_labels[own]
    rest = random.permutation(np.flatnonzero(part < 0))
    for own in rest[np.argsort(-n_rows[rest], kind="stable")]:
        part[own] = _neediest(rows_wanted, rows_wanted, random)
        rows_wanted[part[own]] -= n_rows[own]
    return part[unit]


def _neediest(wanted: NDArray[np.float64], rows_wanted: NDArray[np.float64], random: np.random.RandomState) -> int:
    """The part that wants most, then the one that wants most rows, then any."""
    best = np.flatnonzero(np.isclose(wanted, wanted.max()))
    best = best[np.isclose(rows_wanted[best], rows_wanted[best].max())]
    return int(best[0] if len(best) == 1 else random.choice(best))
