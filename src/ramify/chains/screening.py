"""Screening of features by how well the labels explain them, before a chain is fitted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ramify.chains.chain_order import orthogonal_basis
from ramify.chains.label_sets import read_label_sets
from ramify.features import learn_features
from ramify.features.checks import refuse_repeated_names
from ramify.features.file_columns import keep_columns
from ramify.features.selected_columns import ColumnSelector
from ramify.parameters import check_real
from ramify.state import ENCODED_FEATURES, State, fitting, number, numbers
from ramify.tags import tagged

_ROUNDING = 1e-9  # R2 that differ by less are equal: sums over dense and sparse columns are rounded differently


@dataclass(kw_only=True, eq=False, repr=False)
class R2Screening(ColumnSelector, BaseEstimator):
    """Keep the features that a linear regression on all labels explains best.

    Parameters
    ----------
    percentile : float, default=85
        Features whose R2 is at least this percentile of all R2 are kept: 85 keeps 15 percent of them.
    categorical_features : "from_dtype", None, or mask, indices or names
        Nominal features; they are regressed by the number of their value.

    Attributes
    ----------
    r2_ : ndarray of shape (n_features,)
        Coefficient of determination of each feature regressed on the labels; 0 for a constant feature.
    cut_ : float
        The smallest R2 that is kept.

    Notes
    -----
    Missing values are left out of their feature's regression.

    References
    ----------
    L-classifier chains, section 7.3.

    Examples
    --------
    >>> from ramify.chains import R2Screening
    >>> from ramify.datasets import make_multilabel
    >>> data = make_multilabel(random_state=0)
    >>> R2Screening(percentile=80).fit_transform(data.X, data.y).shape
    (200, 10)
    """

    fitted_state: ClassVar[State] = {
        **ENCODED_FEATURES,
        "r2_": numbers("n_features"),
        "cut_": number(),
    }

    percentile: float = field(default=85, kw_only=False)
    categorical_features: Any = "from_dtype"

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Compute the R2 of each feature.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features.
        y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Label sets, or classes.

        Returns
        -------
        self
        """
        with fitting(self):
            check_real(self, "percentile", self.percentile, low=0, high=100)
            features = learn_features(self, X, self.categorical_features)
            self.r2_ = label_r2(features.values, read_label_sets(y, features.values.shape[0], refusing=self).matrix)
            self.cut_ = float(np.percentile(self.r2_, self.percentile))
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "r2_")
        return self.r2_ >= self.cut_ - _ROUNDING

    def transform(self, X: Any) -> Any:
        """The kept features.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array, sparse matrix or frame of shape (n_samples, n_kept)
        """
        support = self.get_support(indices=True)
        if hasattr(X, "iloc"):
            refuse_repeated_names(self, X)
            keep_columns(self, X, reset=False)
            validate_data(self, X, reset=False, skip_check_array=True)
            return X.iloc[:, support]
        return super().transform(X)

    def __sklearn_tags__(self) -> Tags:
        return tagged(super().__sklearn_tags__(), "sparse", "allow_nan", "required")


def label_r2(X: Any, labels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """R2 of each column of X regressed on all labels, with intercept; NaN cells are left out."""
    stored = X.data if sparse.issparse(X) else X
    if np.isnan(stored).any():
        columns = X.tocsc() if sparse.issparse(X) else X
        return np.array([_r2_of_column(columns[:, [j]], labels) for j in range(X.shape[1])])
    return _complete_r2(X, labels)


def _complete_r2(X: Any, labels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Share of each column's variance within the space that the centred labels span."""
    n_samples = X.shape[0]
    X = _of_size_one(X)
    basis, _ = orthogonal_basis(labels - labels.mean(axis=0))
    mean = np.asarray(X.mean(axis=0)).ravel()
    if sparse.issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=0)).ravel()
        explained = ((X.T @ basis) ** 2).sum(axis=1)
        total = squares - n_samples * mean**2
    else:
        explained = ((basis.T @ X) ** 2).sum(axis=0)
        squares = (X**2).sum(axis=0)
        total = ((X - mean) ** 2).sum(axis=0)
    varies = total > 1e-12 * np.maximum(squares, np.finfo(np.float64).tiny)
    return np.where(varies, np.clip(explained / np.where(varies, total, 1.0), 0.0, 1.0), 0.0)


def _of_size_one(X: Any) -> Any:
    """Columns divided by a power of two near their largest number, which changes no R2 and lets no square overflow."""
    largest = abs(X).max(axis=0)
    largest = np.asarray(largest.todense() if sparse.issparse(largest) else largest, dtype=np.float64).ravel()
    _, exponent = np.frexp(largest)
    halves = np.ldexp(1.0, -(exponent // 2)), np.ldexp(1.0, -(exponent - exponent // 2))
    if sparse.issparse(X):
        return X @ sparse.diags_array(halves[0]) @ sparse.diags_array(halves[1])
    scaled = X * halves[0]
    scaled *= halves[1]
    return scaled


def _r2_of_column(column: Any, labels: NDArray[np.uint8]) -> float:
    values = np.asarray(column.toarray() if sparse.issparse(column) else column).ravel()
    known = ~np.isnan(values)
    return float(_complete_r2(values[known].reshape(-1, 1), labels[known])[0]) if known.any() else 0.0
