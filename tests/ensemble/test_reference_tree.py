"""The engine's trees equal trees grown slowly from the definitions."""

import numpy as np
import pytest
from scipy import sparse
from tests.ensemble.reference_tree import Problem, ReferenceTree

from ramify import _core


def grow(problem, n_trees, seed, *, table=None, n_threads=1):
    if table is None:
        table = _core.FeatureTable(problem.X, n_categories=problem.n_categories, max_bins=0, n_threads=1)
    growth = _core.Growth(
        seed=seed,
        first_tree=0,
        n_trees=n_trees,
        max_features=problem.max_features,
        bootstrap=problem.bootstrap,
        random_splits=problem.random_splits,
        max_depth=problem.max_depth,
        min_samples_split=problem.min_samples_split,
        min_samples_leaf=problem.min_samples_leaf,
        min_impurity_decrease=problem.min_impurity_decrease,
        min_weight_fraction_leaf=0.0,
        min_category_rows=problem.min_category_rows,
        oblique=0,
        backing=0,
    )
    work = {"sample_weight": problem.sample_weight, "row_groups": None, "n_threads": n_threads, "progress": None}
    if problem.numbers:
        return _core.grow(table, _core.NumberRows(problem.Y, problem.output_weights), growth, **work)
    return _core.grow(table, label_rows(problem.Y, problem.output_weights), growth, **work)


def label_rows(Y, weights):
    def compressed(cells):
        rows = sparse.csr_array(cells)
        return rows.indptr.astype(np.int64), rows.indices.astype(np.int32)

    if not np.isnan(Y).any():
        return _core.LabelRows(*compressed(Y), weights)
    indptr, indices = compressed(np.isnan(Y))
    return _core.LabelRows(*compressed(Y == 1), weights, unknown_indptr=indptr, unknown_indices=indices)


def leaf_means(arrays, n_outputs, numbers):
    if numbers:
        return arrays["leaf_values"]
    weight = np.empty(len(arrays["leaf_offsets"]) - 1)
    leaves = arrays["feature"] < 0
    weight[arrays["child"][leaves]] = arrays["weight"][leaves]
    means = np.zeros((len(weight), n_outputs))
    for leaf, total in enumerate(weight):
        labels = arrays["leaf_labels"][slice(*arrays["leaf_offsets"][leaf : leaf + 2])]
        counts = arrays["leaf_counts"][slice(*arrays["leaf_partial"][leaf : leaf + 2])]
        certain = len(labels) - len(counts)
        means[leaf, labels[:certain]] = 1.0
        means[leaf, labels[certain:]] = counts / total
    return means


def left_categories(arrays, node):
    subset = arrays["subset"][node]
    if subset < 0:
        return None
    words = arrays["subset_words"][slice(*arrays["subset_offsets"][subset : subset + 2])]
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    return frozenset(np.flatnonzero(bits).tolist())


def assert_equals_reference(problem, *, table=None, n_trees=3, seed=7):
    arrays = grow(problem, n_trees, seed, table=table).arrays()
    for tree in range(n_trees):
        first, last = arrays["tree_nodes"][tree : tree + 2]
        expected = ReferenceTree(problem, seed, tree).nodes
        assert arrays["feature"][first:last].tolist() == expected.feature
        assert arrays["child"][first:last].tolist() == expected.child
        np.testing.assert_array_equal(arrays["threshold"][first:last], expected.threshold)
        inner = arrays["feature"][first:last] >= 0
        np.testing.assert_array_equal(arrays["missing_left"][first:last][inner], np.array(expected.missing_left)[inner])
        np.testing.assert_allclose(arrays["weight"][first:last], expected.weight, rtol=1e-12)
        np.testing.assert_allclose(arrays["decrease"][first:last], expected.decrease, rtol=1e-9, atol=1e-9)
        if tree == 0:
            for node in range(last):
                assert left_categories(arrays, node) == expected.left_categories[node]
            first_tree = grow(problem, 1, seed, table=table).arrays()
            means = leaf_means(first_tree, problem.Y.shape[1], problem.numbers)
            np.testing.assert_allclose(means, expected.values, rtol=1e-12, atol=1e-15)


def make_problem(kind, features, seed, n=70, n_features=6, **parameters):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)).round(1)
    n_categories = np.zeros(n_features, np.int32)
    if "nominal" in features:
        for column, k in ((0, 2), (2, 5), (3, 9)):
            X[:, column] = rng.integers(0, k, n)
            n_categories[column] = k + 1
    if "sparse" in features:
        X[rng.random(X.shape) < 0.85] = 0
    if "two values" in features:
        columns = np.arange(n_features) % (2 if "sparse" in features else 5) > 0
        X[:, columns] = rng.choice([-2.0, 5.0], size=(n, columns.sum()), p=[0.7, 0.3])
    if "missing" in features:
        X[rng.random(X.shape) < 0.2] = np.nan
    score = np.nan_to_num(X[:, :1]) + np.nan_to_num(X[:, 2:3]) + rng.normal(size=(n, 5))
    if kind == "classes":
        Y = np.eye(3)[np.digitize(score[:, 0], [-0.5, 0.8])]
    elif kind == "numbers":
        Y = np.ascontiguousarray(score[:, :2])
    elif kind == "number":
        Y = np.ascontiguousarray(score[:, :1])
    else:
        Y = (score > 0.3).astype(float)
        Y[:, 1] *= Y[:, 0]  # a child of label 0
        Y[:, 4] = 1.0
    weights = rng.choice([0.5, 1.0, 0.75, 0.0], Y.shape[1]) if kind == "hierarchy" else np.ones(Y.shape[1])
    weights[0] = 1.0
    return Problem(X, Y, weights, n_categories, numbers=kind.startswith("number"), **parameters)


def hide(problem, share, seed=0):
    """Forget cells, the last label's most of all; a label and the one below it stay in order."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(problem.Y.shape) < share
    hidden[:, -1] |= rng.random(len(hidden)) < 0.8
    if not problem.numbers:
        child_of_negative = (problem.Y[:, 0] == 0) & ~hidden[:, 0]
        parent_of_positive = (problem.Y[:, 1] == 1) & ~hidden[:, 1]
        hidden[:, 1] &= ~child_of_negative
        hidden[:, 0] &= ~parent_of_positive
    problem.Y = np.where(hidden, np.nan, problem.Y)
    return problem


AGAIN = pytest.mark.hostile  # further cases of a behaviour
KINDS = ("classes", "labels", "hierarchy", "number", "numbers")
FEATURES = ("numeric", "nominal", "missing", "sparse", "nominal missing", "sparse missing", "nominal sparse missing")


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("kind", KINDS)
def test_best_splits_equal_the_reference(kind, features):
    assert_equals_reference(make_problem(kind, features, 1, max_features=3))


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_random_splits_equal_the_reference(kind, features):
    problem = make_problem(kind, features, 2, max_features=2, random_splits=True, bootstrap=False)
    assert_equals_reference(problem, n_trees=2)


@pytest.mark.parametrize("features", ["numeric", "nominal missing", "sparse missing"])
@pytest.mark.parametrize("kind", KINDS)
def test_weighted_rows_equal_the_reference(kind, features):
    problem = make_problem(kind, features, 3, max_features=3)
    problem.sample_weight = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 2.5], len(problem.X))
    assert_equals_reference(problem, n_trees=2)


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 3},
        {"min_samples_leaf": 6},
        {"min_samples_split": 15},
        {"min_impurity_decrease": 0.02},
        {"max_features": 6, "bootstrap": False},
    ],
)
@pytest.mark.parametrize("features", ["missing", "nominal sparse missing"])
def test_limits_of_growth_equal_the_reference(features, parameters):
    for kind in ("labels", "number"):
        problem = make_problem(kind, features, 4, **{"max_features": 3, **parameters})
        assert_equals_reference(problem, n_trees=2)


@pytest.mark.parametrize("random_splits", [False, True])
@pytest.mark.parametrize("min_category_rows", [10, pytest.param(3, marks=AGAIN), pytest.param(1000, marks=AGAIN)])
@pytest.mark.parametrize("features", ["nominal", "nominal missing", "nominal sparse missing"])
@pytest.mark.parametrize("kind", KINDS)
def test_pooled_categories_equal_the_reference(kind, features, min_category_rows, random_splits):
    limits = {"min_category_rows": min_category_rows, "random_splits": random_splits}
    problem = make_problem(kind, features, 5, n=90, max_features=4, **limits)
    assert_equals_reference(problem, n_trees=2)
    problem.sample_weight = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 2.5], len(problem.X))
    assert_equals_reference(problem, n_trees=2)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("random_splits", [False, True])
@pytest.mark.parametrize("min_category_rows", [4, pytest.param(8, marks=AGAIN)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_frequent_category_that_is_rare_in_a_node_is_pooled_there(kind, min_category_rows, random_splits, missing):
    """The engine does not list the rows of a column's most frequent value one by one."""
    limits = {"min_category_rows": min_category_rows, "random_splits": random_splits}
    for seed in (1, 2, 3):
        problem = make_problem(kind, "numeric", seed, n=150, max_features=3, **limits)
        rng = np.random.default_rng(seed)
        rest = rng.choice([1.0, 2.0, 3.0, 4.0], p=[0.7, 0.1, 0.1, 0.1], size=150)
        for column in (2, 3):
            problem.X[:, column] = np.where(problem.X[:, 0] + 0.3 * rng.normal(size=150) < 0.6, 0.0, rest)
            problem.n_categories[column] = 5
        if missing:
            problem.X[rng.random(problem.X.shape) < 0.1] = np.nan
        assert_equals_reference(problem, n_trees=2)


@pytest.mark.parametrize("share", [0.5, pytest.param(0.1, marks=AGAIN), pytest.param(0.9, marks=AGAIN)])
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("kind", ["labels", "hierarchy", "numbers"])
def test_partly_known_targets_equal_the_reference(kind, features, share):
    assert_equals_reference(hide(make_problem(kind, features, 1, max_features=3), share), n_trees=2)


@pytest.mark.parametrize("features", ["numeric", "nominal missing", "sparse missing"])
@pytest.mark.parametrize("kind", ["labels", "hierarchy", "numbers"])
def test_weighted_rows_of_partly_known_targets_equal_the_reference(kind, features):
    problem = hide(make_problem(kind, features, 3, max_features=3), 0.4)
    problem.sample_weight = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 2.5], len(problem.X))
    assert_equals_reference(problem, n_trees=2)


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 3},
        {"min_samples_leaf": 6},
        {"min_impurity_decrease": 0.02},
        {"random_splits": True, "bootstrap": False},
    ],
)
@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_limits_of_growth_on_partly_known_targets_equal_the_reference(kind, parameters):
    problem = hide(make_problem(kind, "nominal sparse missing", 4, **{"max_features": 3, **parameters}), 0.4)
    assert_equals_reference(problem, n_trees=2)


@pytest.mark.parametrize("features", ["sparse", "sparse missing", "nominal sparse missing"])
def test_compressed_columns_give_the_same_trees_as_dense_ones(features):
    problem = make_problem("labels", features, 5, n=200, n_features=90, max_features=9)
    columns = sparse.csc_array(problem.X)
    table = _core.FeatureTable(
        columns.data,
        columns.indices,
        columns.indptr,
        n_rows=200,
        n_categories=problem.n_categories,
        max_bins=0,
        n_threads=1,
    )
    dense, compressed = grow(problem, 5, 0).arrays(), grow(problem, 5, 0, table=table).arrays()
    for name, array in dense.items():
        np.testing.assert_array_equal(compressed[name], array, err_msg=name)


@pytest.mark.parametrize("features", ["sparse missing", "two values", "two values sparse"])
@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_no_feature_offers_more_than_the_one_chosen(kind, features):
    """With all features drawn, also where small nodes look for features by what their rows hold."""
    problem = make_problem(kind, features, 6, n=80, n_features=140, max_features=140, bootstrap=False)
    arrays = grow(problem, 1, 0).arrays()
    reference = ReferenceTree.__new__(ReferenceTree)
    reference.p, reference.m = problem, np.ones(80)
    reference.draws = np.ones(80, np.int64)
    reference.filled, reference.centre = problem.Y, problem.Y.mean(axis=0)
    rows_of = {0: np.arange(80)}
    for node, feature in enumerate(arrays["feature"]):
        rows = rows_of.pop(node)
        if feature < 0:
            assert reference.pure(rows)
            continue
        best = -np.inf
        for candidate in range(140):
            values = problem.X[rows, candidate]
            seen = np.unique(values[~np.isnan(values)])
            if len(seen) > 1 or (len(seen) == 1 and np.isnan(values).any()):
                found = reference.best_of(reference.cuts(rows, candidate, values, seen))
                best = max(best, found.score)
        np.testing.assert_allclose(arrays["decrease"][node], best - reference.square(rows), rtol=1e-9, atol=1e-9)
        values = problem.X[rows, feature]
        left = np.where(np.isnan(values), arrays["missing_left"][node] == 1, values <= arrays["threshold"][node])
        rows_of[arrays["child"][node]], rows_of[arrays["child"][node] + 1] = rows[left], rows[~left]
