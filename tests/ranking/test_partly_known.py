"""Scores of forests grown on partly known targets equal their formulas, and hiding nothing changes nothing."""

import numpy as np
import pytest
from tests.ranking.forest_reference import Data, SlowTree, _partners, pooled_auprc, trees_of

from ramify.ensemble import BoostedClassifier, ForestClassifier, ForestRegressor
from ramify.ranking import ForestRanker, ReliefRanker, discoveries, forest_ranking, knn_quality, nested_rankings
from ramify.targets import encode

N, N_FEATURES = 60, 5


def make_data(kind, hidden=0.4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, N_FEATURES)).round(1)
    score = X[:, :1] + X[:, 1:2] + rng.normal(size=(N, 4))
    Y = score if kind == "numbers" else (score > 0.2).astype(float)
    is_hidden = rng.random(Y.shape) < hidden
    is_hidden[is_hidden.all(axis=1), 0] = False  # rows of which nothing is known are no rows
    Y[is_hidden] = np.nan
    return X, Y


def grown(kind, X, Y, **parameters):
    made = ForestRegressor if kind == "numbers" else ForestClassifier
    return made(4, max_features=3, random_state=0, **parameters).fit(X, Y)


def standardised(kind, forest, Y):
    return (Y - forest.prior_) / forest.scale_ if kind == "numbers" else Y


def filled(tree, node, rows):
    """Targets of rows in a node, unknown ones as the mean of its known rows in the bag; their mean; is there one?"""
    inside = tree.passing(node, tree.inside)
    Y, weights = tree.data.Y[inside], tree.weights[inside, None] * ~np.isnan(tree.data.Y[inside])
    total = weights.sum(axis=0)
    mean = np.where(total > 0, (weights * np.nan_to_num(Y)).sum(axis=0) / np.where(total > 0, total, 1), 0)
    return np.where(np.isnan(tree.data.Y[rows]), mean, tree.data.Y[rows]), mean, total > 0


def slow_gains(forest, data, outside):
    """A node adds (mean of child - mean of node) x sum of child, with unknown targets as the node's mean."""
    trees = trees_of(forest, data)
    scores = np.zeros((N_FEATURES, data.Y.shape[1]))
    for tree in trees:
        measured = tree.outside if outside else tree.inside
        weights = data.row_weights if outside else tree.weights
        for node in tree.tests:
            _, mean, is_known = filled(tree, node, tree.inside)
            for child in tree.children(node):
                inside, rows = tree.passing(child, tree.inside), tree.passing(child, measured)
                child_mean = np.average(filled(tree, node, inside)[0], axis=0, weights=tree.weights[inside])
                total = (weights[rows, None] * filled(tree, node, rows)[0]).sum(axis=0)
                gain = np.where(is_known, (child_mean - mean) * total, 0)
                scores[tree.feature[node]] += data.output_weights * gain / weights[measured].sum() / len(trees)
    return scores


def leaf_value(tree, leaf, path):
    """Mean of the known rows; of outputs that none knows, that of the nearest node above, or of all rows."""
    value = np.array([np.nan] * tree.data.Y.shape[1])
    for node in [leaf, *path[::-1]]:
        _, mean, is_known = filled(tree, node, tree.inside)
        value = np.where(np.isnan(value) & is_known, mean, value)
    return np.where(np.isnan(value), np.nanmean(tree.data.Y, axis=0), value)


def slow_permutation(forest, data):
    trees = trees_of(forest, data)
    scores, per_output = np.zeros(N_FEATURES), np.zeros((N_FEATURES, data.Y.shape[1]))
    for tree in trees:
        X, truth = data.X[tree.outside], data.Y[tree.outside]
        known = ~np.isnan(truth)

        def errors(X, tree=tree, truth=truth, known=known):
            paths = [tree.path(x) for x in X]
            predicted = np.array([leaf_value(tree, path[-1], path) for path in paths])
            squared = np.where(known, (predicted - truth) ** 2, 0)
            of_outputs = squared.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
            if data.error == "auprc":
                return 1 - pooled_auprc(truth[known], predicted[known]), of_outputs
            if data.error == "hamming":
                return ((predicted >= 0.5) != truth)[known].sum() / len(X), of_outputs
            return squared.sum() / len(X), of_outputs

        before, own = errors(X)
        for feature in range(N_FEATURES):
            permuted = X.copy()
            permuted[:, feature] = X[_partners(tree, feature), feature]
            after, own_after = errors(permuted)
            scores[feature] += (after - before) / before / len(trees) if before > 0 else 0
            per_output[feature] += (own_after - own) / len(trees)
    return scores, per_output


@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_scores_equal_their_formulas(kind):
    X, Y = make_data(kind)
    forest = grown(kind, X, Y)
    error = "squared" if kind == "numbers" else "auprc"
    data = Data(X, standardised(kind, forest, Y), np.ones(4), error)
    found = forest_ranking(forest, ["genie3", "genie3_oob", "permutation"], X, Y)
    gains = slow_gains(forest, data, outside=False)
    np.testing.assert_allclose(found["genie3"].per_label.toarray(), gains, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found["genie3"].scores, gains.sum(axis=1), rtol=1e-9, atol=1e-12)
    outside = slow_gains(forest, data, outside=True)
    np.testing.assert_allclose(found["genie3_oob"].per_label.toarray(), outside, rtol=1e-9, atol=1e-12)
    scores, per_output = slow_permutation(forest, data)
    np.testing.assert_allclose(found["permutation"].scores, scores, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found["permutation"].per_label.toarray(), per_output, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("error", ["brier", "hamming"])
def test_other_errors_equal_their_formulas(error):
    X, Y = make_data("labels", seed=2)
    forest = grown("labels", X, Y)
    scores, _ = slow_permutation(forest, Data(X, Y, np.ones(4), error))
    found = forest_ranking(forest, "permutation", X, Y, error=error)
    np.testing.assert_allclose(found.scores, scores, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_extra_trees_and_weighted_rows_equal_their_formulas(kind):
    X, Y = make_data(kind, seed=1)
    made = ForestRegressor if kind == "numbers" else ForestClassifier
    weights = np.random.default_rng(0).choice([0.5, 1.0, 2.0], N)
    forest = made(3, splitter="random", bootstrap=False, random_state=0).fit(X, Y, weights)
    data = Data(X, standardised(kind, forest, Y), np.ones(4), "auprc", sample_weight=weights)
    found = forest_ranking(forest, "genie3", X, Y, sample_weight=weights)
    np.testing.assert_allclose(
        found.per_label.toarray(), slow_gains(forest, data, outside=False), rtol=1e-9, atol=1e-12
    )


def test_leaves_take_the_value_of_the_nearest_node_that_knows():
    X, Y = make_data("labels", hidden=0.7)
    forest = grown("labels", X, Y)
    tree = SlowTree(forest.first(1), 0, Data(X, Y, np.ones(4), "auprc"))
    expected = [leaf_value(tree, tree.path(x)[-1], tree.path(x)) for x in X]
    np.testing.assert_allclose(forest.first(1).predict_proba(X), expected, rtol=1e-12, atol=1e-15)


def test_rows_of_which_nothing_is_known_do_not_count():
    X, Y = make_data("labels", hidden=0.2)
    hidden = np.arange(N) % 3 == 0
    whole = np.where(hidden[:, None], np.nan, Y)
    scores = ["genie3", "genie3_oob", "permutation"]
    with_them, without = (ForestRanker(ForestClassifier(5, random_state=0), scores=scores) for _ in range(2))
    with_them.fit(X, whole)
    without.fit(X[~hidden], Y[~hidden])
    for name in scores:
        np.testing.assert_array_equal(with_them.rankings_[name].scores, without.rankings_[name].scores)
        per_label = (ranker.rankings_[name].per_label.toarray() for ranker in (with_them, without))
        np.testing.assert_array_equal(*per_label)


def test_gains_per_label_need_the_data():
    X, Y = make_data("labels")
    forest = grown("labels", X, Y)
    with pytest.raises(ValueError, match="'genie3' per label, where targets are known in part, needs X and y"):
        forest_ranking(forest)
    np.testing.assert_array_equal(
        forest_ranking(forest, per_label=False).scores, forest_ranking(forest, "genie3", X, Y).scores
    )


def test_nested_rankings_equal_those_of_smaller_forests():
    X, Y = make_data("labels")
    forest = grown("labels", X, Y)
    part, whole = nested_rankings(forest, [2, 4], "genie3", X, Y)
    np.testing.assert_allclose(
        part.per_label.toarray(), forest_ranking(forest.first(2), "genie3", X, Y).per_label.toarray()
    )
    np.testing.assert_allclose(whole.per_label.toarray(), forest_ranking(forest, "genie3", X, Y).per_label.toarray())


def test_boosted_trees_rank_by_what_is_known():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, N_FEATURES))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(float)
    Y[rng.random(Y.shape) < 0.5] = np.nan
    ranking = ForestRanker(BoostedClassifier(20, random_state=0)).fit(X, Y).ranking_
    assert ranking.for_label("y0").order[0] == 0
    assert ranking.for_label("y1").order[0] == 1


def test_relief_compares_what_both_rows_know():
    """Distances of label sets and numbers over the outputs that are known of both, scaled to all."""
    Y = np.array([[1, 0, np.nan], [0, np.nan, 1], [np.nan, np.nan, 1], [1, 1, 0.0], [np.nan, 0, np.nan]])
    distance = encode(Y, partly_known=True).distance("hamming", bound=None)
    first, second = np.array([0, 0, 2, 3]), np.array([1, 3, 4, 2])
    np.testing.assert_allclose(distance(first, second), [3.0, 1.5, 0.5, 3.0])
    numbers = np.array([[0.0, 1.0], [2.0, np.nan], [np.nan, 3.0], [1.0, 1.0]])
    distance = encode(numbers, kind="numbers", partly_known=True).distance()
    np.testing.assert_allclose(distance(np.array([0, 0, 1]), np.array([1, 2, 2])), [1.0, 1.0, 0.5])


@pytest.mark.parametrize("per_label", [False, True])
def test_relief_finds_drivers_through_unknown_labels(per_label):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(float)
    Y[rng.random(Y.shape) < 0.4] = np.nan
    ranking = ReliefRanker(per_label=per_label, random_state=0).fit(X, Y).ranking_
    assert set(ranking.order[:2].tolist()) == {0, 1}
    if per_label:
        assert [int(ranking.for_label(label).order[0]) for label in ("y0", "y1")] == [0, 1]


def test_relief_with_nothing_hidden_is_relief():
    X, Y = make_data("labels", hidden=0)
    rows = np.arange(N) % 3 > 0
    complete = ReliefRanker(per_label=True, random_state=0).fit(X[rows], Y[rows]).ranking_
    whole_rows = ReliefRanker(per_label=True, random_state=0).fit(X, np.where(rows[:, None], Y, np.nan)).ranking_
    np.testing.assert_array_equal(complete.scores, whole_rows.scores)
    np.testing.assert_array_equal(complete.per_label.toarray(), whole_rows.per_label.toarray())


def test_neighbours_vote_with_what_they_know():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] < 0]).astype(float)
    hidden = np.where(rng.random(Y.shape) < 0.4, np.nan, Y)
    ranking = ForestRanker(ForestClassifier(10, random_state=0)).fit(X, Y).ranking_
    partly = knn_quality(ranking, X[:200], hidden[:200], X[200:], Y[200:])
    negative = knn_quality(ranking, X[:200], np.nan_to_num(hidden[:200]), X[200:], Y[200:])
    assert partly.weighted > 0.9
    assert partly.weighted >= negative.weighted
    assert knn_quality(ranking, X[:200], hidden[:200], X[200:], hidden[200:]).weighted > 0.9


def test_discoveries_refuse_unknown_labels_by_name():
    X, Y = make_data("labels")
    with pytest.raises(ValueError, match="discoveries takes complete targets, but y has unknown cells"):
        discoveries(ForestClassifier(20, random_state=0), np.tile(X, (2, 1)), np.tile(Y, (2, 1)))
