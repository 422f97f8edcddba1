"""Orders of the labels in one chain: given, random, or chosen from the training data."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import KFold

from ramify.chains.links import (
    NO_LABELS,
    default_estimator,
    derived_seed,
    learner_over,
    link_probability,
    raw_importances,
    rows_of,
    with_labels,
)
from ramify.features import Features
from ramify.ranking import ReliefRanker

ORDERS = ("random", "correlation", "importance", "relief", "oob", "canonical", "search")
_ALL_ORDERS_UP_TO = factorial(6)
_ORDER_SEED = 0x0D0E


def label_order(
    order: ArrayLike | str | None,
    features: Features,
    labels: NDArray[np.uint8],
    *,
    names: Sequence[str],
    estimator: Any,
    seed: int,
    cv: int,
    beam_width: int,
    n_jobs: int | None,
) -> NDArray[np.intp]:
    """Column numbers of the labels in the order of the chain."""
    seed = derived_seed(seed, _ORDER_SEED)
    if order is None:
        return np.arange(labels.shape[1])
    if not isinstance(order, str):
        return _given_order(order, names)
    if order == "random":
        return np.random.RandomState(seed).permutation(labels.shape[1])
    if order == "search":
        return search_order(estimator, features, labels, cv=cv, beam_width=beam_width, seed=seed)
    if order == "correlation":
        return _ascending(correlation_strength(labels))
    if order == "importance":
        return _ascending(importance_strength(labels, seed=seed, n_jobs=n_jobs))
    if order == "relief":
        return _ascending(relief_strength(labels, seed=seed))
    if order == "oob":
        return _ascending(-out_of_bag_accuracy(features, labels, seed=seed, n_jobs=n_jobs))
    return _ascending(-canonical_strength(features.values, labels))


def correlation_strength(labels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Mean absolute correlation of each label with the others; a label that never changes has 0."""
    return _mean_of_others(np.abs(label_correlation(labels)))


def label_correlation(labels: NDArray[Any]) -> NDArray[np.float64]:
    """Correlation of every pair of columns of a 0/1 matrix; 0 where a label never changes."""
    centred = labels - labels.mean(axis=0)
    norm = np.sqrt((centred**2).sum(axis=0))
    unit = centred / np.where(norm > 0, norm, 1.0)
    return unit.T @ unit


def importance_strength(labels: NDArray[np.uint8], *, seed: int, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Mean raw importance of the other labels in a forest that predicts the label from them."""
    strength = np.zeros(labels.shape[1])
    for label in range(labels.shape[1]):
        others = np.delete(labels, label, axis=1).astype(np.float64)
        if others.shape[1]:
            numeric = np.zeros(others.shape[1], dtype=np.int32)
            learner = learner_over(default_estimator(n_jobs), Features(others, numeric), labels)
            link = learner.fit(NO_LABELS, label, derived_seed(seed, label))
            strength[label] = raw_importances(link, others.shape[1]).mean()
    return strength


def relief_strength(labels: NDArray[np.uint8], *, seed: int) -> NDArray[np.float64]:
    """Mean absolute ReliefF score of the other labels for the label."""
    strength = np.zeros(labels.shape[1])
    for label in range(labels.shape[1]):
        others = np.delete(labels, label, axis=1).astype(np.float64)
        if others.shape[1] and labels[:, label].min() < labels[:, label].max():
            ranker = ReliefRanker(random_state=seed).fit(others, labels[:, label])
            strength[label] = np.abs(ranker.scores_).mean()
    return strength


def out_of_bag_accuracy(
    features: Features, labels: NDArray[np.uint8], *, seed: int, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Out-of-bag accuracy of a forest for each label alone."""
    learner = learner_over(default_estimator(n_jobs), features, labels)
    accuracy = np.ones(labels.shape[1])
    for label in range(labels.shape[1]):
        link = learner.fit(NO_LABELS, label, derived_seed(seed, label))
        held_out = learner.out_of_bag(link, NO_LABELS)
        if held_out is not None:
            accuracy[label] = np.mean((held_out >= 0.5) == labels[:, label])
    return accuracy


def canonical_strength(X: Any, labels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Absolute coefficient of each label in the first canonical correlation of labels and features.

    Missing feature values count as their column's mean.
    """
    dense = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    counts = np.maximum((~np.isnan(dense)).sum(axis=0), 1)
    means = np.nansum(dense, axis=0) / counts
    features = np.where(np.isnan(dense), 0.0, dense - means)
    left, _ = orthogonal_basis(features)
    right, to_labels = orthogonal_basis(labels - labels.mean(axis=0))
    if left.shape[1] == 0 or right.shape[1] == 0:
        return np.zeros(labels.shape[1])
    direction = np.linalg.svd(left.T @ right)[2][0]
    return np.abs(to_labels @ direction)


def search_order(
    estimator: Any, features: Features, labels: NDArray[np.uint8], *, cv: int, beam_width: int, seed: int
) -> NDArray[np.intp]:
    """The order with the lowest cross-validated Hamming loss.

    All orders are tried up to 6 labels. Beyond, a beam search keeps the `beam_width` beginnings whose labels gain most
    over being learnt alone.
    """
    folds = list(KFold(min(cv, len(labels)), shuffle=True, random_state=seed).split(labels))
    table = [OrderErrors(estimator, features, labels, train, test, seed) for train, test in folds]
    n_labels = labels.shape[1]
    width = None if factorial(n_labels) <= _ALL_ORDERS_UP_TO else beam_width
    beginnings: list[tuple[int, ...]] = [()]
    for _ in range(n_labels):
        longer = [(*b, label) for b in beginnings for label in range(n_labels) if label not in b]
        if width is not None:
            longer = sorted(longer, key=lambda b: sum(fold.gain_over_alone(b) for fold in table))[:width]
        beginnings = longer
    return np.array(min(beginnings, key=lambda b: sum(fold.errors(b) for fold in table)), dtype=np.intp)


class OrderErrors:
    """Errors on test rows of chains in any order, each link being fitted once.

    A link depends on the *set* of labels before it, so all L! orders need L * 2^(L-1) classifiers, not L * L!.
    """

    def __init__(
        self,
        estimator: Any,
        features: Features,
        labels: NDArray[np.uint8],
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        seed: int,
    ) -> None:
        self.learner = learner_over(estimator, rows_of(features, train), labels[train])
        self.X_test = features.values[test]
        self.test_labels = labels[test]
        self.seed = seed
        self._links: dict[tuple[tuple[int, ...], int], Any] = {}
        self._predicted: dict[tuple[int, ...], NDArray[np.bool_]] = {}

    def predicted(self, order: tuple[int, ...]) -> NDArray[np.bool_]:
        """Predictions of the last label of `order`, given the predictions of those before it."""
        if order not in self._predicted:
            before, label = order[:-1], order[-1]
            earlier = tuple(sorted(before))
            columns = [self.predicted(before[: before.index(other) + 1]) for other in earlier]
            passed_on = np.column_stack(columns) if columns else np.zeros((self.X_test.shape[0], 0))
            probability = link_probability(self._link(earlier, label), with_labels(self.X_test, passed_on))
            self._predicted[order] = probability >= 0.5
        return self._predicted[order]

    def errors(self, order: tuple[int, ...]) -> int:
        """Number of wrong labels over all rows."""
        ends = range(1, len(order) + 1)
        return sum(int((self.predicted(order[:end]) != self.test_labels[:, order[end - 1]]).sum()) for end in ends)

    def gain_over_alone(self, order: tuple[int, ...]) -> int:
        """Errors along the order minus those of its labels alone: negative where the chain helps."""
        return self.errors(order) - sum(self.errors((label,)) for label in order)

    def _link(self, earlier: tuple[int, ...], label: int) -> Any:
        if (earlier, label) not in self._links:
            seed = derived_seed(self.seed, label, *earlier)
            self._links[earlier, label] = self.learner.fit(np.array(earlier, dtype=np.intp), label, seed)
        return self._links[earlier, label]


def _given_order(order: ArrayLike, names: Sequence[str]) -> NDArray[np.intp]:
    wanted = list(np.asarray(order).ravel().tolist())
    numbers = {name: number for number, name in enumerate(names)}
    if all(isinstance(item, int) for item in wanted):
        columns = wanted
    else:
        columns = [numbers.get(item, -1) for item in wanted]
    if sorted(columns) != list(range(len(names))):
        raise ValueError(
            f"The 'order' parameter of ClassifierChain must name each of the {len(names)} labels once, by column "
            f"number or by name. Got {wanted!r} instead."
        )
    return np.array(columns, dtype=np.intp)


def _ascending(strength: NDArray[np.float64]) -> NDArray[np.intp]:
    """Weakest first; labels whose strengths differ by rounding alone keep their order, whatever that of the rows."""
    largest = np.abs(strength).max(initial=0.0)
    return np.argsort(np.round(strength / (largest or 1.0), 9), kind="stable")


def _mean_of_others(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    others = matrix.sum(axis=1) - np.diagonal(matrix)
    return others / max(len(matrix) - 1, 1)


def orthogonal_basis(centred: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Orthonormal columns that span `centred`, and the matrix that maps directions in them to column coefficients."""
    left, size, right = np.linalg.svd(centred, full_matrices=False)
    keep = size > size.max(initial=0.0) * max(centred.shape) * np.finfo(np.float64).eps
    return left[:, keep], right[keep].T / size[keep]
