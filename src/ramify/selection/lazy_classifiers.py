"""Classifiers that look, in each row, at the features selected for that row alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ramify.features import feature_names, finite_features
from ramify.features.frames import as_array
from ramify.parameters import check_integer
from ramify.selection.feature_graph import pattern
from ramify.selection.lazy import LazySelector, one_row
from ramify.selection.relevance import check_binary, check_rows
from ramify.state import FEATURES, State, count, fitting, instance, integers, matrix, nothing_or, numbers, value_row
from ramify.tags import tagged

# Test rows x training rows whose distances are held at a time.
_BLOCK_CELLS = 1 << 23


# No column at all is an empty selection by an earlier step.
_CLASSIFIER_STATE: State = {
    **FEATURES,
    "n_features_in_": count("n_features", low=0),
    "classes_": value_row("n_classes"),
    "selector_": nothing_or(instance(LazySelector)),
}


class _LazyClassifier(ClassifierMixin, BaseEstimator):
    """Reading of rows and of their selection masks, for the two classifiers below."""

    selector: LazySelector | None

    def _fit_selector(self, X: Any, y: Any) -> tuple[sparse.csr_array, np.ndarray]:
        """Training rows as a boolean CSR and the codes of their classes."""
        values = pattern(sparse.csr_array(self._read(X, reset=True)))
        y = as_array(y)
        if y.ndim != 1:
            raise ValueError(f"{type(self).__name__} takes one class per row. Got y of shape {y.shape}.")
        check_classification_targets(y)
        check_rows(values, len(y))
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.selector_ = None if self.selector is None else clone(self.selector).fit(X, y, rank=False)
        return self._repaired(values), codes

    def _read(self, X: Any, *, reset: bool) -> Any:
        # No column at all is an empty selection by an earlier step: it predicts the prior.
        options: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": "numeric", "ensure_min_features": 0}
        return check_binary(finite_features(self, X, reset=reset, **options))

    def _repaired(self, values: sparse.csr_array) -> sparse.csr_array:
        return values if self.selector_ is None else self.selector_.close_rows(values)

    def _blocks(self, X: Any) -> Iterator[tuple[sparse.csr_array, sparse.csr_array | None]]:
        """Rows in blocks with their selection masks; None stands for all features."""
        check_is_fitted(self)
        values = self._repaired(pattern(sparse.csr_array(self._read(X, reset=False))))
        if self.selector_ is None:
            height = max(1, _BLOCK_CELLS // max(1, values.shape[1]))
            for start in range(0, values.shape[0], height):
                yield values[start : start + height], None
            return
        start = 0
        for mask in self.selector_.selection_blocks(values):
            yield values[start : start + mask.shape[0]], mask
            start += mask.shape[0]

    def __sklearn_tags__(self) -> Tags:
        return tagged(super().__sklearn_tags__(), "sparse")


@dataclass(kw_only=True, eq=False, repr=False)
class LazyNaiveBayes(_LazyClassifier):
    """Naive Bayes over the binary features that are selected for each row.

    Parameters
    ----------
    selector : LazySelector, optional
        Which features count in which row; None for all of them.

    Attributes
    ----------
    classes_ : ndarray
        Classes, sorted.
    selector_ : LazySelector or None
        The fitted selector.

    Notes
    -----
    Probabilities of features and classes are smoothed by one (Laplace). A row without a selected feature gets the
    prior.

    References
    ----------
    P. N. da Silva, A. Plastino, A. A. Freitas, "Prioritizing positive feature values: a new hierarchical feature
    selection method", Applied Intelligence, 2020.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.selection import LazyNaiveBayes, LazySelector
    >>> order = Hierarchy.from_edges([("animal", "bird"), ("animal", "fish")])
    >>> X, y = [[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]], ["flies", "flies", "swims", "swims"]
    >>> LazyNaiveBayes(LazySelector(order)).fit(X, y).predict([[1, 0, 1]])
    array(['swims'], dtype='<U5')
    """

    fitted_state: ClassVar[State] = {
        **_CLASSIFIER_STATE,
        "_log_present": numbers("n_features", "n_classes"),
        "_log_absent": numbers("n_features", "n_classes"),
        "_log_prior": numbers("n_classes"),
    }

    selector: LazySelector | None = field(default=None, kw_only=False)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the selector and the probabilities of each feature in each class.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Binary features.
        y : array of shape (n_samples,)
            Classes.
        """
        with fitting(self):
            values, codes = self._fit_selector(X, y)
            n_classes = len(self.classes_)
            members = sparse.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))))
            counts = np.bincount(codes, minlength=n_classes)
            present = ((members @ values.astype(np.float64)).toarray() + 1.0) / (counts + 2.0)[:, None]
            self._log_present = np.log(present).T
            self._log_absent = np.log1p(-present).T
            self._log_prior = np.log((counts + 1.0) / (len(codes) + n_classes))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of each row, the first of equally likely ones."""
        chances = self.predict_proba(X)
        return self.classes_[chances.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, in the order of `classes_`."""
        evidence = np.concatenate([self._evidence(values, mask) for values, mask in self._blocks(X)])
        joint = np.exp(evidence - evidence.max(axis=1, keepdims=True))
        return joint / joint.sum(axis=1, keepdims=True)

    def explain(
        self, row: Any, *, of: Any = None, against: Any = None, names: Mapping[str, str] | None = None
    ) -> pd.DataFrame:
        """What each selected feature says in one row: the terms of the paper's Eq. 3, as a sheet for an expert.

        Parameters
        ----------
        row : array of shape (n_features,), or one row of a frame or matrix
            Feature values.
        of, against : class, optional
            The two classes that are weighed against each other; by default the likeliest and the next.
        names : mapping of str to str, optional
            What to call a feature, such as the name of a Gene Ontology term by its identifier.

        Returns
        -------
        DataFrame
            `feature`, `value`, `log_odds` (the logarithm of P(value | of) / P(value | against)) and `speaks_for`, the
            class that is likelier by it; the strongest first. The first line, "(prior)", is the classes' own. All
            lines sum to the logarithm of the ratio of the two predicted probabilities.

        Examples
        --------
        >>> from ramify import Hierarchy
        >>> from ramify.selection import LazyNaiveBayes, LazySelector
        >>> order = Hierarchy.from_edges([("animal", "bird"), ("animal", "fish")])
        >>> X, y = [[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]], ["flies", "flies", "swims", "swims"]
        >>> sheet = LazyNaiveBayes(LazySelector(order)).fit(X, y).explain([1, 1, 0])
        >>> sheet["feature"].tolist(), sheet["log_odds"].round(2).tolist()
        (['(prior)', 'bird'], [0.0, 1.1])
        """
        row = one_row(row)
        chances = self.predict_proba(row)[0]
        likeliest = np.argsort(-chances, kind="stable")
        first = int(likeliest[0]) if of is None else self._class_number(of)
        others = [int(number) for number in likeliest if number != first]
        second = others[0] if against is None else self._class_number(against)
        values, mask = next(self._blocks(row))
        present = values.toarray().ravel().astype(bool)
        chosen = np.arange(len(present)) if mask is None else mask.indices
        given = np.where(present[:, None], self._log_present, self._log_absent)
        odds = given[:, first] - given[:, second]
        order = chosen[np.argsort(-np.abs(odds[chosen]), kind="stable")]
        called = self._feature_names()
        prior = self._log_prior[first] - self._log_prior[second]
        lines = [("(prior)", "", prior)] + [
            ((names or {}).get(called[k], called[k]), int(present[k]), odds[k]) for k in order
        ]
        table = pd.DataFrame(lines, columns=["feature", "value", "log_odds"])
        table["speaks_for"] = np.where(table["log_odds"] >= 0, self.classes_[first], self.classes_[second])
        return table

    def _feature_names(self) -> Sequence[str]:
        """Names of the columns: the frame's, or those of the hierarchy that an array was matched to."""
        if self.selector_ is None or hasattr(self, "feature_names_in_"):
            return feature_names(self)
        return self.selector_.feature_hierarchy.names

    def _class_number(self, value: Any) -> int:
        positions = np.flatnonzero(self.classes_ == value)
        if not len(positions):
            raise ValueError(
                f"There is no class {value!r}; the classes are {', '.join(map(repr, self.classes_.tolist()))}."
            )
        return int(positions[0])

    def _evidence(self, values: sparse.csr_array, mask: sparse.csr_array | None) -> np.ndarray:
        present = values.astype(np.float64)
        if mask is None:
            absent_everywhere = self._log_absent.sum(axis=0)
            return self._log_prior + absent_everywhere + present @ (self._log_present - self._log_absent)
        selected = mask.astype(np.float64)
        difference = selected.multiply(present) @ (self._log_present - self._log_absent)
        return self._log_prior + selected @ self._log_absent + difference


@dataclass(kw_only=True, eq=False, repr=False)
class LazyNeighbors(_LazyClassifier):
    """Nearest neighbours over the binary features that are selected for each row.

    Parameters
    ----------
    selector : LazySelector, optional
        Which features count in which row; None for all of them.
    n_neighbors : int, default=1
        Number of neighbours.

    Attributes
    ----------
    classes_ : ndarray
        Classes, sorted.
    selector_ : LazySelector or None
        The fitted selector.

    Notes
    -----
    The distance to a training row is the number of selected features in which it differs. All training rows as near as
    the last neighbour count, since with few selected features ties are the rule. Each class starts with a vote of one
    over the number of training rows, as in Weka. A row without a selected feature gets the prior.

    References
    ----------
    P. N. da Silva, A. Plastino, A. A. Freitas, "Prioritizing positive feature values: a new hierarchical feature
    selection method", Applied Intelligence, 2020.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.selection import LazyNeighbors, LazySelector
    >>> order = Hierarchy.from_edges([("animal", "bird"), ("animal", "fish")])
    >>> X, y = [[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]], ["flies", "flies", "swims", "swims"]
    >>> LazyNeighbors(LazySelector(order)).fit(X, y).predict([[1, 0, 1]])
    array(['swims'], dtype='<U5')
    """

    read_after_fit: ClassVar[tuple[str, ...]] = ("n_neighbors",)
    fitted_state: ClassVar[State] = {
        **_CLASSIFIER_STATE,
        "_rows": matrix("n_features", "n_rows"),
        "_row_sizes": integers("n_rows"),
        "_memberships": numbers("n_rows", "n_classes", low=0, high=1),
    }

    selector: LazySelector | None = field(default=None, kw_only=False)
    n_neighbors: int = 1

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the selector and remember the training rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Binary features.
        y : array of shape (n_samples,)
            Classes.
        """
        with fitting(self):
            n_neighbors = check_integer(self, "n_neighbors", self.n_neighbors, low=1)
            values, codes = self._fit_selector(X, y)
            if n_neighbors > values.shape[0]:
                raise ValueError(f"n_neighbors is {n_neighbors} and there are {values.shape[0]} training rows.")
            self._rows = sparse.csc_array(values.T, dtype=np.int32)
            self._row_sizes = np.diff(values.indptr)
            self._memberships = np.eye(len(self.classes_))[codes]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of each row, the first of equally likely ones."""
        chances = self.predict_proba(X)
        return self.classes_[chances.argmax(axis=1)]

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted classifier together."""
        yield 1 <= self.n_neighbors <= len(self._row_sizes), "there are fewer training rows than neighbours"

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class, in the order of `classes_`."""
        parts = []
        for values, mask in self._blocks(X):
            height = max(1, _BLOCK_CELLS // max(1, len(self._memberships)))
            for start in range(0, values.shape[0], height):
                rows = slice(start, start + height)
                parts.append(self._votes(values[rows], None if mask is None else mask[rows]))
        return np.concatenate(parts)

    def _votes(self, values: sparse.csr_array, mask: sparse.csr_array | None) -> np.ndarray:
        n_train, n_classes = self._memberships.shape
        distance = self._distances(values, mask)
        farthest = np.partition(distance, self.n_neighbors - 1, axis=1)[:, self.n_neighbors - 1]
        near = (distance <= farthest[:, None]).astype(np.float64)
        votes = near @ self._memberships + 1.0 / n_train
        votes /= near.sum(axis=1, keepdims=True) + n_classes / n_train
        empty = slice(None) if values.shape[1] == 0 else [] if mask is None else np.diff(mask.indptr) == 0
        votes[empty] = self._memberships.mean(axis=0)
        return votes

    def _distances(self, values: sparse.csr_array, mask: sparse.csr_array | None) -> np.ndarray:
        """Selected features in which the rows differ: present here, plus present there, minus twice present in both."""
        present = values.astype(np.int32)
        if mask is None:
            return np.diff(values.indptr)[:, None] + self._row_sizes - 2 * (present @ self._rows).toarray()
        selected = mask.astype(np.int32)
        here = selected.multiply(present).tocsr()
        n_here = np.asarray(here.sum(axis=1)).ravel()
        return n_here[:, None] + ((selected - 2 * here) @ self._rows).toarray()
