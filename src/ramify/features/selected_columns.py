"""Selectors of features: what they keep of X, whose columns must be those of the fit."""

from __future__ import annotations

from typing import Any

from sklearn.feature_selection import SelectorMixin

from ramify.features.checks import refuse_repeated_names
from ramify.features.file_columns import keep_columns


class ColumnSelector(SelectorMixin):
    """scikit-learn's selector, which also knows columns whose names are no texts, and those of files."""

    def transform(self, X: Any) -> Any:
        """The kept features.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array, sparse matrix or frame of shape (n_samples, n_kept)
        """
        refuse_repeated_names(self, X)
        keep_columns(self, X, reset=False)
        return super().transform(X)
