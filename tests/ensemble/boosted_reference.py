"""Boosting written slowly from the definitions: dense leaves, no sketch, every row and every feature.

A round fits a tree by variance to all gradients at once and takes Newton steps in its leaves.
"""

from __future__ import annotations

import itertools

import numpy as np


class Node:
    """A node of a reference tree with the rows that reach it."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows
        self.feature = -1
        self.threshold = 0.0
        self.left: Node | None = None
        self.right: Node | None = None


def sum_of_squares(values: np.ndarray, weights: np.ndarray) -> float:
    centred = values - (weights[:, None] * values).sum(axis=0) / weights.sum()
    return float((weights[:, None] * centred**2).sum())


def best_cut(X, targets, weights, rows, min_samples_leaf):
    """Feature and threshold with the largest decrease of the squared distances to the mean."""
    whole = sum_of_squares(targets[rows], weights[rows])
    best = (1e-9, -1, 0.0)
    for feature in range(X.shape[1]):
        values = np.unique(X[rows, feature])
        for low, high in itertools.pairwise(values):
            threshold = (low + high) / 2
            goes_left = X[rows, feature] <= threshold
            left, right = rows[goes_left], rows[~goes_left]
            if min(len(left), len(right)) < min_samples_leaf:
                continue
            sides = sum_of_squares(targets[left], weights[left]) + sum_of_squares(targets[right], weights[right])
            if whole - sides > best[0] + 1e-12:
                best = (whole - sides, feature, threshold)
    return best


def grown(X, targets, weights, rows, depth, min_samples_leaf):
    node = Node(rows)
    if depth == 0 or len(rows) < 2 * min_samples_leaf:
        return node
    _, feature, threshold = best_cut(X, targets, weights, rows, min_samples_leaf)
    if feature < 0:
        return node
    goes_left = X[rows, feature] <= threshold
    node.feature, node.threshold = feature, threshold
    node.left = grown(X, targets, weights, rows[goes_left], depth - 1, min_samples_leaf)
    node.right = grown(X, targets, weights, rows[~goes_left], depth - 1, min_samples_leaf)
    return node


def boosted_scores(
    X, Y, *, numbers, output_weights, sample_weight, n_rounds, learning_rate, max_depth, min_samples_leaf, l2
):
    """Scores of the training rows after all rounds, and the gains of features x outputs.

    A NaN in Y is unknown: it has no gradient and no curvature, and the prior is of the rows that are known.
    """
    weights = np.ones(len(X)) if sample_weight is None else sample_weight / sample_weight.mean()
    known = ~np.isnan(Y)
    prior = (weights @ np.nan_to_num(Y)) / (weights @ known)
    share = np.clip(prior, 1e-4, 1 - 1e-4)
    scores = np.tile(np.zeros_like(prior) if numbers else np.log(share / (1 - share)), (len(X), 1))
    gains = np.zeros((X.shape[1], Y.shape[1]))
    for _ in range(n_rounds):
        response = scores if numbers else 1 / (1 + np.exp(-scores))
        gradients = np.where(known, Y - response, 0.0)
        curvatures = np.where(known, np.ones_like(response) if numbers else response * (1 - response), 0.0)

        def sums(rows, gradients=gradients, curvatures=curvatures):
            return weights[rows] @ gradients[rows], weights[rows] @ curvatures[rows]

        def worth(rows, sums=sums):
            G, H = sums(rows)
            return G**2 / (H + l2)

        targets = gradients * np.sqrt(output_weights)
        nodes = [grown(X, targets, weights, np.arange(len(X)), max_depth, min_samples_leaf)]
        steps = np.zeros_like(scores)
        while nodes:
            node = nodes.pop()
            if node.feature < 0:
                G, H = sums(node.rows)
                steps[node.rows] = learning_rate * np.clip(G / (H + l2), -4, 4)
                continue
            gain = worth(node.left.rows) + worth(node.right.rows) - worth(node.rows)
            gains[node.feature] += output_weights * gain / weights.sum()
            nodes += [node.left, node.right]
        scores = scores + steps
    return scores, gains
