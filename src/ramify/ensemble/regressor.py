"""ForestRegressor: tree ensembles for one or several numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import RegressorMixin

from ramify.ensemble.base import BaseForest
from ramify.ensemble.explanation import Output
from ramify.features import Features
from ramify.metrics import r2
from ramify.state import State, flag, numbers, one_of
from ramify.targets import NumberTarget, encode_numbers


class ForestRegressor(RegressorMixin, BaseForest):
    """Ensemble of predictive clustering trees for one or several numbers.

    Targets are standardised, so that each counts the same unless `target_weight` says otherwise.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    target_weight : array-like of shape (n_targets,) or None, default=None
        Weights of the standardised targets in the impurity.
    splitter : {"best", "random"}, default="best"
        The best cut of each sampled feature, or one random cut of each (extra-trees).
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
        The trees; their leaves hold means of the standardised targets.
    label_names_ : tuple of str
        Names of the targets.
    n_outputs_ : int
        Number of targets.
    target_kind_ : "numbers"
        What y was.
    prior_, scale_ : ndarray of shape (n_targets,)
        Mean and standard deviation of each target in training.
    feature_importances_ : ndarray of shape (n_features,)
        Genie3 scores divided by their sum.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Out-of-bag predictions, NaN for rows that every tree saw. With `oob_score=True`.
    oob_score_ : float
        Mean R2 of the out-of-bag predictions, NaN where there is none. With `oob_score=True`.
    n_features_in_, feature_names_in_, categories_
        Number, names and nominal values of the features.

    References
    ----------
    Kocev, D., Vens, C., Struyf, J. and Dzeroski, S. (2013). Tree ensembles for predicting structured outputs. Pattern
    Recognition 46.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify import ForestRegressor
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> y = np.array([[0.0, 5.0], [0.0, 5.0], [1.0, 9.0], [1.0, 9.0]])
    >>> forest = ForestRegressor(10, bootstrap=False, random_state=0).fit(X, y)
    >>> forest.predict([[0.5], [2.5]]).tolist()
    [[0.0, 5.0], [1.0, 9.0]]
    """

    fitted_state: ClassVar[State] = {
        **BaseForest.fitted_state,
        "target_kind_": one_of("numbers"),
        "scale_": numbers("n_labels"),
        "_single": flag(),
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        target_weight: Any = None,
        splitter: Literal["best", "random"] = "best",
        bootstrap: bool = True,
        max_features: Any = "sqrt",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_bins: int | None = None,
        categorical_features: Any = "from_dtype",
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.target_weight = target_weight
        self.splitter = splitter
        self.bootstrap = bootstrap
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
        weight = self.target_weight
        return encode_numbers(y, target_weight=weight, sample_weight=sample_weight, n_samples=n_samples)

    def _keep(self, target: NumberTarget, weights: np.ndarray | None) -> None:  # noqa: ARG002
        self._single = target.is_single
        self.prior_, self.scale_ = target.mean, target.scale

    def output_weights(self) -> np.ndarray:
        """Weight of each target in the impurity."""
        return super().output_weights() if self.target_weight is None else np.array(self.target_weight, dtype=float)

    def _set_out_of_bag(self, features: Features, target: NumberTarget, weights: np.ndarray | None) -> None:
        standardised, predicted = self._out_of_bag(features, weights)
        self.oob_prediction_ = self._in_units(standardised)
        truth = self._in_units(target.Y)
        seen = truth[predicted], self.oob_prediction_[predicted]
        self.oob_score_ = float(r2(*seen)) if predicted.any() else float("nan")

    def predict(self, X: Any) -> np.ndarray:
        """Mean of the trees.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
            One-dimensional if y was at fit.
        """
        return self._in_units(self._mean_of_trees(self.rows_of(X)))

    def contributions(self, X: Any, label: Any = 0) -> tuple[np.ndarray, float]:
        """What each feature on the path added to a prediction, and the value that all predictions start from.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.
        label : str or int, default=0
            Name of the target in `label_names_`, or its position.

        Returns
        -------
        contributions : array of shape (n_samples, n_features)
            In units of the target; each row sums, together with `base`, to the prediction.
        base : float
            The mean prediction of the roots.
        """
        values, base = super().contributions(X, label)
        output = self._label_index(label)
        return values * self.scale_[output], float(base * self.scale_[output] + self.prior_[output])

    def _output(self, label: Any) -> Output:
        index = self._label_index(label)
        return Output(index, self.label_names_[index], float(self.scale_[index]), float(self.prior_[index]))

    def _in_units(self, standardised: np.ndarray) -> np.ndarray:
        numbers = standardised * self.scale_ + self.prior_
        return numbers[:, 0] if self._single else numbers

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted forest together."""
        yield from super().state_rules()
        yield self.trees_.outcome == "numbers", "the trees must be for numbers"
        yield not self._single or self.n_outputs_ == 1, "several targets cannot be one-dimensional"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.multi_output = True
        return tags
