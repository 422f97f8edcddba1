"""Label powersets: every label set a class of its own, over all labels or over random small sets of them (RAkEL)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify.chains.base import COMBINATIONS, LabelSetClassifier, LearnerParameters
from ramify.chains.links import Weights, derived_seed, fit_link, in_parallel, is_link
from ramify.features import Features, unseen_values_allowed
from ramify.hierarchy import Hierarchy
from ramify.parameters import check_flag, check_integer, check_option
from ramify.state import State, integers, items

_LABELSETS_SEED = 0x1AB5


@dataclass(kw_only=True, eq=False, repr=False)
class LabelPowerset(LearnerParameters, LabelSetClassifier):
    """One multi-class classifier whose classes are the label sets of the training rows.

    Parameters
    ----------
    estimator : classifier, optional
        Learner of the label sets; a forest of 200 trees by default.
    pruning : int, default=0
        Label sets that at most this many rows have are left out, with their rows (pruned problem transformation).
    hierarchy : Hierarchy, optional
        Hierarchy of the labels: y is closed under ancestors, its columns follow `hierarchy.names` (a frame is matched
        by name), and so is every label set that is predicted.
    threshold : None, float, array-like, {"f1", "cardinality", "density", "batch"}, dict, default=None
        None predicts the most probable label set. Otherwise each label is predicted on its own, from the sum of the
        probabilities of the label sets that hold it: at a number, at one number per label, or at the threshold that
        brings the predicted label cardinality closest to the training set's ("cardinality"), the same per label
        ("density"), or "cardinality" chosen anew on the rows given to `predict` ("batch").
    n_jobs : int, optional
        Number of parallel jobs of the default forest.
    random_state : int, RandomState or None
        Seed.
    verbose : int, default=0
        Show a progress bar if positive.

    Attributes
    ----------
    label_sets_ : ndarray of shape (n_label_sets, n_labels)
        The label sets that can be predicted.
    estimators_ : list
        The one fitted classifier.
    threshold_ : float, ndarray or None
        Threshold in use.
    label_names_ : tuple of str
        Names of the labels.
    prior_ : ndarray of shape (n_labels,)
        Share of rows with each label.

    References
    ----------
    L-classifier chains, section 2.7.2; J. Read, A pruned problem transformation method for multi-label
    classification, 2008.

    Examples
    --------
    >>> from ramify.chains import LabelPowerset
    >>> from ramify.datasets import make_multilabel
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> data = make_multilabel(random_state=0)
    >>> LabelPowerset(DecisionTreeClassifier(), pruning=2).fit(data.X, data.y).predict(data.X).shape
    (200, 5)
    """

    _threshold_options = (None, "f1", "cardinality", "density", "batch")

    fitted_state: ClassVar[State] = {
        **LabelSetClassifier.fitted_state,
        "label_sets_": integers("n_sets", "n_labels", below=2),
        "estimators_": items(1),
    }

    pruning: int = 0
    hierarchy: Hierarchy | None = None
    threshold: float | str | ArrayLike | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer(self, "pruning", self.pruning, low=0)

    def _fit_labels(self, features: Features, labels: NDArray[np.uint8], weights: Weights, seed: int) -> None:
        base = self._base_over(features)
        if self.estimator is None:
            base.set_params(verbose=self.verbose)
        self.label_sets_, link = _fit_powerset(base, features.values, labels, weights, self.pruning, seed)
        self.estimators_ = [link]

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return _set_probabilities(self.estimators_[0], X) @ self.label_sets_

    def _predicted(self, X: Any) -> NDArray[np.bool_]:
        if self.threshold is not None:
            return super()._predicted(X)
        return _most_probable(self.label_sets_, self.estimators_[0], X)

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted classifier together."""
        yield from super().state_rules()
        fits = _is_powerset(self.label_sets_, self.estimators_[0], self.n_outputs_, self.n_features_in_)
        yield fits, "label_sets_ does not fit the classifier"


@dataclass(kw_only=True, eq=False, repr=False)
class RAkEL(LearnerParameters, LabelSetClassifier):
    """Random k-labelsets: label powersets over small random sets of labels, whose predictions vote.

    Parameters
    ----------
    estimator : classifier, optional
        Learner of the label sets; a forest of 200 trees by default.
    overlapping : bool, default=True
        Draw `n_labelsets` sets of labels that may share labels, or cut the labels into disjoint sets.
    labelset_size : int, default=3
        Number of labels per set (k).
    combine : {"votes", "mean"}, default="votes"
        Score of a label: the share of sets that predict it, or the mean of their probabilities.
    n_labelsets : int, optional
        Number of overlapping sets; by default twice the number of labels, or all there are if those are fewer.
    threshold : float, array-like, {"f1", "cardinality", "density", "batch"}, dict, default=0.5
        Share of votes at which a label is predicted: a number, one number per label, or the threshold that brings the
        predicted label cardinality closest to the training set's ("cardinality"), the same per label ("density"),
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
    labelsets_ : list of ndarray
        Column numbers of the labels of each set; together they hold every label.
    label_sets_ : list of ndarray
        Per set of labels, the label sets that can be predicted.
    estimators_ : list
        The fitted classifier of each set of labels.
    threshold_ : float, ndarray or None
        Threshold in use; None for "batch".
    label_names_ : tuple of str
        Names of the labels.
    prior_ : ndarray of shape (n_labels,)
        Share of rows with each label.

    References
    ----------
    G. Tsoumakas, I. Katakis and I. Vlahavas, Random k-labelsets for multilabel classification, 2011.

    Examples
    --------
    >>> from ramify.chains import RAkEL
    >>> from ramify.datasets import make_multilabel
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> data = make_multilabel(random_state=0)
    >>> sets = RAkEL(DecisionTreeClassifier(), overlapping=False, random_state=0).fit(data.X, data.y).labelsets_
    >>> sorted(len(labels) for labels in sets)
    [2, 3]
    """

    fitted_state: ClassVar[State] = {
        **LabelSetClassifier.fitted_state,
        "labelsets_": items("n_labelsets"),
        "label_sets_": items("n_labelsets"),
        "estimators_": items("n_labelsets"),
    }

    overlapping: bool = True
    labelset_size: int = 3
    n_labelsets: int | None = None
    combine: str = "votes"
    threshold: float | str | ArrayLike = 0.5

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flag(self, "overlapping", self.overlapping)
        check_option(self, "combine", self.combine, COMBINATIONS)
        check_integer(self, "labelset_size", self.labelset_size, low=1)
        if self.n_labelsets is not None:
            check_integer(self, "n_labelsets", self.n_labelsets, low=1)

    def _fit_labels(self, features: Features, labels: NDArray[np.uint8], weights: Weights, seed: int) -> None:
        self.labelsets_ = self._drawn_labelsets(labels.shape[1], derived_seed(seed, _LABELSETS_SEED))
        base = self._base_over(features)
        calls = [
            (base, features.values, labels[:, chosen], weights, 0, derived_seed(seed, number))
            for number, chosen in enumerate(self.labelsets_)
        ]
        fitted = in_parallel(_fit_powerset, calls, self._outer_jobs(), self.verbose)
        self.label_sets_ = [label_sets for label_sets, _ in fitted]
        self.estimators_ = [link for _, link in fitted]

    def _drawn_labelsets(self, n_labels: int, seed: int) -> list[NDArray[np.intp]]:
        """Sets of labels of which the first few hold every label once."""
        random = np.random.RandomState(seed)
        size = min(self.labelset_size, n_labels)
        shuffled = random.permutation(n_labels)
        parts = [np.sort(shuffled[start : start + size]) for start in range(0, n_labels, size)]
        if not self.overlapping:
            return parts
        others = np.setdiff1d(np.arange(n_labels), parts[-1])
        parts[-1] = np.sort(np.append(parts[-1], random.permutation(others)[: size - len(parts[-1])]))
        wanted = 2 * n_labels if self.n_labelsets is None else self.n_labelsets
        wanted = min(max(wanted, len(parts)), comb(n_labels, size))
        drawn = {tuple(part) for part in parts}
        while len(drawn) < wanted:
            drawn.add(tuple(np.sort(random.permutation(n_labels)[:size])))
        return [np.array(labelset, dtype=np.intp) for labelset in sorted(drawn)]

    def _scores(self, X: Any) -> NDArray[np.float64]:
        votes = np.zeros((X.shape[0], self.n_outputs_))
        voters = np.zeros(self.n_outputs_)
        for chosen, label_sets, link in zip(self.labelsets_, self.label_sets_, self.estimators_, strict=True):
            if self.combine == "mean":
                votes[:, chosen] += _set_probabilities(link, X) @ label_sets
            else:
                votes[:, chosen] += _most_probable(label_sets, link, X)
            voters[chosen] += 1
        return votes / voters

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted classifier together."""
        yield from super().state_rules()
        parts = zip(self.labelsets_, self.label_sets_, self.estimators_, strict=True)
        fit = all(_is_powerset(sets, link, len(chosen), self.n_features_in_) for chosen, sets, link in parts)
        yield fit, "label_sets_ does not fit the classifiers"
        are_labels = all(isinstance(chosen, np.ndarray) and chosen.dtype.kind == "i" for chosen in self.labelsets_)
        held = {label for chosen in self.labelsets_ for label in np.asarray(chosen).tolist()}
        yield are_labels and held == set(range(self.n_outputs_)), "labelsets_ must hold every label"


def _is_powerset(label_sets: Any, link: Any, n_labels: int, n_features: int) -> bool:
    """Whether a loaded classifier predicts these label sets."""
    known = isinstance(label_sets, np.ndarray) and label_sets.dtype == np.uint8 and bool((label_sets <= 1).all())
    return known and is_link(link, n_features) and label_sets.shape == (len(link.label_names_), n_labels)


def _fit_powerset(
    estimator: Any, X: Any, labels: NDArray[np.uint8], weights: Weights, pruning: int, seed: int
) -> tuple[NDArray[np.uint8], Any]:
    """The label sets with more than `pruning` rows and a classifier of their numbers."""
    label_sets, number, n_rows = np.unique(labels, axis=0, return_inverse=True, return_counts=True)
    kept = n_rows > pruning
    if not kept.any():
        raise ValueError(
            f"No label set has more than pruning={pruning} rows; the most frequent has {n_rows.max()}. "
            "Choose a smaller 'pruning'."
        )
    renumbered = np.cumsum(kept) - 1
    rows = kept[number.ravel()]
    target = renumbered[number.ravel()[rows]]
    return label_sets[kept], fit_link(estimator, X[rows], target, seed, None if weights is None else weights[rows])


@unseen_values_allowed()
def _set_probabilities(link: Any, X: Any) -> NDArray[np.float64]:
    """Probability of each label set."""
    if hasattr(link, "predict_proba"):
        return link.predict_proba(X)
    return (link.predict(X)[:, None] == np.asarray(link.classes_)).astype(np.float64)


def _most_probable(label_sets: NDArray[np.uint8], link: Any, X: Any) -> NDArray[np.bool_]:
    return label_sets[_set_probabilities(link, X).argmax(axis=1)] == 1
