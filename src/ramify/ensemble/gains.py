"""Gains of a forest's splits, measured again on examples: those out of bag, or those of known targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ramify import _core
from ramify.ensemble.growing import feature_rows
from ramify.parameters import worker_count

_TREES_AT_ONCE = 16
"""Label counts of out-of-bag rows are held for so many trees at a time."""


def out_of_bag_gains(forest: Any, data: Any, trees: _core.Forest) -> sparse.csr_array:
    """Mean gain of features x outputs on out-of-bag examples, above or below 0.

    Parameters
    ----------
    forest : forest
        Fitted, with bootstrap=True.
    data : TrainingData
        What it was grown on.
    trees : Forest
        Its trees, or some of them.
    """
    if data.target.unknown is not None:
        return known_gains(forest, data, trees, outside=True)
    work = {**data.bagging, "n_threads": worker_count(forest.n_jobs)}
    rows, target = feature_rows(data.features), data.target.gain_rows()
    return as_csr(_core.genie3_oob(trees, rows, target, **work), trees)


def known_gains(forest: Any, data: Any, trees: _core.Forest, *, outside: bool) -> sparse.csr_array:
    """Mean gain of features x outputs on examples whose targets are known.

    Parameters
    ----------
    forest, data, trees
        As of `out_of_bag_gains`.
    outside : bool
        Whether to take the examples out of bag, else those in the bag.
    """
    work = {"bootstrap": forest.bootstrap, "outside": outside, **data.bagging}
    rows, threads = feature_rows(data.features), worker_count(forest.n_jobs)
    return as_csr(_core.genie3_known(trees, rows, data.target.gain_rows(), **work, n_threads=threads), trees)


def as_csr(scores: Any, trees: _core.Forest) -> sparse.csr_array:
    """Scores of features x outputs, which the core gives dense or as the three arrays of a CSR matrix."""
    return sparse.csr_array(scores, shape=(trees.n_features, trees.n_outputs))


def out_of_bag_scores(forest: Any, data: Any) -> np.ndarray:
    """Mean gain of each feature on out-of-bag examples, over all trees and outputs."""
    n_trees = forest.trees_.n_trees
    total = np.zeros(forest.trees_.n_features)
    for first in range(0, n_trees, _TREES_AT_ONCE):
        part = forest.trees_.part(first, min(first + _TREES_AT_ONCE, n_trees))
        total += part.n_trees * np.asarray(out_of_bag_gains(forest, data, part).sum(axis=1)).ravel()
    scores: np.ndarray = total / n_trees
    return scores
