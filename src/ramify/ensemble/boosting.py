"""What boosted trees share: parameters, rounds, the first of them and contributions of features."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify.ensemble.base import BaseForest, feature_count
from ramify.ensemble.boosting_parts import boost_parts
from ramify.ensemble.explanation import Output
from ramify.ensemble.growing import feature_table
from ramify.features import Features
from ramify.features.parted_table import PartedTable
from ramify.parameters import check_integer, check_jobs, check_real, worker_count
from ramify.progress import progress_bar
from ramify.state import State, matrix, numbers, perhaps
from ramify.targets import Target


class BaseBoosted(BaseForest):
    """Parameters and methods of boosted trees; use a class derived from it."""

    base_: np.ndarray
    history_: np.ndarray
    gains_: sparse.csr_array
    _held_back: np.ndarray

    fitted_state: ClassVar[State] = {
        **BaseForest.fitted_state,
        "base_": numbers("n_labels"),
        "history_": numbers("n_measured"),
        "gains_": perhaps(matrix("n_features", "n_labels")),
    }
    _outcome: ClassVar[str] = "steps"
    _of_all_trees: ClassVar[tuple[str, ...]] = ()
    takes_parts: ClassVar[bool] = True
    bootstrap: ClassVar[bool] = False
    """Rows are drawn without repeats, and no tree stands alone: there are no out-of-bag rows."""

    @property
    def n_rounds_(self) -> int:
        """Number of rounds kept, one tree each."""
        check_is_fitted(self, "trees_")
        return self.trees_.n_trees

    @property
    def feature_importances_(self) -> np.ndarray:
        """Gain of each feature, weighted over the labels, divided by the sum over features."""
        check_is_fitted(self, "trees_")
        scores = np.maximum(_core.genie3(self.trees_), 0.0)
        total = scores.sum()
        return scores / total if total > 0 else scores

    def first(self, k: int) -> Self:
        """The first `k` rounds as a fitted model of its own.

        Trees are shared, not copied. The gains per label belong to all rounds and are not carried over.

        Parameters
        ----------
        k : int
            Number of rounds, from 1 to `n_rounds_`.
        """
        part = super().first(k)
        if k < self.n_rounds_:
            part.__dict__.pop("gains_", None)
        return part

    def gains_of(self, trees: _core.Forest) -> sparse.csr_array | None:
        """Mean gain of features x labels over the rounds; None for a part of them, of which it is not known."""
        gains = getattr(self, "gains_", None)
        return None if gains is None or trees.n_trees < self.n_rounds_ else gains / self.n_rounds_

    def _check_parameters(self) -> None:
        """All others are checked where the rounds begin."""
        check_jobs(self, self.n_jobs)

    def _grow_trees(
        self, features: Features, target: Target, weights: np.ndarray | None, row_groups: np.ndarray | None
    ) -> None:
        """Check the parameters, draw the seed and do the rounds."""
        if row_groups is not None and self.early_stopping is not None:
            raise ValueError(
                f"{type(self).__name__} holds single rows back for early stopping, not groups of rows. Take a "
                "forest (random-forest), set early_stopping=None (fit --set early_stopping=None), or leave out "
                "row_groups (--groups)."
            )
        n_features = features.values.shape[1]
        check_integer(self, "verbose", self.verbose, low=0)
        if self.max_bins is not None:
            check_integer(self, "max_bins", self.max_bins, low=2, high=65535)
        stopping = self.early_stopping
        growth = _core.Growth(
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            first_tree=0,
            n_trees=check_integer(self, "n_estimators", self.n_estimators, low=1),
            max_features=feature_count(self, n_features),
            bootstrap=False,
            random_splits=False,
            max_depth=-1 if self.max_depth is None else check_integer(self, "max_depth", self.max_depth, low=1),
            min_samples_split=2,
            min_samples_leaf=check_integer(self, "min_samples_leaf", self.min_samples_leaf, low=1),
            min_impurity_decrease=0.0,
            min_weight_fraction_leaf=0.0,
            min_category_rows=check_integer(self, "min_category_rows", self.min_category_rows, low=1),
            oblique=0,
            backing=0,
        )
        boosting = _core.Boosting(
            learning_rate=check_real(self, "learning_rate", self.learning_rate, low=0, high=1, open_low=True),
            n_projections=check_integer(self, "sketch", self.sketch, low=1),
            max_samples=check_real(self, "max_samples", self.max_samples, low=0, high=1, open_low=True),
            l2=check_real(self, "l2", self.l2, low=0, high=1e100, open_low=True),
            tolerance=check_real(self, "tolerance", getattr(self, "tolerance", 0.0), low=0),
            held_back=0.0
            if stopping is None
            else check_real(self, "early_stopping", stopping, low=0, high=1, open_low=True, open_high=True),
            patience=check_integer(self, "patience", self.patience, low=1),
        )
        rows, weights = target.gain_rows(), _of_mean_one(weights)
        with progress_bar(growth.n_trees, self.verbose, "Boosting") as progress:
            if isinstance(features.values, PartedTable):
                if stopping is not None:
                    raise ValueError(
                        f"{type(self).__name__} holds rows back for early stopping, but of rows on a Dask cluster all "
                        "are learnt from. Set early_stopping=None."
                    )
                grown = boost_parts(features.values, rows, growth, boosting, weights, progress)
            else:
                table = feature_table(features, max_bins=self.max_bins, n_jobs=self.n_jobs)
                grown = _core.boost(
                    table,
                    rows,
                    growth,
                    boosting,
                    sample_weight=weights,
                    first_row=0,
                    together=None,
                    n_threads=worker_count(self.n_jobs),
                    progress=progress,
                )
        self.trees_, self.base_, self.history_, gains, self._held_back = grown
        self.gains_ = sparse.csr_array(gains, shape=(n_features, self.trees_.n_outputs))

    def grow(
        self,
        features: Features | _core.FeatureTable,
        target: Target,
        weights: np.ndarray | None,
        row_groups: np.ndarray | None = None,
    ) -> Self:
        """Do the rounds on checked features, and learn what else the rows held back can tell.

        Parameters
        ----------
        features : Features
            What to split on.
        target : Target
            What `encode_target` returns.
        weights : array of shape (n_samples,) or None
            What `row_weights` returns.
        row_groups : array of shape (n_samples,) or None
            Numbers of groups of rows; for rounds without early stopping, to which they do not matter.
        """
        super().grow(features, target, weights, row_groups)
        held_back = self.__dict__.pop("_held_back")
        if len(held_back):
            self._use_held_back(features, target, weights, held_back)
        return self

    def _use_held_back(self, features: Any, target: Any, weights: np.ndarray | None, rows: np.ndarray) -> None:
        """Set what is learnt from rows that no tree has seen."""

    def _scores(self, X: Any) -> np.ndarray:
        """Sum of the steps and what they are added to: (n_samples, n_labels)."""
        return self._mean_of_trees(self.rows_of(X)) + self.base_

    def contributions(self, X: Any, label: Any = 0) -> tuple[np.ndarray, float]:
        """What each feature on the paths added to a score, and the value that all scores start from.

        On the way from the root to a leaf, each step changes the expected score; the change is credited to the feature
        that the node tests, and summed over the trees.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.
        label : str or int, default=0
            Name in `label_names_`, or its position.

        Returns
        -------
        contributions : array of shape (n_samples, n_features)
            Each row sums, together with `base`, to the score of `label`: for labels its log-odds, before a hierarchy's
            maximum.
        base : float
            The score before the first round and the expected steps of the trees.

        References
        ----------
        Saabas, A. (2014). Interpreting random forests.
        """
        values, roots = super().contributions(X, label)
        return values, float(roots + self.base_[self._label_index(label)])

    def _output(self, label: Any) -> Output:
        index = self._label_index(label)
        return Output(index, self.label_names_[index], offset=float(self.base_[index]))


def _of_mean_one(weights: np.ndarray | None) -> np.ndarray | None:
    """Weights scaled so that only their ratios matter beside the penalty `l2`; zeros count for nothing."""
    if weights is None:
        return None
    taking_part = weights > 0
    return np.asarray(weights / weights[taking_part].mean())
