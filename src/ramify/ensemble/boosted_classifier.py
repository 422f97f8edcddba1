"""BoostedClassifier: boosted trees for classes, label sets and hierarchical label sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify.ensemble.boosting import BaseBoosted
from ramify.ensemble.for_labels import ForLabels
from ramify.ensemble.growing import feature_rows
from ramify.ensemble.threshold import exceeded_threshold, is_chosen, label_sets
from ramify.ensemble.tree_parameters import BoostedParameters
from ramify.features import Features
from ramify.features.frames import take_rows
from ramify.hierarchy import Hierarchy
from ramify.state import State
from ramify.targets import LabelTarget


@dataclass(kw_only=True, eq=False, repr=False)
class BoostedClassifier(ForLabels, BaseBoosted, BoostedParameters):
    """Boosted trees for classes, label sets and label hierarchies, one tree per round for all labels.

    Parameters
    ----------
    n_estimators : int, default=300
        Largest number of rounds, one tree each.
    hierarchy : Hierarchy or None, default=None
        Hierarchy of the labels. `fit` closes y under ancestors, labels weigh less the deeper they are, and the
        probability of a label is the largest among itself and its descendants.
    label_weight : array-like of shape (n_labels,), {"balanced", "propensity"} or None, default=None
        Weights of the labels in the search for splits and in the loss to stop by, multiplied with those of the
        hierarchy; "balanced" is one over the frequency of each label, "propensity" one over
        `ramify.metrics.label_propensities`, which lifts rare ones less.
    threshold : float, array-like of shape (n_labels,), {"f1", "cardinality", "density"} or dict, default=0.5
        Probability above which a label of a label set is predicted, as of `ForestClassifier`; one that is chosen is
        chosen on the rows that early stopping holds back.
    learning_rate : float, default=0.05
        Share of each step that is taken.
    sketch : int, default=10
        Random projections of the gradients that a tree is grown on; with as many as there are labels, or more, the
        gradients themselves are taken.
    max_depth : int or None, default=6
        Largest number of splits from the root to a leaf.
    max_samples : float, default=0.7
        Share of the rows that a tree is grown on; each row is drawn by itself.
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
    max_bins : int or None, default=255
        Bin numeric features with more distinct values by quantiles; up to 255 bins take one byte per cell. None keeps
        every distinct value, which is exact and costs memory and time by their number.
    categorical_features : "from_dtype", mask, indices, names or None, default="from_dtype"
        Which features are nominal; by default the columns of a frame with a category or string dtype.
    min_category_rows : int, default=10
        In a node with more than two values of a nominal feature, values with fewer rows (as drawn) go to one side
        together, since subsets of rare values fit noise; 1 parts any values.
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
    threshold_ : float or ndarray of shape (n_labels,)
        Probability that a predicted label exceeds.
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

    Splits are found in histograms: the projected gradients are scaled and rounded to whole numbers of 16 bits (fewer
    beyond 65,536 rows), up or down by chance so that their means stay, and summed by bin. Sums of whole numbers do not
    depend on their order, so any number of threads gives the same bits; steps and gains come from the gradients
    themselves. Cuts that gain no more than the rounding may feign are not made.

    References
    ----------
    Shi, Y. et al. (2022). Quantized training of gradient boosting decision trees. NeurIPS.
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

    fitted_state: ClassVar[State] = {**BaseBoosted.fitted_state, **ForLabels.fitted_state}

    hierarchy: Hierarchy | None = None
    label_weight: Any = None
    threshold: Any = 0.5
    tolerance: float = 0.1

    classes_ = ForLabels.classes_  # on its own page of the documentation

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
        return self._probabilities(self._scores(X))

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        probabilities = expit(scores)
        if self._class_values is not None:
            return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))
        if self.hierarchy is not None:
            return _largest_below(probabilities, self.hierarchy)
        return np.asarray(probabilities)

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
        check_is_fitted(self, "trees_")
        if self._class_values is not None:
            return self._class_values[self._best_classes(X)]
        sets = label_sets(self.predict_proba(X), self.threshold_, self.hierarchy)
        return sparse.csr_array(sets) if self._sparse_sets else sets

    def _top(self, rows: _core.FeatureRows, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Block by block: every label of every row has a score."""
        labels, values = np.empty((rows.n_rows, k), np.intp), np.empty((rows.n_rows, k))
        for start, stop in self._row_blocks(rows.n_rows):
            probabilities = self._probabilities(self._mean_of_trees(rows, start, stop) + self.base_)
            labels[start:stop] = np.argsort(-probabilities, axis=1, kind="stable")[:, :k]
            values[start:stop] = np.take_along_axis(probabilities, labels[start:stop], axis=1)
        return labels, values

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if is_chosen(self.threshold) and self.early_stopping is None:
            raise ValueError(
                f"threshold={self.threshold!r} is chosen on the rows that early stopping holds back and needs "
                "early_stopping, a share of the rows. Give a number, or one per label, instead."
            )

    def _use_held_back(
        self, features: Features, target: LabelTarget, weights: np.ndarray | None, rows: np.ndarray
    ) -> None:
        if not is_chosen(self.threshold):
            return
        values = take_rows(features.values, rows)
        held_back = Features(sparse.csr_array(values) if features.is_sparse else values, features.n_categories)
        scores = self._mean_of_trees(feature_rows(held_back)) + self.base_
        self.threshold_ = exceeded_threshold(
            self.threshold,
            self._probabilities(scores),
            target.cells()[rows],
            sample_weight=None if weights is None else weights[rows],
        )

    def _best_classes(self, X: Any) -> np.ndarray:
        return self._scores(X).argmax(axis=1)


def _largest_below(probabilities: np.ndarray, hierarchy: Hierarchy) -> np.ndarray:
    """The largest probability among each label and its descendants."""
    by_label = np.ascontiguousarray(probabilities.T)
    parents = hierarchy.parent_matrix
    for label in hierarchy.topological_order[::-1].tolist():
        for parent in parents.indices[parents.indptr[label] : parents.indptr[label + 1]].tolist():
            np.maximum(by_label[parent], by_label[label], out=by_label[parent])
    return np.ascontiguousarray(by_label.T)
