"""Scores of forests against slow references that walk the trees example by example."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score

from ramify import _core
from ramify.datasets import make_hierarchical, make_label_ranking, make_multilabel
from ramify.ensemble import ForestClassifier, ForestRegressor, LabelRankingForest
from ramify.ensemble.growing import feature_rows
from ramify.features import apply_features
from ramify.metrics import auprc
from ramify.ranking import ForestRanker, forest_ranking, nested_rankings

ENSEMBLES = {
    "bagging": {"max_features": None},
    "random forests": {"max_features": "sqrt"},
    "extra trees": {"splitter": "random", "bootstrap": False},
}


@pytest.fixture(scope="module", params=["tree", "DAG", "nominal and missing"])
def data(request):
    made = make_hierarchical(
        120,
        n_features=18,
        extra_parents=0.6 if request.param == "DAG" else 0.0,
        missing=0.1 if request.param == "nominal and missing" else 0.0,
        random_state=2,
    )
    X, nominal = made.X.copy(), None
    if request.param == "nominal and missing":
        X[:, ::3] = np.round(X[:, ::3])
        nominal = np.arange(0, 18, 3)
    return X, made.y.toarray().astype(float), made.hierarchy, nominal


class SlowTree:
    """One tree from the forest's arrays, and which rows pass each of its nodes."""

    def __init__(self, forest, number, X):
        arrays = forest.trees_.arrays()
        nodes = slice(*arrays["tree_nodes"][number : number + 2])
        for name in ("feature", "threshold", "child", "subset", "missing_left", "weight", "decrease"):
            setattr(self, name, arrays[name][nodes])
        first_subset, last_subset = arrays["tree_subsets"][number : number + 2]
        offsets = arrays["subset_offsets"]
        words = arrays["subset_words"]
        self.subsets = [words[offsets[k] : offsets[k + 1]] for k in range(first_subset, last_subset)]
        self.codes = X

    def goes_left(self, node, row):
        value = self.codes[row, self.feature[node]]
        if np.isnan(value):
            return bool(self.missing_left[node])
        if self.subset[node] < 0:
            return value <= self.threshold[node]
        word = self.subsets[self.subset[node]]
        return bool((int(word[int(value) // 64]) >> (int(value) % 64)) & 1)

    def passing(self, rows):
        """Rows (repeated as given) that pass each node."""
        reached = {0: list(rows)}
        for node in range(len(self.feature)):
            if self.feature[node] < 0 or node not in reached:
                continue
            left = [row for row in reached[node] if self.goes_left(node, row)]
            right = [row for row in reached[node] if not self.goes_left(node, row)]
            reached[self.child[node]], reached[self.child[node] + 1] = left, right
        return reached


def codes_of(forest, X):
    """Nominal columns as codes."""
    coded = X.copy()
    for j, values in enumerate(forest.categories_):
        if values is not None:
            known = ~np.isnan(X[:, j])
            coded[known, j] = np.searchsorted(values, X[known, j])
    return coded


def impurity(Y, rows, weights):
    p = Y[rows].mean(axis=0)
    return (weights * p * (1 - p)).sum()


@pytest.mark.parametrize("ensemble", ["bagging without draws", "extra trees"])
def test_genie3_and_symbolic_equal_the_formulas(data, ensemble):
    X, Y, hierarchy, nominal = data
    options = ENSEMBLES["extra trees"] if ensemble == "extra trees" else {"bootstrap": False, "max_features": 0.7}
    forest = ForestClassifier(4, hierarchy=hierarchy, categorical_features=nominal, random_state=0, **options).fit(X, Y)
    n, n_labels = Y.shape
    symbolic, genie3 = np.zeros(X.shape[1]), np.zeros((X.shape[1], n_labels))
    for number in range(4):
        tree = SlowTree(forest, number, codes_of(forest, X))
        reached = tree.passing(range(n))
        for node, feature in enumerate(tree.feature):
            if feature < 0:
                continue
            symbolic[feature] += len(reached[node]) / n / 4
            for label in range(n_labels):
                only, weight = Y[:, [label]], hierarchy.weights[label]
                gain = len(reached[node]) * impurity(only, reached[node], weight)
                for child in (tree.child[node], tree.child[node] + 1):
                    gain -= len(reached[child]) * impurity(only, reached[child], weight)
                genie3[feature, label] += gain / n / 4
    rankings = forest_ranking(forest, ["symbolic", "genie3"])
    np.testing.assert_allclose(rankings["symbolic"].scores, symbolic, atol=1e-12)
    np.testing.assert_allclose(rankings["genie3"].per_label.toarray(), genie3, atol=1e-12)
    np.testing.assert_allclose(rankings["genie3"].scores, genie3.sum(axis=1), atol=1e-12)


def out_of_bag(forest, X, number):
    """Rows that are not in the bag of one tree."""
    counts = [_oob_counts(forest, X, k) for k in (number, number + 1)]
    return np.flatnonzero(counts[1] > counts[0])


def _oob_counts(forest, X, n_trees):
    if n_trees == 0:
        return np.zeros(len(X), dtype=int)
    rows = feature_rows(apply_features(forest, X))
    return _core.predict_oob(
        forest.trees_.first(n_trees),
        rows,
        bag_rows=None,
        sample_weight=None,
        first_row=0,
        last_row=len(X),
        n_threads=1,
    )[1]


def test_out_of_bag_genie3_equals_the_formula(data):
    X, Y, hierarchy, nominal = data
    forest = ForestClassifier(3, hierarchy=hierarchy, categorical_features=nominal, random_state=1).fit(X, Y)
    leaves = forest.apply(X)
    expected = np.zeros((X.shape[1], Y.shape[1]))
    for number in range(3):
        tree = SlowTree(forest, number, codes_of(forest, X))
        outside = tree.passing(out_of_bag(forest, X, number))
        total = len(outside[0])
        # frequencies in the bag, from the leaves' probabilities upwards
        single = forest.trees_.part(number, number + 1)
        probability = node_probabilities(tree, leaf_probabilities(single, X, forest, leaves[:, number]))
        for node, feature in enumerate(tree.feature):
            if feature < 0:
                continue
            gain = -probability[node] * Y[outside[node]].sum(axis=0)
            for child in (tree.child[node], tree.child[node] + 1):
                gain = gain + probability[child] * Y[outside[child]].sum(axis=0)
            expected[feature] += hierarchy.weights * gain / total / 3
    found = forest_ranking(forest, "genie3_oob", X, Y)
    np.testing.assert_allclose(found.per_label.toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(found.scores, expected.sum(axis=1), atol=1e-12)


def leaf_probabilities(single, X, forest, leaves):
    """Prediction of one tree per leaf that some row reaches."""
    rows = feature_rows(apply_features(forest, X))
    predicted = _core.predict(single, rows, first_row=0, last_row=len(X), n_threads=1)
    return dict(zip(leaves.tolist(), predicted, strict=True))


def node_probabilities(tree, of_leaf):
    values = {}
    for node in reversed(range(len(tree.feature))):
        if tree.feature[node] < 0:
            values[node] = of_leaf[node]
        else:
            left, right = tree.child[node], tree.child[node] + 1
            total = tree.weight[left] * values[left] + tree.weight[right] * values[right]
            values[node] = total / tree.weight[node]
    return values


def test_out_of_bag_genie3_of_numbers_equals_that_of_the_same_labels():
    data = make_hierarchical(150, n_features=16, random_state=0)
    Y = data.y.toarray().astype(float)
    regressor = ForestRegressor(5, max_features=6, random_state=3).fit(data.X, Y)
    standardised = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    found = forest_ranking(regressor, "genie3_oob", data.X, Y).per_label.toarray()
    leaves = regressor.apply(data.X)
    expected = np.zeros_like(found)
    for number in range(5):
        tree = SlowTree(regressor, number, data.X)
        outside = tree.passing(out_of_bag(regressor, data.X, number))
        single = regressor.trees_.part(number, number + 1)
        means = node_probabilities(tree, leaf_probabilities(single, data.X, regressor, leaves[:, number]))
        for node, feature in enumerate(tree.feature):
            if feature < 0:
                continue
            gain = -means[node] * standardised[outside[node]].sum(axis=0)
            for child in (tree.child[node], tree.child[node] + 1):
                gain = gain + means[child] * standardised[outside[child]].sum(axis=0)
            expected[feature] += gain / len(outside[0]) / 5
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_permutation_score_has_the_mean_of_many_slow_permutations():
    """The formula with our own permutations: equal in expectation, so the means of many agree."""
    data = make_hierarchical(150, n_features=6, depth=1, width=3, noise=0.0, random_state=0)
    Y = data.y.toarray()
    random = np.random.RandomState(0)
    slow, fast = [], []
    for seed in range(12):
        forest = ForestClassifier(4, max_features=3, max_depth=4, random_state=seed).fit(data.X, Y)
        fast.append(forest_ranking(forest, "permutation", data.X, Y).scores)
        slow.append(slow_permutation(forest, data.X, Y, random))
    error = np.std(np.array(slow) - np.array(fast), axis=0) / np.sqrt(12)
    assert (np.abs(np.mean(slow, axis=0) - np.mean(fast, axis=0)) < 4 * error + 1e-9).all()


def slow_permutation(forest, X, Y, random, n_repeats=5):
    scores = np.zeros(X.shape[1])
    for number in range(forest.n_estimators):
        rows = out_of_bag(forest, X, number)
        single = forest.first(number + 1)
        single.trees_ = forest.trees_.part(number, number + 1)
        error = 1 - auprc(Y[rows], single.predict_proba(X[rows]))
        if error == 0:
            continue
        for feature in range(X.shape[1]):
            for _ in range(n_repeats):
                noised = X[rows].copy()
                noised[:, feature] = random.permutation(noised[:, feature])
                after = 1 - auprc(Y[rows], single.predict_proba(noised))
                scores[feature] += (after - error) / error / forest.n_estimators / n_repeats
    return scores


def test_permutation_touches_only_features_that_the_trees_use():
    data = make_hierarchical(100, n_features=30, random_state=0)
    forest = ForestClassifier(3, max_depth=2, random_state=0).fit(data.X, data.y)
    used = forest_ranking(forest, "symbolic").scores > 0
    ranking = forest_ranking(forest, "permutation", data.X, data.y)
    assert not ranking.scores[~used].any()
    assert not ranking.per_label[np.flatnonzero(~used)].nnz


@pytest.mark.parametrize(
    ("ensemble", "score"),
    [
        (ensemble, score)
        for ensemble in ENSEMBLES
        for score in ("genie3", "symbolic", "permutation", "genie3_oob")
        if ensemble != "extra trees" or score in {"genie3", "symbolic"}
    ],
)
def test_planted_features_come_first(ensemble, score):
    data = make_hierarchical(800, depth=2, n_features=30, noise=0.0, random_state=0)
    forest = ForestClassifier(60, hierarchy=data.hierarchy, random_state=0, **ENSEMBLES[ensemble])
    ranking = ForestRanker(forest, scores=score).fit(data.X, data.y).ranking_
    assert average_precision_score(data.truth.any(axis=1), ranking.scores) > 0.95
    if ranking.per_label is None:
        return
    for label in range(data.n_labels):
        scores = ranking.per_label[:, [label]].toarray()[:, 0]
        assert average_precision_score(data.truth[:, label], scores) > 0.95


@pytest.mark.parametrize("score", ["genie3", "symbolic", "permutation", "genie3_oob"])
@pytest.mark.parametrize("kind", ["classes", "one number", "several numbers", "rankings", "sparse"])
def test_every_kind_of_target(kind, score):
    random = np.random.RandomState(0)
    X = random.standard_normal((200, 8))
    forest = ForestRegressor(30, random_state=0)
    if kind == "classes":
        y, forest = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0), ForestClassifier(30, random_state=0)
    elif kind == "one number":
        y = X[:, 0] + X[:, 1]
    elif kind == "several numbers":
        y = X[:, :2] * [1.0, 100.0]
    elif kind == "rankings":
        made = make_label_ranking(200, n_features=8, random_state=0)
        X, y, forest = made.X, made.y, LabelRankingForest(30, random_state=0)
    else:
        made = make_hierarchical(300, density=0.2, n_features=30, random_state=0)
        X, y, forest = made.X, made.y, ForestClassifier(30, hierarchy=made.hierarchy, random_state=0)
    ranker = ForestRanker(forest, scores=score).fit(X, y)
    assert np.isfinite(ranker.scores_).all()
    assert ranker.scores_.any()
    if kind in {"classes", "one number", "several numbers"}:
        assert set(ranker.ranking_.order[:2]) == {0, 1}
    if kind == "several numbers" and score.startswith("genie3"):
        assert ranker.ranking_.for_label("y1").order[0] == 1
    if score in {"genie3", "genie3_oob"}:
        np.testing.assert_allclose(ranker.scores_per_label_.sum(axis=1), ranker.scores_, atol=1e-9)


def test_out_of_bag_genie3_does_not_favour_features_with_many_values():
    random = np.random.RandomState(0)
    many, few = random.standard_normal((500, 5)), random.randint(0, 2, size=(500, 5)).astype(float)
    X, y = np.hstack([many, few]), random.randint(0, 2, size=500)
    forest = ForestClassifier(100, random_state=0).fit(X, y)
    biased = forest_ranking(forest, "genie3")
    honest = forest_ranking(forest, "genie3_oob", X, y)
    assert biased.scores[:5].min() > 2 * biased.scores[5:].max()
    assert np.abs(honest.scores).max() < 0.1 * biased.scores[:5].min()


@pytest.mark.parametrize("score", ["genie3", "symbolic", "permutation", "genie3_oob"])
def test_nested_sizes_are_those_of_the_first_trees(score):
    data = make_multilabel(120, n_features=20, random_state=0)
    forest = ForestClassifier(20, random_state=0).fit(data.X, data.y)
    sizes = [5, 20, 12]
    for size, ranking in zip(sizes, nested_rankings(forest, sizes, score, data.X, data.y), strict=True):
        alone = forest_ranking(forest.first(size), score, data.X, data.y)
        np.testing.assert_allclose(ranking.scores, alone.scores, atol=1e-13)
        assert ranking.origin["n_estimators"] == size
        if ranking.per_label is not None:
            np.testing.assert_allclose(ranking.per_label.toarray(), alone.per_label.toarray(), atol=1e-13)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_change_a_bit(n_jobs):
    data = make_hierarchical(150, missing=0.1, random_state=0)
    scores = ["genie3", "symbolic", "permutation", "genie3_oob"]
    rankings = [
        ForestRanker(ForestClassifier(12, hierarchy=data.hierarchy, random_state=0), scores=scores, n_jobs=jobs)
        .fit(data.X, data.y)
        .rankings_
        for jobs in (1, n_jobs)
    ]
    for score in scores:
        np.testing.assert_array_equal(rankings[0][score].scores, rankings[1][score].scores)
        if rankings[0][score].per_label is not None:
            assert (rankings[0][score].per_label != rankings[1][score].per_label).nnz == 0


def test_branches_sum_to_the_whole_over_the_top_labels():
    data = make_hierarchical(200, random_state=0)
    ranking = ForestRanker(ForestClassifier(20, hierarchy=data.hierarchy, random_state=0)).fit(data.X, data.y).ranking_
    branches = sum(ranking.for_label(top).scores for top in data.hierarchy.roots)
    np.testing.assert_allclose(branches, ranking.scores, atol=1e-12)


def test_per_label_scores_are_sparse_where_labels_are_many():
    data = make_hierarchical(200, depth=5, width=2, n_features=200, random_state=0)
    forest = ForestClassifier(5, hierarchy=data.hierarchy, max_depth=3, random_state=0)
    per_label = ForestRanker(forest).fit(data.X, data.y).scores_per_label_
    assert sparse.issparse(per_label)
    assert per_label.nnz < 0.3 * np.prod(per_label.shape)


def test_a_continuous_target_gets_a_regressor_by_default():
    X = np.random.RandomState(0).standard_normal((60, 3))
    assert isinstance(ForestRanker(random_state=0).fit(X, X[:, 0]).estimator_, ForestRegressor)
    assert isinstance(ForestRanker(random_state=0).fit(X, X[:, 0] > 0).estimator_, ForestClassifier)


def test_bad_input_is_refused():
    data = make_multilabel(40, n_features=5, random_state=0)
    forest = ForestClassifier(3, random_state=0).fit(data.X, data.y)
    with pytest.raises(ValueError, match="'scores' parameter of ForestRanker must be one of 'genie3', 'symbolic'"):
        ForestRanker(scores="gini").fit(data.X, data.y)
    with pytest.raises(ValueError, match="'score' parameter of forest_ranking"):
        forest_ranking(forest, ["genie3", 3])
    with pytest.raises(ValueError, match="At least one score"):
        forest_ranking(forest, [])
    with pytest.raises(TypeError, match="'estimator' parameter of ForestRanker must be a ForestClassifier"):
        ForestRanker("forest").fit(data.X, data.y)
    with pytest.raises(ValueError, match="needs X and y"):
        forest_ranking(forest, "permutation")
    with pytest.raises(ValueError, match=r"'sizes' parameter of nested_rankings must be an int in \[1, 3\]"):
        nested_rankings(forest, [4])


@pytest.mark.parametrize("score", ["permutation", "genie3_oob"])
def test_extra_trees_have_no_out_of_bag_score(score):
    data = make_multilabel(40, n_features=5, random_state=0)
    forest = ForestClassifier(3, splitter="random", bootstrap=False)
    with pytest.raises(ValueError, match="out-of-bag examples, and a forest with bootstrap=False"):
        ForestRanker(forest, scores=score).fit(data.X, data.y)
