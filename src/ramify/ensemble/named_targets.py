"""What models of labels and models of numbers share; their scores match the columns of y by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ramify.ensemble.threshold import check_threshold, is_fitted_threshold, label_sets
from ramify.features.frames import frame_names, take_columns
from ramify.hierarchy import Hierarchy
from ramify.metrics.inputs import known_matrix
from ramify.state import State, flag, instance, nothing_or, numbers, one_of, value_row
from ramify.tags import tagged
from ramify.targets import HierarchyTarget, LabelTarget, NumberTarget, encode_labels, encode_numbers, target_type

_ZERO_ONE = np.array([0, 1])


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
        truth = matched_columns(self, y)
        if sparse.issparse(truth) or (np.ndim(truth) == 2 and np.shape(truth)[1] > 1):
            known_matrix(truth)
        return float(super().score(X, truth, sample_weight))


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


class LabelModel(NamedClassifier):
    """A model of classes, label sets or label hierarchies that predicts by probabilities and a threshold."""

    label_state: ClassVar[State] = {
        "_class_values": nothing_or(value_row("n_labels")),
        "_sparse_sets": flag(),
        "threshold_": instance(float, np.ndarray),
    }
    _class_values: np.ndarray | None
    _sparse_sets: bool
    hierarchy: Hierarchy | None
    label_names_: tuple[str, ...]
    n_outputs_: int
    prior_: np.ndarray
    target_kind_: str
    threshold: Any
    threshold_: Any

    def encode_target(
        self,
        y: Any,
        *,
        sample_weight: np.ndarray | None = None,  # noqa: ARG002
        n_samples: int | None = None,
    ) -> LabelTarget:
        """Classes or label sets; with a hierarchy, columns follow `hierarchy.names` and a frame is matched by name.

        Parameters
        ----------
        y : array of shape (n_samples,), or 0/1 array, CSR or frame of shape (n_samples, n_labels)
            The target; in label sets NaN is unknown.
        sample_weight : array of shape (n_samples,), optional
            What "balanced" label weights of forests count.
        n_samples : int, optional
            Number of rows that y must have.
        """
        return encode_labels(y, hierarchy=self.hierarchy, n_samples=n_samples, partly_known=True)

    def _keep(self, target: LabelTarget, weights: np.ndarray | None) -> None:
        self._class_values = target.classes
        self._sparse_sets = target.was_sparse
        self.prior_ = target.frequencies(weights)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_threshold(self)

    @property
    def classes_(self) -> Any:
        """Class values; for label sets `[0, 1]` per label."""
        check_is_fitted(self, "prior_")
        return self._class_values if self._class_values is not None else np.tile(_ZERO_ONE, (self.n_outputs_, 1))

    def predict(self, X: Any) -> Any:
        """The most probable class, or the labels whose probability exceeds `threshold_`.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples,), or 0/1 array or CSR of shape (n_samples, n_labels)
            Sparse if y was sparse at fit.
        """
        probabilities = self.predict_proba(X)
        if target_type(self.target_kind_).has_one_label:
            return self.classes_[probabilities.argmax(axis=1)]
        sets = label_sets(probabilities, self.threshold_, self.hierarchy)
        return sparse.csr_array(sets) if self._sparse_sets else sets

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted model together."""
        yield from super().state_rules()
        kind = target_type(self.target_kind_)
        yield kind.has_labels, "target_kind_ must be one of labels"
        has_values = self._class_values is not None
        yield has_values == kind.has_one_label, "there must be a value for each class, and none for label sets"
        names = None if self.hierarchy is None else self.hierarchy.names
        fits = names == (self.label_names_ if issubclass(kind, HierarchyTarget) else None)
        yield fits, "the hierarchy must be that of the labels"
        right = is_fitted_threshold(self.threshold_, len(self.prior_))
        yield right, "threshold_ must be a number between 0 and 1, or one per label"

    def __sklearn_tags__(self) -> Any:
        # The tag multi_label stays off: its check wants probabilities within (0, 1), and pure leaves have 0 and 1.
        return tagged(super().__sklearn_tags__(), "multi_output")


class NumberModel(NamedRegressor):
    """A model of one or several numbers, standardised."""

    number_state: ClassVar[State] = {
        "target_kind_": one_of("numbers"),
        "scale_": numbers("n_labels"),
        "_single": flag(),
    }
    n_outputs_: int
    prior_: np.ndarray
    scale_: np.ndarray
    target_weight: Any = None
    _single: bool

    def encode_target(
        self, y: Any, *, sample_weight: np.ndarray | None = None, n_samples: int | None = None
    ) -> NumberTarget:
        """One or several numbers, standardised.

        Parameters
        ----------
        y : array or frame of shape (n_samples,) or (n_samples, n_targets)
            The target.
        sample_weight : array of shape (n_samples,), optional
            Checked weights of the rows.
        n_samples : int, optional
            Number of rows that y must have.
        """
        given: dict[str, Any] = {"sample_weight": sample_weight, "n_samples": n_samples}
        return encode_numbers(y, target_weight=self.target_weight, partly_known=True, **given)

    def _keep(self, target: NumberTarget, weights: np.ndarray | None) -> None:  # noqa: ARG002
        self._single = target.is_single
        self.prior_, self.scale_ = target.mean, target.scale

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted model together."""
        yield from super().state_rules()
        yield not self._single or self.n_outputs_ == 1, "several targets cannot be one-dimensional"

    def __sklearn_tags__(self) -> Any:
        return tagged(super().__sklearn_tags__(), "multi_output")


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
