"""TrainingData: features, target and weights of the rows that take part, checked and encoded once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold

from ramify.ensemble.row_weights import checked_sample_weight
from ramify.features import Features, learn_features
from ramify.features.frames import take_rows, weighing_rows
from ramify.features.parted_table import in_memory, is_parted


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What an estimator learns from.

    Attributes
    ----------
    features : Features
        Features of the rows that take part.
    target : Target
        Their target, as the estimator encodes it.
    weights : float64 array of shape (n_samples,), or None
        Their weights; None where all weigh the same.
    row_groups : int64 array of shape (n_samples,), or None
        A number per row, the same for rows that belong together; None where each stands alone.
    rows : int array of shape (n_samples,), or None
        Positions of these rows among those given; None where they are all of them.
    n_given : int
        Number of rows given.
    """

    features: Features
    target: Any
    weights: np.ndarray | None = None
    row_groups: np.ndarray | None = None
    rows: np.ndarray | None = None
    n_given: int = 0

    @property
    def n_samples(self) -> int:
        """Number of rows that take part."""
        return int(self.features.values.shape[0])

    @property
    def positions(self) -> np.ndarray:
        """Positions of these rows among those given."""
        return np.arange(self.n_samples) if self.rows is None else self.rows

    @property
    def bagging(self) -> dict[str, Any]:
        """What the kernels must know to draw bags, or to draw them again."""
        return {"sample_weight": self.weights, "row_groups": self.row_groups}

    def among_given(self, values: np.ndarray) -> np.ndarray:
        """Values of these rows among all that were given, NaN for the others."""
        if self.rows is None:
            return values
        spread = np.full((self.n_given, *values.shape[1:]), np.nan)
        spread[self.rows] = values
        return spread


def training_data(
    owner: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    row_groups: Any = None,
    *,
    features: Callable[[Any], Features],
    target: Callable[..., Any],
) -> TrainingData:
    """Check and encode the rows that take part: those with a weight and a target.

    Parameters
    ----------
    owner : estimator or str
        Named in messages.
    X, y : array, CSR, CSC or frame
        Features and target.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows. A row of weight zero takes no part.
    row_groups : array-like of shape (n_samples,), optional
        What each row belongs to.
    features : callable
        Encodes features.
    target : callable
        Encodes a target, given `sample_weight` and `n_samples`.
    """
    y, sample_weight, row_groups = in_memory(y), in_memory(sample_weight), in_memory(row_groups)
    rows = weighing_rows(y if is_parted(X) else X, y, sample_weight)
    while True:
        if rows is not None and is_parted(X):
            raise ValueError(
                f"{len(rows)} rows have a weight and a target. Of rows on a Dask cluster all take part: leave the "
                "others out of X and y first."
            )
        encoded = features(X if rows is None else take_rows(X, rows))
        n_samples = encoded.values.shape[0]
        weights = checked_sample_weight(owner, _part(sample_weight, rows), n_samples)
        known = target(y if rows is None else take_rows(y, rows), sample_weight=weights, n_samples=n_samples)
        having = known.rows_with_target()
        if having is None:
            break
        rows = having if rows is None else rows[having]
    n_given = n_samples if rows is None else len(sample_weight) if np.ndim(sample_weight) else _n_rows(y)
    groups = checked_row_groups(owner, row_groups, n_given)
    if groups is not None and rows is not None:  # numbered as if there were no other rows
        groups = checked_row_groups(owner, groups[rows], len(rows))
    return TrainingData(encoded, known, weights, groups, rows, n_given)


def learnt_data(estimator: Any, X: Any, y: Any, sample_weight: Any = None, row_groups: Any = None) -> TrainingData:
    """What an estimator learns from, with the names and values of features that it sets on itself.

    Parameters
    ----------
    estimator : estimator
        With `categorical_features` and `encode_target`.
    X, y, sample_weight, row_groups
        As `training_data` takes them.
    """

    def learnt(given: Any) -> Features:
        return learn_features(estimator, given, estimator.categorical_features)

    return training_data(estimator, X, y, sample_weight, row_groups, features=learnt, target=estimator.encode_target)


def checked_row_groups(owner: Any, row_groups: Any, n_samples: int) -> np.ndarray | None:
    """A number per row, the same for rows of one group, in the order in which groups appear; None stays None.

    Examples
    --------
    >>> from ramify.ensemble.training_data import checked_row_groups
    >>> checked_row_groups("fit", ["ann", "bob", "ann"], 3).tolist()
    [0, 1, 0]
    """
    if row_groups is None:
        return None
    import pandas as pd

    name = owner if isinstance(owner, str) else type(owner).__name__
    groups = pd.Series(list(row_groups) if isinstance(row_groups, (list, tuple)) else np.asarray(row_groups).ravel())
    if len(groups) != n_samples or np.ndim(row_groups) > 2 or np.size(row_groups) != len(groups):
        raise ValueError(
            f"row_groups of {name} must hold one value per row ({n_samples}), such as the patient that each row is of. "
            f"Got {np.size(row_groups)} instead."
        )
    codes, _ = pd.factorize(groups)
    if (codes < 0).any():
        raise ValueError(
            f"row_groups of {name} must name a group for every row, but row {int(np.argmax(codes < 0))} has none. Give "
            "a row that stands alone a group of its own."
        )
    return codes.astype(np.int64)


def row_folds(
    n_samples: int, n_folds: int, seed: int, row_groups: np.ndarray | None = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows to learn from and rows kept apart, fold by fold; whole groups are kept apart. None where there are too few.

    Parameters
    ----------
    n_samples, n_folds, seed : int
        Rows, folds, and the seed of the shuffle.
    row_groups : int64 array of shape (n_samples,), optional
        Numbers of groups.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.ensemble.training_data import row_folds
    >>> folds = row_folds(4, 2, 0, np.array([0, 0, 1, 1]))
    >>> sorted(kept_apart.tolist() for _, kept_apart in folds)
    [[0, 1], [2, 3]]
    """
    units = np.arange(n_samples) if row_groups is None else np.unique(row_groups)
    if len(units) < n_folds:
        return []
    folds = KFold(n_folds, shuffle=True, random_state=seed).split(units)
    if row_groups is None:
        return list(folds)
    apart = [np.isin(row_groups, units[own]) for _, own in folds]
    return [(np.flatnonzero(~own), np.flatnonzero(own)) for own in apart]


def refuse_one_group(owner: Any, data: TrainingData) -> None:
    """Refuse rows that all belong together where some are to be kept apart from others."""
    if data.row_groups is not None and (data.row_groups == data.row_groups[0]).all():
        raise ValueError(
            f"{type(owner).__name__} keeps whole groups of rows apart, but row_groups puts all rows that take part in "
            "one. Give at least two groups, or leave row_groups out."
        )


def _part(values: Any, rows: np.ndarray | None) -> Any:
    return values if rows is None or not np.ndim(values) else np.asarray(values)[rows]


def _n_rows(y: Any) -> int:
    return int(y.shape[0]) if hasattr(y, "shape") or sparse.issparse(y) else len(y)
