"""Calibrated: probabilities that mean what they say, learnt from rows that the trees did not see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, clone
from sklearn.isotonic import IsotonicRegression
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ramify.ensemble.classifier import ForestClassifier
from ramify.ensemble.growing import TableForest
from ramify.ensemble.named_targets import NamedClassifier
from ramify.ensemble.threshold import (
    check_threshold,
    exceeded_threshold,
    fitted_threshold,
    is_chosen,
    is_fitted_threshold,
    label_sets,
)
from ramify.ensemble.training_data import row_folds
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_option
from ramify.state import FEATURES, State, count, fitting, instance, integers, numbers, one_of, perhaps, texts
from ramify.targets import MEASURED_KINDS, target_type

_METHODS = {"isotonic": ("knots_", "levels_", "offsets_"), "sigmoid": ("slopes_", "intercepts_")}
_FOLDS = 5
"""Of the rows out of bag, where each is calibrated by others."""


@dataclass(kw_only=True, eq=False, repr=False)
class Calibrated(NamedClassifier, BaseEstimator):
    """A forest whose probabilities are calibrated label by label on its out-of-bag predictions.

    Parameters
    ----------
    estimator : ForestClassifier or None, default=None
        The forest, with `bootstrap=True` and `threshold=0.5`; None is `ForestClassifier()`.
    method : {"isotonic", "sigmoid"}, default="sigmoid"
        A logistic function of the forest's probability (Platt), or any rising one, which needs thousands of rows: with
        few it can be worse than none.
    threshold : float, array-like of shape (n_labels,), {"f1", "cardinality", "density"} or dict, default=0.5
        Calibrated probability above which a label of a label set is predicted, as of `ForestClassifier`.

    Attributes
    ----------
    estimator_ : ForestClassifier
        The fitted forest.
    knots_, levels_, offsets_ : ndarray
        Isotonic: between `knots_[offsets_[j]:offsets_[j + 1]]` label j's probabilities follow `levels_` on straight
        lines.
    slopes_, intercepts_ : ndarray of shape (n_labels,)
        Sigmoid: the log-odds of a label are its slope times the forest's probability plus its intercept.
    threshold_ : float or ndarray of shape (n_labels,)
        Calibrated probability that a predicted label exceeds.
    oob_prediction_ : ndarray of shape (n_samples, n_labels)
        Where the forest has `oob_score=True`: calibrated probabilities of the training rows, by the trees that did not
        see the row and a calibration by other rows (five folds); NaN where every tree saw the row.
    n_features_in_, feature_names_in_, label_names_, n_outputs_, target_kind_, prior_, classes_
        Those of the forest.

    Notes
    -----
    No rows are held back: each is predicted by the trees that did not see it, which are fewer than the forest has. A
    label's probability is at most that of its parents (from the top down); class probabilities are divided by their
    sum.

    References
    ----------
    Niculescu-Mizil, A. and Caruana, R. (2005). Predicting good probabilities with supervised learning. ICML.
    Platt, J. (1999). Probabilistic outputs for support vector machines.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ensemble import Calibrated, ForestClassifier
    >>> data = make_hierarchical(200, random_state=0)
    >>> model = Calibrated(ForestClassifier(30, hierarchy=data.hierarchy, random_state=0)).fit(data.X, data.y)
    >>> model.predict_proba(data.X).shape == data.y.shape
    True
    """

    fitted_state: ClassVar[State] = {
        **FEATURES,
        "estimator_": instance(ForestClassifier),
        "label_names_": texts("n_labels"),
        "n_outputs_": count(),
        "target_kind_": one_of(*MEASURED_KINDS),
        "prior_": numbers("n_labels", low=0, high=1),
        "knots_": perhaps(numbers("n_knots")),
        "levels_": perhaps(numbers("n_knots", low=0, high=1)),
        "offsets_": perhaps(integers("n_offsets")),
        "slopes_": perhaps(numbers("n_labels")),
        "intercepts_": perhaps(numbers("n_labels")),
        "threshold_": instance(float, np.ndarray),
        "oob_prediction_": perhaps(numbers("n_rows", "n_labels", nan=True)),
    }

    estimator: ForestClassifier | None = field(default=None, kw_only=False)
    method: Literal["isotonic", "sigmoid"] = "sigmoid"
    threshold: Any = 0.5

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, row_groups: Any = None) -> Self:
        """Grow the forest and calibrate it.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features; NaN is missing.
        y : array of shape (n_samples,), or 0/1 array, CSR or frame of shape (n_samples, n_labels)
            Classes or label sets; a label is calibrated on the rows of which it is known (not NaN).
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        row_groups : array-like of shape (n_samples,), default=None
            What each row belongs to: rows of a group enter bags, and folds, together.
        """
        with fitting(self):
            check_option(self, "method", self.method, ("isotonic", "sigmoid"))
            check_threshold(self)
            forest = _checked_forest(self)
            forest.fit(X, y, sample_weight, row_groups=row_groups)
            data = forest.training_data(X, y, sample_weight, row_groups, reset=False)
            prediction, seen = forest._out_of_bag(data)
            if not seen.any():
                raise ValueError(
                    f"With n_samples={data.n_samples} no row is out of bag of any tree: there is nothing to calibrate "
                    "on. Grow more trees, or give more rows."
                )
            rows = np.flatnonzero(seen if data.weights is None else seen & (data.weights > 0))
            self.estimator_ = forest
            for name in ("n_features_in_", "feature_names_in_", "label_names_", "n_outputs_", "target_kind_", "prior_"):
                if hasattr(forest, name):
                    setattr(self, name, getattr(forest, name))
            kept = np.ones(len(rows)) if data.weights is None else data.weights[rows]
            truth = sparse.csc_array(data.target.cells()[rows])
            if forest.oob_score:
                calibrated = np.full_like(prediction, np.nan)
                groups = None if data.row_groups is None else data.row_groups[rows]
                calibrated[rows] = self._calibrated_by_others(prediction[rows], truth, kept, groups)
                self.oob_prediction_ = data.among_given(calibrated)
            self._calibrate(prediction[rows], truth, kept)
            self.threshold_ = fitted_threshold(self, data.target.kind, prediction.shape[1])
            if is_chosen(self.threshold):
                probabilities = self._calibrated(prediction[rows])
                self.threshold_ = exceeded_threshold(
                    self.threshold, probabilities, data.target.cells()[rows], sample_weight=kept
                )
        return self

    @property
    def classes_(self) -> Any:
        """Class values; for label sets `[0, 1]` per label."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.classes_

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Calibrated probability of each class or label.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples, n_labels)
            Columns follow `label_names_`.
        """
        check_is_fitted(self, "estimator_")
        return self._calibrated(self.estimator_.predict_proba(X))

    def _calibrated(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.method == "sigmoid":
            calibrated = expit(raw * self.slopes_ + self.intercepts_)
        else:
            calibrated = np.empty_like(raw)
            for label in range(raw.shape[1]):
                piece = slice(self.offsets_[label], self.offsets_[label + 1])
                calibrated[:, label] = np.interp(raw[:, label], self.knots_[piece], self.levels_[piece])
        if target_type(self.target_kind_).has_one_label:
            total = calibrated.sum(axis=1, keepdims=True)
            return np.where(total > 0, calibrated / np.where(total > 0, total, 1.0), raw)
        hierarchy = self.estimator_.hierarchy
        return calibrated if hierarchy is None else at_most_parents(calibrated, hierarchy)

    def predict(self, X: Any) -> Any:
        """The most probable class, or the labels whose calibrated probability exceeds `threshold_`.

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
        sets = label_sets(probabilities, self.threshold_, self.estimator_.hierarchy)
        return sparse.csr_array(sets) if self.estimator_._sparse_sets else sets

    def _calibrated_by_others(
        self,
        scores: NDArray[np.float64],
        truth: sparse.csc_array,
        weights: NDArray[np.float64],
        row_groups: NDArray[np.int64] | None,
    ) -> NDArray[np.float64]:
        """Probabilities of these rows, those of each fold calibrated by the rows of the others."""
        calibrated, has = np.full_like(scores, np.nan), sparse.csr_array(truth)
        for others, own in row_folds(len(scores), _FOLDS, 0, row_groups):
            self._calibrate(scores[others], sparse.csc_array(has[others]), weights[others])
            calibrated[own] = self._calibrated(scores[own])
        return calibrated

    def _calibrate(self, scores: NDArray[np.float64], truth: sparse.csc_array, weights: NDArray[np.float64]) -> None:
        n_labels = scores.shape[1]
        slopes, intercepts = np.zeros(n_labels), np.zeros(n_labels)
        knots, levels, offsets = [], [], [0]
        for label in range(n_labels):
            has = np.zeros(len(scores))
            own = slice(truth.indptr[label], truth.indptr[label + 1])
            has[truth.indices[own]] = truth.data[own]
            known = np.flatnonzero(~np.isnan(has))
            if not len(known):
                raise ValueError(
                    f"The label {self.label_names_[label]!r} is known of no row that is out of bag of a tree: there is "
                    "nothing to calibrate it on. Grow more trees, or leave it out."
                )
            if self.method == "sigmoid":
                slopes[label], intercepts[label] = _platt(scores[known, label], has[known], weights[known])
                continue
            fitted = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
            fitted.fit(scores[known, label], has[known], sample_weight=weights[known])
            knots.append(fitted.X_thresholds_)
            levels.append(fitted.y_thresholds_)
            offsets.append(offsets[-1] + len(fitted.X_thresholds_))
        if self.method == "sigmoid":
            self.slopes_, self.intercepts_ = slopes, intercepts
        else:
            self.knots_, self.levels_ = (np.concatenate(parts).astype(np.float64) for parts in (knots, levels))
            self.offsets_ = np.array(offsets, dtype=np.int64)

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted model together."""
        forest = self.estimator_
        alike = ("label_names_", "target_kind_", "n_outputs_", "n_features_in_")
        yield all(getattr(self, name) == getattr(forest, name) for name in alike), "the labels must be the forest's"
        yield self.method in _METHODS, "method must be 'isotonic' or 'sigmoid'"
        held = {name for name in ("slopes_", "intercepts_", "knots_", "levels_", "offsets_") if hasattr(self, name)}
        yield held == set(_METHODS[self.method]), f"a calibration that is {self.method} has other numbers"
        if self.method == "isotonic":
            offsets = self.offsets_
            right = len(offsets) == len(self.label_names_) + 1 and offsets[0] == 0 and offsets[-1] == len(self.knots_)
            yield right and bool((np.diff(offsets) >= 1).all()), "offsets_ must cut the knots into a piece per label"
        right = is_fitted_threshold(self.threshold_, len(self.label_names_))
        yield right, "threshold_ must be a number between 0 and 1, or one per label"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator if hasattr(self.estimator, "__sklearn_tags__") else ForestClassifier())
        tags.input_tags = inner.input_tags
        tags.target_tags.multi_output = True
        return tags


def at_most_parents(probabilities: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Probabilities cut down, from the top, to those of the parents."""
    by_label = np.array(probabilities.T, order="C")
    parents = hierarchy.parent_matrix
    for label in hierarchy.topological_order.tolist():
        for parent in parents.indices[parents.indptr[label] : parents.indptr[label + 1]].tolist():
            np.minimum(by_label[label], by_label[parent], out=by_label[label])
    return np.ascontiguousarray(by_label.T)


def _checked_forest(model: Calibrated) -> ForestClassifier:
    forest: Any = ForestClassifier() if model.estimator is None else clone(model.estimator, safe=False)
    leaves_rows_out = isinstance(forest, TableForest)
    if not leaves_rows_out:
        raise TypeError(
            "The 'estimator' parameter of Calibrated must be a ForestClassifier, whose out-of-bag predictions it "
            f"calibrates on. Got {type(forest).__name__} instead; use scikit-learn's CalibratedClassifierCV for others."
        )
    if not forest.bootstrap:
        raise ValueError(
            "Calibrated needs a forest with bootstrap=True: without it every tree sees every row, and none is out of "
            "bag."
        )
    if np.ndim(forest.threshold) != 0 or forest.threshold != 0.5:
        raise ValueError(
            "The forest of Calibrated must keep threshold=0.5: labels are predicted by their calibrated probability. "
            "Give the threshold to Calibrated."
        )
    return forest


def _platt(scores: NDArray[np.float64], has: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and intercept of a logistic function by Newton's steps, with Platt's targets against overconfidence."""
    positive, negative = float(has @ weights), float((1 - has) @ weights)
    goal = np.where(has > 0, (positive + 1) / (positive + 2), 1 / (negative + 2))
    slope, intercept = 0.0, float(np.log((positive + 1) / (negative + 1)))
    design = np.column_stack([scores, np.ones(len(scores))])

    def loss(at: NDArray[np.float64]) -> float:
        z = design @ at
        return float(weights @ (np.logaddexp(0, z) - goal * z))

    point = np.array([slope, intercept])
    for _ in range(100):
        p = expit(design @ point)
        gradient = design.T @ (weights * (p - goal))
        curvature = (design * (weights * p * (1 - p))[:, None]).T @ design + 1e-10 * np.eye(2)
        step, value = np.linalg.solve(curvature, gradient), loss(point)
        size = 1.0
        while loss(point - size * step) > value and size > 1e-8:
            size /= 2
        point = point - size * step
        if np.abs(size * step).max() < 1e-10:
            break
    return max(0.0, float(point[0])), float(point[1])
