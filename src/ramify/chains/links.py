"""One link of a chain: a binary classifier over the features and the labels before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier

from ramify import _core
from ramify.ensemble import ForestClassifier
from ramify.ensemble.base import BaseForest
from ramify.ensemble.growing import TableForest, feature_table
from ramify.features import Features, unseen_values_allowed
from ramify.parameters import worker_count
from ramify.progress import progress_bar

LINK_RULE = "a link must be a fitted classifier over the features and the labels before it"
NO_LABELS = np.empty(0, dtype=np.intp)
Weights = NDArray[np.float64] | None
"""Weights of the rows; None where all weigh the same."""


def default_estimator(n_jobs: int | None) -> ForestClassifier:
    """The forest that learns a label where no other classifier is given."""
    return ForestClassifier(200, n_jobs=n_jobs)


def in_parallel(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], n_jobs: int | None, verbose: int = 0
) -> list[Any]:
    """Results of the calls in their order, from joblib's active backend; with a progress bar if `verbose`."""
    results = []
    with progress_bar(len(calls), verbose, "Fitting") as progress:
        if n_jobs == 1:
            finished: Iterable[Any] = (function(*call) for call in calls)
        else:
            jobs = (delayed(function)(*call) for call in calls)
            finished = Parallel(n_jobs=worker_count(n_jobs), return_as="generator")(jobs)
        for result in finished:
            results.append(result)
            if progress is not None:
                progress(len(results))
    return results


def derived_seed(seed: int, *counters: int) -> int:
    """A seed that depends on `seed` and the counters only."""
    return int(np.random.SeedSequence([seed, *counters]).generate_state(1)[0] >> 1)


def seeded_clone(estimator: BaseEstimator, seed: int) -> Any:
    """An unfitted copy whose random states, nested ones too, are set to `seed`."""
    copy = clone(estimator)
    states = [name for name in copy.get_params() if name == "random_state" or name.endswith("__random_state")]
    return copy.set_params(**dict.fromkeys(states, seed))


def rows_of(features: Features, index: NDArray[np.intp]) -> Features:
    """Some rows of a table of features."""
    return Features(features.values[index], features.n_categories)


def with_labels(X: Any, labels: NDArray[Any]) -> Any:
    """Features with label columns to their right."""
    if labels.shape[1] == 0:
        return X
    if sp.issparse(X):
        return sp.hstack([X, sp.csc_array(labels.astype(X.dtype))], format=X.format)
    return np.hstack([X, labels.astype(X.dtype)])


class Learner:
    """A base classifier over one training table, to which the labels before a link are appended."""

    def __init__(
        self,
        estimator: Any,
        features: Features,
        labels: NDArray[np.uint8],
        weights: Weights = None,
        fixed_labels: bool = False,
    ) -> None:
        self.estimator = estimator
        self.features = features
        self.labels = labels
        self.weights = weights
        self.fixed_labels = fixed_labels

    def rows(self, index: NDArray[np.intp]) -> Learner:
        """The same learner over some of the rows."""
        weights = None if self.weights is None else self.weights[index]
        features = rows_of(self.features, index)
        return type(self)(self.estimator, features, self.labels[index], weights, self.fixed_labels)

    def for_chain(self) -> Learner:
        """The learner of one chain."""
        return self

    def fit(self, earlier: NDArray[np.intp], label: int, seed: int) -> Any:
        """The classifier of a label over the features and the labels before it."""
        X = with_labels(self.features.values, self.labels[:, earlier])
        return fit_link(self.estimator, X, self.labels[:, label], seed, self.weights)

    def out_of_bag(self, link: Any, earlier: NDArray[np.intp]) -> NDArray[np.float64] | None:  # noqa: ARG002
        """Probability of each training row from the trees that have not seen it; None where there are none."""
        return None


class PartlyKnownLearner(Learner):
    """A base classifier for labels that are unknown in some rows, where the matrix of labels has NaN.

    A link is fitted to the rows of which its label is known. In the others it predicts the label, which they have never
    shown it, for the links that come after it.
    """

    def for_chain(self) -> PartlyKnownLearner:
        """The same with a matrix of its own, to be filled along the chain."""
        return PartlyKnownLearner(self.estimator, self.features, self.labels.copy(), self.weights)

    def fit(self, earlier: NDArray[np.intp], label: int, seed: int) -> Any:
        """The classifier of a label over the features and the labels before it, known or predicted."""
        X = with_labels(self.features.values, self.labels[:, earlier])
        unknown = np.isnan(self.labels[:, label])
        rows, others = np.flatnonzero(~unknown), np.flatnonzero(unknown)
        if not len(rows):
            return DummyClassifier(strategy="constant", constant=0).fit(X[:1], [0])
        weights = None if self.weights is None else self.weights[rows]
        link = fit_link(self.estimator, X[rows], self.labels[rows, label].astype(np.uint8), seed, weights)
        if len(others):
            self.labels[others, label] = link_probability(link, X[others]) >= 0.5
        return link


class ForestLearner(Learner):
    """Ramify's forest as base: features are coded once, label columns are appended without copying anything."""

    def __init__(
        self,
        estimator: ForestClassifier,
        features: Features,
        labels: NDArray[np.uint8],
        weights: Weights = None,
        fixed_labels: bool = False,
    ) -> None:
        super().__init__(estimator, features, labels, weights, fixed_labels)
        options: dict[str, Any] = {"max_bins": estimator.max_bins, "n_jobs": estimator.n_jobs}
        numeric = np.zeros(labels.shape[1], dtype=np.int32)
        self._features = feature_table(features, **options)
        self._labels = feature_table(Features(labels.astype(np.float64), numeric), **options)
        self._categories = [np.arange(k, dtype=np.float64) if k else None for k in features.n_categories.tolist()]

    def fit(self, earlier: NDArray[np.intp], label: int, seed: int) -> ForestClassifier:
        """The forest of a label over the features and the labels before it."""
        categories = self._categories + [None] * len(earlier)
        forest = seeded_clone(self.estimator, seed)
        return forest.learn_label(self._table(earlier), categories, self.labels[:, label], self.weights)

    def out_of_bag(self, link: ForestClassifier, earlier: NDArray[np.intp]) -> NDArray[np.float64] | None:
        """Mean of the trees that have not seen the row; for rows that all trees have seen, the mean of the others."""
        if not link.bootstrap:
            return None
        probability, n_trees = _core.predict_oob(
            link.trees_,
            _core.FeatureRows(self._table(earlier)),
            sample_weight=self.weights,
            row_groups=None,
            first_row=0,
            last_row=len(self.labels),
            n_threads=worker_count(link.n_jobs),
        )
        seen_by_all = n_trees == 0
        if seen_by_all.all():
            return None
        return np.where(seen_by_all, probability[~seen_by_all, 0].mean(), probability[:, 0])

    def _table(self, earlier: NDArray[np.intp]) -> _core.FeatureTable:
        if not len(earlier):
            return self._features
        return self._features.append(self._labels.take(earlier.astype(np.int64)), self.fixed_labels)


def learner_over(
    estimator: Any, features: Features, labels: NDArray[np.uint8], weights: Weights = None, fixed_labels: bool = False
) -> Learner:
    """The learner of a base classifier over a training table; with `fixed_labels` every split looks at all labels."""
    takes_codes = isinstance(estimator, TableForest)
    if fixed_labels and (labels.dtype.kind == "f" or not takes_codes):
        what = "y has unknown labels" if takes_codes else f"the estimator is a {type(estimator).__name__}"
        raise ValueError(
            f"fixed_labels=True is for Ramify's forests over complete label sets, but {what}. Set fixed_labels=False."
        )
    if labels.dtype.kind == "f":
        return PartlyKnownLearner(told_of_nominal(estimator, features), features, labels, weights)
    if takes_codes:
        return ForestLearner(estimator, features, labels, weights, fixed_labels)
    return Learner(told_of_nominal(estimator, features), features, labels, weights)


def told_of_nominal(estimator: Any, features: Features) -> Any:
    """The base classifier, told which encoded features are nominal where it has a parameter for that."""
    if not hasattr(estimator, "categorical_features"):
        return estimator
    return clone(estimator).set_params(categorical_features=np.flatnonzero(features.n_categories).tolist())


def fit_link(estimator: Any, X: Any, target: NDArray[Any], seed: int, weights: Weights = None) -> Any:
    """A classifier fitted to one label or to classes; a target that never changes needs no learning."""
    if (target == target[0]).all() and not isinstance(estimator, BaseForest):
        return DummyClassifier(strategy="prior").fit(X[:1], target[:1])
    weighed = {} if weights is None else {"sample_weight": weights}
    return seeded_clone(estimator, seed).fit(X, target, **weighed)


@unseen_values_allowed()
def link_probability(link: Any, X: Any) -> NDArray[np.float64]:
    """Probability that each row has the link's label (0 or 1 where the classifier gives no probability)."""
    if not hasattr(link, "predict_proba"):
        return np.asarray(link.predict(X), dtype=np.float64)
    probability, classes = link.predict_proba(X), np.asarray(link.classes_)
    if classes.ndim == 2:  # of label sets, here of a single label
        return probability[:, 0]
    present = np.flatnonzero(classes == 1)
    return probability[:, present[0]] if len(present) else np.zeros(probability.shape[0])


def raw_importances(link: Any, n_features: int) -> NDArray[np.float64]:
    """Mean decrease of impurity per feature, not scaled to one, so that links can be compared.

    Classifiers without trees give what they have: `feature_importances_` or the absolute `coef_`.
    """
    if isinstance(link, BaseForest):
        return _core.genie3(link.trees_)
    if isinstance(link, DummyClassifier):
        return np.zeros(n_features)
    trees = [tree.tree_ for tree in np.ravel(getattr(link, "estimators_", [])) if hasattr(tree, "tree_")]
    if trees:
        return np.mean([tree.compute_feature_importances(normalize=False) for tree in trees], axis=0)
    if hasattr(link, "tree_"):
        return link.tree_.compute_feature_importances(normalize=False)
    if hasattr(link, "feature_importances_"):
        return np.asarray(link.feature_importances_, dtype=np.float64)
    if hasattr(link, "coef_"):
        return np.abs(np.asarray(link.coef_.todense() if sp.issparse(link.coef_) else link.coef_)).reshape(-1)
    return np.full(n_features, np.nan)


def is_link(link: Any, n_features: int) -> bool:
    """Whether a loaded link is a fitted classifier over that many features."""
    is_fitted = hasattr(link, "label_names_") and hasattr(link, "predict_proba")
    return is_fitted and link.n_features_in_ == n_features


def chain_rules(order: NDArray[np.intp], links: Any, n_features: int) -> Iterator[tuple[bool, str]]:
    """What ties the order and the links of a loaded chain together."""
    yield sorted(order.tolist()) == list(range(len(order))), "an order must hold each label once"
    yield isinstance(links, list) and len(links) == len(order), "a chain must have a link per label"
    fit = all(is_link(link, n_features + place) for place, link in enumerate(links))
    yield fit, LINK_RULE
