"""Ensembles of chains: random orders (ECC), and L chains each of which ends in another label (LCC)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ramify.chains.base import COMBINATIONS, LabelSetClassifier, LearnerParameters
from ramify.chains.chain import FittedChain, chain_importances, chain_probabilities, fit_chain
from ramify.chains.importance import importance_frame
from ramify.chains.links import Learner, Weights, chain_rules, derived_seed, in_parallel, learner_over
from ramify.features import Features, apply_features, feature_names
from ramify.parameters import check_flag, check_integer, check_option, check_real
from ramify.ranking import FeatureRanking
from ramify.state import State, integers, items, numbers, perhaps

_ORDER_SEED = 0x0D0E
_ROWS_SEED = 0x7085


@dataclass(kw_only=True, eq=False, repr=False)
class EnsembleOfChains(LearnerParameters, LabelSetClassifier):
    """Chains in random orders, each over a random part of the rows, that vote for labels.

    Parameters
    ----------
    estimator : classifier, optional
        Learner of each link; a forest of 200 trees by default.
    n_chains : int, optional
        Number of chains; by default the number of labels.
    max_samples : float, default=0.67
        Share of the rows that each chain is fitted to, drawn without replacement.
    combine : {"votes", "mean"}, default="mean"
        Score of a label: the share of chains that predict it, or the mean of their probabilities.
    threshold : float, array-like, {"f1", "cardinality", "density", "batch"}, dict, default="cardinality"
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
    orders_ : ndarray of shape (n_chains, n_labels)
        Column numbers of the labels in the order of each chain.
    estimators_ : list of list
        The fitted classifiers of each chain, in its order.
    threshold_ : float, ndarray or None
        Threshold in use; None for "batch".
    label_names_ : tuple of str
        Names of the labels.
    prior_ : ndarray of shape (n_labels,)
        Share of rows with each label.

    Notes
    -----
    The thesis chooses the threshold on the test predictions at hand, which is `threshold="batch"`. The default chooses
    it in `fit`, on out-of-bag scores given the true earlier labels (on an inner five-fold cross-validation for learners
    without them), so that a prediction does not depend on the other rows. The thesis counts votes; means of
    probabilities (its section 7.4) order labels more finely and are the default, `combine="votes"` is its rule.

    References
    ----------
    J. Read et al., Classifier chains for multi-label classification, 2011; L-classifier chains, section 3.2.1.

    Examples
    --------
    >>> from ramify.chains import EnsembleOfChains
    >>> from ramify.datasets import make_multilabel
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> data = make_multilabel(random_state=0)
    >>> ensemble = EnsembleOfChains(DecisionTreeClassifier(), n_chains=3, random_state=0).fit(data.X, data.y)
    >>> ensemble.predict(data.X).shape
    (200, 5)
    """

    _takes_unknown: ClassVar[bool] = True
    fitted_state: ClassVar[State] = {
        **LabelSetClassifier.fitted_state,
        "orders_": integers("n_chains", "n_labels", below="n_labels"),
        "estimators_": items("n_chains"),
    }

    n_chains: int | None = None
    max_samples: float = 0.67
    combine: str = "mean"
    threshold: float | str | ArrayLike = "cardinality"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_chains is not None:
            check_integer(self, "n_chains", self.n_chains, low=1)
        check_real(self, "max_samples", self.max_samples, low=0, high=1, open_low=True)
        check_option(self, "combine", self.combine, COMBINATIONS)

    def _fit_labels(self, features: Features, labels: NDArray[np.uint8], weights: Weights, seed: int) -> None:
        n_chains = labels.shape[1] if self.n_chains is None else self.n_chains
        learner = learner_over(self._base_estimator(), features, labels, weights)
        calls = [
            (learner, self.max_samples, self._needs_out_of_bag(), derived_seed(seed, chain))
            for chain in range(n_chains)
        ]
        chains = in_parallel(_fit_random_chain, calls, self._outer_jobs(), self.verbose)
        self.orders_ = np.array([chain.order for chain in chains])
        self.estimators_ = [list(chain.links) for chain in chains]
        self._out_of_bag = _combined([chain.out_of_bag for chain in chains], self.combine)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return _ensemble_scores(self, X)

    def _candidates(self) -> NDArray[np.float64] | None:
        return _vote_shares(len(self.orders_)) if self.combine == "votes" else None

    def importance_frame(self) -> Any:
        """Raw importances: a row per label, a column per feature and per label.

        Those of features are means over the chains, those of a label over the chains in which it came before the row's
        label; 0 where it never did.
        """
        check_is_fitted(self, "estimators_")
        chains = zip(self.orders_, self.estimators_, strict=True)
        matrices = np.array([chain_importances(order, links, self.n_features_in_) for order, links in chains])
        matrix = matrices.mean(axis=0)
        place = np.argsort(self.orders_, axis=1)
        n_before = (place[:, None, :] < place[:, :, None]).sum(axis=0)  # chains in which the column came before the row
        of_labels = matrices[:, :, self.n_features_in_ :].sum(axis=0)
        matrix[:, self.n_features_in_ :] = of_labels / np.maximum(n_before, 1)
        labels = self.label_names_[-self.n_outputs_ :]
        return importance_frame(matrix, feature_names=feature_names(self), label_names=labels)

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted classifier together."""
        yield from super().state_rules()
        yield len(self.orders_) > 0, "there must be a chain"
        for order, links in zip(self.orders_, self.estimators_, strict=True):
            yield from chain_rules(order, links, self.n_features_in_)


@dataclass(kw_only=True, eq=False, repr=False)
class LClassifierChains(LearnerParameters, LabelSetClassifier):
    """L chains over all rows, of which chain i ends in label i, so that every label is once explained by all others.

    The chains vote as in an ensemble of chains. Because every label once sees all others, the importances of features
    *and* labels for every label form one matrix, in which label dependence can be read off.

    Parameters
    ----------
    estimator : classifier, optional
        Learner of each link; a forest of 200 trees by default.
    n_last : int, default=1
        Number of labels at the end of each chain. With 2 there is a chain for every pair of labels, L (L - 1) / 2 in
        all, that ends in both of them in random order: the thesis's proposal, which costs (L - 1) / 2 times as much.
    fixed_labels : bool, default=False
        Let every split look at all labels before it, instead of those that happen to be drawn among the features; the
        other features are drawn to make up `max_features`, at least one of them. Ramify's forests only.
    keep_forests : bool, default=True
        Keep the L * L fitted classifiers. Without them only one is in memory at a time; importances and out-of-bag
        scores remain, and `fit_and_predict` predicts new rows while fitting.
    combine : {"votes", "mean"}, default="mean"
        Score of a label: the share of chains that predict it, or the mean of their probabilities.
    threshold : float, array-like, {"f1", "cardinality", "density", "batch"}, dict, default="cardinality"
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
    orders_ : ndarray of shape (n_chains, n_labels)
        Column numbers of the labels in the order of each chain; row i ends in i, with `n_last=2` in the i-th pair.
    estimators_ : list of list
        The fitted classifiers of each chain, in its order; empty without `keep_forests`.
    importances_ : ndarray of shape (n_labels, n_features + n_labels)
        Mean decrease of impurity, not scaled. Features: mean over all chains. Labels: from the chain that ends in the
        row's label (with `n_last=2` means over those that do, where the column came before); 0 for the label itself.
    label_share_ : ndarray of shape (n_labels,)
        Share of the importance that comes from other labels, in the chain that ends in the label, or their mean.
    ranking_ : FeatureRanking
        The features ranked by their mean importance over all labels; scores per label are rows of `importances_`.
    votes_ : ndarray of shape (n_new, n_labels)
        After `fit_and_predict`: scores of the new rows.
    threshold_ : float, ndarray or None
        Threshold in use; None for "batch".
    label_names_ : tuple of str
        Names of the labels.
    prior_ : ndarray of shape (n_labels,)
        Share of rows with each label.

    Notes
    -----
    The thesis chooses the threshold on the test predictions at hand, which is `threshold="batch"`. The default chooses
    it in `fit`, on out-of-bag scores given the true earlier labels (on an inner five-fold cross-validation for learners
    without them), so that a prediction does not depend on the other rows. The thesis counts votes; means of
    probabilities (its section 7.4) order labels more finely and are the default, `combine="votes"` is its rule.

    The thesis's listing orders the label columns of a chain as text, which permutes them for ten or more labels; here
    every column is that of its label.

    References
    ----------
    L-classifier chains, section 3.3; `n_last` and `fixed_labels` are ideas of its chapter 8.

    Examples
    --------
    >>> from ramify.chains import LClassifierChains
    >>> from ramify.datasets import make_multilabel
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> data = make_multilabel(random_state=0)
    >>> chains = LClassifierChains(RandomForestClassifier(10), threshold=0.5, random_state=0).fit(data.X, data.y)
    >>> chains.importances_.shape, chains.orders_[:, -1]
    ((5, 55), array([0, 1, 2, 3, 4]))
    """

    _takes_unknown: ClassVar[bool] = True
    fitted_state: ClassVar[State] = {
        **LabelSetClassifier.fitted_state,
        "orders_": integers("n_chains", "n_labels", below="n_labels"),
        "estimators_": items(),
        "importances_": numbers("n_labels", "n_columns", nan=True),
        "label_share_": numbers("n_labels", nan=True),
        "votes_": perhaps(numbers("n_new", "n_labels")),
    }

    n_last: int = 1
    fixed_labels: bool = False
    keep_forests: bool = True
    combine: str = "mean"
    threshold: float | str | ArrayLike = "cardinality"

    def fit_and_predict(self, X: ArrayLike, y: ArrayLike, X_new: ArrayLike, sample_weight: Any = None) -> Any:
        """Fit, and predict new rows on the way; this works without keeping the forests.

        Parameters
        ----------
        X, y : array-like
            Training rows and their label sets, as in `fit`.
        X_new : array-like, sparse matrix or frame of shape (n_new, n_features)
            Rows to predict; their scores are left in `votes_`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the training rows, as in `fit`.

        Returns
        -------
        ndarray or CSR matrix of shape (n_new, n_labels)
        """
        self._X_new = X_new
        try:
            self.fit(X, y, sample_weight)
        finally:
            del self._X_new
        if self._class_values is not None:
            return self._class_values[self._as_probabilities(self.votes_).argmax(axis=1)]
        return self._as_label_sets(self._present(self.votes_))

    def importance_frame(self) -> Any:
        """The importance matrix as a pandas frame: a row per label, a column per feature and per label."""
        labels = self.label_names_[-self.n_outputs_ :]
        return importance_frame(self.importances_, feature_names=feature_names(self), label_names=labels)

    @property
    def ranking_(self) -> FeatureRanking:
        """The features, without the labels, ranked by their mean importance over all labels."""
        check_is_fitted(self, "importances_")
        per_label = self.importances_[:, : self.n_features_in_].T
        named = ("n_last", "fixed_labels", "keep_forests", "combine")
        return FeatureRanking(
            feature_names(self),
            per_label.mean(axis=1),
            per_label=per_label,
            label_names=self.label_names_[-self.n_outputs_ :],
            origin={"method": "lcc", "parameters": {name: getattr(self, name) for name in named}},
        )

    @property
    def scores_(self) -> NDArray[np.float64]:
        """Scores of `ranking_`, so that `SelectFromModel(importance_getter="scores_")` works."""
        return self.ranking_.scores

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer(self, "n_last", self.n_last, low=1)
        check_flag(self, "fixed_labels", self.fixed_labels)
        check_flag(self, "keep_forests", self.keep_forests)
        check_option(self, "combine", self.combine, COMBINATIONS)

    def _fit_labels(self, features: Features, labels: NDArray[np.uint8], weights: Weights, seed: int) -> None:
        n_labels = labels.shape[1]
        X_new = None
        if hasattr(self, "_X_new"):
            X_new = apply_features(self, self._X_new).values
        if self.n_last > n_labels:
            raise ValueError(f"n_last={self.n_last} labels end each chain, but y has {n_labels}. Choose a smaller one.")
        learner = learner_over(self._base_estimator(), features, labels, weights, self.fixed_labels)
        ends = enumerate(combinations(range(n_labels), self.n_last))
        self.orders_ = np.array([_order_ending_in(last, n_labels, derived_seed(seed, chain)) for chain, last in ends])
        calls = [
            (learner, order, derived_seed(seed, chain), self._needs_out_of_bag(), X_new, self.keep_forests)
            for chain, order in enumerate(self.orders_)
        ]
        chains = in_parallel(_fit_full_chain, calls, self._outer_jobs(), self.verbose)
        self.estimators_ = [list(chain.links) for chain in chains] if self.keep_forests else []
        self._out_of_bag = _combined([chain.out_of_bag for chain in chains], self.combine)
        self.importances_, self.label_share_ = _importance_matrix(chains, features.values.shape[1], self.n_last)
        if X_new is not None:
            self.votes_ = _combined([chain.new for chain in chains], self.combine)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        if not self.estimators_:
            raise ValueError(
                "LClassifierChains was fitted with keep_forests=False and cannot predict other rows. "
                "Use fit_and_predict(X, y, X_new), or keep_forests=True."
            )
        return _ensemble_scores(self, X)

    def _candidates(self) -> NDArray[np.float64] | None:
        return _vote_shares(len(self.orders_)) if self.combine == "votes" else None

    def state_rules(self) -> Iterator[tuple[bool, str]]:
        """What ties the parts of a fitted classifier together."""
        yield from super().state_rules()
        n_columns = self.n_features_in_ + self.n_outputs_
        yield self.importances_.shape[1] == n_columns, "importances_ must have a column per feature and label"
        yield self.keep_forests or not self.estimators_, "there are forests although none were kept"
        if self.keep_forests:
            yield len(self.orders_) > 0, "there must be a chain"
            for order, links in zip(self.orders_, self.estimators_, strict=True):
                yield from chain_rules(order, links, self.n_features_in_)


def _fit_random_chain(learner: Learner, max_samples: float, out_of_bag: bool, seed: int) -> FittedChain:
    """One chain of an ensemble; its out-of-bag scores cover the rows it was not given, too."""
    labels = learner.labels
    n_samples, n_labels = labels.shape
    order = np.random.RandomState(derived_seed(seed, _ORDER_SEED)).permutation(n_labels)
    n_drawn = max(int(n_samples * max_samples), 1)
    shuffled = np.random.RandomState(derived_seed(seed, _ROWS_SEED)).permutation(n_samples)
    drawn, left_out = np.sort(shuffled[:n_drawn]), np.sort(shuffled[n_drawn:])
    chain = fit_chain(learner.rows(drawn), order, seed, out_of_bag=out_of_bag)
    if chain.out_of_bag is None:
        return chain
    scores = np.empty(labels.shape)
    scores[drawn] = chain.out_of_bag
    if len(left_out):
        scores[left_out] = chain_probabilities(
            order, chain.links, learner.features.values[left_out], labels=labels[left_out]
        )
    return FittedChain(order, chain.links, out_of_bag=scores)


def _fit_full_chain(
    learner: Learner,
    order: NDArray[np.intp],
    seed: int,
    out_of_bag: bool,
    X_new: Any,
    keep_links: bool,
) -> FittedChain:
    return fit_chain(learner, order, seed, importances=True, out_of_bag=out_of_bag, X_new=X_new, keep_links=keep_links)


def _order_ending_in(last: tuple[int, ...], n_labels: int, seed: int) -> NDArray[np.intp]:
    random = np.random.RandomState(derived_seed(seed, _ORDER_SEED))
    others = random.permutation(np.delete(np.arange(n_labels), last))
    return np.append(others, random.permutation(last)).astype(np.intp)


def _importance_matrix(
    chains: list[FittedChain], n_features: int, n_last: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Features averaged over the chains, labels over those that end in the row's label; and the labels' share."""
    by_chain = np.array([chain.importances for chain in chains])
    matrix = by_chain.mean(axis=0)
    place = np.argsort([chain.order for chain in chains], axis=1)
    share = np.zeros(len(matrix))
    for label in range(len(matrix)):
        ending = np.flatnonzero(place[:, label] >= len(matrix) - n_last)
        rows = by_chain[ending, label]
        n_before = (place[ending] < place[ending, label][:, None]).sum(axis=0)
        matrix[label, n_features:] = rows[:, n_features:].sum(axis=0) / np.maximum(n_before, 1)
        total = rows.sum(axis=1)
        shares = rows[:, n_features:].sum(axis=1) / np.where(total > 0, total, 1.0)
        share[label] = np.where(total > 0, shares, 0.0).mean()
    return matrix, share


def _combined(probabilities: list[Any], combine: str) -> Any:
    """Share of votes or mean probability over the chains, None without; rows that no tree left out do not vote."""
    if any(chain is None for chain in probabilities):
        return None
    stacked = np.array(probabilities)
    if combine == "mean":
        known = ~np.isnan(stacked)
        return np.where(known, stacked, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return (stacked >= 0.5).sum(axis=0) / len(probabilities)


def _ensemble_scores(ensemble: EnsembleOfChains | LClassifierChains, X: Any) -> NDArray[np.float64]:
    chains = zip(ensemble.orders_, ensemble.estimators_, strict=True)
    total = np.zeros((X.shape[0], ensemble.orders_.shape[1]))
    for order, links in chains:
        probabilities = chain_probabilities(order, links, X)
        total += probabilities if ensemble.combine == "mean" else probabilities >= 0.5
    return total / len(ensemble.orders_)


def _vote_shares(n_chains: int) -> NDArray[np.float64]:
    return np.arange(1, n_chains + 1) / n_chains
