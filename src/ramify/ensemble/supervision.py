"""Unlabelled rows: trees that grow on the targets and on the features themselves, and keep the targets alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ramify import _core
from ramify.features import Features
from ramify.parameters import check_real
from ramify.targets import LabelTarget, Target, dense_cells

GRID = (0.25, 0.5, 0.75, 1.0)
"""What "auto" chooses from."""

_CERTAIN = 1e-12
"""Shares as far from 0 or 1 as this are 0 or 1: the rest is rounding."""


def check_supervision(forest: Any) -> None:
    """Refuse a share of the targets in the impurity that is none, or that cannot be chosen."""
    share = getattr(forest, "supervision", 1.0)
    if share != 1 and getattr(forest, "backing", 0):
        raise ValueError("backing is for trees of the target alone: leave supervision at 1, or backing at 0.")
    if not isinstance(share, str):
        check_real(forest, "supervision", share, low=0, high=1, open_low=True)
        return
    if share != "auto":
        raise ValueError(
            f"The 'supervision' parameter of {type(forest).__name__} must be 'auto' or a number in (0, 1]. Got "
            f"{share!r} instead."
        )
    if not forest.bootstrap:
        raise ValueError("supervision='auto' is chosen out of bag and needs bootstrap=True. Give a number instead.")


def labelled_rows(target: Target) -> np.ndarray:
    """Positions of the rows of which something is known."""
    rows = target.rows_with_target()
    return np.arange(target.n_samples) if rows is None else rows


def grown_rows(forest: Any, target: Target) -> np.ndarray:
    """Positions of the rows that a forest grew on: trees of the target alone leave out those that have none."""
    return labelled_rows(target) if getattr(forest, "supervision_", 1.0) == 1 else np.arange(target.n_samples)


def guided_rows(features: Any, target: Target, share: float, weights: np.ndarray | None) -> _core.NumberRows:
    """The target beside the features: the impurity is `share` times that of the target and the rest the features'.

    Each is divided by its value at the root, where what is unknown counts as the mean.

    Parameters
    ----------
    features : Features
        What trees split on: numbers, standardised here, and nominal ones, one-hot here, each of unit variance.
    target : Target
        What is to be predicted.
    share : float
        Weight of the target.
    weights : array of shape (n_samples,) or None
        Weights of the rows.
    """
    if not isinstance(features, Features):
        raise ValueError("A forest with supervision other than 1 grows on features, not on a table coded for several.")
    cells = dense_cells(target)
    known, _, variance = _moments(cells, weights)
    at_root = float(target.weights @ (known * variance)) or 1.0
    beside, own = _feature_cells(features, weights)
    known, _, variance = _moments(beside, weights)
    of_features = float(own @ (known * variance)) or 1.0
    weighed = np.concatenate([target.weights * (share / at_root), own * ((1 - share) / of_features)])
    return _core.NumberRows(np.ascontiguousarray(np.hstack([cells, beside])), weighed)


def target_trees(grown: _core.Forest, target: Target) -> _core.Forest:
    """Trees that were grown on the target beside the features, with leaves and gains of the target alone."""
    arrays = grown.arrays()
    n_outputs = len(target.weights)
    values = np.ascontiguousarray(arrays["leaf_values"][:, :n_outputs])
    arrays["decrease"] = _target_gains(arrays, values, target.weights)
    if not isinstance(target, LabelTarget):
        arrays["leaf_values"] = values
        return _core.Forest(outcome="numbers", n_outputs=n_outputs, arrays=arrays)
    del arrays["leaf_values"]
    arrays |= _label_leaves(arrays, values)
    return _core.Forest(outcome="labels", n_outputs=n_outputs, arrays=arrays)


def _moments(cells: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per column: the share of the weight that is known, and mean and variance of what is."""
    own = np.full(len(cells), 1.0 / len(cells)) if weights is None else weights / weights.sum()
    known = ~np.isnan(cells) * own[:, None]
    share = known.sum(axis=0)
    safe = np.where(share > 0, share, 1.0)
    mean = (known * np.nan_to_num(cells)).sum(axis=0) / safe
    return share, mean, (known * np.nan_to_num(cells - mean) ** 2).sum(axis=0) / safe


def _feature_cells(features: Features, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Features as numbers of unit variance, NaN where missing, and their weights; constant ones are left out."""
    values = features.values.toarray() if features.is_sparse else np.asarray(features.values)
    blocks, own = [], []
    for j, n_categories in enumerate(features.n_categories.tolist()):
        column = values[:, [j]].astype(np.float64)
        if n_categories:
            column = np.where(np.isnan(column), np.nan, column == np.arange(n_categories))
        _, mean, variance = _moments(column, weights)
        spread = variance.sum()
        if not spread > 0:
            continue
        blocks.append((column - mean) / np.sqrt(spread))
        own.append(np.ones(column.shape[1]))
    if not blocks:
        return np.empty((len(values), 0)), np.empty(0)
    return np.hstack(blocks), np.concatenate(own)


def _target_gains(arrays: dict[str, np.ndarray], values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Decrease of the target's impurity in each node, from the means that the leaves hold."""
    gains = np.zeros(len(arrays["feature"]))
    nodes, leaves = arrays["tree_nodes"], arrays["tree_leaves"]
    for tree in range(len(nodes) - 1):
        own = slice(nodes[tree], nodes[tree + 1])
        feature, child, weight = (arrays[name][own] for name in ("feature", "child", "weight"))
        means = np.empty((len(feature), values.shape[1]))
        is_leaf = feature < 0
        means[is_leaf] = values[leaves[tree] + child[is_leaf]]
        for level in reversed(_inner_levels(is_leaf, child)):
            left, right = child[level], child[level] + 1
            of_left, of_right = weight[left][:, None], weight[right][:, None]
            means[level] = (of_left * means[left] + of_right * means[right]) / (of_left + of_right)
            apart = (means[left] - means[right]) ** 2 @ weights
            gains[nodes[tree] + level] = (weight[left] * weight[right] / (weight[left] + weight[right])) * apart
    return gains


def _inner_levels(is_leaf: np.ndarray, child: np.ndarray) -> list[np.ndarray]:
    """The nodes of each level that are split, from the root down."""
    levels = []
    level = np.flatnonzero(~is_leaf[:1])
    while len(level):
        levels.append(level)
        below = np.concatenate([child[level], child[level] + 1])
        level = below[~is_leaf[below]]
    return levels


def _label_leaves(arrays: dict[str, np.ndarray], values: np.ndarray) -> dict[str, np.ndarray]:
    """Shares per leaf as leaves of labels hold them: labels that all examples have, then those that some have."""
    is_leaf = np.flatnonzero(arrays["feature"] < 0)
    tree = np.searchsorted(arrays["tree_nodes"], is_leaf, side="right") - 1
    weight = np.empty(len(values))
    weight[arrays["tree_leaves"][tree] + arrays["child"][is_leaf]] = arrays["weight"][is_leaf]
    certain = sparse.csr_array(values > 1 - _CERTAIN)
    partial = sparse.csr_array(np.where((values > _CERTAIN) & (values <= 1 - _CERTAIN), values, 0.0))
    leaf_of = [np.repeat(np.arange(len(values)), np.diff(part.indptr)) for part in (certain, partial)]
    labels = np.concatenate([certain.indices, partial.indices])
    rank = np.concatenate([np.zeros(certain.nnz), np.ones(partial.nnz)])
    order = np.lexsort((labels, rank, np.concatenate(leaf_of)))
    return {
        "leaf_offsets": (certain.indptr.astype(np.int64) + partial.indptr.astype(np.int64)),
        "leaf_labels": labels[order].astype(np.int32),
        "leaf_partial": partial.indptr.astype(np.int64),
        "leaf_counts": partial.data * weight[leaf_of[1]],
    }
