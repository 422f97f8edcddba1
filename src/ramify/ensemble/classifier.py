"""ForestClassifier: tree ensembles for classes, label sets and hierarchical label sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify.ensemble.for_labels import ForLabels
from ramify.ensemble.row_weights import refuse_extreme_weights
from ramify.ensemble.threshold import exceeded_threshold, is_chosen
from ramify.ensemble.training_data import TrainingData
from ramify.ensemble.tree_parameters import ForestParameters
from ramify.hierarchy import Hierarchy
from ramify.metrics import auprc
from ramify.parameters import check_option, check_real, worker_count
from ramify.state import State, numbers, perhaps
from ramify.targets import ClassTarget, LabelTarget, Target, encode_labels
from ramify.targets.closure import with_all_ancestors


@dataclass(kw_only=True, eq=False, repr=False)
class ForestClassifier(ForLabels, ForestParameters):
    """Ensemble of predictive clustering trees for classes, label sets and label hierarchies.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    hierarchy : Hierarchy or None, default=None
        Hierarchy of the labels. `fit` closes y under ancestors and labels weigh less the deeper they are.
    label_weight : array-like of shape (n_labels,), {"balanced", "propensity"} or None, default=None
        Weights of the labels in the impurity, multiplied with those of the hierarchy; "balanced" is one over the
        frequency of each label, "propensity" one over `ramify.metrics.label_propensities`, which lifts rare ones less.
    class_weight : dict, "balanced" or None, default=None
        For classes only: weights of the rows by their class.
    threshold : float, array-like of shape (n_labels,), {"f1", "cardinality", "density"} or dict, default=0.5
        Probability above which a label of a label set is predicted: a number, one per label, or chosen on out-of-bag
        predictions: the largest F1 of each label ("f1"), as many labels per row as in training ("cardinality"), as many
        rows per label ("density"), or the smallest cost of errors of each label (``{"fp": 1, "fn": 5}``: a false
        negative costs five times as much). With a hierarchy a label is predicted only with all its ancestors.
    backing : int, default=0
        Leaves are backed by their ancestors of at most so many rows: of the estimate of a leaf with n rows the share
        n / (n + 1) is its own, of the rest as much its parent's, and so on. 10 to 30 helps where labels are rare or
        trees are few, and makes leaves two to six times as large. 0: leaves speak for themselves.
    splitter : {"best", "random"}, default="best"
        The best cut of each sampled feature, or one random cut of each (extra-trees).
    oblique : int, default=0
        Look also at splits by sums of so many numeric features (2 or 3, fewer where a node draws fewer): as many sums
        as numeric features are drawn, of these, standardised in the node, with random weights; a missing value counts
        as the mean there. Helps extra trees without bootstrap where features act together. 0: splits test one feature.
    bootstrap : bool, default=True
        Draw rows with replacement for each tree.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Features looked at in each node, constant ones not counted: floor of the root or logarithm, a number, a share,
        or all.
    max_depth : int or None, default=None
        Largest number of splits from the root to a leaf.
    min_samples_split : int or float, default=2
        Rows a node needs to be split; a float is a share of the rows.
    min_samples_leaf : int or float, default=1
        Rows each side of a split needs; a float is a share of the rows.
    min_weight_fraction_leaf : float, default=0.0
        Weight that each side of a split needs, as a share of the whole weight.
    min_impurity_decrease : float, default=0.0
        Decrease of impurity a split needs, as a share of the whole weight.
    max_bins : int or None, default=None
        Bin numeric features by quantiles; None keeps every distinct value and is exact.
    categorical_features : "from_dtype", mask, indices, names or None, default="from_dtype"
        Which features are nominal; by default the columns of a frame with a category or string dtype.
    min_category_rows : int, default=10
        In a node with more than two values of a nominal feature, values with fewer rows (as drawn) go to one side
        together, since subsets of rare values fit noise; 1 parts any values.
    oob_score : bool, default=False
        Predict each row by the trees that did not see it.
    warm_start : bool, default=False
        Where this estimator was fitted before, `fit` keeps its trees and grows those up to `n_estimators`: the same
        bits as growing all at once on the same data.
    n_jobs : int or None, default=None
        Threads; the result is the same for any number. Where a joblib backend that is not local is active, the jobs
        among which blocks of trees are shared.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : int, default=0
        Show a progress bar if positive.

    Attributes
    ----------
    trees_ : ramify._core.Forest
        The trees.
    classes_ : ndarray of shape (n_classes,) or (n_labels, 2)
        Class values; for label sets `[0, 1]` per label.
    label_names_ : tuple of str
        Names of the columns of `predict_proba`.
    n_outputs_ : int
        Number of labels; 1 for classes.
    target_kind_ : {"classes", "labels", "hierarchy"}
        What y was.
    prior_ : ndarray of shape (n_labels,)
        Frequency of each label or class in training: what a model without features predicts.
    threshold_ : float or ndarray of shape (n_labels,)
        Probability that a predicted label exceeds.
    feature_importances_ : ndarray of shape (n_features,)
        Gains on out-of-bag rows (those below 0 as 0), without such rows Genie3, divided by their sum.
    oob_prediction_ : ndarray of shape (n_samples, n_labels)
        Out-of-bag probabilities, NaN for rows that every tree saw. With `oob_score=True`.
    oob_score_ : float
        Out-of-bag accuracy for classes, pooled AUPRC for label sets. With `oob_score=True`.
    n_features_in_, feature_names_in_, categories_
        Number, names and nominal values of the features.

    Notes
    -----
    Bagging, random forests and extra-trees are one class: see the table in the guide. The probability of a label never
    exceeds that of its ancestors, so that the labels above one half always respect the hierarchy.

    References
    ----------
    Kocev, D., Vens, C., Struyf, J. and Dzeroski, S. (2013). Tree ensembles for predicting structured outputs. Pattern
    Recognition 46.
    Cestnik, B. (1990). Estimating probabilities: a crucial task in machine learning. ECAI. (`backing`)

    Examples
    --------
    >>> import numpy as np
    >>> from ramify import ForestClassifier, Hierarchy
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> tree = Hierarchy.from_paths(["a", "a/b", "c"])
    >>> Y = tree.encode([["a"], ["a"], ["a/b"], ["c"]])
    >>> forest = ForestClassifier(10, hierarchy=tree, bootstrap=False, max_features=None, random_state=0).fit(X, Y)
    >>> forest.predict(X).toarray().tolist()
    [[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1]]
    """

    fitted_state: ClassVar[State] = {
        **ForLabels.fitted_state,
        "oob_prediction_": perhaps(numbers("n_rows", "n_labels", nan=True)),
    }

    _outcome: ClassVar[str] = "labels"

    hierarchy: Hierarchy | None = None
    label_weight: Any = None
    class_weight: Any = None
    threshold: Any = 0.5
    backing: int = 0

    classes_ = ForLabels.classes_  # on its own page of the documentation

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
        rows = self.rows_of(X)
        least = min(1.0, float(np.min(self.threshold_)))
        likely = self._sparse_probabilities(rows, least)
        limits = np.broadcast_to(self.threshold_, self.trees_.n_outputs)[likely.indices]
        likely.data = (likely.data > limits).astype(np.int8)
        likely.eliminate_zeros()
        sets = likely.astype(np.int64)
        if self.hierarchy is not None and np.ndim(self.threshold_) == 1:
            sets = self._with_all_ancestors(sets, self.hierarchy)
        return sets if self._sparse_sets else sets.toarray()

    def _best_classes(self, X: Any) -> np.ndarray:
        rows = self.rows_of(X)
        blocks = self._row_blocks(rows.n_rows)
        return np.concatenate([self._mean_of_trees(rows, start, stop).argmax(axis=1) for start, stop in blocks])

    def _with_all_ancestors(self, sets: sparse.csr_array, hierarchy: Hierarchy) -> sparse.csr_array:
        blocks = [
            sparse.csr_array(with_all_ancestors(sets[start:stop].toarray() > 0, hierarchy).astype(np.int64))
            for start, stop in self._row_blocks(sets.shape[0])
        ]
        return sparse.csr_array(sparse.vstack(blocks))

    def predict_proba(self, X: Any, *, at_least: float | None = None) -> Any:
        """Probability of each class or label.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.
        at_least : float or None, default=None
            None gives a dense array. A number in [0, 1] gives a CSR matrix of the positive probabilities that reach it,
            for very many labels.

        Returns
        -------
        array or CSR of shape (n_samples, n_labels)
            Columns follow `label_names_`.
        """
        rows = self.rows_of(X)
        if at_least is None:
            return self._mean_of_trees(rows)
        title = f"{type(self).__name__}.predict_proba"
        return self._sparse_probabilities(rows, check_real(title, "at_least", at_least, low=0, high=1))

    def _sparse_probabilities(self, rows: _core.FeatureRows, threshold: float) -> sparse.csr_array:
        data, indices, indptr = _core.predict(
            self.trees_,
            rows,
            threshold=threshold,
            first_row=0,
            last_row=rows.n_rows,
            n_threads=worker_count(self.n_jobs),
        )
        return sparse.csr_array((data, indices, indptr), shape=(rows.n_rows, self.trees_.n_outputs))

    def _top(self, rows: _core.FeatureRows, k: int) -> tuple[np.ndarray, np.ndarray]:
        """By what the leaves hold: no row of all labels is made."""
        n_threads = worker_count(self.n_jobs)
        labels, values = _core.predict(self.trees_, rows, top=k, first_row=0, last_row=rows.n_rows, n_threads=n_threads)
        return labels.astype(np.intp), values

    def learn_label(
        self, table: _core.FeatureTable, categories: list[Any], has: np.ndarray, weights: np.ndarray | None
    ) -> Self:
        """Grow for one label on features that were coded once for many forests.

        Parameters
        ----------
        table : FeatureTable
            What `feature_table` returns.
        categories : list of array or None
            Values of each nominal feature, None for a number.
        has : array of shape (n_samples,)
            1 where the row has the label, else 0.
        weights : array of shape (n_samples,) or None
            Weights of the rows, which are multiplied by those of `class_weight`.
        """
        self.n_features_in_, self.categories_ = len(categories), categories
        weighed = self.row_weights(encode_labels(has), weights)
        label = LabelTarget(Y=sparse.csr_array(has[:, None].astype(np.int8)), names=("present",), weights=np.ones(1))
        return self.grow(table, label, weighed)

    def row_weights(self, target: Target, sample_weight: np.ndarray | None) -> np.ndarray | None:
        """Sample weights, multiplied by those of the classes."""
        if self.class_weight is None:
            return sample_weight
        if not isinstance(target, ClassTarget):
            raise ValueError(
                f"The 'class_weight' parameter of {type(self).__name__} is for classes, but y holds label sets. "
                "Use label_weight, one weight per label, instead."
            )
        if not isinstance(self.class_weight, dict):
            check_option(self, "class_weight", self.class_weight, ("balanced", None))
        codes = target.groups
        if isinstance(self.class_weight, dict):
            by_class = compute_class_weight(self.class_weight, classes=target.classes, y=target.classes[codes])
        else:
            totals = np.bincount(codes, weights=sample_weight, minlength=len(target.classes)).astype(np.float64)
            by_class = totals.sum() / (len(totals) * np.where(totals > 0, totals, np.inf))
        weights = by_class[codes].astype(np.float64)
        if sample_weight is not None:
            weights *= sample_weight
        refuse_extreme_weights(self, weights, "class_weight")
        return weights

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if is_chosen(self.threshold) and not self.bootstrap:
            raise ValueError(
                f"threshold={self.threshold!r} is chosen out of bag and needs bootstrap=True. Give a number, or one "
                "per label, instead."
            )

    def _needs_out_of_bag(self) -> bool:
        return bool(self.oob_score) or is_chosen(self.threshold)

    def _set_out_of_bag(self, data: TrainingData) -> None:
        """Accuracy or pooled AUPRC over the rows that some tree did not see; NaN if there is none."""
        prediction, predicted = self._out_of_bag(data)
        seen = np.flatnonzero(predicted)
        scores, truth = prediction[seen], data.target.cells()[seen]
        if is_chosen(self.threshold) and len(seen):
            weights = None if data.weights is None else data.weights[seen]
            self.threshold_ = exceeded_threshold(self.threshold, scores, truth, sample_weight=weights)
        if not self.oob_score:
            return
        self.oob_prediction_ = data.among_given(prediction)
        self.oob_score_ = float("nan")
        if len(seen):
            has_classes = data.target.groups is not None
            right = np.mean(scores.argmax(axis=1) == truth.indices) if has_classes else auprc(truth, scores)
            self.oob_score_ = float(right)
