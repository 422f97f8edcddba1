"""SelectTop: the best features of a ranking, as a scikit-learn selector."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from ramify.ensemble.row_weights import refuse_without_weights
from ramify.features.checks import refuse_repeated_names
from ramify.features.file_columns import keep_columns
from ramify.features.frames import weighing_data
from ramify.features.selected_columns import ColumnSelector
from ramify.parameters import check_integer, check_jobs, check_option, check_real
from ramify.ranking import FeatureRanking, ReliefRanker, addition_curve
from ramify.ranking.addition import AdditionCurve
from ramify.state import FEATURES, State, count, fitting, flags, instance, perhaps
from ramify.tags import tagged


@dataclass(kw_only=True, eq=False, repr=False)
class SelectTop(ColumnSelector, BaseEstimator):
    """Keep the best features of a ranking.

    Parameters
    ----------
    ranker : estimator with `ranking_`, optional
        What ranks, such as ForestRanker or ReliefRanker; by default `ReliefRanker()`.
    n_features : int or "auto", default=10
        How many to keep (all where there are fewer). "auto" keeps as many as a forest predicts best with, by
        cross-validation: the smallest number within one standard error of the best.
    threshold : float, optional
        Keep only features whose score is above this as well.
    cv : int or cross-validator, default=5
        Folds for "auto".
    n_jobs : int, optional
        Threads for "auto".
    random_state : int, RandomState or None
        Seed for "auto".

    Attributes
    ----------
    ranking_ : FeatureRanking
        The ranking of all features.
    n_features_ : int
        Number of features kept.
    curve_ : AdditionCurve
        How quality grows with the features, for "auto".
    ranker_ : estimator
        The fitted ranker.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ranking import ReliefRanker
    >>> from ramify.selection import SelectTop
    >>> data = make_hierarchical(200, random_state=0)
    >>> SelectTop(ReliefRanker(hierarchy=data.hierarchy), n_features=7).fit_transform(data.X, data.y).shape
    (200, 7)
    """

    fitted_state: ClassVar[State] = {
        **FEATURES,
        "ranker_": instance(BaseEstimator),
        "ranking_": instance(FeatureRanking),
        "curve_": perhaps(instance(AdditionCurve)),
        "n_features_": count(low=0),
        "_mask": flags("n_features"),
    }

    ranker: Any = field(default=None, kw_only=False)
    n_features: int | str = 10
    threshold: float | None = None
    cv: Any = 5
    n_jobs: int | None = None
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SelectTop:
        """Rank the features and choose the best.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.
        y : array, CSR or frame
            What the ranker takes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for a ranker that takes them. A row of weight zero takes no part.

        Returns
        -------
        SelectTop
            The fitted selector.
        """
        with fitting(self):
            if isinstance(self.n_features, str):
                check_option(self, "n_features", self.n_features, ("auto",))
            else:
                check_integer(self, "n_features", self.n_features, low=1)
            check_jobs(self, self.n_jobs)
            if self.threshold is not None:
                check_real(self, "threshold", self.threshold)
            refuse_repeated_names(self, X)
            keep_columns(self, X, reset=True)
            validate_data(self, X, skip_check_array=True)
            ranker = ReliefRanker() if self.ranker is None else self.ranker
            X, y, sample_weight = weighing_data(X, y, sample_weight)
            if sample_weight is not None:
                refuse_without_weights("SelectTop", ranker)
            weighed = {} if sample_weight is None else {"sample_weight": sample_weight}
            self.ranker_ = clone(ranker).fit(X, y, **weighed)
            if not isinstance(getattr(self.ranker_, "ranking_", None), FeatureRanking):
                name = type(ranker).__name__
                raise TypeError(
                    f"The 'ranker' parameter of SelectTop must rank, as ReliefRanker and ForestRanker do. Got {name}; "
                    f"a forest ranks as ForestRanker({name}(...)). Other scikit-learn models go to SelectFromModel."
                )
            self.ranking_: FeatureRanking = self.ranker_.ranking_
            kept = self.ranking_.order[: self._count(ranker, X, y, weighed)]
            if self.threshold is not None:
                kept = kept[self.ranking_.scores[kept] > self.threshold]
            self._mask = np.zeros(len(self.ranking_), dtype=bool)
            self._mask[kept] = True
            self.n_features_ = len(kept)
        return self

    def _count(self, ranker: Any, X: Any, y: Any, weighed: dict[str, Any]) -> int:
        if self.n_features != "auto":
            return int(self.n_features)
        known = {**_shared_parameters(getattr(ranker, "estimator", None)), **_shared_parameters(ranker)}
        self.curve_ = addition_curve(
            ranker,
            X,
            y,
            n_random=0,
            cv=self.cv,
            **known,
            **weighed,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )
        return self.curve_.best_size

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "ranking_")
        return self._mask

    def __sklearn_tags__(self) -> Any:
        return tagged(super().__sklearn_tags__(), "sparse", "allow_nan", "required")


def _shared_parameters(estimator: Any) -> dict[str, Any]:
    """What a ranker, or its forest, knows of labels and features and the forest of "auto" must know as well."""
    return {
        name: getattr(estimator, name) for name in ("hierarchy", "categorical_features") if hasattr(estimator, name)
    }
