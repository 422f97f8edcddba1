"""BoostedRegressor: boosted trees for one or several numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from ramify.ensemble.boosting import BaseBoosted
from ramify.ensemble.explanation import Output
from ramify.state import State, flag, numbers, one_of
from ramify.targets import NumberTarget, encode_numbers


class BoostedRegressor(RegressorMixin, BaseBoosted):
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
        Share of the rows that a tree is grown on.
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

    fitted_state: ClassVar[State] = {
        **BaseBoosted.fitted_state,
        "target_kind_": one_of("numbers"),
        "scale_": numbers("n_labels"),
        "_single": flag(),
    }

    def __init__(
        self,
        n_estimators: int = 300,
        *,
        target_weight: Any = None,
        learning_rate: float = 0.05,
        sketch: int = 10,
        max_depth: int | None = 6,
        max_samples: float = 0.7,
        max_features: Any = 0.3,
        min_samples_leaf: int = 5,
        l2: float = 1.0,
        early_stopping: float | None = 0.1,
        patience: int = 30,
        max_bins: int | None = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.target_weight = target_weight
        self.learning_rate = learning_rate
        self.sketch = sketch
        self.max_depth = max_depth
        self.max_samples = max_samples
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.l2 = l2
        self.early_stopping = early_stopping
        self.patience = patience
        self.max_bins = max_bins
        self.categorical_features = categorical_features
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
        numbers = self._scores(X) * self.scale_ + self.prior_
        return numbers[:, 0] if self._single else numbers

    def contributions(self, X: Any, label: Any = 0) -> tuple[np.ndarray, float]:
        """What each feature on the paths added to a prediction, and the value that all predictions start from.

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
            The mean of training and the expected steps of the trees.
        """
        values, base = super().contributions(X, label)
        output = self._label_index(label)
        return values * self.scale_[output], float(base * self.scale_[output] + self.prior_[output])

    def _output(self, label: Any) -> Output:
        index = self._label_index(label)
        return Output(index, self.label_names_[index], float(self.scale_[index]), float(self.prior_[index]))

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted forest together."""
        yield from super().state_rules()
        yield not self._single or self.n_outputs_ == 1, "several targets cannot be one-dimensional"
