"""What the lazy methods do to one row: which features its relatives of the same value remove."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ramify.selection.feature_graph import FeatureGraph, Step, pattern

Comparison = Callable[[Any, Any], Any]


def _always(remover: Any, removed: Any) -> Any:  # noqa: ARG001
    """Any remover will do; 0 stands for none."""
    return remover > 0


@dataclass(frozen=True)
class Rule:
    """Which features of a row a method considers, and which relatives of the same value remove a feature.

    A comparison takes the relevance of the remover and of the feature that may be removed.
    """

    positive: bool = True
    negative: bool = True
    positive_by_descendants: Comparison | None = None
    positive_by_ancestors: Comparison | None = None
    negative_by_ancestors: Comparison | None = None
    negative_by_descendants: Comparison | None = None


RULES = {
    "rpv": Rule(negative=False, positive_by_descendants=operator.gt),
    "hip": Rule(positive_by_descendants=_always, negative_by_ancestors=_always),
    "mr": Rule(
        positive_by_descendants=operator.ge,
        positive_by_ancestors=operator.gt,
        negative_by_ancestors=operator.ge,
        negative_by_descendants=operator.gt,
    ),
    "hip-mr": Rule(positive_by_descendants=operator.ge, negative_by_ancestors=operator.ge),
    "positive": Rule(negative=False),
    "negative": Rule(positive=False),
}


class RowSelection:
    """Selection of features in rows, given the relevance of each feature where it is present and where it is absent.

    Parameters
    ----------
    rule : Rule
        What is considered and removed.
    graph : FeatureGraph
        The features in order.
    present, absent : ndarray of shape (n_features,)
        Relevance of each feature where it is present (1) and absent (0).
    """

    def __init__(self, rule: Rule, graph: FeatureGraph, present: np.ndarray, absent: np.ndarray) -> None:
        self.rule = rule
        self.graph = graph
        self.present_order = _order(present)
        self.absent_order = _order(absent)
        self._removal = None if rule.negative or rule.positive_by_descendants is None else self._removals()

    def mask(self, X: sparse.csr_array) -> sparse.csr_array:
        """Selected features of each row of a boolean CSR."""
        return self._dense_mask(X) if self.rule.negative else self._sparse_mask(X)

    def removers(self, feature: int, present: np.ndarray) -> list[int]:
        """Features that remove `feature` in a row of the given values."""
        graph, rule = self.graph, self.rule
        if present[feature]:
            order, by_below, by_above = self.present_order, rule.positive_by_descendants, rule.positive_by_ancestors
        else:
            order, by_below, by_above = self.absent_order, rule.negative_by_descendants, rule.negative_by_ancestors
        steps: list[int] = []
        for relatives, comparison in ((graph.descendants, by_below), (graph.ancestors, by_above)):
            if comparison is not None:
                others = relatives.indices[relatives.indptr[feature] : relatives.indptr[feature + 1]]
                same = others[present[others] == present[feature]]
                steps.extend(same[comparison(order[same], order[feature])].tolist())
        return steps

    def _removals(self) -> sparse.csr_array:
        """Row f marks the ancestors that a present f removes."""
        pairs = sparse.coo_array(self.graph.ancestors)
        order = self.present_order
        removing = self.rule.positive_by_descendants(order[pairs.row], order[pairs.col])  # type: ignore[misc]
        marks = np.ones(int(removing.sum()), dtype=np.int32)
        return sparse.csr_array((marks, (pairs.row[removing], pairs.col[removing])), shape=pairs.shape)

    def _sparse_mask(self, block: sparse.csr_array) -> sparse.csr_array:
        """Selection among the present features alone; costs by the non-zeros."""
        if self._removal is None:
            return block
        present = block.astype(np.int32)
        return pattern(present - present.multiply(pattern(present @ self._removal)))

    def _dense_mask(self, block: sparse.csr_array) -> sparse.csr_array:
        """Selection among present and absent features; features are the rows of the arrays here."""
        rule = self.rule
        present = np.ascontiguousarray(block.toarray().T)
        kept = np.zeros(present.shape, dtype=bool)
        for considered, value, order, below, above in (
            (rule.positive, present, self.present_order, rule.positive_by_descendants, rule.positive_by_ancestors),
            (rule.negative, ~present, self.absent_order, rule.negative_by_descendants, rule.negative_by_ancestors),
        ):
            if not considered:
                continue
            remaining = value.copy()
            strengths = np.where(value, order[:, None], np.int32(0))
            for comparison, steps in ((below, self.graph.upward), (above, self.graph.downward)):
                if comparison is not None:
                    remaining &= ~comparison(_strongest(strengths, steps), order[:, None])
            kept |= remaining
        return sparse.csr_array(kept.T)


def _order(relevance: np.ndarray) -> np.ndarray:
    """Ranks from 1, equal for equal relevance (up to rounding), so that 0 can stand for no feature."""
    return (np.unique(np.round(relevance, 12), return_inverse=True)[1] + 1).astype(np.int32)


def _strongest(strengths: np.ndarray, steps: tuple[Step, ...]) -> np.ndarray:
    """Largest strength among each feature's relatives in the direction of `steps`; 0 where there is none."""
    strongest = np.zeros_like(strengths)
    for features, starts, neighbours in steps:
        reached = np.maximum(strengths[neighbours], strongest[neighbours])
        strongest[features] = np.maximum.reduceat(reached, starts, axis=0)
    return strongest
