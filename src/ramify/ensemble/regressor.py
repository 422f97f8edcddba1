"""ForestRegressor: tree ensembles for one or several numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ramify.ensemble.for_numbers import ForNumbers
from ramify.ensemble.training_data import TrainingData
from ramify.ensemble.tree_parameters import ForestParameters
from ramify.metrics import r2_score


@dataclass(kw_only=True, eq=False, repr=False)
class ForestRegressor(ForNumbers, ForestParameters):
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
        Gains on out-of-bag rows (those below 0 as 0), without such rows Genie3, divided by their sum.
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

    target_weight: Any = None

    def _set_out_of_bag(self, data: TrainingData) -> None:
        standardised, predicted = self._out_of_bag(data)
        prediction, truth = self._in_units(standardised), self._in_units(data.target.Y)
        self.oob_prediction_ = data.among_given(prediction)
        seen = truth[predicted], prediction[predicted]
        self.oob_score_ = float(r2_score(*seen)) if predicted.any() else float("nan")

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
