import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ramify import Hierarchy
from ramify.selection import LazySelector
from ramify.selection.feature_graph import feature_graph
from ramify.selection.relevance import information_gain, lazy_r, r_relevance
from ramify.selection.row_selection import RULES, RowSelection

METHODS = ("rpv", "hip", "mr", "hip-mr", "positive", "negative")


def relatives(hierarchy, name, ancestors):
    return hierarchy.ancestors(name) if ancestors else hierarchy.descendants(name)


def all_paths(hierarchy, name, upward):
    """Every path from a node to a root (or a leaf), as lists of names."""
    following = (hierarchy.parents if upward else hierarchy.children)[name]
    if not following:
        return [[name]]
    return [[name, *path] for other in following for path in all_paths(hierarchy, other, upward)]


def slow_rpv(hierarchy, value, relevance):
    """Algorithm 1, line by line."""
    status = dict.fromkeys(hierarchy.names, True)
    for x in hierarchy.names:
        if value[x]:
            for a in hierarchy.ancestors(x):
                if relevance[1][a] < relevance[1][x]:
                    status[a] = False
        else:
            status[x] = False
    return status


def slow_hip(hierarchy, value, relevance):
    status = dict.fromkeys(hierarchy.names, True)
    for x in hierarchy.names:
        for other in relatives(hierarchy, x, ancestors=value[x]):
            if value[other] == value[x]:
                status[other] = False
    return status


def slow_hip_mr(hierarchy, value, relevance):
    status = dict.fromkeys(hierarchy.names, True)
    for x in hierarchy.names:
        for other in relatives(hierarchy, x, ancestors=value[x]):
            if value[other] == value[x] and relevance[value[x]][other] <= relevance[value[x]][x]:
                status[other] = False
    return status


def slow_mr(hierarchy, value, relevance):
    """Of every path of equal values to a root (present) or a leaf (absent), only the most relevant feature stays.

    The first of equally relevant ones on such a path is the deepest present or the shallowest absent.
    """
    status = dict.fromkeys(hierarchy.names, True)
    for x in hierarchy.names:
        for path in all_paths(hierarchy, x, upward=value[x] == 1):
            same = [feature for feature in path if value[feature] == value[x]]
            best = max(same, key=lambda feature: relevance[value[x]][feature])
            for feature in same:
                if feature != best:
                    status[feature] = False
    return status


SLOW = {
    "rpv": slow_rpv,
    "hip": slow_hip,
    "mr": slow_mr,
    "hip-mr": slow_hip_mr,
    "positive": lambda hierarchy, value, relevance: {x: value[x] == 1 for x in hierarchy.names},
    "negative": lambda hierarchy, value, relevance: {x: value[x] == 0 for x in hierarchy.names},
}
MEASURES = {"lazy_r": lazy_r, "r": r_relevance, "ig": information_gain}


def slow_mask(hierarchy, X_train, y, X, method, relevance):
    measure = MEASURES[relevance]
    present = np.round(measure(X_train, y), 12)
    absent = np.round(lazy_r(X_train, y, value=0), 12) if relevance == "lazy_r" else present
    by_value = {1: dict(zip(hierarchy.names, present, strict=True)), 0: dict(zip(hierarchy.names, absent, strict=True))}
    roots = [
        x
        for i, x in enumerate(hierarchy.names)
        if not hierarchy.parents[x] and hierarchy.children[x] and X_train[:, i].all()
    ]
    kept = [x for x in hierarchy.names if x not in roots]
    inner = hierarchy.subset(kept)
    mask = np.zeros(X.shape, dtype=bool)
    for row, values in enumerate(X):
        value = dict(zip(hierarchy.names, values, strict=True))
        status = SLOW[method](inner, value, by_value)
        mask[row] = [status.get(x, False) for x in hierarchy.names]
    return mask


@pytest.mark.parametrize("relevance", ["lazy_r", "r", "ig"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_equals_its_slow_reference_on_random_dags(random_problem, method, relevance):
    for seed in range(12):
        hierarchy, X, y = random_problem(seed)
        selector = LazySelector(hierarchy, method=method, relevance=relevance).fit(X[:20], y[:20])
        found = selector.selection_mask(X).toarray()
        np.testing.assert_array_equal(found, slow_mask(hierarchy, X[:20], y[:20], X, method, relevance), f"{seed}")


@pytest.mark.filterwarnings("ignore:.*break the feature hierarchy:UserWarning")
@pytest.mark.parametrize("method", METHODS)
def test_rows_that_break_the_hierarchy_are_selected_by_the_same_rules(random_problem, method):
    for seed in range(6):
        hierarchy, X, y = random_problem(seed)
        X = X & (np.random.default_rng(seed).random(X.shape) < 0.8)
        found = LazySelector(hierarchy, method=method, relevance="r").fit(X, y).selection_mask(X).toarray()
        np.testing.assert_array_equal(found, slow_mask(hierarchy, X, y, X, method, "r"))


def test_figure_1_leaves_c_k_h_and_j():
    edges = ["NK", "NG", "NL", "KC", "GC", "LH", "KM", "MJ", "GA", "LB", "CD", "CE", "HF", "JI"]
    hierarchy = Hierarchy.from_edges([(parent, child) for parent, child in edges])
    value = {name: int(name in "CGHJKLMN") for name in hierarchy.names}
    relevance = dict.fromkeys(hierarchy.names, 0.1)
    relevance |= {"C": 0.4, "K": 0.5, "G": 0.3, "N": 0.2, "H": 0.35, "L": 0.25, "J": 0.45, "M": 0.15}
    scores = np.array([relevance[name] for name in hierarchy.names])
    row = sparse.csr_array(np.array([[value[name] for name in hierarchy.names]], dtype=bool))
    selection = RowSelection(RULES["rpv"], feature_graph(hierarchy, hierarchy.names), scores, scores)
    chosen = {hierarchy.names[i] for i in selection.mask(row).indices}
    assert chosen == {"C", "K", "H", "J"}


def test_the_order_of_features_does_not_matter(random_problem):
    for seed in range(8):
        hierarchy, X, y = random_problem(seed)
        order = np.random.default_rng(seed).permutation(X.shape[1])
        permuted = hierarchy.subset([hierarchy.names[i] for i in order])
        for method in METHODS:
            mask = LazySelector(hierarchy, method=method).fit(X, y).selection_mask(X).toarray()
            other = LazySelector(permuted, method=method).fit(X[:, order], y).selection_mask(X[:, order]).toarray()
            np.testing.assert_array_equal(mask[:, order], other)


def test_columns_of_a_frame_are_matched_by_name(random_problem):
    hierarchy, X, y = random_problem(5)
    mask = LazySelector(hierarchy).fit(X, y).selection_mask(X).toarray()
    frame = pd.DataFrame(X, columns=list(hierarchy.names))[list(hierarchy.names)[::-1]]
    np.testing.assert_array_equal(LazySelector(hierarchy).fit(frame, y).selection_mask(frame).toarray(), mask[:, ::-1])


def test_polars_sparse_and_bool_rows_give_the_same_mask(random_problem):
    polars = pytest.importorskip("polars")
    hierarchy, X, y = random_problem(4)
    mask = LazySelector(hierarchy, method="mr").fit(X, y).selection_mask(X).toarray()
    frame = polars.DataFrame(X, schema=list(hierarchy.names))
    for other in (sparse.csr_array(X), sparse.csc_matrix(X), X.astype(bool), X.astype(np.float32), frame):
        selector = LazySelector(hierarchy, method="mr").fit(other, y)
        np.testing.assert_array_equal(selector.selection_mask(other).toarray(), mask)


def test_blocks_join_to_the_whole_mask(random_problem, monkeypatch):
    hierarchy, X, y = random_problem(2)
    whole = LazySelector(hierarchy, method="mr").fit(X, y).selection_mask(X).toarray()
    monkeypatch.setattr("ramify.selection.lazy._BLOCK_CELLS", 4 * X.shape[1])
    selector = LazySelector(hierarchy, method="mr").fit(X, y)
    assert len(list(selector.selection_blocks(sparse.csr_array(X)))) == 8
    np.testing.assert_array_equal(selector.selection_mask(X).toarray(), whole)


def test_terms_between_features_carry_ancestry():
    hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "c"), ("a", "d")])
    frame = pd.DataFrame({"c": [1, 0, 0, 1], "a": [1, 1, 0, 1], "d": [0, 1, 0, 0]})
    mask = LazySelector(hierarchy, method="hip").fit(frame, [1, 0, 0, 1]).selection_mask(frame.iloc[:1])
    np.testing.assert_array_equal(mask.toarray(), [[True, False, True]])


def test_features_outside_the_hierarchy_stand_alone_and_are_reported():
    hierarchy = Hierarchy.from_edges([("a", "b")])
    frame = pd.DataFrame({"b": [1, 0, 0, 1], "loner": [1, 1, 0, 1], "a": [1, 1, 0, 1]})
    selector = LazySelector(hierarchy).fit(frame, [1, 0, 0, 1])
    assert selector.unknown_features_ == ("loner",)
    np.testing.assert_array_equal(selector.selection_mask(frame.iloc[:1]).toarray(), [[True, True, False]])


def test_roots_present_in_every_row_are_dropped_and_named():
    hierarchy = Hierarchy.from_edges([("root", "a"), ("root", "b")])
    X = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0]])
    selector = LazySelector(hierarchy, method="hip").fit(X, [0, 1, 1])
    assert selector.dropped_features_ == ("root",)
    assert not selector.selection_mask(X).toarray()[:, 0].any()


@pytest.mark.parametrize("method", ["rpv", "hip", "mr"])
def test_constant_roots_are_kept_as_algorithm_1_does_where_asked_for(method):
    order = Hierarchy.from_edges([("animal", "bird"), ("animal", "fish")])
    X, y = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0]]), [0, 0, 1, 1]
    plain = LazySelector(order, method=method).fit(X, y)
    kept = LazySelector(order, method=method, drop_constant_roots=False).fit(X, y)
    assert (plain.dropped_features_, kept.dropped_features_) == (("animal",), ())
    rows = [[1, 1, 0], [1, 0, 0]]
    assert not plain.selection_mask(rows).toarray()[:, 0].any()
    # "bird" is more relevant than "animal" and below it; where no animal is named, nothing removes the root.
    assert kept.selection_mask(rows).toarray()[:, 0].tolist() == [False, True]


def test_rows_that_break_the_hierarchy_are_counted_named_and_repaired_on_request():
    hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "c")])
    X = np.array([[1, 1, 1], [0, 0, 1], [1, 0, 1], [0, 0, 0]])
    y = [0, 1, 0, 1]
    with pytest.warns(
        UserWarning, match="2 cells on 1 edges break.*2 rows have 'c' and lack its parent 'b'.*close=True"
    ):
        selector = LazySelector(hierarchy, method="positive").fit(X, y)
    assert selector.violations_ == (("c", "b", 2),)
    np.testing.assert_array_equal(selector.selection_mask(X).toarray(), X.astype(bool))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        repaired = LazySelector(hierarchy, method="positive", close=True).fit(X, y)
    assert repaired.violations_ == (("c", "b", 2),)
    np.testing.assert_array_equal(repaired.selection_mask(X).toarray(), hierarchy.close(X).astype(bool))


def test_explain_names_what_removed_what(random_problem):
    for method in ("rpv", "mr", "hip"):
        hierarchy, X, y = random_problem(6)
        selector = LazySelector(hierarchy, method=method).fit(X, y)
        for row in X[:6]:
            table = selector.explain(row)
            chosen = {hierarchy.names[i] for i in selector.selection_mask(row[None, :]).indices}
            assert set(table.feature[table.selected]) == chosen
            assert (table.removed_by[~table.selected].map(len) > 0).all()
            assert (table.removed_by[table.selected].map(len) == 0).all()
            if method != "mr":
                value = dict(zip(hierarchy.names, row, strict=True))
                for line in table[~table.selected].itertuples():
                    related = hierarchy.descendants if value[line.feature] else hierarchy.ancestors
                    assert set(line.removed_by) <= set(related(line.feature))


def test_explain_of_the_docstring_example_says_which_descendant_won():
    hierarchy = Hierarchy.from_edges([("animal", "bird"), ("animal", "fish")])
    X, y = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]]), ["flies", "flies", "swims", "swims"]
    table = LazySelector(hierarchy).fit(X, y).explain([1, 1, 0])
    assert table.feature.tolist() == ["bird", "animal"]
    assert table.removed_by.tolist() == [(), ("bird",)]


def test_ranking_counts_how_often_a_feature_is_selected(random_problem):
    hierarchy, X, y = random_problem(7)
    selector = LazySelector(hierarchy).fit(X, y)
    expected = selector.selection_mask(X).toarray().mean(axis=0)
    np.testing.assert_allclose(selector.ranking_.scores, expected)
    assert selector.ranking_.names == hierarchy.names


def test_label_sets_are_accepted(random_problem):
    hierarchy, X, _ = random_problem(8)
    Y = np.random.default_rng(0).integers(0, 2, size=(len(X), 3))
    selector = LazySelector(hierarchy).fit(X, Y)
    np.testing.assert_allclose(selector.relevance_, sum(lazy_r(X, Y[:, label]) for label in range(3)))


def test_bad_input_is_refused_in_words(random_problem):
    hierarchy, X, y = random_problem(1)
    with pytest.raises(ValueError, match="'method' parameter of LazySelector must be one of 'rpv', 'hip'"):
        LazySelector(hierarchy, method="best").fit(X, y)
    with pytest.raises(ValueError, match="'relevance' parameter of LazySelector must be one of 'lazy_r'"):
        LazySelector(hierarchy, relevance="gini").fit(X, y)
    with pytest.raises(TypeError, match="must be a ramify.Hierarchy. Got dict"):
        LazySelector({"a": ["b"]}).fit(X, y)
    with pytest.raises(ValueError, match="must be binary"):
        LazySelector(hierarchy).fit(X * 2, y)
    with pytest.raises(ValueError, match=r"columns without names.*hierarchy.subset"):
        LazySelector(hierarchy).fit(X[:, :2], y)
    with pytest.raises(ValueError, match="None of the 2 features .* Is it the hierarchy of other features"):
        LazySelector(hierarchy).fit(pd.DataFrame(X[:, :2], columns=["p", "q"]), y)
    with pytest.raises(ValueError, match="Two feature columns are named"):
        feature_graph(hierarchy, ["f0", "f0"])
    with pytest.raises(ValueError, match="cycle"):
        LazySelector(Hierarchy.from_edges([("a", "b"), ("b", "a")])).fit(X, y)
    with pytest.raises(NotFittedError):
        LazySelector(hierarchy).selection_mask(X)
    fitted = LazySelector(hierarchy).fit(X, y)
    with pytest.raises(ValueError, match="explain takes one row. Got 2"):
        fitted.explain(X[:2])
    with pytest.raises(ValueError, match="features, but LazySelector is expecting"):
        fitted.selection_mask(X[:, :-1])


def test_parameters_survive_cloning(random_problem):
    hierarchy, X, y = random_problem(9)
    copy = clone(LazySelector(hierarchy, method="hip", relevance="ig", close=True))
    assert copy.get_params()["method"] == "hip"
    assert copy.fit(X, y).feature_hierarchy == hierarchy


def test_a_second_fit_forgets_the_ranking_of_the_first():
    order = Hierarchy.from_edges([("animal", "bird"), ("animal", "fish")])
    X, y = [[1, 1, 0], [1, 0, 1], [0, 0, 0]], ["flies", "swims", "swims"]
    selector = LazySelector(order).fit(X, y)
    assert len(selector.ranking_) == 3
    assert not hasattr(selector.fit(X, y, rank=False), "ranking_")


def test_without_smoothing_relevance_is_the_printed_equation():
    order = Hierarchy.from_edges([("A", "B"), ("C", "D")])
    X = pd.DataFrame({"A": [1, 1, 0], "B": [1, 0, 0], "C": [0, 1, 1], "D": [0, 0, 1]})  # Figure 2
    plain = LazySelector(order, smoothing=0).fit(X, ["C1", "C2", "C2"])
    np.testing.assert_allclose(plain.relevance_, [0, 0.5, 0.5, 0.5])
    eager = LazySelector(order, method="mr", relevance="r", smoothing=0).fit(X, ["C1", "C2", "C2"])
    np.testing.assert_allclose(eager.relevance_, r_relevance(X, ["C1", "C2", "C2"], smoothing=0))
    smoothed = LazySelector(order).fit(X, ["C1", "C2", "C2"])
    np.testing.assert_allclose(smoothed.relevance_, lazy_r(X, ["C1", "C2", "C2"], smoothing=1))
    # A present descendant that is as relevant without smoothing is more relevant than its rarer child with it.
    assert plain.selection_mask(X.iloc[[2]]).toarray().tolist() == [[False, False, True, True]]
    assert smoothed.relevance_[2] > smoothed.relevance_[3]


def test_negative_smoothing_is_refused():
    order = Hierarchy.from_edges([("A", "B")])
    with pytest.raises(ValueError, match="'smoothing' parameter of LazySelector must be .* >= 0"):
        LazySelector(order, smoothing=-1).fit([[1, 0], [1, 1]], [0, 1])
