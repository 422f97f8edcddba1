"""What all label-set classifiers share: reading the data, choosing the threshold, returning predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from ramify.chains.label_sets import LabelSets, class_probabilities, known_means, read_label_sets
from ramify.chains.links import Weights, default_estimator, derived_seed, rows_of, told_of_nominal
from ramify.ensemble.growing import TableForest
from ramify.ensemble.named_targets import NamedClassifier
from ramify.ensemble.row_weights import refuse_without_weights
from ramify.ensemble.threshold import (
    cardinality_threshold,
    check_threshold,
    chosen_threshold,
    given_threshold,
    is_chosen,
)
from ramify.ensemble.training_data import TrainingData, training_data
from ramify.features import Features, apply_features, feature_names, learn_features
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_integer, check_jobs, check_option
from ramify.state import (
    ENCODED_FEATURES,
    State,
    count,
    fitting,
    flag,
    instance,
    nothing_or,
    number,
    numbers,
    one_of,
    texts,
    value_row,
)
from ramify.targets import target_type
from ramify.targets.closure import with_all_ancestors

COMBINATIONS = ("votes", "mean")
_N_INNER_FOLDS = 5
_INNER_FOLDS_SEED = 0x5F01D
_ZERO_ONE = np.array([0, 1])
_LABEL_DTYPES = sorted({np.dtype(code).str for code in "?bBhHiIlLqQefd"})


@dataclass(kw_only=True, eq=False, repr=False)
class LearnerParameters:
    """What the classifiers that teach an estimator take, each beside its own."""

    estimator: Any = field(default=None, kw_only=False)
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0


class LabelSetClassifier(NamedClassifier, BaseEstimator):
    """Base of the classifiers of label sets.

    A child learns in `_fit_labels` and scores in `_scores`; it may leave out-of-bag scores in `_out_of_bag`, from which
    the threshold is chosen. Without them an inner five-fold cross-validation gives the scores.
    """

    _threshold_options: tuple[Any, ...] = ("f1", "cardinality", "density", "batch")
    _takes_unknown: ClassVar[bool] = False
    """Whether labels may be unknown (NaN) in some rows."""
    read_after_fit: ClassVar[tuple[str, ...]] = ("hierarchy", "threshold", "combine", "n_neighbors", "metric")
    hierarchy: Hierarchy | None = None
    _out_of_bag: NDArray[np.float64] | None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None) -> Self:
        """Learn from rows and their label sets.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features.
        y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            1 where the row has the label, else 0. One dimension holds classes: exactly one label per row. Chains and
            `BinaryRelevance` learn each label from the rows of which it is known, not NaN.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, which the base estimator must take. A row of weight zero takes no part, as if it were
            not there.

        Returns
        -------
        self
        """
        self._check_parameters()
        with fitting(self):
            data = self._training_data(X, y, sample_weight)
            features, target, weights = data.features, data.target, self._row_weights(data.weights)
            seed = int(check_random_state(getattr(self, "random_state", 0)).randint(np.iinfo(np.int32).max))
            self._learn(features, target, target.matrix, weights, seed)
            self.cardinality_ = _cardinality(target.matrix, weights)
            self.threshold_ = self._chosen_threshold(features, target, weights, seed)
            del self._out_of_bag
        return self

    def _training_data(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        """The rows that take part, checked and encoded."""

        def features(given: Any) -> Features:
            encoded = learn_features(self, given, self._categorical_features())
            self._refuse_nominal(encoded)
            return encoded

        def label_sets(given: Any, *, sample_weight: Any, n_samples: int) -> LabelSets:  # noqa: ARG001
            refusing = None if self._takes_unknown else self
            return read_label_sets(given, n_samples, hierarchy=self.hierarchy, refusing=refusing)

        return training_data(self, X, y, sample_weight, features=features, target=label_sets)

    @property
    def classes_(self) -> Any:
        """Class values; for label sets `[0, 1]` per label."""
        check_is_fitted(self, "threshold_")
        return np.tile(_ZERO_ONE, (self.n_outputs_, 1)) if self._class_values is None else self._class_values

    fitted_state: ClassVar[State] = {
        **ENCODED_FEATURES,
        "n_outputs_": count("n_labels"),
        "label_names_": texts("n_names"),
        "target_kind_": one_of("labels", "classes"),
        "_class_values": nothing_or(value_row("n_names")),
        "_sparse_sets": flag(),
        "_label_dtype": one_of(*_LABEL_DTYPES),
        "prior_": numbers("n_names", low=0, high=1),
        "cardinality_": number(low=0),
        "threshold_": nothing_or(instance(float, int, np.ndarray)),
    }

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probability, or share of votes, of each label.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        check_is_fitted(self, "threshold_")
        return self._as_probabilities(self._scores(apply_features(self, X).values))

    def predict(self, X: ArrayLike) -> Any:
        """Label sets, in the form that `fit` got: dense or sparse, or classes.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray or CSR array of shape (n_samples, n_labels), or ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "threshold_")
        values = apply_features(self, X).values
        if self._class_values is not None:
            return self._class_values[self._as_probabilities(self._scores(values)).argmax(axis=1)]
        return self._as_label_sets(self._predicted(values))

    def _row_weights(self, weights: Weights) -> Weights:
        """Weights, None where all are the same; refused where the base estimator takes none."""
        if weights is None or (weights == weights[0]).all():
            return None
        base = getattr(self, "estimator", None)
        if base is not None:
            refuse_without_weights(type(self).__name__, base)
        return weights

    def _learn(
        self, features: Features, target: LabelSets, labels: NDArray[np.uint8], weights: Weights, seed: int
    ) -> None:
        self._class_values = target.classes
        self._sparse_sets = target.was_sparse
        self._label_dtype = target.dtype
        self.label_names_ = target.names
        self.target_kind_ = "labels" if target.classes is None else "classes"
        self.prior_ = _frequencies(labels, weights, target)
        self.n_outputs_ = labels.shape[1]
        self._out_of_bag = None
        self._fit_labels(features, labels, weights, seed)

    @abstractmethod
    def _fit_labels(self, features: Features, labels: NDArray[np.uint8], weights: Weights, seed: int) -> None:
        """Learn from checked features and a 0/1 matrix."""

    @abstractmethod
    def _scores(self, X: Any) -> NDArray[np.float64]:
        """One score in [0, 1] per checked row and label."""

    def _candidates(self) -> NDArray[np.float64] | None:
        """Thresholds to choose from; None means every score that occurs."""
        return None

    def _predicted(self, X: Any) -> NDArray[np.bool_]:
        """Whether each checked row has each label."""
        return self._present(self._scores(X))

    def _present(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        threshold = self.threshold_
        if isinstance(self.threshold, str) and self.threshold == "batch":
            threshold = cardinality_threshold(scores, self.cardinality_, candidates=self._candidates())
        present = scores >= threshold
        return present if self.hierarchy is None else with_all_ancestors(present, self.hierarchy)

    def _as_probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return scores if self._class_values is None else class_probabilities(scores, len(self._class_values))

    def _as_label_sets(self, present: NDArray[np.bool_]) -> Any:
        label_sets = present.astype(self._label_dtype)
        return sparse.csr_array(label_sets) if self._sparse_sets else label_sets

    def _base_estimator(self) -> Any:
        if self.estimator is None:
            return default_estimator(self.n_jobs)
        if isinstance(self.estimator, TableForest) and self.estimator.n_jobs is None:
            return clone(self.estimator).set_params(n_jobs=self.n_jobs)
        return self.estimator

    def _base_over(self, features: Features) -> Any:
        """The base estimator for encoded features, told which of them are nominal."""
        return told_of_nominal(self._base_estimator(), features)

    def _refuse_nominal(self, features: Features) -> None:
        """A base that takes numbers only would read the codes of a nominal feature as quantities."""
        base = getattr(self, "estimator", None)
        if base is None or hasattr(base, "categorical_features") or not features.n_categories.any():
            return
        inner = base
        while getattr(inner, "estimator", None) is not None:
            inner = inner.estimator
        if isinstance(inner, Pipeline):
            return  # it may encode them by itself
        column = int(np.flatnonzero(features.n_categories)[0])
        raise ValueError(
            f"Feature {feature_names(self)[column]!r} (column {column}) is nominal, but {type(base).__name__} takes "
            f"numbers only: {type(self).__name__} does not make quantities of its values. Encode it first, as "
            "sklearn.preprocessing.OneHotEncoder does, or use Ramify's forest, which splits by the values themselves."
        )

    def _needs_out_of_bag(self) -> bool:
        """Whether the threshold is to be learnt."""
        return is_chosen(self.threshold)

    def _outer_jobs(self) -> int | None:
        """Jobs over labels or chains; Ramify's forests have threads of their own."""
        return 1 if self.estimator is None or isinstance(self.estimator, TableForest) else self.n_jobs

    def _categorical_features(self) -> Any:
        return getattr(getattr(self, "estimator", None), "categorical_features", "from_dtype")

    def _check_parameters(self) -> None:
        check_integer(self, "verbose", getattr(self, "verbose", 0), low=0)
        check_jobs(self, self.n_jobs)
        self._check_base(getattr(self, "estimator", None))
        if isinstance(self.threshold, str) or self.threshold is None:
            check_option(self, "threshold", self.threshold, self._threshold_options)
        else:
            check_threshold(self)

    def _check_base(self, base: Any) -> None:
        if base is None:
            return
        if not (hasattr(base, "fit") and hasattr(base, "predict") and is_classifier(base)):
            got = type(base).__name__ if hasattr(base, "fit") else repr(base)
            raise TypeError(
                f"The 'estimator' parameter of {type(self).__name__} must be a classifier with fit and predict, "
                f"or None for a forest of 200 trees. Got {got} instead."
            )
        if getattr(base, "hierarchy", None) is not None:
            raise ValueError(
                f"{type(self).__name__} teaches {type(base).__name__} single labels or sets, which have no hierarchy. "
                "Leave the hierarchy of the base out; the hierarchy of BinaryRelevance keeps predictions consistent."
            )

    def _chosen_threshold(self, features: Features, target: LabelSets, weights: Weights, seed: int) -> Any:
        """The number, or one per label, at which a score becomes a label; None for a threshold per batch."""
        if target.classes is not None:
            return 0.5
        if not self._needs_out_of_bag():
            given = self.threshold is not None and not isinstance(self.threshold, str)
            return given_threshold(self, self.n_outputs_) if given else None
        scores = self._out_of_bag
        if scores is None:
            scores = self._cross_validated_scores(features, target, weights, seed)
        options: dict[str, Any] = {"sample_weight": weights, "candidates": self._candidates()}
        return chosen_threshold(self.threshold, scores, target.matrix, **options)

    def _cross_validated_scores(
        self, features: Features, target: LabelSets, weights: Weights, seed: int
    ) -> NDArray[np.float64]:
        labels = target.matrix
        scores = np.full(labels.shape, 0.5)
        if len(labels) < 2:
            return scores
        fold_seed = derived_seed(seed, _INNER_FOLDS_SEED)
        folds = KFold(min(_N_INNER_FOLDS, len(labels)), shuffle=True, random_state=fold_seed)
        for train, test in folds.split(labels):
            inner = clone(self).set_params(threshold=0.5)
            own = None if weights is None else weights[train]
            inner._learn(rows_of(features, train), target, labels[train], own, fold_seed)
            scores[test] = inner._scores(rows_of(features, test).values)
        return scores

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted classifier together."""
        n_labels, n_names, is_sets = self.n_outputs_, len(self.label_names_), self._class_values is None
        yield is_sets == target_type(self.target_kind_).has_sets, "classes need their values, and label sets have none"
        yield n_labels == (n_names if is_sets or n_names > 2 else 1), "label_names_ must name each output"
        ordered = self.hierarchy is None or self.hierarchy.names == self.label_names_
        yield ordered, "the hierarchy must be that of the labels"
        learnt = self.threshold_ is None or np.asarray(self.threshold_, dtype=np.float64)
        right = learnt is True or (np.shape(learnt) in {(), (n_labels,)} and bool(np.isfinite(learnt).all()))
        yield right, "threshold_ must be a number, or one per label"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        base_estimator = self._base_estimator() if "estimator" in self.get_params(deep=False) else None
        if hasattr(base_estimator, "__sklearn_tags__"):
            base = get_tags(base_estimator).input_tags
            tags.input_tags.sparse = base.sparse
            tags.input_tags.allow_nan = base.allow_nan
        return tags


def _cardinality(labels: NDArray[Any], weights: Weights) -> float:
    """Mean number of labels of a row; where some are unknown, the sum of the shares of the known ones."""
    if labels.dtype.kind == "f":
        return float(known_means(labels, weights).sum())
    return float(np.average(labels.sum(axis=1), weights=weights))


def _frequencies(labels: NDArray[np.uint8], weights: Weights, target: LabelSets) -> NDArray[np.float64]:
    """Share of rows with each label or class: what a model without features predicts."""
    share = known_means(labels, weights)
    return share if target.classes is None else class_probabilities(share[None], len(target.classes))[0]
