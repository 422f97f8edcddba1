"""Classifier chains: each label is learnt from the features and the labels before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ramify.chains.base import LabelSetClassifier, LearnerParameters
from ramify.chains.chain_order import ORDERS, label_order
from ramify.chains.importance import importance_frame
from ramify.chains.links import (
    Learner,
    Weights,
    chain_rules,
    derived_seed,
    learner_over,
    link_probability,
    raw_importances,
    with_labels,
)
from ramify.features import Features, feature_names
from ramify.parameters import check_integer, check_option
from ramify.progress import progress_bar
from ramify.state import State, integers, items


@dataclass(kw_only=True, eq=False, repr=False)
class ClassifierChain(LearnerParameters, LabelSetClassifier):
    """One chain of binary classifiers: trained on true earlier labels, predicting on predicted ones.

    Parameters
    ----------
    estimator : classifier, optional
        Learner of each label; a forest of 200 trees by default.
    order : array-like or str, optional
        Order of the labels in the chain. None: as the columns come. An array of column numbers or label names. Or

        - "random";
        - "correlation": ascending mean absolute correlation with the other labels;
        - "importance": ascending mean importance of the other labels in a forest for the label;
        - "relief": ascending mean absolute ReliefF score of the other labels for the label (10 neighbours that weigh
          the same; the thesis takes CORElearn's ReliefFexpRank, whose neighbours weigh less the further they are);
        - "oob": descending out-of-bag accuracy of a forest for the label alone;
        - "canonical": descending absolute coefficient in the first canonical correlation with the features;
        - "search": the best of all orders in cross-validation up to 6 labels, beam search beyond.
    threshold : None, float, array-like, {"f1", "cardinality", "density", "batch"}, dict, default=0.5
        Score at which a label is predicted: a number, one number per label, or the threshold that brings the predicted
        label cardinality closest to the training set's ("cardinality"), the same per label ("density"),
        the largest F1 of each label ("f1"), the smallest cost of errors of each label (``{"fp": 1, "fn": 5}``), or
        "cardinality" chosen anew on the rows given to `predict` ("batch"). Labels are passed on along the chain where
        their probability is at least one half, whatever the threshold. None makes it a probabilistic chain: the most
        probable label set is predicted, found by beam search, which follows several beginnings of each row's set.
    cv : int, default=3
        Folds of `order="search"`.
    beam_width : int, default=5
        Unfinished orders kept by `order="search"` for more than 6 labels, and unfinished label sets of each row kept by
        `threshold=None`; from half the number of label sets on that search is exact.
    n_jobs : int, optional
        Number of parallel jobs.
    random_state : int, RandomState or None
        Seed.
    verbose : int, default=0
        Show a progress bar if positive.

    Attributes
    ----------
    order_ : ndarray of shape (n_labels,)
        Column numbers of the labels in the order of the chain.
    estimators_ : list
        The fitted classifier of each link, in the order of the chain.
    threshold_ : float, ndarray or None
        Threshold in use; None for "batch".
    label_names_ : tuple of str
        Names of the labels.
    prior_ : ndarray of shape (n_labels,)
        Share of rows with each label.

    References
    ----------
    L-classifier chains, sections 3.1 and 3.2; J. Read et al., Classifier chains for multi-label classification, 2011;
    A. Kumar et al., Beam search algorithms for multilabel learning, 2013 (probabilistic chains).

    Examples
    --------
    >>> from ramify.chains import ClassifierChain
    >>> from ramify.datasets import make_multilabel
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> data = make_multilabel(random_state=0)
    >>> chain = ClassifierChain(DecisionTreeClassifier(), order=[4, 3, 2, 1, 0]).fit(data.X, data.y)
    >>> chain.order_
    array([4, 3, 2, 1, 0])
    """

    _takes_unknown: ClassVar[bool] = True
    _threshold_options = (None, "f1", "cardinality", "density", "batch")
    read_after_fit: ClassVar[tuple[str, ...]] = (*LabelSetClassifier.read_after_fit, "beam_width")
    fitted_state: ClassVar[State] = {
        **LabelSetClassifier.fitted_state,
        "order_": integers("n_labels", below="n_labels"),
        "estimators_": items("n_labels"),
    }

    order: ArrayLike | str | None = None
    threshold: float | str | ArrayLike | None = 0.5
    cv: int = 3
    beam_width: int = 5

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.order, str):
            check_option(self, "order", self.order, ORDERS)
        check_integer(self, "cv", self.cv, low=2)
        check_integer(self, "beam_width", self.beam_width, low=1)

    def _fit_labels(self, features: Features, labels: NDArray[np.uint8], weights: Weights, seed: int) -> None:
        base = self._base_estimator()
        if labels.dtype.kind == "f" and isinstance(self.order, str) and self.order != "random":
            raise ValueError(
                f"order={self.order!r} is chosen from complete label sets, but y has unknown labels. Give an order, or "
                "order='random', to a ClassifierChain of partly known labels."
            )
        if weights is not None and isinstance(self.order, str) and self.order != "random":
            raise ValueError(
                f"order={self.order!r} is chosen without the weights of rows. Give an order, or order='random', to a "
                "ClassifierChain of weighted rows."
            )
        self.order_ = label_order(
            self.order,
            features,
            labels,
            names=self.label_names_,
            estimator=base,
            seed=seed,
            cv=self.cv,
            beam_width=self.beam_width,
            n_jobs=self.n_jobs,
        )
        with progress_bar(len(self.order_), self.verbose, "Fitting links") as progress:
            chain = fit_chain(
                learner_over(base, features, labels, weights),
                self.order_,
                seed,
                out_of_bag=self._needs_out_of_bag(),
                progress=progress,
            )
        self.estimators_ = list(chain.links)
        self._out_of_bag = chain.out_of_bag

    def _scores(self, X: Any) -> NDArray[np.float64]:
        if self.threshold is not None:
            return chain_probabilities(self.order_, self.estimators_, X)
        sets, probabilities = probable_label_sets(self.order_, self.estimators_, X, self.beam_width)
        shares: NDArray[np.float64] = np.einsum("rsl,rs->rl", sets, probabilities)
        return shares / probabilities.sum(axis=1, keepdims=True)

    def _predicted(self, X: Any) -> NDArray[np.bool_]:
        if self.threshold is not None:
            return super()._predicted(X)
        return probable_label_sets(self.order_, self.estimators_, X, self.beam_width)[0][:, 0]

    def importance_frame(self) -> pd.DataFrame:
        """Raw importances: a row per label, a column per feature and per label; 0 for labels that come later.

        Labels are not treated alike, since only the last sees all others: that is what `LClassifierChains` is for. (The
        thesis on L-classifier chains, Table 3.4.)
        """
        check_is_fitted(self, "estimators_")
        matrix = chain_importances(self.order_, self.estimators_, self.n_features_in_)
        labels = self.label_names_[-self.n_outputs_ :]
        return importance_frame(matrix, feature_names=feature_names(self), label_names=labels)

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted classifier together."""
        yield from super().state_rules()
        yield from chain_rules(self.order_, self.estimators_, self.n_features_in_)


@dataclass(frozen=True)
class FittedChain:
    """What fitting one chain leaves behind.

    Attributes
    ----------
    order : ndarray of shape (n_labels,)
        Column numbers of the labels in the order of the chain.
    links : tuple
        Fitted classifiers in that order; empty where they were not kept.
    importances : ndarray of shape (n_labels, n_features + n_labels) or None
        Row l holds the raw importances for label l; columns of labels that come later are 0.
    out_of_bag : ndarray of shape (n_samples, n_labels) or None
        Out-of-bag probabilities with true earlier labels.
    new : ndarray of shape (n_new, n_labels) or None
        Probabilities of the rows that were to be predicted on the way.
    """

    order: NDArray[np.intp]
    links: tuple[Any, ...]
    importances: NDArray[np.float64] | None = None
    out_of_bag: NDArray[np.float64] | None = None
    new: NDArray[np.float64] | None = None


def fit_chain(
    learner: Learner,
    order: NDArray[np.intp],
    seed: int,
    *,
    importances: bool = False,
    out_of_bag: bool = False,
    X_new: Any = None,
    keep_links: bool = True,
    progress: Callable[[int], None] | None = None,
) -> FittedChain:
    """Fit the links one after the other; without `keep_links` only one of them is in memory at a time."""
    learner = learner.for_chain()
    n_labels, n_features = learner.labels.shape[1], learner.features.values.shape[1]
    links: list[Any] = []
    matrix = np.zeros((n_labels, n_features + n_labels)) if importances else None
    seen = np.full(learner.labels.shape, np.nan) if out_of_bag else None
    new = None if X_new is None else np.zeros((X_new.shape[0], n_labels))
    for place, label in enumerate(order):
        earlier = order[:place]
        link = learner.fit(earlier, label, derived_seed(seed, place))
        if matrix is not None:
            matrix[label] = _importance_row(link, earlier, n_features, n_labels)
        if seen is not None:
            held_out = learner.out_of_bag(link, earlier)
            seen = None if held_out is None else seen
            if seen is not None:
                seen[:, label] = held_out
        if new is not None:
            new[:, label] = link_probability(link, with_labels(X_new, new[:, earlier] >= 0.5))
        if keep_links:
            links.append(link)
        if progress is not None:
            progress(place + 1)
    return FittedChain(order, tuple(links), matrix, seen, new)


def chain_importances(order: NDArray[np.intp], links: Sequence[Any], n_features: int) -> NDArray[np.float64]:
    """Row l holds the raw importances for label l; columns of labels that come later in the chain are 0."""
    matrix = np.zeros((len(order), n_features + len(order)))
    for place, (label, link) in enumerate(zip(order, links, strict=True)):
        matrix[label] = _importance_row(link, order[:place], n_features, len(order))
    return matrix


def _importance_row(link: Any, earlier: NDArray[np.intp], n_features: int, n_labels: int) -> NDArray[np.float64]:
    row = np.zeros(n_features + n_labels)
    values = raw_importances(link, n_features + len(earlier))
    row[:n_features] = values[:n_features]
    row[n_features + earlier] = values[n_features:]
    return row


def chain_probabilities(
    order: NDArray[np.intp], links: list[Any] | tuple[Any, ...], X: Any, *, labels: NDArray[np.uint8] | None = None
) -> NDArray[np.float64]:
    """Probabilities along the chain, on predicted earlier labels or, where `labels` is given, on those."""
    probabilities = np.zeros((X.shape[0], len(order)))
    for place, (label, link) in enumerate(zip(order, links, strict=True)):
        earlier = order[:place]
        passed_on = probabilities[:, earlier] >= 0.5 if labels is None else labels[:, earlier]
        probabilities[:, label] = link_probability(link, with_labels(X, passed_on))
    return probabilities


def probable_label_sets(
    order: NDArray[np.intp], links: Sequence[Any], X: Any, width: int
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """The most probable label sets of each row, at most `width`, best first, with their joint probabilities.

    Along the chain the `width` most probable beginnings are kept; of equal ones, those with the label come first.
    """
    sets = np.zeros((X.shape[0], 1, len(order)), dtype=bool)
    joint = np.ones((X.shape[0], 1))
    for place, (label, link) in enumerate(zip(order, links, strict=True)):
        known = sets[:, :, order[:place]]
        share = np.stack([link_probability(link, with_labels(X, known[:, i])) for i in range(known.shape[1])], axis=1)
        joint = np.concatenate([joint * share, joint * (1 - share)], axis=1)
        best = np.argsort(-joint, axis=1, kind="stable")[:, :width]
        sets = np.concatenate([sets, sets], axis=1)
        sets[:, : known.shape[1], label] = True
        sets = np.take_along_axis(sets, best[:, :, None], axis=1)
        joint = np.take_along_axis(joint, best, axis=1)
    return sets, joint
