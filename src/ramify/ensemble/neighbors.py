"""NeighborsClassifier: nearest neighbours among which features weigh by their importance in a forest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify.ensemble.classifier import ForestClassifier
from ramify.ensemble.for_labels import ForLabels
from ramify.ensemble.named_targets import NamedClassifier
from ramify.ensemble.standardised import FARTHEST, centre_and_spread, standardised
from ramify.ensemble.threshold import (
    check_threshold,
    exceeded_threshold,
    fitted_threshold,
    is_chosen,
    is_fitted_threshold,
    label_sets,
)
from ramify.ensemble.training_data import learnt_data
from ramify.features import Features, apply_features, distance_columns, stored_like
from ramify.hierarchy import Hierarchy
from ramify.metrics import average_precision_score
from ramify.parameters import check_integer, check_jobs, check_real, worker_count
from ramify.state import ENCODED_FEATURES, State, fitting, instance, matrix, number, numbers
from ramify.tags import ANY_FEATURES, tagged
from ramify.targets import LabelTarget, encode_labels, target_type

_SHARPNESSES = (1.0, 2.0, 3.0, 4.5, 6.0, 9.0, 12.0, 18.0, 24.0)
_TRIED_ROWS = 1000
_ROWS_TOGETHER = 256
_DIGITS = 9  # of means and scores; what is left is rounding, and depends on the unit of a feature


@dataclass(kw_only=True, eq=False, repr=False)
class NeighborsClassifier(NamedClassifier, BaseEstimator):
    """Weighted mean of the nearest training rows, in a space where features weigh by their importance in a forest.

    Parameters
    ----------
    n_neighbors : int, default=100
        Rows that are averaged; fewer where training has fewer.
    hierarchy : Hierarchy or None, default=None
        Hierarchy of the labels. `fit` closes y under ancestors.
    forest : ForestClassifier, BoostedClassifier or None, default=None
        What weighs the features; None is 100 extra trees that look at 20 % of the features, with at least 3 rows in a
        leaf. Its `hierarchy`, `random_state` and `n_jobs` are set from here.
    sharpness : float or "auto", default="auto"
        How fast the weight of a neighbour falls with its distance: `exp(-sharpness * d^2 / mean of d^2)`, with the mean
        over the neighbours. "auto" takes that of 1 to 24 which predicts training rows best, each by the others, and of
        equally good ones the smallest.
    threshold : float, array-like of shape (n_labels,), {"f1", "cardinality", "density"} or dict, default=0.5
        Probability above which a label of a label set is predicted, as of `ForestClassifier`; one that is chosen is
        chosen on training rows, each predicted by the others.
    categorical_features : "from_dtype", mask, indices, names or None, default="from_dtype"
        Which features are nominal; by default the columns of a frame with a category or string dtype.
    n_jobs : int or None, default=None
        Threads.
    random_state : int, RandomState or None, default=None
        Seed of the forest, and of the 1,000 rows by which sharpness and threshold are chosen where training has more.

    Attributes
    ----------
    forest_ : ForestClassifier or BoostedClassifier
        The fitted forest, whose Genie3 scores are the weights.
    sharpness_ : float
        The sharpness that is used.
    threshold_ : float or ndarray of shape (n_labels,)
        Probability that a predicted label exceeds.
    classes_, label_names_, n_outputs_, target_kind_, prior_
        Those of the forest.
    n_features_in_, feature_names_in_, categories_
        Number, names and nominal values of the features.

    Notes
    -----
    Numbers are standardised, and 4 standard deviations from the mean is the farthest; missing ones are at the mean.
    Different values of a nominal feature are equally far apart, scaled so that two random rows differ as much as in a
    number. The squared distance is the sum over features of importance times squared difference. The mean of label sets
    that respect a hierarchy respects it. All training rows are kept, and each prediction looks at all of them. A label
    that is unknown (NaN) in some rows is the mean of the neighbours that know it, and the prior where none does.

    References
    ----------
    Atkeson, C., Moore, A. and Schaal, S. (1997). Locally weighted learning. Artificial Intelligence Review 11.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical
    >>> from ramify.ensemble import NeighborsClassifier
    >>> data = make_hierarchical(200, random_state=0)
    >>> model = NeighborsClassifier(hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    >>> model.predict_proba(data.X[:5]).shape == (5, len(data.label_names))
    True
    """

    read_after_fit: ClassVar[tuple[str, ...]] = ("hierarchy", "n_neighbors")
    fitted_state: ClassVar[State] = {
        **ENCODED_FEATURES,
        "forest_": instance(ForLabels),
        "sharpness_": number(low=0),
        "threshold_": instance(float, np.ndarray),
        "_centre": numbers("n_features"),
        "_spread": numbers("n_features", low=0),
        "_rows": matrix("n_rows", "n_columns"),
        "_labels": matrix("n_rows", "n_labels", nan=True),
        "_row_weights": numbers("n_rows", low=0),
    }

    n_neighbors: int = field(default=100, kw_only=False)
    hierarchy: Hierarchy | None = None
    forest: Any = None
    sharpness: Any = "auto"
    threshold: Any = 0.5
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the forest and keep the rows in the space of its importances.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features; NaN is missing.
        y : array of shape (n_samples,), or 0/1 array, CSR or frame of shape (n_samples, n_labels)
            Classes or label sets; in label sets NaN is unknown, and a row of which nothing is known takes no part.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, in the forest and as neighbours. A row of weight zero takes no part.

        Returns
        -------
        self
        """
        with fitting(self):
            data = learnt_data(self, X, y, sample_weight)
            return self.grow(data.features, data.target, data.weights)

    def encode_target(
        self,
        y: Any,
        *,
        sample_weight: np.ndarray | None = None,  # noqa: ARG002
        n_samples: int | None = None,
    ) -> LabelTarget:
        """Classes or label sets; with a hierarchy, columns follow `hierarchy.names` and a frame is matched by name.

        Parameters
        ----------
        y : array of shape (n_samples,), or 0/1 array, CSR or frame of shape (n_samples, n_labels)
            The target.
        sample_weight : array of shape (n_samples,), optional
            Does not matter here.
        n_samples : int, optional
            Number of rows that y must have.
        """
        return encode_labels(y, hierarchy=self.hierarchy, n_samples=n_samples, partly_known=True)

    def row_weights(self, target: LabelTarget, sample_weight: np.ndarray | None) -> np.ndarray | None:  # noqa: ARG002
        """Weights of the rows, as they were given."""
        return sample_weight

    def grow(self, features: Features, target: LabelTarget, weights: np.ndarray | None) -> Self:
        """Fit to checked features and an encoded target.

        Parameters
        ----------
        features : Features
            What `learn_features` gave for this estimator.
        target : LabelTarget
            What `encode_target` returns.
        weights : array of shape (n_samples,) or None
            Positive weights of the rows.
        """
        self._check_parameters()
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.forest_ = self._unfitted_forest(seed)
        for name in ("n_features_in_", "feature_names_in_", "categories_"):
            if name in vars(self):
                setattr(self.forest_, name, getattr(self, name))
        self.forest_.grow(features, target, weights)
        self._centre, self._spread = centre_and_spread(features)
        self._rows = self._placed(features)
        self._labels = sparse.csr_array(target.cells(), dtype=np.float64)
        self._row_weights = np.ones(self._labels.shape[0]) if weights is None else weights.astype(np.float64)
        self._choose(target, seed)
        return self

    def _check_parameters(self) -> None:
        check_integer(self, "n_neighbors", self.n_neighbors, low=1)
        check_jobs(self, self.n_jobs)
        check_threshold(self)
        if not (isinstance(self.sharpness, str) and self.sharpness == "auto"):
            if isinstance(self.sharpness, str):
                raise ValueError(
                    f"The 'sharpness' parameter of NeighborsClassifier must be a number >= 0 or 'auto'. "
                    f"Got {self.sharpness!r} instead."
                )
            check_real(self, "sharpness", self.sharpness, low=0)
        if self.forest is not None and not isinstance(self.forest, ForLabels):
            raise TypeError(
                f"The 'forest' parameter of NeighborsClassifier must be a ForestClassifier, a BoostedClassifier or "
                f"None. Got {type(self.forest).__name__} instead."
            )

    def _unfitted_forest(self, seed: int) -> Any:
        forest = (
            ForestClassifier(splitter="random", bootstrap=False, max_features=0.2, min_samples_leaf=3)
            if self.forest is None
            else clone(self.forest)
        )
        return forest.set_params(hierarchy=self.hierarchy, random_state=seed, n_jobs=self.n_jobs)

    def _placed(self, features: Features) -> Any:
        """Rows in the space where Euclidean distances are those of this estimator; values of 0 stay 0."""
        start = np.clip(-self._centre / self._spread, -FARTHEST, FARTHEST)  # where a zero is placed
        standard = standardised(features, self._centre, self._spread, start)
        columns = distance_columns(self, standard)
        scale = self._column_scale(features.n_categories)
        if sparse.issparse(columns):
            return sparse.csr_array(columns @ sparse.diags_array(scale))
        return np.asarray(columns) * scale

    def _column_scale(self, n_categories: np.ndarray) -> np.ndarray:
        """Factor of each column that `distance_columns` gives: numbers first, then the values of nominal features."""
        importances = np.maximum(_core.genie3(self.forest_.trees_), 0.0)
        weights = importances if importances.any() else np.ones(len(importances))
        roots = np.sqrt(weights / weights.max())
        nominal = n_categories > 0
        roots[nominal] *= np.sqrt(2.0) / self._spread[nominal]
        return np.concatenate([roots[~nominal], np.repeat(roots[nominal], n_categories[nominal])])

    def _nearest(self, rows: Any, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
        search = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute", n_jobs=self.n_jobs).fit(self._rows)
        distances, positions = search.kneighbors(rows)
        return distances**2, positions

    def _mean_of(self, squares: np.ndarray, positions: np.ndarray, sharpness: float) -> np.ndarray:
        """Weighted mean of the label sets of neighbours, given their squared distances."""
        mean = squares.mean(axis=1, keepdims=True)
        relative = (squares - squares.min(axis=1, keepdims=True)) / np.where(mean > 0, mean, 1.0)
        weights = np.exp(-sharpness * relative) * self._row_weights[positions]
        weights /= weights.sum(axis=1, keepdims=True)
        n_rows, k = positions.shape
        offsets = np.arange(0, n_rows * k + 1, k)
        share = sparse.csr_array((weights.ravel(), positions.ravel(), offsets), shape=(n_rows, self._rows.shape[0]))
        if not np.isnan(self._labels.data).any():
            return np.minimum((share @ self._labels).toarray(), 1.0)
        cells = self._labels.toarray()
        having, lacking = share @ (cells == 1).astype(np.float64), share @ (cells == 0).astype(np.float64)
        # Written so, rounding cannot lift a label above one that more rows have and fewer lack: its ancestor.
        against = np.divide(lacking, having, out=np.full(having.shape, np.inf), where=having > 0)
        return np.where(having + lacking > 0, 1.0 / (1.0 + against), self.prior_)

    def _choose(self, target: LabelTarget, seed: int) -> None:
        """The sharpness with which training rows are predicted best, each by the others, and the threshold likewise."""
        self.threshold_ = fitted_threshold(self, target.kind, self._labels.shape[1])
        by_rows = isinstance(self.sharpness, str)
        self.sharpness_ = _SHARPNESSES[len(_SHARPNESSES) // 2] if by_rows else float(self.sharpness)
        n_rows = self._rows.shape[0]
        if n_rows < 3 or not (by_rows or is_chosen(self.threshold)):
            return
        chosen = np.arange(n_rows)
        if n_rows > _TRIED_ROWS:
            chosen = np.sort(np.random.default_rng(seed).choice(n_rows, _TRIED_ROWS, replace=False))
        squares, positions = self._nearest(self._rows[chosen], min(self.n_neighbors, n_rows - 1) + 1)
        others = positions != chosen[:, None]
        others[others.all(axis=1), -1] = False  # equal rows came before the row itself
        squares, positions = (part[others].reshape(len(chosen), -1) for part in (squares, positions))
        truth = self._labels[chosen]
        if by_rows:

            def reached(sharpness: float) -> float:
                mean = self._mean_of(squares, positions, sharpness).round(_DIGITS)
                return float(average_precision_score(truth, mean, average="micro", exclude_universal=True))

            scores = self._side_by_side()(delayed(reached)(sharpness) for sharpness in _SHARPNESSES)
            if np.isfinite(scores).all():
                self.sharpness_ = _SHARPNESSES[int(np.argmax(np.round(scores, _DIGITS)))]
        if is_chosen(self.threshold):
            mean = self._mean_of(squares, positions, self.sharpness_).round(_DIGITS)
            weights = self._row_weights[chosen]
            self.threshold_ = exceeded_threshold(self.threshold, mean, truth, sample_weight=weights)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Weighted mean of the neighbours.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples, n_labels)
            Columns follow `label_names_`. With a hierarchy a parent's probability is at least its children's.
        """
        check_is_fitted(self, "forest_")
        rows = stored_like(self._rows, self._placed(apply_features(self, X)))
        squares, positions = self._nearest(rows, min(self.n_neighbors, self._rows.shape[0]))
        blocks = np.array_split(np.arange(len(squares)), max(1, len(squares) // _ROWS_TOGETHER))
        means = self._side_by_side()(
            delayed(self._mean_of)(squares[block], positions[block], self.sharpness_) for block in blocks
        )
        return np.concatenate(means)

    def _side_by_side(self) -> Parallel:
        return Parallel(n_jobs=worker_count(self.n_jobs), require="sharedmem")

    def predict(self, X: Any) -> Any:
        """The most probable class, or the labels whose probability exceeds `threshold_`.

        Parameters
        ----------
        X : array, CSR, CSC, pandas or polars frame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples,), or 0/1 array or CSR of shape (n_samples, n_labels)
            Sparse if y was sparse at fit.
        """
        probabilities = self.predict_proba(X)
        if target_type(self.target_kind_).has_one_label:
            return self.classes_[probabilities.argmax(axis=1)]
        sets = label_sets(probabilities, self.threshold_, self.hierarchy)
        return sparse.csr_array(sets) if self._sparse_sets else sets

    @property
    def classes_(self) -> Any:
        """Class values; for label sets `[0, 1]` per label."""
        check_is_fitted(self, "forest_")
        return self.forest_.classes_

    @property
    def label_names_(self) -> tuple[str, ...]:
        """Names of the columns of `predict_proba`."""
        check_is_fitted(self, "forest_")
        return self.forest_.label_names_

    @label_names_.setter
    def label_names_(self, names: tuple[str, ...]) -> None:
        self.forest_.label_names_ = names

    @property
    def n_outputs_(self) -> int:
        """Number of labels; 1 for classes."""
        check_is_fitted(self, "forest_")
        return self.forest_.n_outputs_

    @property
    def target_kind_(self) -> str:
        """What y was."""
        check_is_fitted(self, "forest_")
        return self.forest_.target_kind_

    @property
    def prior_(self) -> np.ndarray:
        """Frequency of each label or class in training."""
        check_is_fitted(self, "forest_")
        return self.forest_.prior_

    @property
    def _sparse_sets(self) -> bool:
        return self.forest_._sparse_sets

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted estimator together."""
        forest = self.forest_
        yield forest.n_features_in_ == self.n_features_in_, "the forest is for other features"
        n_values = [0 if known is None else len(known) for known in self.categories_]
        yield n_values == forest.trees_.n_categories.tolist(), "categories_ does not fit the forest"
        yield self._rows.shape[1] == sum(n or 1 for n in n_values), "the training rows have other features"
        yield self._labels.shape[1] == len(forest.label_names_), "the training rows have other labels"
        right = is_fitted_threshold(self.threshold_, self._labels.shape[1])
        yield right, "threshold_ must be a number between 0 and 1, or one per label"
        held = self._labels.data if sparse.issparse(self._labels) else self._labels
        yield bool((np.isin(held, (0, 1)) | np.isnan(held)).all()), "labels of training rows must be 0, 1 or unknown"
        yield bool((self._row_weights > 0).all() and (self._spread > 0).all()), "weights and spreads must be positive"

    def __sklearn_tags__(self) -> Any:
        return tagged(super().__sklearn_tags__(), *ANY_FEATURES, "multi_output")
