"""Error control over features and branches: DAGGER on one graph, per feature, and without a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

CONTROLS = ("joint", "per_feature", "flat")
_STEP = 1.02
_SMALLEST = 1e-12
"""q-values are found on a grid of levels that grow by 2 % from here on, and rounded up to it."""


def simes(p_values: np.ndarray, members: sparse.csr_array) -> np.ndarray:
    """P-value of each set of hypotheses: units x outputs and sets x outputs give units x sets.

    References
    ----------
    R. J. Simes. An improved Bonferroni procedure for multiple tests of significance. Biometrika 73, 1986.
    """
    found = np.ones((len(p_values), members.shape[0]))
    for number in range(members.shape[0]):
        own = np.sort(p_values[:, members.indices[members.indptr[number] : members.indptr[number + 1]]], axis=1)
        found[:, number] = np.min(own * (own.shape[1] / np.arange(1, own.shape[1] + 1)), axis=1, initial=1.0)
    return found


@dataclass(frozen=True)
class Graph:
    """The hypotheses: all pairs of a unit and a branch, each below the pairs with what is above its unit or branch.

    Attributes
    ----------
    parents : list of list of int
        Positions of the branches directly above each; the first branch is the whole, above all others.
    above : list of list of int
        Positions of the units directly above each; empty lists where units are not nested.
    leaves, sizes : array of shape (n_units or 1, n_branches)
        Effective numbers of leaves and of nodes below each hypothesis, shared among parents.
    n_units : int
        Units, with those whose p-values are all 1.
    n_leaves : float
        Leaves of the whole graph.
    """

    parents: list[list[int]]
    above: list[list[int]]
    leaves: np.ndarray
    sizes: np.ndarray
    n_units: int
    n_leaves: float

    @classmethod
    def of(
        cls, parents: list[list[int]], n_units: int, n_untested: int = 0, above: list[list[int]] | None = None
    ) -> Graph:
        """The graph of branches and units; `n_untested` more units are above and below no other.

        Parameters
        ----------
        parents : list of list of int
            As above.
        n_units, n_untested : int
            Units with p-values, and without.
        above : list of list of int or None
            As above; None takes no unit to be above another.
        """
        leaves, sizes = graph_counts(parents, above or [[]])
        total = n_units + n_untested
        if above is None:
            return cls(parents, [[] for _ in range(n_units)], leaves, sizes, total, total * float(leaves[0, 0]))
        roots = [unit for unit, own in enumerate(above) if not own]
        n_leaves = float(leaves[roots, 0].sum()) + n_untested * float(graph_counts(parents)[0][0, 0])
        return cls(parents, above, leaves, sizes, total, n_leaves)

    def part(self, units: np.ndarray) -> Graph:
        """The same for some units, with all that are above them; counts stay."""
        place = {unit: k for k, unit in enumerate(units.tolist())}
        above = [[place[u] for u in self.above[unit]] for unit in units.tolist()]
        if len(self.leaves) == 1:
            return replace(self, above=above)
        return replace(self, above=above, leaves=self.leaves[units], sizes=self.sizes[units])


def claimed_at(p_values: np.ndarray, graph: Graph, level: float, control: str) -> np.ndarray:
    """Which hypotheses, units x branches, are claimed at a level.

    Parameters
    ----------
    p_values : array of shape (n_units, n_branches)
        The first branch is the whole, above all others.
    graph : Graph
        What is above what.
    level : float
        Expected share of false claims.
    control : {"joint", "per_feature", "flat"}
        DAGGER on the graph of units and branches; Benjamini-Hochberg over units and DAGGER within each;
        Benjamini-Hochberg over all.

    References
    ----------
    A. Ramdas, J. Chen, M. J. Wainwright, M. I. Jordan. A sequential algorithm for false discovery rate control on
    directed acyclic graphs. Biometrika 106, 2019.

    Y. Benjamini, M. Bogomolov. Selective inference on multiple families of hypotheses. Journal of the Royal
    Statistical Society B 76, 2014.
    """
    if control == "flat":
        found = _largest_step(p_values.ravel(), np.full(p_values.size, level / (graph.n_units * p_values.shape[1])))
        return found.reshape(p_values.shape)
    if control == "joint":
        return _dagger(p_values, graph, level)
    selected = _largest_step(p_values[:, 0], np.full(len(p_values), level / graph.n_units))
    claimed = np.zeros(p_values.shape, dtype=bool)
    share = level * selected.sum() / graph.n_units
    alone = Graph.of(graph.parents, 1)
    for unit in np.flatnonzero(selected).tolist():
        claimed[unit] = _dagger(p_values[[unit]], alone, share)[0]
        claimed[unit, 0] = True
    return claimed


def q_values(p_values: np.ndarray, graph: Graph, fdr: float, control: str) -> np.ndarray:
    """The smallest level at which each hypothesis is claimed, 1 where it is not claimed at `fdr`."""
    n_levels = int(np.ceil(np.log(fdr / _SMALLEST) / np.log(_STEP)))
    levels = fdr * _STEP ** -np.arange(n_levels, -1, -1.0)
    found = np.ones(p_values.shape)
    # Claims grow with the level: a unit without one at `fdr` has none below, and only counts.
    some = np.flatnonzero(claimed_at(p_values, graph, fdr, control).any(axis=1))
    if len(some):
        own, smallest = p_values[some], np.ones((len(some), p_values.shape[1]))
        part = graph.part(some) if control == "joint" else replace(graph, above=[[] for _ in some])
        _bisect(lambda level: claimed_at(own, part, level, control), levels, smallest)
        found[some] = smallest
    return found


def inherited(p_values: np.ndarray, above: list[list[int]]) -> np.ndarray:
    """P-values of nested units, with what is known of the units below each: twice the smaller of its own and theirs.

    A unit that tells nothing holds none that does, so that the p-values of all below it, joined by Simes, are a p-value
    of it too.

    Parameters
    ----------
    p_values : array of shape (n_units, n_tested)
        Of each unit by itself.
    above : list of list of int
        Positions of the units directly above each.
    """
    below: list[set[int]] = [set() for _ in above]
    for unit in reversed(_topological(above)):
        for upper in above[unit]:
            below[upper] |= {unit, *below[unit]}
    found = p_values.copy()
    for unit, lower in enumerate(below):
        if lower:
            theirs = np.sort(p_values[sorted(lower)], axis=0)
            joined = (theirs * (len(theirs) / np.arange(1, len(theirs) + 1))[:, None]).min(axis=0)
            found[unit] = np.minimum(1.0, 2 * np.minimum(p_values[unit], joined))
    return found


def graph_counts(parents: list[list[int]], above: list[list[int]] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Effective numbers of leaves and of nodes below each pair of unit and branch, shared among parents.

    Units x branches; a single row for units that are not nested.
    """
    units = above or [[]]
    n_parents = np.array([len(own) for own in parents])
    is_leaf = np.ones(len(parents), dtype=bool)
    is_leaf[[parent for own in parents for parent in own]] = False
    lowest = np.ones(len(units), dtype=bool)
    lowest[[upper for own in units for upper in own]] = False
    leaves = np.outer(lowest, is_leaf).astype(np.float64)
    sizes = np.ones(leaves.shape)
    order = [branch for branch in reversed(_topological(parents)) if parents[branch]]
    for unit in reversed(_topological(units)):
        n_above = len(units[unit])
        for counts in (leaves[unit], sizes[unit]):
            for branch in order:
                share = counts[branch] / (n_parents[branch] + n_above)
                for parent in parents[branch]:
                    counts[parent] += share
        for upper in units[unit]:
            leaves[upper] += leaves[unit] / (n_parents + n_above)
            sizes[upper] += sizes[unit] / (n_parents + n_above)
    return leaves, sizes


def _dagger(p_values: np.ndarray, graph: Graph, level: float) -> np.ndarray:
    of_unit, of_branch = depths(graph.above), depths(graph.parents)
    units = [np.flatnonzero(of_unit == at) for at in range(int(of_unit.max(initial=0)) + 1)]
    branches = [np.flatnonzero(of_branch == at) for at in range(int(of_branch.max()) + 1)]
    share = level * graph.leaves / graph.n_leaves
    claimed = np.zeros(p_values.shape, dtype=bool)
    n_claimed = 0
    for at in range(len(units) + len(branches) - 1):
        # Pairs at one depth: of units that are deeper the less deep their branches are.
        cells = [np.ix_(units[k], branches[at - k]) for k in range(len(units)) if 0 <= at - k < len(branches)]
        needed = [_claims_needed(p_values, graph, share, claimed, n_claimed, own) for own in cells]
        order = np.sort(np.concatenate([own.ravel() for own in needed]))
        n_here = int(np.max(np.flatnonzero(order <= np.arange(1, order.size + 1)) + 1, initial=0))
        # As many as r hypotheses need at most r: the largest such r, and all that need at most it.
        for own, most in zip(cells, needed, strict=True):
            claimed[own] = most <= n_here
            n_claimed += int((most <= n_here).sum())
    return claimed


def _claims_needed(
    p_values: np.ndarray, graph: Graph, share: np.ndarray, claimed: np.ndarray, n_claimed: int, cells: Any
) -> np.ndarray:
    """The smallest number of claims at a depth with which a hypothesis is one of them; infinite if it is not open."""
    units, branches = cells[0].ravel(), cells[1].ravel()
    open_ = np.ones((len(units), len(branches)), dtype=bool)
    for k, branch in enumerate(branches.tolist()):
        for parent in graph.parents[branch]:
            open_[:, k] &= claimed[units, parent]
    for k, unit in enumerate(units.tolist()):
        for upper in graph.above[unit]:
            open_[k] &= claimed[upper, branches]
    rows = units if len(share) > 1 else np.zeros(1, dtype=np.int64)
    m, own = graph.sizes[np.ix_(rows, branches)], share[np.ix_(rows, branches)]
    needed: np.ndarray = np.ceil(p_values[cells] * m / own - m - n_claimed + 1 - 1e-9).clip(min=1)
    return np.where(open_, needed, np.inf)


def _largest_step(p_values: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Benjamini and Hochberg: the largest r with at least r p-values up to r steps."""
    needed = np.ceil(p_values / steps - 1e-9).clip(min=1)
    order = np.sort(needed)
    n_claimed = int(np.max(np.flatnonzero(order <= np.arange(1, len(order) + 1)) + 1, initial=0))
    found: np.ndarray = needed <= n_claimed
    return found


def _topological(parents: list[list[int]]) -> list[int]:
    return [int(branch) for branch in np.argsort(depths(parents), kind="stable")]


def depths(parents: list[list[int]]) -> np.ndarray:
    """Longest path from the whole down to each branch."""
    children: list[list[int]] = [[] for _ in parents]
    missing = np.array([len(above) for above in parents])
    for branch, above in enumerate(parents):
        for parent in above:
            children[parent].append(branch)
    depth = np.zeros(len(parents), dtype=np.int64)
    ready = [branch for branch, above in enumerate(parents) if not above]
    while ready:
        branch = ready.pop()
        for child in children[branch]:
            depth[child] = max(depth[child], depth[branch] + 1)
            missing[child] -= 1
            if missing[child] == 0:
                ready.append(child)
    return depth


def _bisect(claimed: Callable[[float], np.ndarray], levels: np.ndarray, found: np.ndarray) -> None:
    """Write to each cell the smallest level that claims it; claims grow with the level."""
    top = claimed(levels[-1])
    bottom = claimed(levels[0])
    found[top] = levels[-1]
    found[bottom] = levels[0]
    waiting = [(0, len(levels) - 1, bottom, top)]
    while waiting:
        low, high, at_low, at_high = waiting.pop()
        if high - low < 2 or np.array_equal(at_low, at_high):
            continue
        middle = (low + high) // 2
        at_middle = claimed(levels[middle])
        found[at_middle & ~at_low] = levels[middle]
        waiting += [(low, middle, at_low, at_middle), (middle, high, at_middle, at_high)]
