from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from ramify import Hierarchy
from ramify.selection import HierarchicalSelector
from ramify.selection.eager import largest_path_mean
from ramify.selection.feature_graph import feature_graph
from ramify.selection.relevance import gain_ratio, information_gain, lift


def paths_of(hierarchy):
    """Every path from a root to a leaf."""

    def below(name):
        children = hierarchy.children[name]
        return [[name]] if not children else [[name, *path] for child in children for path in below(child)]

    return [path for root in hierarchy.roots for path in below(root)]


def slow_shsel(hierarchy, X, y, threshold):
    gain = dict(zip(hierarchy.names, np.round(information_gain(X, y), 12), strict=True))
    kept = {
        name
        for name in hierarchy.names
        if not any(1 - abs(gain[name] - gain[parent]) >= threshold for parent in hierarchy.parents[name])
    }
    for path in paths_of(hierarchy):
        mean = np.mean([gain[name] for name in path])
        kept -= {name for name in path if gain[name] < mean - 1e-12}
    return kept


def slow_tsel(hierarchy, X, y):
    lifts = dict(zip(hierarchy.names, np.round(lift(X, y), 12), strict=True))
    return {max(path, key=lambda name: lifts[name]) for path in paths_of(hierarchy)}


def slow_gtd(hierarchy, X, y):
    ratio = dict(zip(hierarchy.names, np.round(gain_ratio(X, y), 12), strict=True))
    depth = {name: max(len(path[: path.index(name)]) for path in paths_of(hierarchy) if name in path) for name in ratio}
    waiting = sorted(hierarchy.names, key=lambda name: (-ratio[name], depth[name]))
    kept = set()
    while waiting:
        best = waiting.pop(0)
        kept.add(best)
        related = {*hierarchy.ancestors(best), *hierarchy.descendants(best)}
        waiting = [name for name in waiting if name not in related]
    return kept


def without_constant_roots(hierarchy, X):
    dropped = [
        x for i, x in enumerate(hierarchy.names) if not hierarchy.parents[x] and hierarchy.children[x] and X[:, i].all()
    ]
    columns = [i for i, x in enumerate(hierarchy.names) if x not in dropped]
    return hierarchy.subset([hierarchy.names[i] for i in columns]).reduction(), X[:, columns]


@pytest.mark.parametrize("method", ["shsel", "gtd", "tsel"])
def test_every_method_equals_its_slow_reference_on_random_dags(random_problem, method):
    for seed in range(25):
        hierarchy, X, y = random_problem(seed)
        inner, part = without_constant_roots(hierarchy, X)
        threshold = 0.95
        slow = {
            "shsel": lambda: slow_shsel(inner, part, y, threshold),  # noqa: B023
            "gtd": lambda: slow_gtd(inner, part, y),  # noqa: B023
            "tsel": lambda: slow_tsel(inner, part, y),  # noqa: B023
        }[method]()
        selector = HierarchicalSelector(hierarchy, method=method, threshold=threshold).fit(X, y)
        found = {hierarchy.names[i] for i in np.flatnonzero(selector.get_support())}
        assert found == slow, seed


@pytest.mark.parametrize("method", ["shsel", "gtd", "tsel"])
def test_the_order_of_features_does_not_matter(random_problem, method):
    for seed in range(8):
        hierarchy, X, y = random_problem(seed)
        order = np.random.default_rng(seed).permutation(X.shape[1])
        permuted = hierarchy.subset([hierarchy.names[i] for i in order])
        support = HierarchicalSelector(hierarchy, method=method).fit(X, y).get_support()
        other = HierarchicalSelector(permuted, method=method).fit(X[:, order], y).get_support()
        np.testing.assert_array_equal(support[order], other)


def test_a_hierarchy_that_lists_all_ancestors_gives_the_same_subset(random_problem):
    for seed in range(8):
        hierarchy, X, y = random_problem(seed)
        direct = HierarchicalSelector(hierarchy.reduction()).fit(X, y).get_support()
        np.testing.assert_array_equal(HierarchicalSelector(hierarchy.closure()).fit(X, y).get_support(), direct)


def test_gtd_selects_an_antichain(random_problem):
    hierarchy, X, y = random_problem(3)
    support = HierarchicalSelector(hierarchy, method="gtd").fit(X, y).get_support()
    chosen = {hierarchy.names[i] for i in np.flatnonzero(support)}
    assert all(not chosen & set(hierarchy.ancestors(name)) for name in chosen)


def test_explain_tells_which_feature_removed_which(random_problem):
    hierarchy, X, y = random_problem(5)
    for method in ("shsel", "gtd", "tsel"):
        selector = HierarchicalSelector(hierarchy, method=method).fit(X, y)
        table = selector.explain()
        assert set(table.feature[table.selected]) == set(np.array(hierarchy.names)[selector.get_support()])
        for line in table[table.removed_by != ""].itertuples():
            related = {*hierarchy.ancestors(line.feature), *hierarchy.descendants(line.feature)}
            assert line.removed_by in related


def test_mask_repeats_the_subset_for_every_row(random_problem):
    hierarchy, X, y = random_problem(4)
    selector = HierarchicalSelector(hierarchy).fit(X, y)
    np.testing.assert_array_equal(selector.selection_mask(X).toarray(), np.tile(selector.get_support(), (len(X), 1)))


def test_works_in_a_pipeline_with_any_classifier(random_problem):
    hierarchy, X, y = random_problem(10)
    frame = pd.DataFrame(X, columns=list(hierarchy.names))
    pipeline = make_pipeline(HierarchicalSelector(hierarchy, method="gtd"), LogisticRegression())
    assert cross_val_score(pipeline, frame, y, cv=3).shape == (3,)


def test_set_output_keeps_names(random_problem):
    hierarchy, X, y = random_problem(10)
    frame = pd.DataFrame(X, columns=list(hierarchy.names))
    selector = HierarchicalSelector(hierarchy, method="tsel").set_output(transform="pandas").fit(frame, y)
    assert list(selector.transform(frame).columns) == list(selector.get_feature_names_out())


def test_violations_warn_and_closing_repairs():
    hierarchy = Hierarchy.from_edges([("a", "b"), ("a", "c")])
    X = np.array([[0, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]])
    with pytest.warns(UserWarning, match="1 rows have 'b' and lack its parent 'a'"):
        HierarchicalSelector(hierarchy).fit(X, [1, 1, 0, 0])
    repaired = HierarchicalSelector(hierarchy, close=True).fit(X, [1, 1, 0, 0])
    closed = HierarchicalSelector(hierarchy).fit(hierarchy.close(X), [1, 1, 0, 0])
    np.testing.assert_allclose(repaired.scores_, closed.scores_)


def test_bad_input_is_refused_in_words(random_problem):
    hierarchy, X, y = random_problem(1)
    with pytest.raises(ValueError, match="'method' parameter of HierarchicalSelector must be one of 'shsel'"):
        HierarchicalSelector(hierarchy, method="best").fit(X, y)
    with pytest.raises(ValueError, match="'threshold' parameter of HierarchicalSelector must be a number"):
        HierarchicalSelector(hierarchy, threshold="high").fit(X, y)
    with pytest.raises(ValueError, match="must be binary"):
        HierarchicalSelector(hierarchy).fit(X + 1, y)


def path_means(graph, relevance):
    """Mean relevance of every path from a root to a leaf, by the features on it."""
    children = [graph.children.indices[s:e] for s, e in pairwise(graph.children.indptr)]
    roots = np.flatnonzero(np.diff(graph.parents.indptr) == 0)
    waiting = [[root] for root in roots.tolist()]
    best = np.full(graph.n_features, -np.inf)
    while waiting:
        path = waiting.pop()
        below = children[path[-1]].tolist()
        waiting += [[*path, child] for child in below]
        if not below:
            best[path] = np.maximum(best[path], relevance[path].mean())
    return best


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_largest_path_mean_is_that_of_all_paths(data):
    n_features = data.draw(st.integers(1, 9))
    names = [f"t{j}" for j in range(n_features)]
    possible = [(p, c) for c in range(n_features) for p in range(c)]
    edges = data.draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    graph = feature_graph(Hierarchy(names, np.array(edges).reshape(-1, 2)), names)
    relevance = np.array(data.draw(st.lists(st.floats(0, 1), min_size=n_features, max_size=n_features)))
    found = largest_path_mean(graph, relevance)
    np.testing.assert_allclose(found, path_means(graph, relevance), rtol=1e-12, atol=1e-300)


@pytest.mark.hostile
def test_a_chain_of_thousands_of_features_has_one_path():
    n_features = 3000
    names = [str(j) for j in range(n_features)]
    edges = np.column_stack([np.arange(n_features - 1), np.arange(1, n_features)])
    graph = feature_graph(Hierarchy(names, edges), names)
    relevance = np.random.default_rng(0).random(n_features)
    np.testing.assert_allclose(largest_path_mean(graph, relevance), relevance.mean())
