"""The scores of forests from their formulas, one row and one node at a time: slow, and the oracle of the kernels.

Only the tests of the nodes are read from the forest. Which rows a tree saw and how its features are permuted is drawn
again from its seed; what nodes and leaves predict is the mean target of the rows that reach them.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.stats import kendalltau
from tests.ensemble.reference_tree import Random

BAG, PERMUTATION = 1, 3  # the random streams of a tree


@dataclass
class Data:
    """What a forest was grown on.

    X has codes in nominal columns, Y one column per label (0/1), number (standardised) or pair of labels (sign);
    `error` says what the permutation score measures.
    """

    X: np.ndarray
    Y: np.ndarray
    output_weights: np.ndarray
    error: str
    ranks: np.ndarray | None = None
    sample_weight: np.ndarray | None = None

    @property
    def row_weights(self):
        return np.ones(len(self.X)) if self.sample_weight is None else self.sample_weight


class SlowTree:
    """One tree of a forest, with the rows that grew it and those that did not."""

    def __init__(self, forest, number, data):
        arrays = forest.trees_.arrays()
        nodes = slice(*arrays["tree_nodes"][number : number + 2])
        for name in ("feature", "threshold", "child", "subset", "missing_left"):
            setattr(self, name, arrays[name][nodes])
        words, offsets = arrays["subset_words"], arrays["subset_offsets"]
        first, last = arrays["tree_subsets"][number : number + 2]
        self.subsets = [words[offsets[k] : offsets[k + 1]] for k in range(first, last)]
        self.sums = sums_of(arrays, number)
        self.seed = int(arrays["seeds"][number])
        self.data = data
        rows = np.flatnonzero(data.row_weights > 0)
        self.draws = np.zeros(len(data.X))
        if forest.bootstrap:
            random = Random(self.seed, BAG)
            for _ in rows:
                self.draws[rows[random.below(len(rows))]] += 1
        else:
            self.draws[rows] = 1
        self.inside = np.flatnonzero(self.draws)
        self.outside = rows[self.draws[rows] == 0]
        self.weights = self.draws * data.row_weights
        self.paths = {row: self.path(data.X[row]) for row in rows}

    def path(self, x):
        """Nodes from the root to a leaf."""
        nodes = [0]
        while self.feature[nodes[-1]] >= 0:
            node = nodes[-1]
            nodes.append(self.child[node] + (0 if self.goes_left(node, self.value(node, x)) else 1))
        return nodes

    def value(self, node, x):
        """What a row has of what a node tests: a feature, or a sum of standardised ones without those missing."""
        if self.subset[node] >= -1:
            return x[self.feature[node]]
        features, weights, centres, scales = self.sums[-2 - self.subset[node]]
        total = 0.0
        for feature, weight, centre, scale in zip(features, weights, centres, scales, strict=True):
            total += 0.0 if np.isnan(x[feature]) else weight * ((x[feature] - centre) / scale)
        return total

    def shares(self, node):
        """The features that a node tests, as a row of shares that sum to 1."""
        row = np.zeros(self.data.X.shape[1])
        if self.subset[node] >= -1:
            row[self.feature[node]] = 1
        else:
            features, weights, _, _ = self.sums[-2 - self.subset[node]]
            row[features] = np.abs(weights) / np.abs(weights).sum()
        return row

    def goes_left(self, node, value):
        if np.isnan(value):
            return bool(self.missing_left[node])
        if self.subset[node] < 0:
            return value <= self.threshold[node]
        word = self.subsets[self.subset[node]]
        return bool((int(word[int(value) // 64]) >> (int(value) % 64)) & 1)

    def passing(self, node, rows):
        return np.array([row for row in rows if node in self.paths[row]], dtype=int)

    def mean(self, node):
        """Mean target of the rows in the bag that pass a node."""
        rows = self.passing(node, self.inside)
        return np.average(self.data.Y[rows], axis=0, weights=self.weights[rows])

    @property
    def tests(self):
        return [node for node in range(len(self.feature)) if self.feature[node] >= 0]

    def children(self, node):
        return self.child[node], self.child[node] + 1


def sums_of(arrays, number):
    """The sums that nodes of a tree test: features, weights, centres and scales of each."""
    if "tree_combinations" not in arrays:
        return []
    first, last = arrays["tree_combinations"][number : number + 2]
    parts = [arrays[f"combination_{name}"] for name in ("features", "weights", "centres", "scales")]
    return [[part[a:b] for part in parts] for a, b in pairwise(arrays["combination_offsets"][first : last + 1])]


def trees_of(forest, data):
    return [SlowTree(forest, number, data) for number in range(forest.trees_.n_trees)]


def symbolic(forest, data):
    """Mean over trees of the share of examples that reach the nodes that test a feature (Eq. 1)."""
    trees = trees_of(forest, data)
    scores = np.zeros(data.X.shape[1])
    for tree in trees:
        for node in tree.tests:
            share = tree.weights[tree.passing(node, tree.inside)].sum() / tree.weights.sum()
            scores += tree.shares(node) * share / len(trees)
    return scores


def genie3(forest, data):
    """Mean over trees of share of examples x decrease of the variance, output by output (Eq. 2)."""
    trees = trees_of(forest, data)
    scores = np.zeros((data.X.shape[1], data.Y.shape[1]))
    for tree in trees:
        for node in tree.tests:
            gain = _spread(tree, node)
            for child in tree.children(node):
                gain = gain - _spread(tree, child)
            scores += np.outer(tree.shares(node), data.output_weights * gain / tree.weights.sum() / len(trees))
    return scores


def _spread(tree, node):
    """Summed squared distance from the mean."""
    rows = tree.passing(node, tree.inside)
    return (tree.weights[rows, None] * (tree.data.Y[rows] - tree.mean(node)) ** 2).sum(axis=0)


def genie3_oob(forest, data):
    """Mean over trees of the out-of-bag covariance of target and change of the prediction at a node (Li et al.)."""
    trees = trees_of(forest, data)
    scores = np.zeros((data.X.shape[1], data.Y.shape[1]))
    for tree in trees:
        total = data.row_weights[tree.outside].sum()
        for node in tree.tests:
            for child in tree.children(node):
                rows = tree.passing(child, tree.outside)
                summed = (data.row_weights[rows, None] * data.Y[rows]).sum(axis=0)
                gain = (tree.mean(child) - tree.mean(node)) * summed
                scores += np.outer(tree.shares(node), data.output_weights * gain / total / len(trees))
    return scores


def permutation(forest, data):
    """Mean over trees of (err(permuted) - err) / err on out-of-bag rows (Eq. 3), and of the Brier score's growth."""
    trees = trees_of(forest, data)
    n_features = data.X.shape[1]
    scores, per_output = np.zeros(n_features), np.zeros((n_features, data.Y.shape[1]))
    for tree in trees:
        X = data.X[tree.outside]
        before, brier = _errors(tree, X)
        for feature in range(n_features):
            permuted = X.copy()
            permuted[:, feature] = X[_partners(tree, feature), feature]
            after, brier_after = _errors(tree, permuted)
            if before > 0:
                scores[feature] += (after - before) / before / len(trees)
            per_output[feature] += (brier_after - brier) / len(trees)
    return scores, per_output


def _partners(tree, feature):
    """The permutation of the out-of-bag rows: Fisher and Yates's, by the stream of the tree and feature."""
    partner = np.arange(len(tree.outside))
    random = Random(tree.seed, PERMUTATION + feature)
    for i in range(len(partner), 1, -1):
        j = random.below(i)
        partner[i - 1], partner[j] = partner[j], partner[i - 1]
    return partner


def _errors(tree, X):
    """Error of the tree on its out-of-bag rows, whose features are now X, and the squared error of each output."""
    data, leaves = tree.data, [tree.path(x)[-1] for x in X]
    means = {leaf: tree.mean(leaf) for leaf in set(leaves)}
    predicted, truth = np.array([means[leaf] for leaf in leaves]), data.Y[tree.outside]
    squared = (predicted - truth) ** 2
    if data.error == "auprc":
        return 1 - pooled_auprc(truth, predicted), squared.mean(axis=0)
    if data.error == "brier":
        return squared.sum(axis=1).mean(), squared.mean(axis=0)
    if data.error == "hamming":
        return np.mean((predicted >= 0.5) != truth), squared.mean(axis=0)
    if data.error == "misclassification":
        return np.mean(predicted.argmax(axis=1) != truth.argmax(axis=1)), squared.mean(axis=0)
    if data.error == "squared":
        return (squared @ data.output_weights).mean(), squared.mean(axis=0)
    mean_ranks = {leaf: _mean_ranks(tree, leaf) for leaf in means}
    own = [_disagreement(data.ranks[row], mean_ranks[leaf]) for row, leaf in zip(tree.outside, leaves, strict=True)]
    return np.mean(own), squared.mean(axis=0) / 4  # signs are -1 and 1, probabilities 0 and 1


def _mean_ranks(tree, leaf):
    rows = tree.passing(leaf, tree.inside)
    return np.average(tree.data.ranks[rows], axis=0, weights=tree.weights[rows]).round(9)


def _disagreement(ranks, mean_ranks):
    """1 - tau-b; 1 where the leaf has no order."""
    return 1.0 if np.ptp(mean_ranks) == 0 else 1 - kendalltau(ranks, mean_ranks).statistic


def pooled_auprc(truth, scores):
    """Area under the precision-recall curve over all cells, interpolated between thresholds (Davis and Goadrich)."""
    truth, scores = truth.ravel(), scores.ravel()
    points = [(0, 0)]
    for threshold in sorted(set(scores.tolist()), reverse=True):
        above = scores >= threshold
        points.append((int(truth[above].sum()), int((1 - truth[above]).sum())))
    area, precision = 0.0, None
    for (tp, fp), (next_tp, next_fp) in pairwise(points):
        if tp + fp > 0:
            precision = tp / (tp + fp)
        for step in range(1, next_tp - tp + 1):
            negatives = fp + (next_fp - fp) * step / (next_tp - tp)
            after = (tp + step) / (tp + step + negatives)
            area += ((after if precision is None else precision) + after) / 2
            precision = after
    return area / points[-1][0] if points[-1][0] else 0.0
