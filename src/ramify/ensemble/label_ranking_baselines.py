"""Label rankers to measure a forest against: neighbours, pairwise comparison and the constant average ranking."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ramify.ensemble.label_ranking_aggregation import consensus
from ramify.ensemble.named_targets import matched_columns
from ramify.ensemble.row_weights import checked_sample_weight, refuse_without_weights
from ramify.features import (
    apply_features,
    distance_columns,
    finite_features,
    learn_features,
    refuse_extremes,
    refuse_missing,
    stored_like,
)
from ramify.features.frames import weighing_data
from ramify.metrics.label_rankings import kendall_tau
from ramify.parameters import check_integer, check_jobs, check_option, worker_count
from ramify.state import ENCODED_FEATURES, State, count, fitting, flags, integers, matrix, numbers, perhaps, texts
from ramify.targets.rankings import (
    break_ties,
    check_rankings,
    label_pairs,
    mean_preferences,
    pair_signs,
    ranking_names,
)

__all__ = ["AverageLabelRanker", "LabelRankerMixin", "NeighborsLabelRanker", "PairwiseLabelRanker", "preference_matrix"]

AGGREGATES = ("borda", "mallows")


class LabelRankerMixin:
    """What all label rankers share: checked rankings, ``predict`` with or without ties and ``score`` by tau-b."""

    label_names_: tuple[str, ...]
    n_outputs_: int

    fitted_state: ClassVar[State] = {
        **ENCODED_FEATURES,
        "n_outputs_": count("n_labels", low=2),
        "label_names_": texts("n_labels"),
    }

    def predict(self, X: Any, *, ties: Literal["keep", "break"] = "keep") -> NDArray[np.float64]:
        """Return the predicted ranking of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to rank labels for.
        ties : {"keep", "break"}
            Tied labels share their mean rank, or are put in label order.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Ranks, 1 is best.
        """
        check_option(self, "ties", ties, ("keep", "break"))
        rankings = self._predict_rankings(X)
        return break_ties(rankings) if ties == "break" else rankings

    def score(self, X: Any, y: Any) -> float:
        """Return the mean Kendall tau-b between the rankings ``y``, matched by name, and the predicted ones."""
        return float(kendall_tau(matched_columns(self, y), self.predict(X)))

    @abstractmethod
    def _predict_rankings(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted rankings, ties kept."""

    def _check_rankings(self, X: Any, y: Any) -> NDArray[np.float64]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: pass a matrix of ranks."
            )
        ranks = check_rankings(y)
        check_consistent_length(X, ranks)
        self.n_outputs_ = ranks.shape[1]
        self.label_names_ = tuple(ranking_names(y, self.n_outputs_))
        return ranks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


class AverageLabelRanker(LabelRankerMixin, BaseEstimator):
    """Predicts the average ranking of the training data for every row.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_labels,)
        The average ranking.
    preferences_ : ndarray of shape (n_pairs,)
        Mean sign of each label pair.
    label_names_ : tuple of str
        Names of the labels.

    References
    ----------
    .. [1] P. B. Brazdil, C. Soares, J. P. da Costa, "Ranking learning algorithms", Machine Learning 50, 2003.

    Examples
    --------
    >>> from ramify.ensemble import AverageLabelRanker
    >>> AverageLabelRanker().fit([[0], [1]], [[1, 3, 2, 4], [2, 1, 4, 3]]).predict([[5]])
    array([[1., 2., 3., 4.]])
    """

    fitted_state: ClassVar[State] = {
        **LabelRankerMixin.fitted_state,
        "preferences_": numbers("n_pairs", low=-1, high=1),
        "ranking_": numbers("n_labels", low=1),
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Average the rankings ``y``; the features only give the number of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_labels)
            Ranks.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; a row of weight zero takes no part.
        """
        X, y, sample_weight = weighing_data(X, y, sample_weight)
        ranks = self._check_rankings(learn_features(self, X).values, y)
        self.preferences_ = mean_preferences(ranks, checked_sample_weight(self, sample_weight, len(ranks)))
        self.ranking_ = consensus(self.preferences_[None], self.n_outputs_, aggregate="borda")[0]
        return self

    def predict_preferences(self, X: Any) -> NDArray[np.float64]:
        """Return the probability that label a is preferred to label b, of shape (n_samples, n_labels, n_labels)."""
        n_rows = self._n_rows(X)
        return preference_matrix(np.tile(self.preferences_, (n_rows, 1)), self.n_outputs_)

    def _predict_rankings(self, X: Any) -> NDArray[np.float64]:
        n_rows = self._n_rows(X)
        return np.tile(self.ranking_, (n_rows, 1))

    def _n_rows(self, X: Any) -> int:
        check_is_fitted(self)
        return int(apply_features(self, X).values.shape[0])


class NeighborsLabelRanker(LabelRankerMixin, BaseEstimator):
    """Ranks labels by the consensus of the nearest training rankings.

    Parameters
    ----------
    n_neighbors : int
        How many neighbours (Euclidean distance) are asked; all training rows if there are fewer.
    aggregate : {"borda", "mallows"}
        Average ranking, or the centre of a Mallows model fitted to the neighbours.
    categorical_features : "from_dtype", mask, indices, names or None, default="from_dtype"
        Which features are nominal: two values of one are equal or lie 1 apart. By default the columns of a frame with a
        category or string dtype.
    n_jobs : int, optional
        Threads of the neighbour search.

    Attributes
    ----------
    label_names_ : tuple of str
        Names of the labels.

    Notes
    -----
    Incomplete rankings are compared pair by pair: each label pair is averaged over the neighbours that compare it,
    instead of the expectation-maximisation steps of [1]_. Numbers are compared as they come: scale them first.

    References
    ----------
    .. [1] W. Cheng, J. Huhn, E. Hullermeier, "Decision Tree and Instance-Based Learning for Label Ranking", ICML, 2009.

    Examples
    --------
    >>> from ramify.ensemble import NeighborsLabelRanker
    >>> model = NeighborsLabelRanker(n_neighbors=1).fit([[0.0], [1.0]], [[1, 2, 3], [3, 2, 1]])
    >>> model.predict([[0.9]])
    array([[3., 2., 1.]])
    """

    fitted_state: ClassVar[State] = {
        **LabelRankerMixin.fitted_state,
        "_signs": integers("n_rows", "n_pairs", low=-1, below=2),
        "_compared": flags("n_rows", "n_pairs"),
        "_X": matrix("n_rows", "n_columns"),
        "_n_neighbors": count(),
        "_weights": perhaps(numbers("n_rows", low=0)),
    }

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        aggregate: str = "borda",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.aggregate = aggregate
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted ranker together."""
        n_labels = self.n_outputs_
        yield self._signs.shape[1] == n_labels * (n_labels - 1) // 2, "there must be a sign per pair of labels"
        yield self._n_neighbors <= len(self._signs), "there are fewer training rows than neighbours"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the training rows, and their rankings as signs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_labels)
            Ranks.
        sample_weight : array-like of shape (n_samples,), default=None
            What each neighbour counts; a row of weight zero is nobody's neighbour.
        """
        with fitting(self):
            n_neighbors = check_integer(self, "n_neighbors", self.n_neighbors, low=1)
            check_option(self, "aggregate", self.aggregate, AGGREGATES)
            check_jobs(self, self.n_jobs)
            X, y, sample_weight = weighing_data(X, y, sample_weight)
            features = learn_features(self, X, self.categorical_features)
            refuse_missing(self, features.values)
            X = distance_columns(self, features)
            ranks = self._check_rankings(X, y)
            weights = checked_sample_weight(self, sample_weight, len(ranks))
            if weights is not None:
                self._weights = weights
            self._signs = pair_signs(ranks)
            first, second = label_pairs(self.n_outputs_)
            self._compared = ~np.isnan(ranks[:, first] + ranks[:, second])
            self._X = sparse.csr_array(X, copy=True) if sparse.issparse(X) else np.array(X)
            self._n_neighbors = min(n_neighbors, X.shape[0])
        return self

    def predict_preferences(self, X: Any) -> NDArray[np.float64]:
        """Return the probability that label a is preferred to label b, of shape (n_samples, n_labels, n_labels)."""
        return preference_matrix(self._mean_signs(X), self.n_outputs_)

    def _predict_rankings(self, X: Any) -> NDArray[np.float64]:
        return consensus(self._mean_signs(X), self.n_outputs_, aggregate=self.aggregate)

    def _mean_signs(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = distance_columns(self, apply_features(self, X))
        search = NearestNeighbors(n_neighbors=self._n_neighbors, n_jobs=worker_count(self.n_jobs)).fit(self._X)
        neighbors = search.kneighbors(stored_like(self._X, X), return_distance=False)
        signs = np.zeros((X.shape[0], self._signs.shape[1]))
        compared = np.zeros(signs.shape)
        weights = getattr(self, "_weights", None)
        for column in neighbors.T:
            weight = 1.0 if weights is None else weights[column, None]
            signs += weight * self._signs[column]
            compared += weight * self._compared[column]
        return np.divide(signs, compared, out=signs, where=compared > 0)


class PairwiseLabelRanker(LabelRankerMixin, BaseEstimator):
    """Ranking by pairwise comparison: one binary classifier per label pair, labels ranked by their summed votes.

    Parameters
    ----------
    estimator : classifier, optional
        Any scikit-learn classifier; its ``predict_proba`` is used where it has one. Logistic regression by default.

    Attributes
    ----------
    estimators_ : list
        One fitted classifier per label pair, or the constant vote (-1, 0 or 1) of a pair without both answers.
    label_names_ : tuple of str
        Names of the labels.

    Notes
    -----
    An example that ties a pair or leaves one of its labels unranked is left out of that pair's classifier.

    References
    ----------
    .. [1] E. Hullermeier, J. Furnkranz, W. Cheng, K. Brinker, "Label ranking by learning pairwise preferences",
       Artificial Intelligence 172, 2008.

    Examples
    --------
    >>> from ramify.ensemble import PairwiseLabelRanker
    >>> model = PairwiseLabelRanker().fit([[-2.0], [-1.0], [1.0], [2.0]], [[1, 2], [1, 2], [2, 1], [2, 1]])
    >>> model.predict([[3.0]])
    array([[2., 1.]])
    """

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one classifier per pair of labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_labels)
            Ranks.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, which the classifier must take; a row of weight zero takes no part.
        """
        estimator = LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator
        if not hasattr(estimator, "fit") or not hasattr(estimator, "predict"):
            raise TypeError(
                "The 'estimator' parameter of PairwiseLabelRanker must be a classifier with fit and predict. "
                f"Got {estimator!r} instead."
            )
        X, y, sample_weight = weighing_data(X, y, sample_weight)
        self._takes_missing = bool(get_tags(estimator).input_tags.allow_nan)
        X = self._read(X, reset=True)
        signs = pair_signs(self._check_rankings(X, y))
        weights = checked_sample_weight(self, sample_weight, len(signs))
        if weights is not None and (weights == weights[0]).all():
            weights = None
        if weights is not None:
            refuse_without_weights(type(self).__name__, estimator)
        self.estimators_ = [_pair_classifier(estimator, X, sign, weights) for sign in signs.T]
        return self

    def predict_preferences(self, X: Any) -> NDArray[np.float64]:
        """Return the probability that label a is preferred to label b, of shape (n_samples, n_labels, n_labels)."""
        return preference_matrix(self._mean_signs(X), self.n_outputs_)

    def _predict_rankings(self, X: Any) -> NDArray[np.float64]:
        return consensus(self._mean_signs(X), self.n_outputs_, aggregate="borda")

    def _mean_signs(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = self._read(X, reset=False)
        return np.column_stack([_pair_votes(classifier, X) for classifier in self.estimators_])

    def _read(self, X: Any, *, reset: bool) -> Any:
        options: dict[str, Any] = {"dtype": np.float64, "accept_sparse": "csr", "allow_missing": self._takes_missing}
        X = finite_features(self, X, reset=reset, **options)
        if self.estimator is None:
            refuse_extremes(self, X)
        return X


def preference_matrix(mean_signs: NDArray[np.floating], n_labels: int) -> NDArray[np.float64]:
    """Return probabilities (n, a, b) that label a is preferred to label b from mean signs; a tie counts one half.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify.ensemble.label_ranking_baselines import preference_matrix
    >>> preference_matrix(np.array([[1.0, 0.0, -1.0]]), 3)[0].tolist()
    [[0.5, 1.0, 0.5], [0.0, 0.5, 0.0], [0.5, 1.0, 0.5]]
    """
    first, second = label_pairs(n_labels)
    matrix = np.full((len(mean_signs), n_labels, n_labels), 0.5)
    matrix[:, first, second] = (1 + np.asarray(mean_signs)) / 2
    matrix[:, second, first] = (1 - np.asarray(mean_signs)) / 2
    return matrix


def _pair_classifier(
    estimator: Any, X: Any, signs: NDArray[np.int8], weights: NDArray[np.float64] | None = None
) -> Any:
    ordered = np.flatnonzero(signs)
    answers = np.unique(signs[ordered])
    if len(answers) < 2:
        return int(answers[0]) if len(answers) else 0
    weighed = {} if weights is None else {"sample_weight": weights[ordered]}
    return clone(estimator).fit(X[ordered], signs[ordered], **weighed)


def _pair_votes(classifier: Any, X: Any) -> NDArray[np.float64]:
    if isinstance(classifier, int):
        return np.full(X.shape[0], float(classifier))
    if hasattr(classifier, "predict_proba"):
        return classifier.predict_proba(X) @ classifier.classes_.astype(np.float64)
    return classifier.predict(X).astype(np.float64)
