"""What the forests share: fit, parameters, the first trees, leaves reached and contributions of features."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify.ensemble.explanation import Explanation, Output, explain
from ramify.ensemble.gains import out_of_bag_scores
from ramify.ensemble.growing import feature_rows, grow
from ramify.ensemble.training_data import TrainingData, learnt_data, refuse_one_group, training_data
from ramify.features import Features, apply_features, feature_names
from ramify.features.coded_table import CodedTable
from ramify.features.parted_table import PartedTable
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_flag, check_integer, check_jobs, check_option, check_real, worker_count
from ramify.state import (
    ENCODED_FEATURES,
    State,
    count,
    fitting,
    instance,
    note_parameters,
    number,
    numbers,
    one_of,
    perhaps,
    refuse_changed,
    texts,
)
from ramify.tags import ANY_FEATURES, tagged
from ramify.targets import KINDS, Target, target_type

_PREDICTED_CELLS = 1 << 23
_CONTINUED = ("trees_", "_seed", "target_kind_", "label_names_")
"""What a warm start goes on from."""


class BaseForest(BaseEstimator):
    """Parameters and methods of every forest; use a class derived from it."""

    trees_: _core.Forest
    n_features_in_: int
    label_names_: tuple[str, ...]
    target_kind_: str
    n_outputs_: int
    prior_: np.ndarray
    known_share_: np.ndarray
    oob_prediction_: np.ndarray

    fitted_state: ClassVar[State] = {
        **ENCODED_FEATURES,
        "trees_": instance(_core.Forest),
        "target_kind_": one_of(*KINDS[1:]),
        "label_names_": texts("n_labels"),
        "n_outputs_": count(),
        "prior_": numbers("n_labels"),
        "known_share_": perhaps(numbers("n_labels")),
        "_seed": perhaps(count(low=0)),
        "_out_of_bag_gains": perhaps(numbers("n_features")),
        "oob_prediction_": perhaps(instance(np.ndarray)),
        "oob_score_": perhaps(number(nan=True)),
    }
    read_after_fit: ClassVar[tuple[str, ...]] = ("hierarchy", "bootstrap")
    takes_parts: ClassVar[bool] = False
    """Whether trees grow on rows where they lie on a cluster; else their codes are gathered, a byte per cell."""
    hierarchy: Hierarchy | None = None
    warm_start: bool = False
    _outcome: ClassVar[str] = "numbers"
    """What the leaves of its trees hold."""
    _of_all_trees: ClassVar[tuple[str, ...]] = (
        "oob_prediction_",
        "oob_score_",
        "feature_summary_",
        "_out_of_bag_gains",
    )
    """What belongs to all trees together."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, row_groups: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features; NaN is missing.
        y : array, CSR or frame
            The target, as `encode_target` takes it. In label sets and several numbers NaN is unknown; a row of which
            nothing is known takes no part, as one of weight zero.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight zero takes no part, as if it were not there; its out-of-bag prediction
            is NaN.
        row_groups : array-like of shape (n_samples,), default=None
            What each row belongs to: a patient, a family, a site. Bags are drawn by group, as many draws as groups, so
            that a row is out of bag only where its whole group is.

        Returns
        -------
        self
        """
        with fitting(self, keeping=_CONTINUED if self.warm_start else ()) as before:
            self._check_parameters()
            data = self.training_data(X, y, sample_weight, row_groups)
            if self.warm_start and "_seed" in before:
                refuse_changed(self)
                self._refuse_other_features(before)
            self.fit_on(data)
        return self

    def _refuse_other_features(self, before: Mapping[str, Any]) -> None:
        """Refuse to go on with features of another meaning: other names, another order, other nominal values."""
        names, earlier = feature_names(self), before.get("feature_names_in_")
        if earlier is not None and hasattr(self, "feature_names_in_") and names != tuple(map(str, earlier)):
            raise ValueError(
                "warm_start=True goes on with the features of the first fit, but X has other names or another order. "
                "Give the same columns, or fit a clone."
            )
        for name, now, known in zip(names, self.categories_, before["categories_"], strict=False):
            if (now is None) != (known is None) or (now is not None and now.tolist() != known.tolist()):
                raise ValueError(
                    f"warm_start=True goes on with the nominal values of the first fit, but {name!r} has others "
                    "here. Use a category dtype that lists all values, or fit a clone."
                )

    def training_data(
        self, X: Any, y: Any, sample_weight: Any = None, row_groups: Any = None, *, reset: bool = True
    ) -> TrainingData:
        """Check and encode what trees grow on, with the weights that the rows have in growing.

        Parameters
        ----------
        X, y, sample_weight, row_groups
            As `fit` takes them.
        reset : bool, default=True
            Learn the names and nominal values of the features; else they are those of the fit.
        """
        if reset:
            data = learnt_data(self, X, y, sample_weight, row_groups)
        else:
            known = partial(apply_features, self)
            data = training_data(self, X, y, sample_weight, row_groups, features=known, target=self.encode_target)
        if not reset and len(data.target.output_names) != len(self.label_names_):
            raise ValueError(
                f"{type(self).__name__} was fitted on {len(self.label_names_)} {data.target.nouns[1]}, but y has "
                f"{len(data.target.output_names)}. Give the data that it was fitted on."
            )
        return replace(data, weights=self.row_weights(data.target, data.weights))

    def fit_on(self, data: TrainingData) -> Self:
        """Grow the trees on data that was checked and encoded before.

        Parameters
        ----------
        data : TrainingData
            What `training_data` returns.
        """
        if isinstance(data.features.values, PartedTable) and not self.takes_parts:
            here = Features(data.features.values.gathered(), data.features.n_categories)
            data = replace(data, features=here)
        if self.bootstrap:
            refuse_one_group(self, data)
        self.grow(data.features, data.target, data.weights, data.row_groups)
        if self.bootstrap:
            self._out_of_bag_gains = out_of_bag_scores(self, data)
        if self._needs_out_of_bag():
            self._set_out_of_bag(data)
        return self

    @abstractmethod
    def encode_target(self, y: Any, *, sample_weight: np.ndarray | None = None, n_samples: int | None = None) -> Target:
        """Check y and encode it as this forest takes it.

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
        """Weights that the rows have in growing, from those that were given."""
        return sample_weight

    def grow(
        self,
        features: Features | _core.FeatureTable,
        target: Target,
        weights: np.ndarray | None,
        row_groups: np.ndarray | None = None,
    ) -> Self:
        """Grow trees on checked features, or on a table that was coded once for many forests.

        Parameters
        ----------
        features : Features or FeatureTable
            What to split on.
        target : Target
            What `encode_target` returns.
        weights : array of shape (n_samples,) or None
            What `row_weights` returns.
        row_groups : int64 array of shape (n_samples,) or None
            Numbers of groups that enter bags together.
        """
        self._grow_trees(features, target, weights, row_groups)
        self.target_kind_ = target.kind
        self.label_names_ = target.output_names
        self.n_outputs_ = target.n_outputs
        if target.known_share is not None:
            self.known_share_ = target.known_share
        self._keep(target, weights)
        note_parameters(self)
        return self

    def _grow_trees(
        self, features: Any, target: Target, weights: np.ndarray | None, row_groups: np.ndarray | None
    ) -> None:
        """Set the trees: new ones, or with `warm_start` those there are and the ones that come after them."""
        growth = self._growth(features)
        kept = self._kept_trees(target, growth)
        n_kept = 0 if kept is None else kept.n_trees
        if n_kept < growth.n_trees:
            grown = grow(
                features,
                target.kernel_rows(),
                growth.part(n_kept, growth.n_trees),
                max_bins=self.max_bins,
                sample_weight=weights,
                row_groups=row_groups,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
            self.trees_ = grown if kept is None else _core.Forest.concatenate([kept, grown])
        if self.warm_start:
            self._seed = growth.seed

    def _kept_trees(self, target: Target, growth: _core.Growth) -> _core.Forest | None:
        """The trees that a warm start goes on from, or None."""
        if not check_flag(self, "warm_start", self.warm_start) or not hasattr(self, "_seed"):
            return None
        if (target.kind, target.output_names) != (self.target_kind_, self.label_names_):
            raise ValueError("warm_start=True goes on with the labels of the first fit, but y has others. Fit a clone.")
        if self.trees_.n_features != self.n_features_in_:
            raise ValueError(
                f"warm_start=True goes on with the {self.trees_.n_features} features of the first fit, but X has "
                f"{self.n_features_in_}. Fit a clone."
            )
        if growth.n_trees < self.trees_.n_trees:
            raise ValueError(
                f"warm_start=True goes on from {self.trees_.n_trees} trees, so n_estimators={growth.n_trees} must be "
                f"at least that. forest.first({growth.n_trees}) gives the first of them."
            )
        return self.trees_

    @abstractmethod
    def _keep(self, target: Any, weights: np.ndarray | None) -> None:
        """Set what predictions need to know of the target."""

    def _needs_out_of_bag(self) -> bool:
        """Whether rows are to be predicted by the trees that did not see them."""
        return bool(getattr(self, "oob_score", False))

    def _set_out_of_bag(self, data: TrainingData) -> None:
        """Predict each row by the trees that did not see it, and score that."""

    def output_weights(self) -> np.ndarray:
        """Weight of each output of the trees in the impurity."""
        check_is_fitted(self, "trees_")
        return np.ones(self.trees_.n_outputs)

    def label_scores(self, per_output: Any) -> tuple[Any, tuple[str, ...], Hierarchy | None]:
        """Scores of features x outputs as scores per label, with the names and the order of the labels.

        Parameters
        ----------
        per_output : CSR array of shape (n_features, n_outputs)
            Scores of each feature for each output of the trees.
        """
        refuse_changed(self)
        return target_type(self.target_kind_).label_scores(per_output, self.label_names_, self.hierarchy)

    def rows_of(self, X: Any) -> _core.FeatureRows:
        """Checked rows of features, to send through the trees."""
        check_is_fitted(self, "trees_")
        features = apply_features(self, X)
        if isinstance(features.values, CodedTable):
            self._refuse_other_bins(features.values)
        return feature_rows(features)

    def _refuse_other_bins(self, table: CodedTable) -> None:
        """Refuse a prepared table whose bins do not say on which side of a threshold of the trees a value lies."""
        trees = self.trees_.arrays()
        tests = (trees["feature"] >= 0) & (trees["feature"] < self.n_features_in_) & (trees["subset"] < 0)
        name = table.straddled(trees["feature"][tests], trees["threshold"][tests])
        if name is not None:
            raise ValueError(
                f"The bins of {name!r} in this prepared table do not tell on which side of a threshold of this "
                f"{type(self).__name__} a value lies: it was fitted to other data. Predict the file that the table was "
                "made of."
            )

    @property
    def feature_importances_(self) -> np.ndarray:
        """Gains of the splits on out-of-bag rows, those below 0 as 0, divided by their sum (zeros if no tree splits).

        Where trees have no out-of-bag rows (`bootstrap=False`), Genie3: the gains on the rows that they grew on.
        """
        check_is_fitted(self, "trees_")
        refuse_changed(self)
        if not self.bootstrap:
            scores = _core.genie3(self.trees_)
        elif hasattr(self, "_out_of_bag_gains"):
            scores = np.maximum(self._out_of_bag_gains, 0.0)
        else:
            raise AttributeError(
                f"Importances of this {type(self).__name__} were not measured: it is a part of a forest, a link of a "
                'chain or of an earlier version. forest_ranking(forest, "genie3_oob", X, y) measures them on the data '
                'of the fit; forest_ranking(forest, "genie3") needs none.'
            )
        total = scores.sum()
        return scores / total if total > 0 else scores

    def apply(self, X: Any) -> np.ndarray:
        """The leaf that each row reaches in each tree.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        int32 array of shape (n_samples, n_estimators)
            Node numbers within the tree.
        """
        rows = self.rows_of(X)
        return _core.apply(self.trees_, rows, n_threads=worker_count(self.n_jobs))

    def first(self, k: int) -> Self:
        """The first `k` trees as a fitted forest of their own, equal to one grown with `n_estimators=k`.

        Trees are shared, not copied. Out-of-bag results belong to the whole forest and are not carried over.

        Parameters
        ----------
        k : int
            Number of trees, from 1 to `n_estimators`.
        """
        check_is_fitted(self, "trees_")
        check_integer(f"{type(self).__name__}.first", "k", k, low=1, high=self.trees_.n_trees)
        part = copy.copy(self)
        part.n_estimators = int(k)
        part.trees_ = self.trees_.first(int(k))
        for name in vars(part).keys() & set(self._of_all_trees):
            delattr(part, name)
        return part

    def contributions(self, X: Any, label: Any = 0) -> tuple[np.ndarray, float]:
        """What each feature on the path added to a prediction, and the value that all predictions start from.

        On the way from the root to a leaf, each step changes the prediction; the change is credited to the feature that
        the node tests (of a sum, to its features by their shares in it), and averaged over the trees.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.
        label : str or int, default=0
            Name in `label_names_`, or its position.

        Returns
        -------
        contributions : array of shape (n_samples, n_features)
            Each row sums, together with `base`, to the prediction of `label`.
        base : float
            The mean prediction of the roots.

        References
        ----------
        Saabas, A. (2014). Interpreting random forests.
        """
        rows = self.rows_of(X)
        output = self._label_index(label)
        return _core.contributions(self.trees_, rows, output=output, n_threads=worker_count(self.n_jobs))

    def shap_values(self, X: Any, *, labels: Any = None, background: Any = None, top: int | None = None) -> Explanation:
        """Shapley values: what each feature added to each prediction, the order of the features averaged out.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Rows to explain.
        labels : None, "predicted", str, list of str or dict, default=None
            All labels; each row's predicted ones (sparse); one label; several; or sums of labels, as
            ``{"branch": ["a", "a/b"]}`` (the values of a sum are the sums of the values). Positions in the
            forest's outputs stand for their names.
        background : like X, default=None
            Unknown features take the values of these rows in turn (interventional); each costs a run through the
            trees. By default they follow the training rows down the tree (path-dependent), which is much faster.
        top : int or None, default=None
            Keep the features of largest absolute value of each prediction, sparse.

        Returns
        -------
        Explanation
            Its base and values add up to the prediction, before any calibration.

        References
        ----------
        Lundberg, S. M. et al. (2020). From local explanations to global understanding with explainable AI for trees.
        Nature Machine Intelligence 2.

        Notes
        -----
        The weight of a leaf is an integral of a polynomial, computed exactly by quadrature; it is computed once for all
        labels of the leaf.

        Examples
        --------
        >>> from ramify import ForestClassifier
        >>> X, y = [[0, 5], [1, 5], [2, 5], [3, 5]], ["no", "no", "yes", "yes"]
        >>> forest = ForestClassifier(10, bootstrap=False, random_state=0).fit(X, y)
        >>> forest.shap_values([[3, 5]], labels="yes").values.tolist()
        [[0.5, 0.0]]
        """
        check_is_fitted(self, "trees_")
        return explain(self, X, labels=labels, background=background, top=top)

    def _output(self, label: Any) -> Output:
        """The output of the trees that a name or a position means."""
        index = self._label_index(label)
        return Output(index, self.label_names_[index])

    def _label_index(self, label: Any) -> int:
        n_labels = len(self.label_names_)
        if isinstance(label, Integral) and not isinstance(label, bool):
            return check_integer(type(self).__name__, "label", label, low=0, high=n_labels - 1)
        if str(label) not in self.label_names_:
            raise ValueError(
                f"There is no label {label!r}; label_names_ lists the {n_labels} labels of this forest, "
                f"from {self.label_names_[0]!r} to {self.label_names_[-1]!r}."
            )
        return self.label_names_.index(str(label))

    def _mean_of_trees(self, rows: _core.FeatureRows, first_row: int = 0, last_row: int | None = None) -> np.ndarray:
        """Mean of the trees, of boosted ones their sum, for some of the rows: (n_rows, n_outputs)."""
        stop = rows.n_rows if last_row is None else last_row
        n_threads = worker_count(self.n_jobs)
        return _core.predict(self.trees_, rows, first_row=first_row, last_row=stop, n_threads=n_threads)

    def _row_blocks(self, n_rows: int) -> Iterator[tuple[int, int]]:
        """Blocks of rows whose dense predictions stay within a few tens of megabytes."""
        step = max(1, _PREDICTED_CELLS // max(1, self.trees_.n_outputs))
        for start in range(0, n_rows, step):
            yield start, min(start + step, n_rows)

    def _growth(self, features: Features | _core.FeatureTable) -> _core.Growth:
        """Check the parameters that say how trees grow, and draw the seed."""
        if isinstance(features, Features):
            n_samples, n_features = features.values.shape
        else:
            n_samples, n_features = features.n_rows, features.n_features
        check_integer(self, "verbose", self.verbose, low=0)
        check_jobs(self, self.n_jobs)
        if self.max_bins is not None:
            check_integer(self, "max_bins", self.max_bins, low=2, high=65535)
        n_combined = self._n_combined()
        return _core.Growth(
            seed=self._drawn_seed(),
            first_tree=0,
            n_trees=check_integer(self, "n_estimators", self.n_estimators, low=1),
            max_features=max(feature_count(self, n_features), min(n_combined, n_features)),
            bootstrap=check_flag(self, "bootstrap", self.bootstrap),
            random_splits=check_option(self, "splitter", self.splitter, ("best", "random")) == "random",
            max_depth=-1 if self.max_depth is None else check_integer(self, "max_depth", self.max_depth, low=1),
            min_samples_split=max(2, _row_count(self, "min_samples_split", n_samples, low=2)),
            min_samples_leaf=_row_count(self, "min_samples_leaf", n_samples, low=1),
            min_impurity_decrease=check_real(self, "min_impurity_decrease", self.min_impurity_decrease, low=0),
            min_weight_fraction_leaf=_weight_share(self),
            min_category_rows=check_integer(self, "min_category_rows", self.min_category_rows, low=1),
            oblique=n_combined,
            backing=check_integer(self, "backing", getattr(self, "backing", 0), low=0),
        )

    def _n_combined(self) -> int:
        """Features of a sum that nodes test, or 0."""
        n_combined = check_integer(self, "oblique", self.oblique, low=0)
        if n_combined == 1:
            raise ValueError("oblique=1 combines nothing: give 2 or more features per sum, or 0 to test one at a time.")
        if n_combined and self.max_bins is not None:
            raise ValueError("oblique adds up values of features, not bins of them: leave max_bins at None.")
        return n_combined

    def _drawn_seed(self) -> int:
        """A seed, or with `warm_start` the one that the first trees have."""
        if self.warm_start and hasattr(self, "_seed"):
            return self._seed
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted forest together."""
        trees, kind, n_names = self.trees_, target_type(self.target_kind_), len(self.label_names_)
        n_outputs = n_names * (n_names - 1) // 2 if kind.ranks_labels else n_names
        yield trees.outcome == self._outcome, f"the trees must be for {self._outcome}"
        yield self.n_features_in_ == trees.n_features, "n_features_in_ is not that of the trees"
        yield n_outputs == trees.n_outputs, "label_names_ must name each output"
        yield self.n_outputs_ == (1 if kind.has_one_label else n_names), "n_outputs_ is not that of the target"
        n_values = [0 if values is None else len(values) for values in self.categories_]
        yield n_values == trees.n_categories.tolist(), "categories_ does not fit the trees"

    def _check_parameters(self) -> None:
        """Check what is not checked where trees are grown, and workers before any work is done."""
        check_jobs(self, self.n_jobs)
        check_flag(self, "oob_score", self.oob_score)
        if self.oob_score and not self.bootstrap:
            raise ValueError(
                "oob_score=True needs bootstrap=True: without it every tree sees every row and none is out of bag."
            )

    def _out_of_bag(self, data: TrainingData) -> tuple[np.ndarray, np.ndarray]:
        """Mean of the trees that did not see a row (NaN where none), and the mask of rows with such a tree."""
        rows = feature_rows(data.features)
        prediction, n_trees = _core.predict_oob(
            self.trees_,
            rows,
            **data.bagging,
            first_row=0,
            last_row=rows.n_rows,
            n_threads=worker_count(self.n_jobs),
        )
        return prediction, n_trees > 0

    def __sklearn_tags__(self) -> Any:
        return tagged(super().__sklearn_tags__(), *ANY_FEATURES)


def feature_count(estimator: Any, n_features: int) -> int:
    """Features to look at in a node, from the `max_features` parameter."""
    value = estimator.max_features
    if value is None:
        return n_features
    if isinstance(value, str):
        check_option(estimator, "max_features", value, ("sqrt", "log2", None))
        return max(1, int(np.sqrt(n_features) if value == "sqrt" else np.log2(n_features)))
    if isinstance(value, Integral):
        return min(check_integer(estimator, "max_features", value, low=1), n_features)
    return max(1, int(check_real(estimator, "max_features", value, low=0, high=1, open_low=True) * n_features))


def _weight_share(estimator: Any) -> float:
    name = "min_weight_fraction_leaf"
    return (
        check_real(estimator, name, estimator.min_weight_fraction_leaf, low=0, high=0.5)
        if hasattr(estimator, name)
        else 0.0
    )


def _row_count(estimator: Any, name: str, n_samples: int, *, low: int) -> int:
    value = getattr(estimator, name)
    if isinstance(value, Integral):
        return check_integer(estimator, name, value, low=low)
    return max(1, int(np.ceil(check_real(estimator, name, value, low=0, high=1, open_low=True) * n_samples)))
