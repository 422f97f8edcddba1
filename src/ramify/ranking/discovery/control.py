"""Error control over features and branches: DAGGER on one graph, per feature, and without a graph."""

from __future__ import annotations

from collections.abc import Callable

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


def claimed_at(
    p_values: np.ndarray, parents: list[list[int]], level: float, control: str, n_untested: int
) -> np.ndarray:
    """Which hypotheses, units x branches, are claimed at a level.

    Parameters
    ----------
    p_values : array of shape (n_units, n_branches)
        The first branch is the whole, above all others.
    parents : list of list of int
        Positions of the branches directly above each.
    level : float
        Expected share of false claims.
    control : {"joint", "per_feature", "flat"}
        DAGGER on the graph of units and branches; Benjamini-Hochberg over units and DAGGER within each;
        Benjamini-Hochberg over all.
    n_untested : int
        Further units whose p-values are all 1.

    References
    ----------
    A. Ramdas, J. Chen, M. J. Wainwright, M. I. Jordan. A sequential algorithm for false discovery rate control on
    directed acyclic graphs. Biometrika 106, 2019.

    Y. Benjamini, M. Bogomolov. Selective inference on multiple families of hypotheses. Journal of the Royal
    Statistical Society B 76, 2014.
    """
    n_units = len(p_values) + n_untested
    if control == "flat":
        found = _largest_step(p_values.ravel(), np.full(p_values.size, level / (n_units * p_values.shape[1])))
        return found.reshape(p_values.shape)
    leaves, sizes = graph_counts(parents)
    if control == "joint":
        return _dagger(p_values, parents, level, leaves, sizes, n_units * leaves[0])
    selected = _largest_step(p_values[:, 0], np.full(len(p_values), level / n_units))
    claimed = np.zeros(p_values.shape, dtype=bool)
    share = level * selected.sum() / n_units
    for unit in np.flatnonzero(selected).tolist():
        claimed[unit] = _dagger(p_values[[unit]], parents, share, leaves, sizes, leaves[0])[0]
        claimed[unit, 0] = True
    return claimed


def q_values(p_values: np.ndarray, parents: list[list[int]], fdr: float, control: str, n_untested: int) -> np.ndarray:
    """The smallest level at which each hypothesis is claimed, 1 where it is not claimed at `fdr`."""

    def claimed(level: float) -> np.ndarray:
        return claimed_at(p_values, parents, level, control, n_untested)

    n_levels = int(np.ceil(np.log(fdr / _SMALLEST) / np.log(_STEP)))
    levels = fdr * _STEP ** -np.arange(n_levels, -1, -1.0)
    found = np.ones(p_values.shape)
    # Claims grow with the level: a unit without one at `fdr` has none below, and only counts.
    some = claimed_at(p_values, parents, fdr, control, n_untested).any(axis=1)
    p_values, n_untested = p_values[some], n_untested + int((~some).sum())
    smallest = np.ones(p_values.shape)
    if some.any():
        _bisect(claimed, levels, smallest)
    found[some] = smallest
    return found


def graph_counts(parents: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Effective numbers of leaves and of nodes below each branch, shared among parents."""
    n_children = np.zeros(len(parents), dtype=np.int64)
    for above in parents:
        n_children[above] += 1
    leaves = (n_children == 0).astype(np.float64)
    sizes = np.ones(len(parents))
    for branch in reversed(_topological(parents)):
        for parent in parents[branch]:
            leaves[parent] += leaves[branch] / len(parents[branch])
            sizes[parent] += sizes[branch] / len(parents[branch])
    return leaves, sizes


def _dagger(
    p_values: np.ndarray,
    parents: list[list[int]],
    level: float,
    leaves: np.ndarray,
    sizes: np.ndarray,
    n_leaves: float,
) -> np.ndarray:
    depth = depths(parents)
    claimed = np.zeros(p_values.shape, dtype=bool)
    n_claimed = 0
    for at in range(int(depth.max()) + 1):
        branches = np.flatnonzero(depth == at)
        open_ = np.ones((len(p_values), len(branches)), dtype=bool)
        for k, branch in enumerate(branches.tolist()):
            for parent in parents[branch]:
                open_[:, k] &= claimed[:, parent]
        p, m, share = p_values[:, branches], sizes[branches], level * leaves[branches] / n_leaves
        # The smallest number r of claims at this depth with which a hypothesis is among them.
        needed = np.where(open_, np.ceil(p * m / share - m - n_claimed + 1 - 1e-9), np.inf).clip(min=1)
        order = np.sort(needed, axis=None)
        n_here = int(np.max(np.flatnonzero(order <= np.arange(1, order.size + 1)) + 1, initial=0))
        # As many as r hypotheses need at most r: the largest such r, and all that need at most it.
        claimed[:, branches] = open_ & (needed <= n_here)
        n_claimed += int(claimed[:, branches].sum())
    return claimed


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
