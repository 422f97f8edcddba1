"""Pairwise labels: one classifier per pair of labels, whose votes rank the labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify.chains.base import COMBINATIONS, LabelSetClassifier, LearnerParameters
from ramify.chains.links import LINK_RULE, Weights, derived_seed, fit_link, in_parallel, is_link, link_probability
from ramify.features import Features
from ramify.parameters import check_integer, check_option
from ramify.state import State, integers, items


@dataclass(kw_only=True, eq=False, repr=False)
class PairwiseLabels(LearnerParameters, LabelSetClassifier):
    """One classifier per pair of labels, over the rows that have exactly one of them; the labels with most votes win.

    Parameters
    ----------
    estimator : classifier, optional
        Learner of each pair; a forest of 200 trees by default.
    threshold : {"calibrated", "top", "f1", "cardinality", "density", "batch"}, float, array-like or dict, \
            default="calibrated"
        Which labels are predicted. "calibrated": those with more votes than an artificial label that competes with
        every label (calibrated label ranking). "top": the `n_labels` labels with most votes. Otherwise the labels whose
        share of votes is at least a number, one number per label, or the threshold that brings the predicted label
        cardinality closest to the training set's ("cardinality"), the same per label ("density"), or "cardinality"
        chosen anew on the rows given to `predict` ("batch").
    combine : {"votes", "mean"}, default="votes"
        Score of a label: the share of its pairs in which it is preferred, or the mean probability that it is.
    n_labels : int, optional
        Number of labels for "top"; by default the training set's label cardinality, rounded.
    n_jobs : int, optional
        Number of parallel jobs.
    random_state : int, RandomState or None
        Seed.
    verbose : int, default=0
        Show a progress bar if positive.

    Attributes
    ----------
    pairs_ : ndarray of shape (n_pairs, 2)
        Column numbers of the labels of each pair.
    estimators_ : list
        Per pair the fitted classifier (1: the first label of the pair), or None where no row tells the labels apart.
    calibrators_ : list
        For "calibrated": per label the classifier of the label against the artificial one.
    threshold_ : float, ndarray or None
        Threshold in use, where it is one.
    label_names_ : tuple of str
        Names of the labels.
    prior_ : ndarray of shape (n_labels,)
        Share of rows with each label.

    References
    ----------
    L-classifier chains, section 2.7.3; J. Fuernkranz et al., Multilabel classification via calibrated label ranking,
    2008.

    Examples
    --------
    >>> from ramify.chains import PairwiseLabels
    >>> from ramify.datasets import make_multilabel
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> data = make_multilabel(random_state=0)
    >>> len(PairwiseLabels(DecisionTreeClassifier()).fit(data.X, data.y).estimators_)
    10
    """

    _threshold_options = ("calibrated", "top", "f1", "cardinality", "density", "batch")

    fitted_state: ClassVar[State] = {
        **LabelSetClassifier.fitted_state,
        "pairs_": integers("n_pairs", 2, below="n_labels"),
        "estimators_": items("n_pairs"),
        "calibrators_": items(),
    }

    threshold: float | str | ArrayLike = "calibrated"
    combine: str = "votes"
    n_labels: int | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option(self, "combine", self.combine, COMBINATIONS)
        if self.n_labels is not None:
            check_integer(self, "n_labels", self.n_labels, low=0)

    def _fit_labels(self, features: Features, labels: NDArray[np.uint8], weights: Weights, seed: int) -> None:
        n_labels = labels.shape[1]
        self.pairs_ = np.array(list(combinations(range(n_labels), 2)), dtype=np.intp).reshape(-1, 2)
        base, X = self._base_over(features), features.values
        pairs = [(base, X, labels[:, pair], derived_seed(seed, *pair), weights) for pair in self.pairs_]
        self.estimators_ = in_parallel(_fit_pair, pairs, self._outer_jobs(), self.verbose)
        self.calibrators_ = []
        if self._is_calibrated():
            single = [(base, X, labels[:, label], derived_seed(seed, label), weights) for label in range(n_labels)]
            self.calibrators_ = in_parallel(fit_link, single, self._outer_jobs(), self.verbose)

    def _is_calibrated(self) -> bool:
        """A single label has no pair and is left to its calibrator."""
        by_name = isinstance(self.threshold, str) and self.threshold == "calibrated"
        return by_name or self.n_outputs_ == 1 or self._class_values is not None

    def _votes(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Votes of each label, and of the artificial label."""
        votes = np.zeros((X.shape[0], self.n_outputs_))
        for (first, second), link in zip(self.pairs_, self.estimators_, strict=True):
            prefers_first = 0.5 if link is None else self._vote(link, X)
            votes[:, first] += prefers_first
            votes[:, second] += 1.0 - prefers_first
        artificial = np.zeros(X.shape[0])
        for label, link in enumerate(self.calibrators_):
            present = self._vote(link, X)
            votes[:, label] += present
            artificial += 1.0 - present
        return votes, artificial

    def _vote(self, link: Any, X: Any) -> NDArray[np.float64]:
        probability = link_probability(link, X)
        return probability if self.combine == "mean" else (probability >= 0.5).astype(np.float64)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        n_voters = max(self.n_outputs_ - 1 + (1 if self.calibrators_ else 0), 1)
        return self._votes(X)[0] / n_voters

    def _predicted(self, X: Any) -> NDArray[np.bool_]:
        if not isinstance(self.threshold, str) or self.threshold not in {"calibrated", "top"}:
            return super()._predicted(X)
        votes, artificial = self._votes(X)
        if self.threshold == "calibrated":
            return votes > artificial[:, None]
        n_top = round(self.cardinality_) if self.n_labels is None else self.n_labels
        place = np.argsort(np.argsort(-votes, axis=1, kind="stable"), axis=1, kind="stable")
        return place < n_top

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted classifier together."""
        yield from super().state_rules()
        expected = list(combinations(range(self.n_outputs_), 2))
        yield [tuple(pair) for pair in self.pairs_.tolist()] == expected, "pairs_ must hold every pair of labels"
        yield len(self.calibrators_) in {0, self.n_outputs_}, "calibrators_ must hold a classifier per label"
        links = [link for link in [*self.estimators_, *self.calibrators_] if link is not None]
        fit = all(is_link(link, self.n_features_in_) for link in links)
        yield fit, LINK_RULE


def _fit_pair(estimator: Any, X: Any, pair: NDArray[np.uint8], seed: int, weights: Weights) -> Any:
    """The classifier that tells the first label from the second, over the rows that have exactly one of them."""
    rows = np.flatnonzero(pair[:, 0] != pair[:, 1])
    own = None if weights is None else weights[rows]
    return fit_link(estimator, X[rows], pair[rows, 0], seed, own) if len(rows) else None
