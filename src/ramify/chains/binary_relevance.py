"""Binary relevance: one classifier per label, each on its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify.chains.base import LabelSetClassifier, LearnerParameters
from ramify.chains.links import (
    LINK_RULE,
    NO_LABELS,
    Learner,
    Weights,
    derived_seed,
    in_parallel,
    is_link,
    learner_over,
    link_probability,
)
from ramify.ensemble.calibrated import at_most_parents
from ramify.features import Features
from ramify.hierarchy import Hierarchy
from ramify.state import State, items


@dataclass(kw_only=True, eq=False, repr=False)
class BinaryRelevance(LearnerParameters, LabelSetClassifier):
    """One binary classifier per label; dependence between labels is not used.

    Parameters
    ----------
    estimator : classifier, optional
        Learner of each label; a forest of 200 trees by default.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels: y is closed under ancestors, its columns follow `hierarchy.names` (a frame is matched
        by name), and no score exceeds that of a parent: scores are cut down to it, from the top.
    threshold : float, array-like, {"f1", "cardinality", "density", "batch"}, dict, default=0.5
        Score at which a label is predicted: a number, one number per label, or the threshold that brings the predicted
        label cardinality closest to the training set's ("cardinality"), the same per label ("density"),
        the largest F1 of each label ("f1"), the smallest cost of errors of each label (``{"fp": 1, "fn": 5}``), or
        "cardinality" chosen anew on the rows given to `predict` ("batch").
    n_jobs : int, optional
        Number of parallel jobs.
    random_state : int, RandomState or None
        Seed.
    verbose : int, default=0
        Show a progress bar if positive.

    Attributes
    ----------
    estimators_ : list
        The fitted classifier of each label.
    threshold_ : float, ndarray or None
        Threshold in use; None for "batch".
    label_names_ : tuple of str
        Names of the labels.
    prior_ : ndarray of shape (n_labels,)
        Share of rows with each label.

    References
    ----------
    L-classifier chains, section 2.7.1.

    Examples
    --------
    >>> from ramify.chains import BinaryRelevance
    >>> from ramify.datasets import make_multilabel
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> data = make_multilabel(random_state=0)
    >>> BinaryRelevance(DecisionTreeClassifier()).fit(data.X, data.y).predict_proba(data.X).shape
    (200, 5)
    """

    _takes_unknown: ClassVar[bool] = True
    fitted_state: ClassVar[State] = {
        **LabelSetClassifier.fitted_state,
        "estimators_": items("n_labels"),
    }

    hierarchy: Hierarchy | None = None
    threshold: float | str | ArrayLike = 0.5

    def _fit_labels(self, features: Features, labels: NDArray[np.uint8], weights: Weights, seed: int) -> None:
        learner = learner_over(self._base_estimator(), features, labels, weights)
        calls = [
            (learner, label, self._needs_out_of_bag(), derived_seed(seed, label)) for label in range(labels.shape[1])
        ]
        fitted = in_parallel(_fit_label, calls, self._outer_jobs(), self.verbose)
        self.estimators_ = [link for link, _ in fitted]
        if all(held_out is not None for _, held_out in fitted):
            self._out_of_bag = self._closed(np.column_stack([held_out for _, held_out in fitted]))

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return self._closed(np.column_stack([link_probability(link, X) for link in self.estimators_]))

    def _closed(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return scores if self.hierarchy is None else at_most_parents(scores, self.hierarchy)

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted classifier together."""
        yield from super().state_rules()
        fits = all(is_link(link, self.n_features_in_) for link in self.estimators_)
        yield fits, LINK_RULE


def _fit_label(learner: Learner, label: int, out_of_bag: bool, seed: int) -> tuple[Any, NDArray[np.float64] | None]:
    learner = learner.for_chain()
    link = learner.fit(NO_LABELS, label, seed)
    return link, learner.out_of_bag(link, NO_LABELS) if out_of_bag else None
