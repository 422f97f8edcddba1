import pickle
import tracemalloc

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from ramify import Hierarchy

DIAMOND = [("top", "left"), ("top", "right"), ("left", "low"), ("right", "low")]


def random_dag(seed: int, n_nodes: int = 30) -> Hierarchy:
    rng = np.random.default_rng(seed)
    edges = [(f"n{rng.integers(i)}", f"n{i}") for i in range(1, n_nodes) for _ in range(rng.integers(0, 4))]
    return Hierarchy.from_edges(edges, nodes=[f"n{i}" for i in rng.permutation(n_nodes)])


def slow_closure(hierarchy: Hierarchy, labels: set[str]) -> set[str]:
    closed = set(labels)
    while True:
        more = {parent for label in closed for parent in hierarchy.parents[label]} - closed
        if not more:
            return closed
        closed |= more


def test_depth_is_one_plus_the_mean_depth_of_parents():
    hierarchy = Hierarchy.from_edges([*DIAMOND, ("top", "low")])
    depth = dict(zip(hierarchy.names, hierarchy.depth, strict=True))
    assert depth == {"top": 1, "left": 2, "right": 2, "low": 1 + 5 / 3}


@pytest.mark.parametrize(
    ("aggregate", "low"), [("mean", 0.75 * 1.75 / 2), ("sum", 0.75 * 1.75), ("min", 0.75**2), ("max", 0.75), (None, 1)]
)
def test_weights_combine_parents_as_asked(aggregate, low):
    hierarchy = Hierarchy.from_edges([("a", "b"), ("a", "low"), ("b", "low")], aggregate=aggregate)
    assert hierarchy.weights[hierarchy.index("low")] == pytest.approx(low)
    assert hierarchy.weights[hierarchy.index("a")] == 1


def test_paths_name_nodes_by_their_whole_path_and_add_missing_ancestors():
    hierarchy = Hierarchy.from_paths(["000/00", "000", "1/10", "1/1/2", "1/1/2"])
    assert set(hierarchy.names) == {"000", "000/00", "1", "1/10", "1/1", "1/1/2"}
    assert hierarchy.ancestors("1/10") == ("1",)
    assert hierarchy.is_tree
    assert hierarchy.roots == ("000", "1")


def test_dict_and_edges_give_the_same_hierarchy():
    by_edges = Hierarchy.from_edges(DIAMOND)
    by_dict = Hierarchy.from_dict({"top": ["left", "right"], "left": ["low"], "right": ["low"], "low": []})
    assert set(by_edges.names) == set(by_dict.names)
    assert by_edges.parents == {name: by_dict.parents[name] for name in by_edges.names}


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_closure_and_its_inverse_equal_a_slow_reference(seed):
    hierarchy = random_dag(seed)
    rng = np.random.default_rng(seed)
    label_sets = [set(rng.choice(hierarchy.names, size=rng.integers(0, 5))) for _ in range(6)]
    closed = hierarchy.encode(label_sets)
    expected = [slow_closure(hierarchy, labels) for labels in label_sets]
    assert [set(labels) for labels in hierarchy.decode(closed)] == expected
    assert len(hierarchy.violations(closed)) == 0
    specific = hierarchy.most_specific(closed)
    for labels, all_labels in zip(hierarchy.decode(specific), expected, strict=True):
        assert set(labels) == {a for a in all_labels if not any(a in hierarchy.ancestors(b) for b in all_labels)}
    np.testing.assert_array_equal(hierarchy.close(specific.toarray()), closed.toarray())


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_reduction_and_closure_agree_with_networkx(seed):
    hierarchy = random_dag(seed)
    graph = nx.DiGraph(hierarchy.edges.tolist())
    graph.add_nodes_from(range(len(hierarchy)))
    assert set(map(tuple, hierarchy.reduction().edges.tolist())) == set(nx.transitive_reduction(graph).edges())
    assert set(map(tuple, hierarchy.closure().edges.tolist())) == set(nx.transitive_closure(graph).edges())


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_subset_keeps_the_order_relation(seed):
    hierarchy = random_dag(seed)
    kept = [name for i, name in enumerate(hierarchy.names) if (i * 7 + seed) % 3]
    smaller = hierarchy.subset(kept)
    assert smaller.names == tuple(kept)
    for name in kept:
        assert set(smaller.ancestors(name)) == set(hierarchy.ancestors(name)) & set(kept)
    assert hierarchy.subset(hierarchy.names) == hierarchy


def test_more_than_256_children_of_one_row_still_reach_their_parent():
    hierarchy = Hierarchy.from_edges([("root", f"leaf{i}") for i in range(256)])
    Y = np.ones((1, 257), dtype=np.int8)
    Y[0, hierarchy.index("root")] = 0
    assert hierarchy.close(Y).all()


def test_sparse_in_sparse_out_and_input_untouched():
    hierarchy = Hierarchy.from_edges(DIAMOND)
    Y = sparse.csr_array(np.array([[0, 0, 0, 1]]))
    closed = hierarchy.close(Y)
    assert sparse.issparse(closed)
    assert closed.toarray().tolist() == [[1, 1, 1, 1]]
    assert Y.nnz == 1
    assert hierarchy.close(np.array([[0, 0, 0, 1.0]])).dtype == float


@pytest.mark.parametrize("seed", range(5))
def test_violations_are_those_of_a_loop_over_cells_and_parents(seed):
    rng = np.random.default_rng(seed)
    names = [f"n{i}" for i in range(12)]
    edges = [(names[rng.integers(child)], names[child]) for child in range(1, 12) for _ in range(rng.integers(3))]
    hierarchy = Hierarchy.from_edges(edges, nodes=names)
    Y = (rng.random((20, 12)) < 0.4).astype(int)
    slow = [
        (row, child, hierarchy.index(parent))
        for row in range(20)
        for child in np.flatnonzero(Y[row]).tolist()
        for parent in hierarchy.parents[hierarchy.names[child]]
        if not Y[row, hierarchy.index(parent)]
    ]
    assert hierarchy.violations(Y).tolist() == [list(cell) for cell in sorted(slow)]
    assert hierarchy.violations(sparse.csr_array(Y)).tolist() == hierarchy.violations(Y).tolist()
    assert hierarchy.violations(np.zeros((0, 12), dtype=int)).shape == (0, 3)


def test_violations_name_row_child_and_parent():
    hierarchy = Hierarchy.from_edges(DIAMOND)
    broken = hierarchy.violations(np.array([[1, 1, 0, 1], [0, 0, 0, 0]]))
    assert broken.tolist() == [[0, 3, 2]]


def test_a_cycle_is_refused_and_printed():
    with pytest.raises(
        ValueError, match=r"cannot have a cycle, and this one has (a -> b -> c|b -> c -> a|c -> a -> b)"
    ):
        Hierarchy.from_edges([("r", "a"), ("a", "b"), ("b", "c"), ("c", "a")])


def test_dropping_cycles_warns_with_their_number_and_keeps_the_rest():
    with pytest.warns(UserWarning, match="2 of 5 edges closed cycles and were dropped"):
        hierarchy = Hierarchy.from_edges([("r", "a"), ("a", "b"), ("b", "a"), ("b", "b"), ("b", "c")], on_cycle="drop")
    assert hierarchy.ancestors("c") == ("r", "a", "b")


@pytest.mark.parametrize("second_parents", [False, True], ids=["tree", "dag"])
def test_ancestors_of_deep_hierarchies_are_written_once(second_parents):
    n = 1500
    edges = [(i, i + 1) for i in range(n - 1)] + ([(i, i + 2) for i in range(0, n - 2, 7)] if second_parents else [])
    deep = Hierarchy([str(i) for i in range(n)], np.array(edges))
    deep.depth, deep.is_tree  # noqa: B018
    tracemalloc.start()
    try:
        above = deep.ancestor_matrix
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert above.nnz == n * (n - 1) // 2
    np.testing.assert_array_equal(above[[700]].indices, np.arange(700))
    assert peak < 6.5 * above.nnz  # four bytes for a column, one for its 1, and the lists of the children


@pytest.mark.hostile
def test_depth_of_a_hundred_thousand_levels_needs_no_recursion():
    hierarchy = Hierarchy.from_edges([(f"n{i}", f"n{i + 1}") for i in range(100_000)], w0=1.0)
    assert hierarchy.depth.max() == 100_001
    assert len(hierarchy.ancestors("n100000")) == 100_000


def test_pickle_round_trip():
    hierarchy = Hierarchy.from_edges(DIAMOND, w0=0.5, aggregate="sum")
    assert pickle.loads(pickle.dumps(hierarchy)) == hierarchy


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Hierarchy(["a", "a"]), "'a' is named twice"),
        (lambda: Hierarchy(["a", ""]), "non-empty strings"),
        (lambda: Hierarchy(["a"], [(0, 1)]), "positions from 0 to 0"),
        (lambda: Hierarchy(["a"], w0=0), "'w0' parameter of Hierarchy must be a number in .0, 1."),
        (lambda: Hierarchy(["a"], aggregate="median"), "must be one of 'mean', 'sum', 'min', 'max', None"),
        (lambda: Hierarchy.from_paths(["a//b"]), "empty step"),
        (lambda: Hierarchy(["a"]).index("z"), "'z' is not in the hierarchy"),
        (lambda: Hierarchy(["a"]).close(np.ones((2, 3))), "one column per node"),
        (lambda: Hierarchy(["a"]).close(np.full((2, 1), 2)), "0 and 1 only"),
        (lambda: Hierarchy(["a"]).encode([["b"]]), "Label 'b' of row 0"),
    ],
)
def test_bad_input_is_refused_in_clear_words(build, words):
    with pytest.raises(ValueError, match=words):
        build()


def test_label_sets_may_be_iterators():
    hierarchy = Hierarchy.from_edges(DIAMOND)
    label_sets = [["low"], [], ["left", "right"]]
    encoded = hierarchy.encode(iter(labels) for labels in label_sets)
    np.testing.assert_array_equal(encoded.toarray(), hierarchy.encode(label_sets).toarray())


def test_closing_deep_label_sets_costs_by_what_it_gives():
    n_nodes = 10_000
    chain = Hierarchy(
        [f"n{i}" for i in range(n_nodes)], np.column_stack([np.arange(n_nodes - 1), np.arange(1, n_nodes)])
    )
    deepest = np.random.default_rng(0).integers(n_nodes, size=200)
    Y = sparse.csr_array((np.ones(200), (np.arange(200), deepest)), shape=(200, n_nodes))
    closed = chain.close(Y)
    np.testing.assert_array_equal(np.diff(closed.indptr), deepest + 1)
    np.testing.assert_array_equal(chain.most_specific(closed).indices, deepest)
