"""Branches of features: nested units, from a hierarchy over features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ramify.hierarchy import Hierarchy

BELOW = " and below"
_MOST_MEMBERS = 50
"""Branches of more features are no units: a claim on them says little, and each costs a redraw model per feature."""


@dataclass(frozen=True)
class FeatureBranches:
    """Features, and branches of them, as nested units.

    Attributes
    ----------
    names : tuple of str
        The feature, or the node that heads the branch with " and below".
    members : list of tuple of int
        Positions of the features of each, ascending.
    above : list of list of int
        Positions of the units directly above each.
    """

    names: tuple[str, ...]
    members: list[tuple[int, ...]]
    above: list[list[int]]


def feature_branches(hierarchy: Hierarchy, features: Sequence[str]) -> FeatureBranches:
    """Every feature as a unit, and every node with at least two features at or below it.

    Of nodes with the same features the lowest is taken.

    Parameters
    ----------
    hierarchy : Hierarchy
        Of the features, by their names; other nodes only hold features together.
    features : sequence of str
        Names of the features.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.ranking.discovery.feature_branches import feature_branches
    >>> tree = Hierarchy.from_paths(["diet/fat", "diet/fibre", "sleep/hours"])
    >>> found = feature_branches(tree, ["diet/fat", "diet/fibre", "sleep/hours", "age"])
    >>> found.names[4:], found.members[4:], found.above
    (('diet and below',), [(0, 1)], [[4], [4], [], [], []])
    """
    order = hierarchy.reduction()
    n_features = len(features)
    at = [(order.index(name), j) for j, name in enumerate(features) if name in order]
    if not at:
        raise ValueError(
            f"feature_hierarchy names none of the {n_features} features, such as {features[0]!r}; its nodes must be "
            f"the names of features. Its first node is {order.names[0]!r}."
        )
    nodes, positions = np.array(at).T
    own = sparse.csr_array((np.ones(len(at)), (nodes, positions)), shape=(len(order), n_features))
    below = sparse.csr_array(order.ancestor_matrix.T.astype(np.float64) + sparse.eye_array(len(order))) @ own
    below = sparse.csr_array(below)
    held = [tuple(np.sort(below.indices[a:b]).tolist()) for a, b in zip(below.indptr, below.indptr[1:], strict=False)]
    head_of: dict[tuple[int, ...], int] = {}
    for node in order.topological_order.tolist():  # a node below comes later, and takes the place
        if 2 <= len(held[node]) <= _MOST_MEMBERS:
            head_of[held[node]] = node
    heads = sorted(head_of.values())
    unit_of = {head: n_features + k for k, head in enumerate(heads)}
    parents = {k: [order.index(name) for name in order.parents[order.names[k]]] for k in range(len(order))}

    def nearest(node: int) -> set[int]:
        """Units right above a node."""
        found: set[int] = set()
        for parent in parents[node]:
            found |= {unit_of[parent]} if parent in unit_of else nearest_of(parent)
        return found

    known: dict[int, set[int]] = {}

    def nearest_of(node: int) -> set[int]:
        if node not in known:
            known[node] = nearest(node)
        return known[node]

    for node in order.topological_order.tolist():  # so that no call goes deep
        nearest_of(node)
    above: list[list[int]] = [[] for _ in range(n_features)]
    for node, feature in at:
        above[feature] = sorted({unit_of[node]} if node in unit_of else nearest_of(node))
    above += [sorted(nearest_of(head)) for head in heads]
    names = (*features, *(f"{order.names[head]}{BELOW}" for head in heads))
    return FeatureBranches(names, [(j,) for j in range(n_features)] + [held[head] for head in heads], above)
