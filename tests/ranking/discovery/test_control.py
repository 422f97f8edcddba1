"""DAGGER against the algorithm of the paper, written out."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import false_discovery_control

from ramify.ranking.discovery.control import Graph, claimed_at, graph_counts, inherited, q_values, simes

TREE = [[], [0], [0], [1], [1], [2]]
DAG = [[], [0], [0], [1, 2], [1], [3, 4], [2]]


NESTED = [[], [0], [0], [1, 2], [1], []]


def of(p_values, parents, n_untested=0):
    return Graph.of(parents, len(p_values), n_untested)


def reference_dagger(p_values, parents, level, nested=None):
    """Ramdas et al. (2019), algorithm 1 with the generalised step-up reshaping that is the identity."""
    n_units, n_branches = p_values.shape
    nodes = list(itertools.product(range(n_units), range(n_branches)))
    upper = nested or [[] for _ in range(n_units)]
    above = {(u, b): [(u, p) for p in parents[b]] + [(v, b) for v in upper[u]] for u, b in nodes}
    below = {node: [child for child in nodes if node in above[child]] for node in nodes}

    def leaves(node):
        return sum(leaves(c) / len(above[c]) for c in below[node]) if below[node] else 1.0

    def size(node):
        return 1 + sum(size(c) / len(above[c]) for c in below[node])

    def depth(node):
        return 1 + max((depth(parent) for parent in above[node]), default=0)

    n_leaves = sum(not below[node] for node in nodes)
    claimed = set()
    for at in range(1, max(map(depth, nodes)) + 1):
        here = [node for node in nodes if depth(node) == at and all(parent in claimed for parent in above[node])]
        n_above = len(claimed)

        def passing(r, here=here, n_above=n_above):
            return [
                node
                for node in here
                if p_values[node] <= level * leaves(node) / n_leaves * (size(node) + r + n_above - 1) / size(node)
            ]

        for r in range(len(here), 0, -1):
            if len(passing(r)) >= r:
                claimed |= set(passing(r))
                break
    found = np.zeros(p_values.shape, dtype=bool)
    for node in claimed:
        found[node] = True
    return found


@pytest.mark.parametrize("parents", [TREE, DAG])
@pytest.mark.parametrize("seed", range(6))
def test_joint_control_is_dagger(parents, seed):
    p_values = np.random.default_rng(seed).random((5, len(parents))) ** 4
    for level in (0.05, 0.2):
        found = claimed_at(p_values, of(p_values, parents), level, "joint")
        np.testing.assert_array_equal(found, reference_dagger(p_values, parents, level))


@pytest.mark.parametrize("parents", [TREE, DAG])
@pytest.mark.parametrize("seed", range(6))
def test_joint_control_of_nested_units_is_dagger_on_all_pairs(parents, seed):
    p_values = np.random.default_rng(seed).random((len(NESTED), len(parents))) ** 6
    p_values[:, 0] *= 0.01  # what is at the top is claimed in some seeds at least
    p_values[0] *= 0.01
    graph = Graph.of(parents, len(NESTED), above=NESTED)
    for level in (0.05, 0.3):
        found = claimed_at(p_values, graph, level, "joint")
        np.testing.assert_array_equal(found, reference_dagger(p_values, parents, level, NESTED))
        for unit, above in enumerate(NESTED):
            assert all((found[upper] >= found[unit]).all() for upper in above)
    q = q_values(p_values, graph, 0.3, "joint")
    np.testing.assert_array_equal(q <= 0.3, found)
    assert found.sum() > 1


def test_a_unit_inherits_what_is_known_of_those_below():
    p_values = np.array([[0.5], [0.9], [0.7], [0.01], [0.2], [0.04]])
    found = inherited(p_values, NESTED)[:, 0]
    np.testing.assert_allclose(found, [2 * 4 * 0.01, 2 * 2 * 0.01, 2 * 0.01, 0.01, 0.2, 0.04])


def test_inherited_p_values_of_nothing_are_not_small_too_often():
    p_values = np.random.default_rng(4).random((len(NESTED), 20_000))
    small = (inherited(p_values, NESTED) < 0.05).mean(axis=1)
    assert small.max() < 0.053


def test_flat_control_is_benjamini_hochberg():
    p_values = np.random.default_rng(0).random((7, 6)) ** 3
    found = claimed_at(p_values, of(p_values, TREE), 0.1, "flat")
    np.testing.assert_array_equal(found, false_discovery_control(p_values.ravel()).reshape(7, 6) <= 0.1)


def test_per_feature_selects_features_by_benjamini_hochberg():
    p_values = np.random.default_rng(1).random((20, 6)) ** 3
    found = claimed_at(p_values, of(p_values, TREE), 0.1, "per_feature")
    np.testing.assert_array_equal(found[:, 0], false_discovery_control(p_values[:, 0]) <= 0.1)


@pytest.mark.parametrize("control", ["joint", "per_feature"])
@pytest.mark.parametrize("parents", [TREE, DAG])
def test_who_drives_a_branch_drives_what_is_above(control, parents):
    p_values = np.random.default_rng(2).random((30, len(parents))) ** 4
    found = claimed_at(p_values, of(p_values, parents), 0.2, control)
    assert found[:, 1:].any()
    for branch, above in enumerate(parents):
        for parent in above:
            assert found[found[:, branch], parent].all()


@pytest.mark.parametrize("control", ["joint", "per_feature", "flat"])
def test_q_is_the_smallest_level_that_claims(control):
    p_values = np.random.default_rng(3).random((12, len(DAG))) ** 6
    graph = of(p_values, DAG, 3)
    q = q_values(p_values, graph, 0.2, control)
    np.testing.assert_array_equal(q <= 0.2, claimed_at(p_values, graph, 0.2, control))
    for level in np.unique(q[q < 1]):
        at_it = claimed_at(p_values, graph, level, control)
        below_it = claimed_at(p_values, graph, level / 1.021, control)
        assert at_it[q == level].all()
        assert not below_it[q == level].any() or level < 1e-11


def test_untested_units_count():
    p_values = np.full((1, 1), 0.03)
    assert claimed_at(p_values, of(p_values, [[]]), 0.05, "joint").all()
    assert not claimed_at(p_values, of(p_values, [[]], 1), 0.05, "joint").any()


def test_counts_share_children_among_parents():
    leaves, sizes = graph_counts(DAG)
    assert leaves.tolist() == [[2.0, 0.75, 1.25, 0.5, 0.5, 1.0, 1.0]]
    assert sizes[0, 0] == pytest.approx(len(DAG))
    leaves, sizes = graph_counts(TREE, NESTED)
    assert leaves[[0, 5], 0].sum() == pytest.approx(3 * 3)
    assert sizes[[0, 5], 0].sum() == pytest.approx(len(TREE) * len(NESTED))


def test_simes_of_a_set():
    p_values = np.array([[0.01, 0.04, 0.9], [0.5, 0.6, 0.7]])
    members = sparse.csr_array([[1, 1, 0], [1, 1, 1]])
    np.testing.assert_allclose(simes(p_values, members), [[0.02, 0.03], [0.6, 0.7]])
