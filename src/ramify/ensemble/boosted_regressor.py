"""BoostedRegressor: boosted trees for one or several numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ramify.ensemble.boosting import BaseBoosted
from ramify.ensemble.for_numbers import ForNumbers
from ramify.ensemble.tree_parameters import BoostedParameters
from ramify.state import State


@dataclass(kw_only=True, eq=False, repr=False)
class BoostedRegressor(ForNumbers, BaseBoosted, BoostedParameters):
    """Boosted trees for one or several numbers, one tree per round for all targets.

    Targets are standardised, so that each counts the same unless `target_weight` says otherwise.

    Parameters
    ----------
    n_estimators : int, default=300
        Largest number of rounds, one tree each.
    target_weight : array-like of shape (n_targets,) or None, default=None
        Weights of the standardised targets in the search for splits and in the loss to stop by.
    learning_rate : float, default=0.05
        Share of each step that is taken.
    sketch : int, default=10
        Random projections of the gradients that a tree is grown on; with as many as there are targets, or more, the
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
        Penalty: what is added to the weight of a leaf.
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
        The trees; their leaves hold steps of the standardised targets.
    base_ : ndarray of shape (n_targets,)
        Standardised prediction before the first round: zeros.
    n_rounds_ : int
        Rounds kept: those with the smallest loss on the rows held back.
    history_ : ndarray
        Mean of half the squared standardised error of the rows held back, before the first and after each round that
        was done; empty without early stopping.
    gains_ : CSR array of shape (n_features, n_targets)
        Gain of the loss by the splits on each feature, per target, summed over the rounds.
    label_names_ : tuple of str
        Names of the targets.
    n_outputs_ : int
        Number of targets.
    target_kind_ : "numbers"
        What y was.
    prior_, scale_ : ndarray of shape (n_targets,)
        Mean and standard deviation of each target in training.
    feature_importances_ : ndarray of shape (n_features,)
        Gains weighted over the targets, divided by their sum.
    n_features_in_, feature_names_in_, categories_
        Number, names and nominal values of the features.

    Notes
    -----
    As `BoostedClassifier`, with the squared error.

    References
    ----------
    Friedman, J. (2001). Greedy function approximation: a gradient boosting machine. Annals of Statistics 29.
    Iosipoi, L. and Vakhrushev, A. (2022). SketchBoost: fast gradient boosted decision tree for multioutput problems.
    NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.ensemble import BoostedRegressor
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> y = np.column_stack([X[:, 0] > 50, X[:, 0] > 20]) * 1.0
    >>> model = BoostedRegressor(early_stopping=None, random_state=0).fit(X, y)
    >>> (model.predict([[10.0], [90.0]]) > 0.5).tolist()
    [[False, False], [True, True]]
    """

    fitted_state: ClassVar[State] = {**BaseBoosted.fitted_state, **ForNumbers.fitted_state}

    target_weight: Any = None

    def predict(self, X: Any) -> np.ndarray:
        """The mean of training and the steps of all trees.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
            One-dimensional if y was at fit.
        """
        return self._in_units(self._scores(X))
