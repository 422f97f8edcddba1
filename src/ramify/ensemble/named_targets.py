"""Scores of predictions against a y whose columns are matched by name, as those of X are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from ramify.features.frames import frame_names, take_columns


class NamedClassifier(ClassifierMixin):
    """A classifier whose `score` matches the columns of y by name."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy; of label sets the share of rows whose whole set is predicted.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.
        y : array, CSR or frame of shape (n_samples,) or (n_samples, n_labels)
            The truth. The columns of a frame are matched by name.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        """
        return float(super().score(X, matched_columns(self, y), sample_weight))


class NamedRegressor(RegressorMixin):
    """A regressor whose `score` matches the columns of y by name."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R2, the mean over several numbers.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.
        y : array or frame of shape (n_samples,) or (n_samples, n_targets)
            The truth. The columns of a frame are matched by name.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        """
        return float(super().score(X, matched_columns(self, y), sample_weight))


def matched_columns(estimator: Any, y: Any) -> Any:
    """The columns of y in the order of the fit, by name; of an array, or after a fit without names, as they are.

    Parameters
    ----------
    estimator : estimator
        Fitted, with `label_names_`.
    y : array, sparse matrix or frame
        A target with the same columns as that of the fit.
    """
    given, known = frame_names(y), getattr(estimator, "label_names_", None)
    if given is None or known is None or len(given) == 1 or given == known:
        return y
    if sorted(given) != sorted(known) and _are_made_up(known):
        known = tuple(str(number) for number in range(len(known)))
        if sorted(given) != sorted(known):
            return y
    if sorted(given) != sorted(known) or len(set(given)) < len(given):
        new = [name for name in given if name not in known]
        lacking = [name for name in known if name not in given]
        told = [f"{words} {', '.join(names[:3])}" for words, names in (("new:", new), ("missing:", lacking)) if names]
        raise ValueError(
            f"The columns of y are not those that {type(estimator).__name__} was fitted on "
            f"({'; '.join(told) or 'a name occurs twice'}). Give the same columns, in any order."
        )
    return take_columns(y, np.array([given.index(name) for name in known]))


def _are_made_up(names: Sequence[str]) -> bool:
    """Whether these are the names that columns without names get."""
    return any(all(name == f"{sign}{j}" for j, name in enumerate(names, first)) for sign, first in (("y", 0), ("L", 1)))
