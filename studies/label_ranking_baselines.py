"""What the study of label ranking measures forests against: the average ranking, and that of the nearest rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_consistent_length

from ramify.ensemble.label_rankers import LabelRankerMixin
from ramify.ensemble.label_ranking_aggregation import consensus
from ramify.features import apply_features, distance_columns, learn_features
from ramify.targets.rankings import check_rankings, label_pairs, mean_preferences, pair_signs, ranking_names


class _Baseline(LabelRankerMixin, BaseEstimator):
    """What both baselines check and keep of the rankings."""

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


class AverageLabelRanker(_Baseline):
    """Predicts the average ranking of the training rows for every row (Brazdil, Soares and da Costa, 2003)."""

    def fit(self, X: Any, y: Any) -> Self:
        """Average the rankings `y`; the features only give the number of rows."""
        ranks = self._check_rankings(learn_features(self, X).values, y)
        self.ranking_ = consensus(mean_preferences(ranks)[None], self.n_outputs_, aggregate="borda")[0]
        return self

    def _predict_rankings(self, X: Any) -> NDArray[np.float64]:
        return np.tile(self.ranking_, (apply_features(self, X).values.shape[0], 1))


class NeighborsLabelRanker(_Baseline):
    """Averages the rankings of the nearest training rows (Brinker and Huellermeier, 2006).

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of rows that are averaged.
    """

    def __init__(self, n_neighbors: int = 10) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training rows, and their rankings as signs of pairs of labels."""
        columns = distance_columns(self, learn_features(self, X))
        ranks = self._check_rankings(columns, y)
        first, second = label_pairs(self.n_outputs_)
        self.signs_ = pair_signs(ranks)
        self.compared_ = ~np.isnan(ranks[:, first] + ranks[:, second])
        self.search_ = NearestNeighbors(n_neighbors=min(self.n_neighbors, len(ranks))).fit(columns)
        return self

    def _predict_rankings(self, X: Any) -> NDArray[np.float64]:
        nearest = self.search_.kneighbors(distance_columns(self, apply_features(self, X)), return_distance=False)
        signs = self.signs_[nearest].sum(axis=1, dtype=float)
        compared = self.compared_[nearest].sum(axis=1)
        mean = np.divide(signs, compared, out=signs, where=compared > 0)
        return consensus(mean, self.n_outputs_, aggregate="borda")
