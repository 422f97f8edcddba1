"""MixedForest: one tree ensemble for several targets side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ramify.ensemble.base import BaseForest
from ramify.ensemble.training_data import TrainingData
from ramify.ensemble.tree_parameters import ForestParameters
from ramify.ensemble.units import InUnits
from ramify.hierarchy import Hierarchy
from ramify.metrics.target_measure import part_score
from ramify.state import State, instance, integers, numbers, one_of, perhaps, text_values, texts
from ramify.targets import ClassTarget, MixedPart, MixedTarget, encode_mixed, target_type

if TYPE_CHECKING:
    import pandas as pd


@dataclass(kw_only=True, eq=False, repr=False)
class MixedForest(InUnits, ForestParameters):
    """One ensemble of predictive clustering trees for classes, label sets and numbers side by side.

    The vectors of all targets stand side by side, each target scaled to unit variance, and the impurity is the sum of
    theirs: a split is good if it is good for the targets together.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    targets : "from_dtype" or mapping, default="from_dtype"
        What the columns of y are. By dtype every column is a target: columns of numbers are numbers, all others
        classes. A mapping says otherwise, by the name of a column, in which `*` stands for anything:

        - ``{"grade": "classes"}``, or "numbers" or "labels";
        - ``{"product*": "labels"}``: all columns that fit are one label set, of 0 and 1 (with "numbers" one target of
          several numbers; columns of classes are each a target);
        - ``{"products": ["bread", "milk"]}``: a label set of these columns, called "products";
        - ``{"function": hierarchy}``: a label set whose columns are nodes of a `Hierarchy`.

        Columns that it does not name are taken by dtype.
    target_weight : mapping of str to float or None, default=None
        Weights of targets in the impurity, by name; 1 where it does not say.
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
        The trees; their leaves hold means of the vectors.
    target_names_ : tuple of str
        Names of the targets.
    target_kinds_ : dict of str to str
        What each is: "numbers", "classes", "labels" or "hierarchy".
    columns_ : dict of str to tuple of str
        The columns of y that each is made of; `y_columns_` are all of them in their order.
    classes_ : dict of str to ndarray
        Values of the targets that are classes.
    label_names_ : tuple of str
        Names of the outputs: columns, labels, and `column=class` of classes.
    n_outputs_ : int
        Number of outputs.
    target_kind_ : "mixed"
        What y was.
    prior_ : ndarray of shape (n_outputs,)
        Share of each label and class, mean of each number in training: what a model without features predicts.
    known_share_ : ndarray of shape (n_outputs,)
        Share of the rows of which each output is known, where not all are.
    feature_importances_ : ndarray of shape (n_features,)
        Gains on out-of-bag rows (those below 0 as 0), without such rows Genie3, divided by their sum.
        `ForestRanker(MixedForest())` gives scores per target.
    oob_prediction_ : ndarray of shape (n_samples, n_outputs)
        Out-of-bag predictions as of `predict_outputs`, NaN for rows that every tree saw. With `oob_score=True`.
    oob_scores_ : dict of str to float
        Their quality per target: pooled AUPRC of classes and label sets, R2 of numbers. With `oob_score=True`.
    oob_score_ : float
        The mean of `oob_scores_`. With `oob_score=True`.
    n_features_in_, feature_names_in_, categories_
        Number, names and nominal values of the features.

    Notes
    -----
    A missing cell of y is unknown and takes no part; a row of which nothing is known is left out. Label sets are held
    dense here: for thousands of labels alone, `ForestClassifier` is far faster.

    References
    ----------
    Kocev, D., Vens, C., Struyf, J. and Dzeroski, S. (2013). Tree ensembles for predicting structured outputs. Pattern
    Recognition 46.

    Examples
    --------
    >>> import pandas as pd
    >>> from ramify import MixedForest
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> y = pd.DataFrame({"price": [1.5, 1.5, 9.0, 9.0], "colour": ["red", "red", "blue", "blue"]})
    >>> forest = MixedForest(10, bootstrap=False, random_state=0).fit(X, y)
    >>> forest.predict([[0.5], [2.5]]).to_dict("list")
    {'price': [1.5, 9.0], 'colour': ['red', 'blue']}
    >>> forest.predict_proba([[2.5]])["colour"].tolist()
    [[1.0, 0.0]]
    """

    fitted_state: ClassVar[State] = {
        **BaseForest.fitted_state,
        "target_kind_": one_of("mixed"),
        "target_names_": texts("n_targets"),
        "target_kinds_": text_values(),
        "columns_": text_values(),
        "y_columns_": texts(),
        "classes_": instance(dict),
        "scale_": numbers("n_labels"),
        "_offset": numbers("n_labels"),
        "_output_weights": numbers("n_labels", low=0),
        "_first_outputs": integers("n_targets", below="n_labels"),
        "oob_prediction_": perhaps(numbers("n_rows", "n_labels", nan=True)),
        "oob_scores_": perhaps(instance(dict)),
    }
    _of_all_trees: ClassVar[tuple[str, ...]] = (*BaseForest._of_all_trees, "oob_scores_")

    targets: Any = "from_dtype"
    target_weight: Any = None

    def encode_target(
        self, y: Any, *, sample_weight: np.ndarray | None = None, n_samples: int | None = None
    ) -> MixedTarget:
        """Several targets side by side.

        Parameters
        ----------
        y : frame, or array of objects, of shape (n_samples, n_columns)
            The targets; a missing cell is unknown.
        sample_weight : array of shape (n_samples,), optional
            Checked weights of the rows.
        n_samples : int, optional
            Number of rows that y must have.
        """
        return encode_mixed(
            y,
            targets=self.targets,
            target_weight=self.target_weight,
            sample_weight=sample_weight,
            n_samples=n_samples,
            partly_known=True,
        )

    def _keep(self, target: MixedTarget, weights: np.ndarray | None) -> None:
        self.target_names_ = target.names
        self.target_kinds_ = {name: part.kind for name, part in zip(target.names, target.parts, strict=True)}
        self.columns_ = dict(zip(target.names, target.columns, strict=True))
        self.y_columns_ = target.all_columns
        self.classes_ = {
            name: part.classes
            for name, part in zip(target.names, target.parts, strict=True)
            if isinstance(part, ClassTarget)
        }
        self._first_outputs = np.array([own.start for own in target.slices])
        self._output_weights = target.weights
        self.prior_, self.scale_, self._offset = target.units(weights)

    def _start(self) -> np.ndarray:
        return self._offset

    def output_weights(self) -> np.ndarray:
        """Weight of each output in the impurity."""
        check_is_fitted(self, "trees_")
        return self._output_weights

    def parts(self) -> tuple[MixedPart, ...]:
        """The targets, with their columns, outputs, classes and hierarchies."""
        check_is_fitted(self, "trees_")
        last = [*self._first_outputs[1:].tolist(), self.n_outputs_]
        said = self.targets if isinstance(self.targets, Mapping) else {}
        return tuple(
            MixedPart(
                name,
                self.target_kinds_[name],
                self.columns_[name],
                slice(first, last),
                self.classes_.get(name),
                said[name] if isinstance(said.get(name), Hierarchy) else None,
            )
            for name, first, last in zip(self.target_names_, self._first_outputs.tolist(), last, strict=True)
        )

    def predict_outputs(self, X: Any) -> np.ndarray:
        """Mean of the trees: probabilities of classes and labels, numbers in their units.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples, n_outputs)
            Columns follow `label_names_`.
        """
        return self._in_units(self._mean_of_trees(self.rows_of(X)))

    def predict(self, X: Any) -> pd.DataFrame:
        """The most probable classes, labels above one half and numbers.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        pandas.DataFrame
            With the columns of y.
        """
        import pandas as pd

        outputs = self.predict_outputs(X)
        columns: dict[str, np.ndarray] = {}
        for part in self.parts():
            columns |= part.decided(outputs[:, part.outputs])
        return pd.DataFrame(
            {name: columns[name] for name in self.y_columns_}, index=X.index if hasattr(X, "iloc") else None
        )

    def predict_proba(self, X: Any) -> dict[str, np.ndarray]:
        """Probabilities of classes and labels, by target; numbers have none.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        dict of str to array of shape (n_samples, n_classes) or (n_samples, n_labels)
            Columns follow `classes_`, the columns of a label set, or the names of its hierarchy.
        """
        outputs = self.predict_outputs(X)
        return {part.name: outputs[:, part.outputs] for part in self.parts() if target_type(part.kind).has_labels}

    def _predicted_outputs(self, X: Any) -> sparse.csr_array:
        outputs = self.predict_outputs(X)
        return sparse.csr_array(np.hstack([part.is_predicted(outputs[:, part.outputs]) for part in self.parts()]))

    def target_scores(self, X: Any, y: Any) -> dict[str, float]:
        """How good predictions are, by target: pooled AUPRC of classes and label sets, R2 of numbers.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.
        y : frame with the columns that `fit` was given
            The truth; missing cells are left out.
        """
        return self._scores(self.predict_outputs(X), y)

    def score(self, X: Any, y: Any) -> float:
        """The mean of `target_scores`, without targets on which they are not defined.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.
        y : frame with the columns that `fit` was given
            The truth; missing cells are left out.
        """
        return _mean(self.target_scores(X, y))

    def _scores(self, outputs: np.ndarray, y: Any) -> dict[str, float]:
        return {part.name: part_score(part, part.truth(y), outputs[:, part.outputs]) for part in self.parts()}

    def _in_units(self, means: np.ndarray) -> np.ndarray:
        outputs = means * self.scale_ + self._offset
        for part in self.parts():
            if part.has_shares:  # sums of shares round
                np.clip(outputs[:, part.outputs], 0.0, 1.0, out=outputs[:, part.outputs])
        return outputs

    def _set_out_of_bag(self, data: TrainingData) -> None:
        means, predicted = self._out_of_bag(data)
        prediction = self._in_units(means)
        self.oob_prediction_ = data.among_given(prediction)
        seen = np.flatnonzero(predicted)
        self.oob_scores_ = dict.fromkeys(self.target_names_, float("nan"))
        if seen.size:
            truth = self._in_units(data.target.cells())[seen]
            self.oob_scores_ = {
                part.name: part_score(part, truth[:, part.outputs], prediction[seen][:, part.outputs])
                for part in self.parts()
            }
        self.oob_score_ = _mean(self.oob_scores_)

    def label_scores(self, per_output: Any) -> tuple[Any, tuple[str, ...], Hierarchy | None]:
        """Scores of features x outputs as scores per target.

        Parameters
        ----------
        per_output : CSR array of shape (n_features, n_outputs)
            Scores of each feature for each output of the trees.
        """
        owner = np.repeat(np.arange(len(self.target_names_)), np.diff([*self._first_outputs, self.n_outputs_]))
        sums = sparse.csr_array((np.ones(len(owner)), owner, np.arange(len(owner) + 1)))
        return sparse.csr_array(per_output @ sums), self.target_names_, None

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted forest together."""
        yield from super().state_rules()
        names = set(self.target_names_)
        yield names == set(self.target_kinds_) == set(self.columns_), "every target must have a kind and columns"
        yield bool((np.diff([*self._first_outputs, self.n_outputs_]) > 0).all()), "every target must have outputs"
        parts = self.parts()
        yield sorted(sum((part.columns for part in parts), ())) == sorted(self.y_columns_), "y_columns_ must be theirs"
        for part in parts:
            kind = target_type(part.kind)
            of_classes = isinstance(part.classes, np.ndarray) and part.classes.ndim == 1
            yield (kind.has_one_label == of_classes), "there must be values of classes, and of classes only"
            yield not kind.has_one_label or len(part.columns) == 1, "classes have one column"
            n_outputs = part.outputs.stop - part.outputs.start
            yield len(part.labels) == n_outputs, "a target must have an output for each class, label or number"
            yield set(part.columns) <= {*part.labels, *part.columns[: kind.has_one_label]}, "labels must be columns"


def _mean(scores: dict[str, float]) -> float:
    defined = [score for score in scores.values() if not np.isnan(score)]
    return float(np.mean(defined)) if defined else float("nan")
