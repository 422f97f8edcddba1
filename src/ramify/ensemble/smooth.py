"""What models share that add up standardised features, kernels and networks: rows as numbers, the target, fit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from ramify.ensemble.named_targets import LabelModel, NumberModel
from ramify.ensemble.standardised import FARTHEST, centre_and_spread, standardised
from ramify.ensemble.training_data import learnt_data
from ramify.features import Features, apply_features, distance_columns
from ramify.features.distances import dense_if_small
from ramify.parameters import check_jobs
from ramify.state import (
    ENCODED_FEATURES,
    State,
    count,
    fitting,
    flag,
    numbers,
    one_of,
    texts,
)
from ramify.tags import ANY_FEATURES, tagged
from ramify.targets import (
    MEASURED_KINDS,
    LabelTarget,
    NumberTarget,
    Target,
    target_type,
)

_DIGITS = 6  # of standardised values; what is left is rounding, and depends on the unit of a feature
_BLOCK = 1000


class SmoothModel(BaseEstimator):
    """Fit and predictions of a model of standardised features; use a class derived from it."""

    label_names_: tuple[str, ...]
    target_kind_: str
    n_outputs_: int
    prior_: np.ndarray
    categorical_features: Any
    n_jobs: int | None

    fitted_state: ClassVar[State] = {
        **ENCODED_FEATURES,
        "target_kind_": one_of(*MEASURED_KINDS),
        "label_names_": texts("n_labels"),
        "n_outputs_": count(),
        "prior_": numbers("n_labels"),
        "_centre": numbers("n_features"),
        "_spread": numbers("n_features", low=0),
        "_start": numbers("n_features"),
        "_is_sparse": flag(),
        "_is_csr": flag(),
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features; NaN is missing.
        y : array, CSR or frame
            The target. In label sets and several numbers NaN is unknown; a row of which nothing is known takes no part.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, of which only ratios matter. A row of weight zero takes no part.

        Returns
        -------
        self
        """
        with fitting(self):
            self._check_parameters()
            data = learnt_data(self, X, y, sample_weight)
            return self.grow(data.features, data.target, data.weights)

    @abstractmethod
    def encode_target(self, y: Any, *, sample_weight: np.ndarray | None = None, n_samples: int | None = None) -> Target:
        """Check y and encode it as this model takes it.

        Parameters
        ----------
        y : array, CSR or frame
            The target.
        sample_weight : array of shape (n_samples,), optional
            Checked weights of the rows.
        n_samples : int, optional
            Number of rows that y must have.
        """

    def row_weights(self, target: Target, sample_weight: np.ndarray | None) -> np.ndarray | None:  # noqa: ARG002
        """Weights of the rows, as they were given."""
        return sample_weight

    def grow(self, features: Features, target: Any, weights: np.ndarray | None) -> Self:
        """Fit to checked features and an encoded target.

        Parameters
        ----------
        features : Features
            What `learn_features` gave for this estimator.
        target : Target
            What `encode_target` returns.
        weights : array of shape (n_samples,) or None
            Positive weights of the rows.
        """
        rows, weights = self._prepared(features, target, weights)
        self._learn(rows, target, weights)
        return self

    def _prepared(self, features: Features, target: Any, weights: np.ndarray | None) -> tuple[Any, np.ndarray | None]:
        """Set what is known of features and target; standardised rows, dense or CSR, and weights of mean 1."""
        self._check_parameters()
        self.target_kind_, self.label_names_ = target.kind, target.names
        self.n_outputs_ = target.n_outputs
        self._keep(target, weights)
        kept = dense_if_small(features.values)
        self._is_sparse = bool(sparse.issparse(kept))
        self._centre, self._spread = centre_and_spread(features)
        zeros = np.clip(-self._centre / self._spread, -FARTHEST, FARTHEST)
        self._start = zeros if self._is_sparse else np.zeros(len(zeros))
        rows = self._placed(Features(kept, features.n_categories))
        self._is_csr = bool(sparse.issparse(rows))
        return rows, None if weights is None else weights / weights.mean()

    @abstractmethod
    def _keep(self, target: Any, weights: np.ndarray | None) -> None:
        """Set what predictions need to know of the target."""

    @abstractmethod
    def _learn(self, rows: Any, target: Any, weights: np.ndarray | None) -> None:
        """Fit to standardised rows, dense or CSR, and weights of mean 1."""

    def _check_parameters(self) -> None:
        check_jobs(self, self.n_jobs)

    def _placed(self, features: Features) -> Any:
        """Rows as numbers of about equal variance; a nominal feature is a column per value."""
        placed = standardised(features, self._centre, self._spread, self._start)
        columns = distance_columns(self, placed)
        is_nominal = features.n_categories > 0
        of_values = np.repeat(np.sqrt(2.0) / self._spread[is_nominal], features.n_categories[is_nominal])
        scale = np.concatenate([np.ones(int((~is_nominal).sum())), of_values])
        if sparse.issparse(columns):
            columns = sparse.csr_array(columns @ sparse.diags_array(scale))
            columns.data = columns.data.round(_DIGITS)
            return columns
        # In one order in memory: products of other orders differ in the last bit.
        return np.ascontiguousarray((np.asarray(columns) * scale).round(_DIGITS))

    def _row_blocks(self, X: Any) -> Iterator[tuple[slice, Any]]:
        """New rows as those of training, dense or CSR, in blocks of fixed size."""
        features = apply_features(self, X)
        values = sparse.csr_array(features.values) if features.is_sparse else features.values
        for first in range(0, values.shape[0], _BLOCK):
            block = slice(first, min(first + _BLOCK, values.shape[0]))
            part = sparse.csc_array(values[block]) if features.is_sparse else values[block]
            if features.is_sparse and not self._is_sparse:
                part = part.toarray()
            elif self._is_sparse and not features.is_sparse:
                part = sparse.csc_array(part)
            rows = self._placed(Features(part, features.n_categories))
            if self._is_csr != sparse.issparse(rows):
                rows = sparse.csr_array(rows) if self._is_csr else rows.toarray()
            yield block, rows

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted model together."""
        kind = target_type(self.target_kind_)
        yield self.n_outputs_ == (1 if kind.has_one_label else len(self.label_names_)), "n_outputs_ is wrong"
        yield bool((self._spread > 0).all()), "spreads must be positive"

    def _n_columns(self) -> int:
        """Number of columns of placed rows."""
        return sum(1 if known is None else len(known) for known in self.categories_)

    categories_: list[Any]

    def __sklearn_tags__(self) -> Any:
        return tagged(super().__sklearn_tags__(), *ANY_FEATURES)


class SmoothClassifier(LabelModel, SmoothModel):
    """The same for classes, label sets and label hierarchies; use a class derived from it."""

    read_after_fit: ClassVar[tuple[str, ...]] = ("hierarchy",)
    fitted_state: ClassVar[State] = {**SmoothModel.fitted_state, **LabelModel.label_state}

    @abstractmethod
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class or label.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.
        """


class SmoothRegressor(NumberModel, SmoothModel):
    """The same for one or several numbers; use a class derived from it."""

    fitted_state: ClassVar[State] = {**SmoothModel.fitted_state, **NumberModel.number_state}


def dense_cells(target: LabelTarget | NumberTarget, rows: np.ndarray | slice) -> np.ndarray:
    """0/1 per label, or standardised numbers, of some rows; NaN where unknown."""
    if isinstance(target, NumberTarget):
        return target.Y[rows]
    return np.asarray(sparse.csr_array(target.cells())[rows].toarray(), dtype=np.float64)
