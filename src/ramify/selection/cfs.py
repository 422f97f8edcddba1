"""Correlation-based feature selection: features that agree with the class and not with each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ramify.features import finite_features
from ramify.features.selected_columns import ColumnSelector
from ramify.parameters import check_flag, check_integer
from ramify.selection.relevance import check_binary, check_rows, encode_target
from ramify.state import FEATURES, State, fitting, flags, number, numbers
from ramify.tags import tagged

# A better merit must be better by this much to count as progress.
_PROGRESS = 1e-5
# Uncertainties between features that are kept once computed.
_KEPT_CELLS = 1 << 24


@dataclass(kw_only=True, eq=False, repr=False)
class CFSSelector(ColumnSelector, BaseEstimator):
    """Select binary features of high correlation with the class and low correlation with each other.

    The merit of k features is `k r_cf / sqrt(k + k (k - 1) r_ff)`, with the mean correlation of feature and class
    `r_cf` and of two features `r_ff`; correlation is symmetrical uncertainty. Best-first search adds one feature at a
    time and stops when `n_stale` expansions in a row brought nothing better.

    Parameters
    ----------
    n_stale : int, default=5
        Expansions without progress after which the search stops; as many open subsets are remembered.
    locally_predictive : bool, default=True
        Whether to add, at the end, features that correlate with the class more than with any feature selected so far.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Symmetrical uncertainty of each feature and the class.
    merit_ : float
        Merit of the subset that the search found.

    Notes
    -----
    Defaults are Weka's. Features that tell nothing about the class alone (uncertainty 0) are never added as locally
    predictive.

    References
    ----------
    M. A. Hall, "Correlation-based feature selection for discrete and numeric class machine learning", ICML, 2000.

    Examples
    --------
    >>> from ramify.selection import CFSSelector
    >>> X, y = [[1, 1, 0], [1, 1, 1], [0, 0, 0], [0, 0, 1]], [1, 1, 0, 0]
    >>> CFSSelector(locally_predictive=False).fit(X, y).get_support()
    array([ True, False, False])
    """

    fitted_state: ClassVar[State] = {
        **FEATURES,
        "scores_": numbers("n_features"),
        "merit_": number(),
        "_support": flags("n_features"),
    }

    n_stale: int = field(default=5, kw_only=False)
    locally_predictive: bool = True

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the subset from training rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Binary features.
        y : array of shape (n_samples,)
            Classes.
        """
        with fitting(self):
            n_stale = check_integer(self, "n_stale", self.n_stale, low=1)
            check_flag(self, "locally_predictive", self.locally_predictive)
            checked = check_binary(finite_features(self, X, accept_sparse=["csr", "csc"], dtype="numeric"))
            target = encode_target(y)
            if not target.has_one_label:
                raise ValueError("CFSSelector takes one class per row. Got label sets: select for each of them.")
            check_rows(checked, target.n_samples)
            uncertainty = _Uncertainty(sparse.csc_array(checked, dtype=np.float64), target.Y.astype(np.float64))
            self.scores_ = uncertainty.with_class
            chosen, self.merit_ = _best_first(uncertainty, n_stale)
            if self.locally_predictive:
                chosen = _with_locally_predictive(chosen, uncertainty)
            self._support = np.zeros(checked.shape[1], dtype=bool)
            self._support[list(chosen)] = True
        return self

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self._support

    def __sklearn_tags__(self) -> Tags:
        return tagged(super().__sklearn_tags__(), "sparse", "required")


class _Uncertainty:
    """Symmetrical uncertainties of binary features, computed one row at a time when they are asked for."""

    def __init__(self, X: sparse.csc_array, Y: sparse.csr_array) -> None:
        self.X = X
        self.n_samples = X.shape[0]
        self.n_present = np.asarray(X.sum(axis=0)).ravel()
        self.entropy = _entropy(np.stack([self.n_present, self.n_samples - self.n_present]))
        totals = np.asarray(Y.sum(axis=0)).ravel()
        present = np.asarray((X.T @ Y).todense()).T
        joint = _entropy(np.concatenate([present, totals[:, None] - present]))
        self.with_class = _symmetrical(self.entropy, _entropy(totals[:, None]), joint)
        self._kept: dict[int, np.ndarray] = {}

    def with_features(self, feature: int) -> np.ndarray:
        """Uncertainties of one feature and all others."""
        if feature in self._kept:
            return self._kept[feature]
        both = (self.X.T @ self.X[:, [feature]]).toarray().ravel()
        own = self.n_present[feature]
        neither = self.n_samples - self.n_present - own + both
        joint = _entropy(np.stack([both, self.n_present - both, own - both, neither]))
        uncertainty = _symmetrical(self.entropy, self.entropy[feature], joint)
        if len(self._kept) * len(uncertainty) < _KEPT_CELLS:
            self._kept[feature] = uncertainty
        return uncertainty


def _best_first(uncertainty: _Uncertainty, n_stale: int) -> tuple[frozenset[int], float]:
    """Subset of the highest merit that forward best-first search meets."""
    best: frozenset[int] = frozenset()
    best_merit = 0.0
    # Open subsets, best first: merit, features, sum of their uncertainties with the class, with all pairs.
    waiting = [(0.0, best, 0.0, 0.0)]
    seen = {best}
    stale = 0
    while waiting and stale < n_stale:
        _, subset, with_class, with_pairs = waiting.pop(0)
        progress = False
        n_new = 0
        for merit, feature, class_sum, pair_sum in _expansions(uncertainty, subset, with_class, with_pairs):
            grown = subset | {feature}
            if grown in seen:
                continue
            n_new += 1
            if n_new > n_stale:  # no more are remembered
                break
            seen.add(grown)
            waiting.append((merit, grown, class_sum, pair_sum))
            if merit > best_merit:
                progress |= merit - best_merit > _PROGRESS
                best, best_merit = grown, merit
        waiting.sort(key=lambda entry: -entry[0])
        del waiting[n_stale:]
        stale = 0 if progress else stale + 1
    return best, best_merit


def _expansions(
    uncertainty: _Uncertainty, subset: frozenset[int], with_class: float, with_pairs: float
) -> Iterator[tuple[float, int, float, float]]:
    """Additions of one feature to a subset, best first: merit, feature, and the two sums of the grown subset."""
    class_sums = with_class + uncertainty.with_class
    pair_sums = np.full(len(class_sums), with_pairs)
    for feature in sorted(subset):
        pair_sums += uncertainty.with_features(feature)
    merits = class_sums / np.sqrt(len(subset) + 1 + 2.0 * pair_sums)
    for feature in np.argsort(-merits, kind="stable").tolist():
        if feature not in subset:
            yield float(merits[feature]), feature, float(class_sums[feature]), float(pair_sums[feature])


def _with_locally_predictive(chosen: frozenset[int], uncertainty: _Uncertainty) -> frozenset[int]:
    largest = np.zeros(len(uncertainty.with_class))
    for feature in chosen:
        np.maximum(largest, uncertainty.with_features(feature), out=largest)
    grown = set(chosen)
    for feature in np.argsort(-uncertainty.with_class, kind="stable").tolist():
        relevance = uncertainty.with_class[feature]
        if relevance <= 0:
            break
        if feature not in grown and largest[feature] <= relevance:
            grown.add(feature)
            np.maximum(largest, uncertainty.with_features(feature), out=largest)
    return frozenset(grown)


def _entropy(counts: np.ndarray) -> np.ndarray:
    """Entropy in bits of the distributions in the columns."""
    share = counts / counts.sum(axis=0)
    return -(share * np.log2(share, out=np.zeros_like(share), where=share > 0)).sum(axis=0)


def _symmetrical(first: np.ndarray, second: Any, joint: np.ndarray) -> np.ndarray:
    total = first + second
    shared = np.maximum(2.0 * (total - joint), 0.0)
    return np.round(np.divide(shared, total, out=np.zeros_like(total), where=total > 0), 12)
