"""How much a binary feature tells about the target: R, LazyR, information gain and the probabilities behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_array

from ramify.features.frames import as_array, take_rows
from ramify.hierarchy import Hierarchy
from ramify.targets import LabelTarget, encode_labels
from ramify.targets.known_cells import refuse_missing

# Features x target columns that are held dense at a time.
_BLOCK_CELLS = 1 << 22


def r_relevance(X: Any, y: Any, *, smoothing: float = 1.0, hierarchy: Hierarchy | None = None) -> np.ndarray:
    """R of each feature: squared differences between P(c | present) and P(c | absent), summed over classes.

    Parameters
    ----------
    X, y, smoothing, hierarchy
        As in `conditional_probabilities`. For label sets the measure is summed over the labels.

    Returns
    -------
    ndarray of shape (n_features,)

    Notes
    -----
    The paper does not smooth; its authors' program does, by one.

    References
    ----------
    P. N. da Silva, A. Plastino, A. A. Freitas, "Prioritizing positive feature values: a new hierarchical feature
    selection method", Applied Intelligence, 2020, Eq. 1.

    Examples
    --------
    >>> from ramify.selection.relevance import r_relevance
    >>> r_relevance([[1, 1], [1, 0], [0, 0], [0, 1]], [1, 1, 0, 0], smoothing=0)
    array([2., 0.])
    """
    return _summed(X, y, hierarchy, lambda block: _squares(block, *block.probabilities(smoothing)))


def lazy_r(X: Any, y: Any, *, value: int = 1, smoothing: float = 1.0, hierarchy: Hierarchy | None = None) -> np.ndarray:
    """LazyR of each feature taking `value`: squared distance of P(c | x = value) from the uniform distribution.

    Parameters
    ----------
    X, y, smoothing, hierarchy
        As in `conditional_probabilities`. For label sets the measure is summed over the labels.
    value : {0, 1}
        The feature value whose relevance is asked for.

    Returns
    -------
    ndarray of shape (n_features,)

    Notes
    -----
    The paper does not smooth; its authors' program does, by one, which its shares of selected features (Table 10) need.
    A value that never occurs has relevance 0.

    References
    ----------
    P. N. da Silva, A. Plastino, A. A. Freitas, "Prioritizing positive feature values: a new hierarchical feature
    selection method", Applied Intelligence, 2020, Eq. 2.

    Examples
    --------
    >>> from ramify.selection.relevance import lazy_r
    >>> lazy_r([[1, 1], [1, 0], [0, 0]], ["c1", "c2", "c2"], smoothing=0)
    array([0. , 0.5])
    """
    if value not in {0, 1}:
        raise ValueError(f"The 'value' parameter of lazy_r must be 0 or 1. Got {value!r} instead.")

    def relevance(block: _Counts) -> np.ndarray:
        given = block.probabilities(smoothing)[1 - value]
        return _squares(block, given, np.float64(1.0 / block.n_outcomes))

    return _summed(X, y, hierarchy, relevance)


def information_gain(X: Any, y: Any, *, hierarchy: Hierarchy | None = None) -> np.ndarray:
    """Information gain of each feature about the target, in bits, without smoothing.

    Parameters
    ----------
    X, y, hierarchy
        As in `conditional_probabilities`. For label sets the gain is summed over the labels.

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> from ramify.selection.relevance import information_gain
    >>> information_gain([[1, 1], [1, 0], [0, 0], [0, 1]], [1, 1, 0, 0])
    array([1., 0.])
    """
    return _summed(X, y, hierarchy, _gain)


def gain_ratio(X: Any, y: Any, *, hierarchy: Hierarchy | None = None) -> np.ndarray:
    """Information gain of each feature divided by the feature's own entropy; 0 for a constant feature.

    Parameters
    ----------
    X, y, hierarchy
        As in `conditional_probabilities`. For label sets the gain is summed over the labels.

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> from ramify.selection.relevance import gain_ratio
    >>> gain_ratio([[1, 1], [1, 1], [0, 1], [0, 1]], [1, 1, 0, 0])
    array([1., 0.])
    """

    def ratio(block: _Counts) -> np.ndarray:
        share = block.n_present / block.n_samples
        entropy = _information(share) + _information(1.0 - share)
        return np.divide(_gains(block), entropy, out=np.zeros_like(entropy), where=entropy > 0).sum(axis=1)

    return _summed(X, y, hierarchy, ratio)


def lift(X: Any, y: Any, *, hierarchy: Hierarchy | None = None) -> np.ndarray:
    """Lift P(c | present) / P(c) of each feature; 0 if it is never present.

    Of two classes it is the lift of the second (in sorted order, the positive class by convention); of more classes or
    of labels the largest.

    Parameters
    ----------
    X, y, hierarchy
        As in `conditional_probabilities`.

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> from ramify.selection.relevance import lift
    >>> lift([[1, 1], [1, 0], [0, 0], [0, 1]], [1, 1, 0, 0])
    array([2., 1.])
    """

    def largest(block: _Counts) -> np.ndarray:
        expected = block.n_present * block.totals
        joint = block.present * block.n_samples
        lifts = np.divide(joint, expected, out=np.zeros_like(expected), where=expected > 0)
        is_binary = block.exclusive and lifts.shape[1] == 2
        return lifts[:, 1] if is_binary else lifts.max(axis=1)

    return _summed(X, y, hierarchy, largest)


@dataclass(frozen=True, eq=False)
class _Counts:
    """Co-occurrences of a block of features with the target's columns.

    Where labels are unknown, each counts its own rows; else one count of rows serves all columns.
    """

    present: np.ndarray  # (n_features, n_columns) rows with the feature and the class
    n_present: np.ndarray  # (n_features, 1 or n_columns) rows with the feature
    totals: np.ndarray  # (n_columns,) rows with the class
    n_samples: np.ndarray  # (1 or n_columns,) rows
    exclusive: bool

    @property
    def n_outcomes(self) -> int:
        return len(self.totals) if self.exclusive else 2

    def probabilities(self, smoothing: float) -> tuple[np.ndarray, np.ndarray]:
        """P(c | present) and P(c | absent)."""
        absent = self.totals - self.present
        n_absent = self.n_samples - self.n_present
        return self._ratio(self.present, self.n_present, smoothing), self._ratio(absent, n_absent, smoothing)

    def _ratio(self, joint: np.ndarray, rows: np.ndarray, smoothing: float) -> np.ndarray:
        total = np.broadcast_to(rows + smoothing * self.n_outcomes, joint.shape)
        uniform = np.full(joint.shape, 1.0 / self.n_outcomes)
        return np.divide(joint + smoothing, total, out=uniform, where=total > 0)


@dataclass(frozen=True, eq=False)
class _TargetCounts:
    """Binary features and a target encoded as 0/1 columns, ready to be counted in blocks of features."""

    X: sparse.csc_array
    Y: sparse.csr_array
    unknown: sparse.csr_array | None
    exclusive: bool

    @classmethod
    def of(cls, X: Any, y: Any, hierarchy: Hierarchy | None) -> _TargetCounts:
        X = sparse.csc_array(check_binary(X), dtype=np.float64)
        target = encode_target(y, hierarchy)
        check_rows(X, target.n_samples)
        unknown = None if target.unknown is None else sparse.csr_array(target.unknown, dtype=np.float64)
        return cls(X, sparse.csr_array(target.Y, dtype=np.float64), unknown, target.has_one_label)

    @property
    def n_samples(self) -> np.ndarray:
        n_samples = np.array([float(self.X.shape[0])])
        return n_samples if self.unknown is None else n_samples - self.unknown.sum(axis=0)

    @property
    def totals(self) -> np.ndarray:
        return np.asarray(self.Y.sum(axis=0), dtype=np.float64).ravel()

    def blocks(self) -> Iterator[_Counts]:
        totals = self.totals
        width = max(1, _BLOCK_CELLS // max(1, len(totals)))
        for start in range(0, self.X.shape[1], width):
            part = self.X[:, start : start + width]
            n_present = np.asarray(part.sum(axis=0), dtype=np.float64).reshape(-1, 1)
            if self.unknown is not None:
                n_present = n_present - (part.T @ self.unknown).toarray()
            present = (part.T @ self.Y).toarray()
            yield _Counts(present, n_present, totals, self.n_samples, self.exclusive)


def check_binary(X: Any, names: Sequence[str] | None = None) -> Any:
    """`X` as an array or CSR of 0 and 1, or an error that names the first column that is not binary."""
    options: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "ensure_min_features": 0, "ensure_all_finite": False}
    X = check_array(X, dtype="numeric", **options)
    if sparse.issparse(X) and not X.has_canonical_format:  # a cell that is stored twice holds the sum
        X = X.copy()
        X.sum_duplicates()
    values = X.data if sparse.issparse(X) else X
    wrong = (values != 0) & (values != 1)
    if not wrong.any():
        return X
    if sparse.issparse(X):
        entries = sparse.coo_array(X)
        first = int(np.flatnonzero((entries.data != 0) & (entries.data != 1))[0])
        column, value = int(entries.col[first]), entries.data[first]
    else:
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        value = X[row, column]
    place = f"Column {column} of X" if names is None else f"Feature {names[column]!r}"
    held = "NaN (a missing value)" if np.isnan(value) else str(value)
    raise ValueError(f"{place} holds {held}; features that form a hierarchy must be binary, 0 (absent) or 1 (present).")


def encode_target(y: Any, hierarchy: Hierarchy | None = None) -> LabelTarget:
    """Classes of one column, or label sets, which may be known in part."""
    if y is None:
        raise ValueError("y is None, but features are selected for a target: pass classes, or label sets of 0 and 1.")
    if not sparse.issparse(y) and as_array(y).ndim == 1:
        y = refuse_missing(np.asarray(y))
        if type_of_target(y, input_name="y") not in {"binary", "multiclass"}:
            raise ValueError("y must be classes; bin a numeric target before selecting features for it.")
        return encode_labels(y)
    target = encode_labels(y, hierarchy=hierarchy, partly_known=True)
    if target.has_one_label:
        raise ValueError("y of two dimensions must be label sets, 0 or 1 per label.")
    return target


def rows_with_target(X: sparse.csr_array, y: Any, hierarchy: Hierarchy | None) -> tuple[sparse.csr_array, Any]:
    """Features and target of the rows of which something is known; the others are as if they were not there."""
    target = encode_target(y, hierarchy)
    check_rows(X, target.n_samples)
    rows = target.rows_with_target()
    return (X, y) if rows is None else (X[rows], take_rows(y, rows))


def check_rows(X: Any, n_targets: int) -> None:
    """Features and target must have the same rows."""
    if X.shape[0] != n_targets:
        raise ValueError(f"X has {X.shape[0]} rows and y has {n_targets}; they must agree.")


def _summed(X: Any, y: Any, hierarchy: Hierarchy | None, relevance: Any) -> np.ndarray:
    return np.concatenate([relevance(block) for block in _TargetCounts.of(X, y, hierarchy).blocks()])


def _squares(block: _Counts, first: np.ndarray, second: Any) -> np.ndarray:
    """Squared differences over the outcomes; a label's second outcome mirrors its first."""
    total = ((first - second) ** 2).sum(axis=1)
    return total if block.exclusive else 2.0 * total


def _gain(block: _Counts) -> np.ndarray:
    return _gains(block).sum(axis=1)


def _gains(block: _Counts) -> np.ndarray:
    """Gains of each feature: over all columns together, or of each where each has rows of its own."""
    share = block.n_present / block.n_samples
    present, absent = block.probabilities(0.0)
    prior = block.totals / block.n_samples
    gain = _outcome_information(prior, block.exclusive) - (
        share * _outcome_information(present, block.exclusive)
        + (1.0 - share) * _outcome_information(absent, block.exclusive)
    )
    gains = gain.sum(axis=1, keepdims=True) if share.shape[1] == 1 else gain
    return np.maximum(gains, 0.0)


def _outcome_information(probability: np.ndarray, exclusive: bool) -> np.ndarray:
    if exclusive:
        return _information(probability)
    return _information(probability) + _information(1.0 - probability)


def _information(probability: np.ndarray) -> np.ndarray:
    """-p log2 p, 0 at p = 0."""
    logarithm = np.log2(probability, out=np.zeros_like(probability), where=probability > 0)
    return -probability * logarithm
