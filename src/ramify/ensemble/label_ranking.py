"""LabelRankingForest: tree ensembles that predict a ranking of the labels."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify.ensemble.base import BaseForest
from ramify.ensemble.explanation import Output
from ramify.ensemble.gains import as_csr
from ramify.ensemble.growing import feature_rows, feature_table
from ramify.ensemble.label_rankers import LabelRankerMixin, preference_matrix
from ramify.ensemble.label_ranking_aggregation import mallows_centre
from ramify.ensemble.training_data import TrainingData
from ramify.ensemble.tree_parameters import ForestParameters
from ramify.features import Features
from ramify.metrics.label_rankings import kendall_tau
from ramify.parameters import check_integer, check_option, check_real, worker_count
from ramify.state import State, numbers, one_of, perhaps, texts
from ramify.targets import RankingTarget, encode_rankings
from ramify.targets.rankings import average_ranking, label_pairs, mean_preferences, pair_names, rank_labels

__all__ = ["LabelRankingForest"]

CRITERIA = ("kendall", "spearman", "entropy", "mallows")


@dataclass(kw_only=True, eq=False, repr=False)
class LabelRankingForest(LabelRankerMixin, BaseForest, ForestParameters):
    """Ensemble of trees whose leaves hold rankings of the labels.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees. A single tree is ``LabelRankingForest(1, bootstrap=False, max_features=None)``.
    criterion : {"kendall", "spearman", "entropy", "mallows"}, default="kendall"
        What a split improves: the mean correlation of the rankings on each side (ranking trees), their entropy with the
        minimum-description-length stop (entropy ranking trees), or the spread of a Mallows model (label ranking trees).
    gamma : float, default=1.0
        For ``"kendall"`` and ``"spearman"``: a split must pass ``1 + S_parent < gamma (1 + S_split)`` for the mean
        correlation S. 1 allows every gain, smaller values stop earlier; 0.98 in [1]_.
    aggregate : {"borda", "mallows"}, default="borda"
        How the trees' rankings become one: ranked by their sum, or the centre of a Mallows model.
    splitter : {"best", "random"}, default="best"
        The best cut of each sampled feature, or one random cut of each (extra-trees).
    oblique : int, default=0
        Look also at splits by sums of so many numeric features (2 or 3, fewer where a node draws fewer): as many sums
        as numeric features are drawn, of these, standardised in the node, with random weights; a missing value counts
        as the mean there. Helps extra trees without bootstrap where features act together. 0: splits test one feature.
    bootstrap : bool, default=True
        Draw rows with replacement for each tree.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Features looked at in each node, constant ones not counted. At the root the others are tried, too, if the
        sampled ones give no split.
    max_depth : int or None, default=None
        Largest number of splits from the root to a leaf.
    min_samples_split : int or float, default=2
        Rows a node needs to be split; a float is a share of the rows.
    min_samples_leaf : int, float or None, default=None
        Rows each side of a split needs; a float is a share of the rows. None: 2 for ``"mallows"``, else 1. [1]_ does
        not name it; its printed depths come out with 1 for ``"entropy"``, else 2.
    min_weight_fraction_leaf : float, default=0.0
        Share of the whole weight that each side of a split needs.
    min_impurity_decrease : float, default=0.0
        Gain in the criterion that a split needs, as a share of the whole weight.
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
        Threads; the result is the same for any number.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : int, default=0
        Show a progress bar if positive.

    Attributes
    ----------
    trees_ : ramify._core.Forest
        The trees; their leaves hold the mean sign of each label pair (1: always preferred, -1: never).
    label_names_ : tuple of str
        Names of the labels.
    pair_names_ : tuple of str
        ``"a>b"`` for each pair of labels.
    n_outputs_ : int
        Number of labels.
    target_kind_ : "rankings"
        What y was.
    prior_ : ndarray of shape (n_labels,)
        The average ranking of the training data.
    feature_importances_ : ndarray of shape (n_features,)
        Gains on out-of-bag rows (those below 0 as 0), without such rows Genie3, divided by their sum.
    pair_importances_ : ndarray of shape (n_features, n_pairs)
        Genie3 scores per label pair: which features decide whether a is preferred to b.
    label_importances_ : ndarray of shape (n_features, n_labels)
        Half of the pairs' scores, summed over the pairs of each label.
    oob_prediction_ : ndarray of shape (n_samples, n_labels)
        Out-of-bag rankings, NaN for rows that every tree saw. With ``oob_score=True``.
    oob_score_ : float
        Mean tau-b of the out-of-bag rankings. With ``oob_score=True``.
    n_features_in_, feature_names_in_, categories_
        Number, names and nominal values of the features.

    Notes
    -----
    The similarity of a node pairs each ranking also with itself, so that it is one minus a variance. Rankings with ties
    are vectors of unit length (tau-b). An unranked label takes no part in its row's vector, a leaf averages each label
    pair over the rows that compare it, and the Mallows distance is taken as a share of the ordered pairs. Importance
    is, for every criterion, the decrease of the variance of the pairs' signs, so that it adds up over pairs and labels.
    The minimum-description-length stop has the form of the R program of [1]_, which prints no formula.

    References
    ----------
    .. [1] C. R. de Sa, C. Soares, A. Knobbe, P. Cortez, "Label Ranking Forests", Expert Systems, 2016.
    .. [2] W. Cheng, J. Huhn, E. Hullermeier, "Decision Tree and Instance-Based Learning for Label Ranking", ICML, 2009.

    Examples
    --------
    >>> from ramify import LabelRankingForest
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> y = [[1, 2, 3], [1, 2, 3], [3, 1, 2], [3, 1, 2]]
    >>> forest = LabelRankingForest(10, bootstrap=False, random_state=0).fit(X, y)
    >>> forest.predict([[0.5], [2.5]]).tolist()
    [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]
    """

    fitted_state: ClassVar[State] = {
        **BaseForest.fitted_state,
        "target_kind_": one_of("rankings"),
        "pair_names_": texts("n_pairs"),
        "oob_prediction_": perhaps(numbers("n_rows", "n_labels", nan=True)),
    }
    criterion: Literal["kendall", "spearman", "entropy", "mallows"] = "kendall"
    gamma: float = 1.0
    aggregate: Literal["borda", "mallows"] = "borda"
    min_samples_leaf: float | None = None

    def encode_target(
        self,
        y: Any,
        *,
        sample_weight: np.ndarray | None = None,  # noqa: ARG002
        n_samples: int | None = None,
    ) -> RankingTarget:
        """Rankings of the labels.

        Parameters
        ----------
        y : array-like of shape (n_samples, n_labels)
            Ranks: 1 is best, equal is a tie, NaN is unranked.
        sample_weight : array of shape (n_samples,), optional
            Does not matter here.
        n_samples : int, optional
            Number of rows that y must have.
        """
        return encode_rankings(y, criterion=self.criterion, gamma=float(self.gamma), n_samples=n_samples)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option(self, "criterion", self.criterion, CRITERIA)
        check_option(self, "aggregate", self.aggregate, ("borda", "mallows"))
        check_real(self, "gamma", self.gamma, low=0, high=1, open_low=True)

    def _keep(self, target: RankingTarget, weights: NDArray[np.float64] | None) -> None:
        self.prior_ = rank_labels(average_ranking(mean_preferences(target.ranks, weights), self.n_outputs_))
        self.pair_names_ = tuple(pair_names(self.label_names_))

    def output_weights(self) -> NDArray[np.float64]:
        """Weight of each label pair in the importances."""
        weights = super().output_weights()
        return weights / len(weights)

    def predict_preferences(self, X: Any) -> NDArray[np.float64]:
        """Return the probability that label a is preferred to label b.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels, n_labels)
            The share of training examples in the leaves that prefer a (row) to b (column), averaged over the trees; a
            tie counts one half, and so does the diagonal.
        """
        return preference_matrix(self._mean_of_trees(self.rows_of(X)), self.n_outputs_)

    @property
    def pair_importances_(self) -> NDArray[np.float64]:
        """Genie3 scores per label pair, of shape (n_features, n_pairs)."""
        check_is_fitted(self, "trees_")
        gains = _core.genie3(self.trees_, output_weights=self.output_weights(), n_threads=worker_count(self.n_jobs))
        return as_csr(gains, self.trees_).toarray()

    @property
    def label_importances_(self) -> NDArray[np.float64]:
        """Genie3 scores per label, of shape (n_features, n_labels); they sum to the scores over all pairs."""
        return label_scores(self.pair_importances_, self.n_outputs_)

    def permutation_importances(
        self, X: Any, y: Any, sample_weight: Any = None, *, row_groups: Any = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Random Forest scores: how much worse out-of-bag rankings become when a feature is permuted.

        Parameters
        ----------
        X, y, sample_weight, row_groups
            What the forest was fitted on.

        Returns
        -------
        scores : ndarray of shape (n_features,)
            Mean over trees of ``(err permuted - err) / err`` with ``err = 1 - tau-b``; a tree without error adds 0.
        pair_scores : ndarray of shape (n_features, n_pairs)
            Mean over trees of the increase of the Brier score of each label pair.
        """
        check_is_fitted(self, "trees_")
        if not self.bootstrap:
            raise ValueError(
                "Permutation importances need out-of-bag rows, and bootstrap=False leaves none. "
                "Fit with bootstrap=True, or use pair_importances_."
            )
        data = self.training_data(X, y, sample_weight, row_groups, reset=False)
        return _core.permutation(
            self.trees_,
            feature_table(data.features, n_jobs=self.n_jobs),
            data.target.kernel_rows(),
            **data.bagging,
            n_threads=worker_count(self.n_jobs),
            progress=None,
        )

    def contributions(self, X: Any, label: Any = 0) -> tuple[np.ndarray, float]:
        """What each feature on the path added to a preference, and the value that all predictions start from.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.
        label : str or int, default=0
            Name in `pair_names_` such as ``"a>b"``, the same pair the other way round, or a position in `pair_names_`.

        Returns
        -------
        contributions : array of shape (n_samples, n_features)
            Each row sums, together with `base`, to the probability that a is preferred to b.
        base : float
            The mean probability in the roots.
        """
        check_is_fitted(self, "trees_")
        pairs = copy.copy(self)
        pairs.label_names_ = self.pair_names_
        pair, direction = self._pair(label)
        signs, base = BaseForest.contributions(pairs, X, pair)
        return direction * signs / 2, float((1 + direction * base) / 2)

    def _output(self, label: Any) -> Output:
        pair, direction = self._pair(label)
        if not isinstance(pair, str):
            pair = self.pair_names_[
                check_integer(type(self).__name__, "label", pair, low=0, high=len(self.pair_names_) - 1)
            ]
        name = label if isinstance(label, str) else pair
        return Output(self.pair_names_.index(pair), name, direction / 2, 0.5)

    def _pair(self, label: Any) -> tuple[Any, int]:
        """The pair in `pair_names_` that a name means, and -1 if it names the pair the other way round."""
        names = self.pair_names_
        if not isinstance(label, str) or label in names:
            return label, 1
        turned = dict(zip((f"{b}>{a}" for a, b in combinations(self.label_names_, 2)), names, strict=True))
        if label not in turned:
            raise ValueError(
                f"There is no pair {label!r}; pair_names_ lists the {len(names)} pairs of labels, "
                f"from {names[0]!r} to {names[-1]!r}."
            )
        return turned[label], -1

    def leaf_rankings(self, index: int = 0) -> NDArray[np.float64]:
        """Return the ranking that each leaf of tree `index` predicts, of shape (n_leaves, n_labels)."""
        check_is_fitted(self, "trees_")
        return _core.leaf_rankings(self.trees_, tree=index, n_labels=self.n_outputs_)

    def _predict_rankings(self, X: Any) -> NDArray[np.float64]:
        rows = self.rows_of(X)
        return self._consensus(*self._tree_rankings(rows))

    def _tree_rankings(
        self, rows: Any, *, out_of_bag: TrainingData | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Sum over the trees of the leaf rankings (Borda) or of their signs (Mallows), and the number of trees."""
        bagging = {"sample_weight": None, "row_groups": None} if out_of_bag is None else out_of_bag.bagging
        return _core.sum_rankings(
            self.trees_,
            rows,
            n_labels=self.n_outputs_,
            as_signs=self.aggregate == "mallows",
            out_of_bag=out_of_bag is not None,
            **bagging,
            n_threads=worker_count(self.n_jobs),
        )

    def _consensus(self, sums: NDArray[np.float64], n_trees: NDArray[np.int64]) -> NDArray[np.float64]:
        means = sums / np.maximum(n_trees, 1)[:, None]
        if self.aggregate == "mallows":
            return mallows_centre(means, self.n_outputs_)
        return rank_labels(means)

    def _set_out_of_bag(self, data: TrainingData) -> None:
        sums, n_trees = self._tree_rankings(feature_rows(data.features), out_of_bag=data)
        seen = n_trees > 0
        prediction = np.where(seen[:, None], self._consensus(sums, n_trees), np.nan)
        right = kendall_tau(data.target.ranks[seen], prediction[seen]) if seen.any() else float("nan")
        self.oob_prediction_, self.oob_score_ = data.among_given(prediction), float(right)

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted forest together."""
        yield from super().state_rules()
        yield self.pair_names_ == tuple(pair_names(self.label_names_)), "pair_names_ must name the pairs of the labels"

    def _growth(self, features: Features | _core.FeatureTable) -> _core.Growth:
        if self.min_samples_leaf is not None:
            return super()._growth(features)
        resolved = copy.copy(self)
        resolved.min_samples_leaf = 2 if self.criterion == "mallows" else 1
        return BaseForest._growth(resolved, features)


def label_scores(pair_scores: NDArray[np.float64], n_labels: int) -> NDArray[np.float64]:
    """Return scores per label from scores per pair: each pair gives half to either of its labels."""
    first, second = label_pairs(n_labels)
    scores = np.zeros((len(pair_scores), n_labels))
    for pair, (a, b) in enumerate(zip(first, second, strict=True)):
        scores[:, a] += pair_scores[:, pair] / 2
        scores[:, b] += pair_scores[:, pair] / 2
    return scores
