"""BoostedClassifier: boosted trees for classes, label sets and hierarchical label sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ramify.ensemble.boosting import BaseBoosted
from ramify.hierarchy import Hierarchy
from ramify.state import State, flag, nothing_or, value_row
from ramify.targets import LabelTarget, encode_labels, target_type


class BoostedClassifier(ClassifierMixin, BaseBoosted):
    """Boosted trees for classes, label sets and label hierarchies, one tree per round for all labels.

    Parameters
    ----------
    n_estimators : int, default=300
        Largest number of rounds, one tree each.
    hierarchy : Hierarchy or None, default=None
        Hierarchy of the labels. `fit` closes y under ancestors, labels weigh less the deeper they are, and the
        probability of a label is the largest among itself and its descendants.
    label_weight : array-like of shape (n_labels,) or None, default=None
        Weights of the labels in the search for splits and in the loss to stop by, multiplied with those of the
        hierarchy.
    learning_rate : float, default=0.05
        Share of each step that is taken.
    sketch : int, default=10
        Random projections of the gradients that a tree is grown on; with as many as there are labels, or more, the
        gradients themselves are taken.
    max_depth : int or None, default=6
        Largest number of splits from the root to a leaf.
    max_samples : float, default=0.7
        Share of the rows that a tree is grown on.
    max_features : {"sqrt", "log2"}, int, float or None, default=0.3
        Features looked at in each node: floor of the root or logarithm, a number, a share, or all.
    min_samples_leaf : int, default=5
        Rows each side of a split needs.
    l2 : float, default=1.0
        Penalty: what is added to the curvature of a leaf.
    tolerance : float, default=0.1
        Steps of log-odds smaller than this, before they are multiplied by the learning rate, are not taken: leaves hold
        the labels that change, and thousands of labels cost memory by what changes.
    early_stopping : float or None, default=0.1
        Share of the rows that is held back to find the best number of rounds; None does all rounds with all rows.
    patience : int, default=30
        Rounds without a smaller loss on the rows held back before boosting stops.
    max_bins : int or None, default=None
        Bin numeric features by quantiles; None keeps every distinct value and is exact.
    categorical_features : "from_dtype", mask, indices, names or None, default="from_dtype"
        Which features are nominal; by default the columns of a frame with a category or string dtype.
    n_jobs : int or None, default=None
        Threads; the result is the same for any number.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : int, default=0
        Show a progress bar if positive.

    Attributes
    ----------
    trees_ : ramify._core.Forest
        The trees; their leaves hold steps of log-odds.
    base_ : ndarray of shape (n_labels,)
        Log-odds before the first round.
    n_rounds_ : int
        Rounds kept: those with the smallest loss on the rows held back.
    history_ : ndarray
        Mean logistic loss of the rows held back, before the first and after each round that was done; empty without
        early stopping.
    gains_ : CSR array of shape (n_features, n_labels)
        Gain of the loss by the splits on each feature, per label, summed over the rounds.
    classes_ : ndarray of shape (n_classes,) or (n_labels, 2)
        Class values; for label sets `[0, 1]` per label.
    label_names_ : tuple of str
        Names of the columns of `predict_proba`.
    n_outputs_ : int
        Number of labels; 1 for classes.
    target_kind_ : {"classes", "labels", "hierarchy"}
        What y was.
    prior_ : ndarray of shape (n_labels,)
        Frequency of each label or class in training.
    feature_importances_ : ndarray of shape (n_features,)
        Gains weighted over the labels, divided by their sum.
    n_features_in_, feature_names_in_, categories_
        Number, names and nominal values of the features.

    Notes
    -----
    Each round grows one tree by variance on random projections of the gradients of all labels (`sketch`), and gives
    each leaf the Newton step of each label, at most 4 in size. The base is the log-odds of the label's frequency, kept
    within 1e-4 and 1 - 1e-4. Classes are labels of which each row has one; their probabilities are divided by their
    sum. Row weights are scaled to a mean of 1.

    References
    ----------
    Friedman, J. (2001). Greedy function approximation: a gradient boosting machine. Annals of Statistics 29.
    Iosipoi, L. and Vakhrushev, A. (2022). SketchBoost: fast gradient boosted decision tree for multioutput problems.
    NeurIPS.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ensemble import BoostedClassifier
    >>> data = make_hierarchical(200, random_state=0)
    >>> model = BoostedClassifier(50, hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    >>> probabilities = model.predict_proba(data.X)
    >>> bool((probabilities >= 0).all() and (probabilities <= 1).all())
    True
    """

    fitted_state: ClassVar[State] = {
        **BaseBoosted.fitted_state,
        "_class_values": nothing_or(value_row("n_labels")),
        "_sparse_sets": flag(),
    }

    def __init__(
        self,
        n_estimators: int = 300,
        *,
        hierarchy: Hierarchy | None = None,
        label_weight: Any = None,
        learning_rate: float = 0.05,
        sketch: int = 10,
        max_depth: int | None = 6,
        max_samples: float = 0.7,
        max_features: Any = 0.3,
        min_samples_leaf: int = 5,
        l2: float = 1.0,
        tolerance: float = 0.1,
        early_stopping: float | None = 0.1,
        patience: int = 30,
        max_bins: int | None = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.hierarchy = hierarchy
        self.label_weight = label_weight
        self.learning_rate = learning_rate
        self.sketch = sketch
        self.max_depth = max_depth
        self.max_samples = max_samples
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.l2 = l2
        self.tolerance = tolerance
        self.early_stopping = early_stopping
        self.patience = patience
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
            The target.
        sample_weight : array of shape (n_samples,), optional
            Does not matter here.
        n_samples : int, optional
            Number of rows that y must have.
        """
        return encode_labels(y, hierarchy=self.hierarchy, label_weight=self.label_weight, n_samples=n_samples)

    def _keep(self, target: LabelTarget, weights: np.ndarray | None) -> None:
        self._class_values = target.classes
        self._sparse_sets = target.was_sparse
        self.prior_ = target.frequencies(weights)

    @property
    def classes_(self) -> Any:
        """Class values; for label sets `[0, 1]` per label."""
        check_is_fitted(self, "trees_")
        return self._class_values if self._class_values is not None else np.tile([0, 1], (self.n_outputs_, 1))

    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds of each class or label, before a hierarchy's maximum.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples, n_labels), or (n_samples,) for two classes
            Columns follow `label_names_`; for two classes the log-odds of the second.
        """
        scores = self._scores(X)
        is_binary = self._class_values is not None and len(self._class_values) == 2
        return scores[:, 1] if is_binary else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class or label.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples, n_labels)
            Columns follow `label_names_`. With a hierarchy a parent's probability is at least its children's.
        """
        probabilities = expit(self._scores(X))
        if self._class_values is not None:
            return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))
        if self.hierarchy is not None:
            return _largest_below(probabilities, self.hierarchy)
        return np.asarray(probabilities)

    def predict(self, X: Any) -> Any:
        """The most probable class, or the labels whose probability exceeds one half.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples,), or 0/1 array or CSR of shape (n_samples, n_labels)
            Sparse if y was sparse at fit.
        """
        check_is_fitted(self, "trees_")
        if self._class_values is not None:
            return self._class_values[self._scores(X).argmax(axis=1)]
        sets = (self.predict_proba(X) > 0.5).astype(np.int64)
        return sparse.csr_array(sets) if self._sparse_sets else sets

    def _predicted_outputs(self, X: Any) -> sparse.csr_array:
        if self._class_values is None:
            return sparse.csr_array(self.predict(X))
        best = self._scores(X).argmax(axis=1)
        shape = (len(best), len(self._class_values))
        return sparse.csr_array((np.ones(len(best)), best, np.arange(len(best) + 1)), shape=shape)

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted forest together."""
        yield from super().state_rules()
        kind = target_type(self.target_kind_)
        yield kind.has_labels, "target_kind_ must be one of labels"
        has_values = self._class_values is not None
        yield has_values == kind.has_one_label, "there must be a value for each class, and none for label sets"
        names = None if self.hierarchy is None else self.hierarchy.names
        fits = names == (self.label_names_ if self.target_kind_ == "hierarchy" else None)
        yield fits, "the hierarchy must be that of the labels"


def _largest_below(probabilities: np.ndarray, hierarchy: Hierarchy) -> np.ndarray:
    """The largest probability among each label and its descendants."""
    by_label = np.ascontiguousarray(probabilities.T)
    parents = hierarchy.parent_matrix
    for label in hierarchy.topological_order[::-1].tolist():
        for parent in parents.indices[parents.indptr[label] : parents.indptr[label + 1]].tolist():
            np.maximum(by_label[parent], by_label[label], out=by_label[parent])
    return np.ascontiguousarray(by_label.T)
