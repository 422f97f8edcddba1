"""MLkNN: label sets from the labels of the nearest neighbours, by Bayes' rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import Tags

from ramify.chains.base import LabelSetClassifier
from ramify.chains.links import Weights
from ramify.features import Features, distance_columns, refuse_missing, stored_like
from ramify.parameters import check_integer, check_real, worker_count
from ramify.state import State, integers, matrix, numbers
from ramify.tags import tagged

_UNKNOWN = 2
"""In `_labels`, in place of 0 and 1."""


@dataclass(kw_only=True, eq=False, repr=False)
class MLkNN(LabelSetClassifier):
    """Multi-label k nearest neighbours: how many neighbours have a label tells how probable it is.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbours (k).
    smoothing : float, default=1.0
        Added to every count.
    metric : str, default="euclidean"
        Distance of rows, as scikit-learn's `NearestNeighbors` takes it.
    threshold : float, array-like, {"f1", "cardinality", "density", "batch"}, dict, default=0.5
        Probability at which a label is predicted: a number, one number per label, or the threshold that brings the
        predicted label cardinality closest to the training set's ("cardinality"), the same per label ("density"),
        the largest F1 of each label ("f1"), the smallest cost of errors of each label (``{"fp": 1, "fn": 5}``), or
        "cardinality" chosen anew on the rows given to `predict` ("batch").
    categorical_features : "from_dtype", mask, indices, names or None, default="from_dtype"
        Which features are nominal: two values of one are equal or lie 1 apart. By default the columns of a frame with a
        category or string dtype. Numbers are compared as they come: scale them first.
    n_jobs : int, optional
        Number of parallel jobs of the neighbour search.

    Attributes
    ----------
    label_prior_ : ndarray of shape (n_labels,)
        Smoothed probability of each label.
    with_label_, without_label_ : ndarray of shape (n_neighbors + 1, n_labels)
        Smoothed probability that j neighbours have the label, among rows with and without it.
    threshold_ : float, ndarray or None
        Threshold in use; None for "batch".
    label_names_ : tuple of str
        Names of the labels.

    Notes
    -----
    Weights of rows count in the probabilities; neighbours are counted as rows. A label that is unknown (NaN) in some
    rows has its neighbours among the others, as if those rows were not there for it; labels unknown in different rows
    cost a search of neighbours each.

    References
    ----------
    M.-L. Zhang and Z.-H. Zhou, ML-KNN: a lazy learning approach to multi-label learning, 2007.

    Examples
    --------
    >>> from ramify.chains import MLkNN
    >>> from ramify.datasets import make_multilabel
    >>> data = make_multilabel(random_state=0)
    >>> MLkNN(n_neighbors=5).fit(data.X, data.y).predict_proba(data.X).shape
    (200, 5)
    """

    fitted_state: ClassVar[State] = {
        **LabelSetClassifier.fitted_state,
        "_n_categories": integers("n_features"),
        "_rows": matrix("n_rows", "n_columns"),
        "_labels": integers("n_rows", "n_labels", below=_UNKNOWN + 1),
        "label_prior_": numbers("n_labels", low=0, high=1),
        "with_label_": numbers("n_counts", "n_labels", low=0, high=1),
        "without_label_": numbers("n_counts", "n_labels", low=0, high=1),
    }

    _takes_unknown: ClassVar[bool] = True

    n_neighbors: int = field(default=10, kw_only=False)
    smoothing: float = 1.0
    metric: str = "euclidean"
    threshold: float | str | ArrayLike = 0.5
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer(self, "n_neighbors", self.n_neighbors, low=1)
        check_real(self, "smoothing", self.smoothing, low=0, open_low=True)

    def _categorical_features(self) -> Any:
        return self.categorical_features

    def _fit_labels(
        self,
        features: Features,
        labels: NDArray[Any],
        weights: Weights,
        seed: int,  # noqa: ARG002
    ) -> None:
        n_samples = len(labels)
        if labels.dtype.kind == "f":
            labels = np.where(np.isnan(labels), _UNKNOWN, labels).astype(np.uint8)
        if n_samples <= self.n_neighbors:
            raise ValueError(
                f"MLkNN needs more rows than neighbours: n_samples = {n_samples}, n_neighbors = {self.n_neighbors}. "
                "Give more rows or choose a smaller 'n_neighbors'."
            )
        n_known = (labels != _UNKNOWN).sum(axis=0)
        if n_known.min() <= self.n_neighbors:
            label = self.label_names_[int(n_known.argmin())]
            raise ValueError(
                f"MLkNN needs more rows than neighbours of which a label is known: {label!r} is known of "
                f"{n_known.min()}, n_neighbors = {self.n_neighbors}. Leave it out or choose a smaller 'n_neighbors'."
            )
        refuse_missing(self, features.values)
        self._n_categories = features.n_categories
        rows = distance_columns(self, features)
        self._rows = sparse.csr_array(rows, copy=True) if sparse.issparse(rows) else np.array(rows)
        self._labels = labels
        counts = self._neighbors_with_label(None)
        s = self.smoothing
        counted = np.ones(n_samples) if weights is None else weights
        known = counted.sum() - counted @ (labels == _UNKNOWN)
        self.label_prior_ = (s + counted @ (labels == 1)) / (2 * s + known)
        self.with_label_ = self._count_distribution(counts, counted[:, None] * (labels == 1))
        self.without_label_ = self._count_distribution(counts, counted[:, None] * (labels == 0))

    def _neighbors_with_label(self, X: Any) -> NDArray[np.intp]:
        """How many neighbours of each row have each label; None: of the training rows, themselves left out.

        Neighbours are rows of which the label is known. A training row of which it is not has none.
        """
        counts = np.zeros(((self._rows if X is None else X).shape[0], self._labels.shape[1]), dtype=np.intp)
        patterns, pattern_of = np.unique((self._labels != _UNKNOWN).T, axis=0, return_inverse=True)
        for number, known in enumerate(patterns):
            alike = np.flatnonzero(pattern_of.ravel() == number)
            rows = slice(None) if known.all() else np.flatnonzero(known)
            search = NearestNeighbors(
                n_neighbors=self.n_neighbors, metric=self.metric, n_jobs=worker_count(self.n_jobs)
            )
            neighbors = search.fit(self._rows[rows]).kneighbors(X, return_distance=False)
            labels = self._labels[rows][:, alike]
            n_having = sum(labels[place].astype(np.intp) for place in neighbors.T)
            if X is None:
                counts[np.ix_(np.flatnonzero(known), alike)] = n_having
            else:
                counts[:, alike] = n_having
        return counts

    def _count_distribution(self, counts: NDArray[np.intp], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Smoothed distribution of the number of neighbours with the label, over rows that weigh so much."""
        frequency = np.array([((counts == j) * weights).sum(axis=0) for j in range(self.n_neighbors + 1)])
        smoothed = self.smoothing + frequency
        return smoothed / smoothed.sum(axis=0)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        rows = distance_columns(self, Features(X, self._n_categories))
        counts = self._neighbors_with_label(stored_like(self._rows, rows))
        label = np.arange(self.n_outputs_)
        present = self.label_prior_ * self.with_label_[counts, label]
        absent = (1.0 - self.label_prior_) * self.without_label_[counts, label]
        return present / (present + absent)

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted classifier together."""
        yield from super().state_rules()
        n_values = [0 if known is None else len(known) for known in self.categories_]
        yield self._n_categories.tolist() == n_values, "the nominal features are others"
        yield self._rows.shape[1] == sum(n or 1 for n in n_values), "the training rows have other features"
        n_known = (self._labels != _UNKNOWN).sum(axis=0)
        yield bool((n_known > self.n_neighbors).all()), "there are fewer training rows than neighbours"
        distributions = (self.with_label_, self.without_label_)
        yield len(self.with_label_) == self.n_neighbors + 1, "a distribution of counts has another length"
        spread = all(np.allclose(part.sum(axis=0), 1.0) and bool((part > 0).all()) for part in distributions)
        yield spread, "a distribution of counts must be positive and sum to one"
        prior = self.label_prior_
        yield bool(((prior > 0) & (prior < 1)).all()), "label_prior_ must lie between 0 and 1"

    def __sklearn_tags__(self) -> Tags:
        return tagged(super().__sklearn_tags__(), "sparse")
