"""LabelRankingForest finds planted structure, is invariant where promised and refuses bad input by its row."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from studies.label_ranking_baselines import AverageLabelRanker

import ramify
from ramify.datasets import make_label_ranking
from ramify.ensemble import LabelRankingForest, export_tree
from ramify.ensemble.growing import feature_rows
from ramify.ensemble.label_ranking import CRITERIA
from ramify.ensemble.training_data import learnt_data
from ramify.metrics import kendall_tau


@pytest.fixture(scope="module")
def data():
    return make_label_ranking(300, n_features=8, n_informative=3, n_labels=4, noise=0.05, random_state=0)


@pytest.fixture(scope="module")
def partial_data():
    return make_label_ranking(300, n_features=8, n_informative=3, n_labels=5, ties=0.2, unranked=0.3, random_state=1)


def single_tree(**options):
    return LabelRankingForest(1, bootstrap=False, max_features=None, random_state=0, **options)


@pytest.mark.parametrize("criterion", CRITERIA)
class TestEveryCriterion:
    def test_beats_the_constant_ranking_and_its_single_tree(self, criterion, data):
        constant = cross_val_score(AverageLabelRanker(), data.X, data.y, cv=3).mean()
        tree = cross_val_score(single_tree(criterion=criterion), data.X, data.y, cv=3).mean()
        forest = LabelRankingForest(50, criterion=criterion, max_features=0.5, random_state=0)
        assert cross_val_score(forest, data.X, data.y, cv=3).mean() > tree > constant

    def test_ranks_the_planted_features_first(self, criterion, data):
        forest = LabelRankingForest(50, criterion=criterion, random_state=0).fit(data.X, data.y)
        planted = data.truth.sum(axis=1) > 0
        permuted, _ = forest.permutation_importances(data.X, data.y)
        for scores in (forest.feature_importances_, permuted):
            assert scores[planted].min() > scores[~planted].max()

    def test_threads_do_not_change_a_bit(self, criterion, data):
        forests = [
            LabelRankingForest(7, criterion=criterion, random_state=0, n_jobs=n_jobs).fit(data.X, data.y)
            for n_jobs in (1, 2, 4)
        ]
        for other in forests[1:]:
            for name, array in forests[0].trees_.arrays().items():
                np.testing.assert_array_equal(array, other.trees_.arrays()[name])
            np.testing.assert_array_equal(forests[0].predict(data.X), other.predict(data.X))
            for one, two in zip(
                forests[0].permutation_importances(data.X, data.y),
                other.permutation_importances(data.X, data.y),
                strict=True,
            ):
                np.testing.assert_array_equal(one, two)

    def test_learns_from_ties_and_unranked_labels(self, criterion, partial_data):
        forest = LabelRankingForest(30, criterion=criterion, random_state=0, oob_score=True)
        forest.fit(partial_data.X, partial_data.y)
        constant = AverageLabelRanker().fit(partial_data.X, partial_data.y).score(partial_data.X, partial_data.y)
        assert forest.oob_score_ > constant
        assert np.isfinite(forest.predict(partial_data.X)).all()

    def test_monotone_scaling_changes_nothing(self, criterion, data):
        scaled = np.exp(3 * data.X)
        plain = single_tree(criterion=criterion).fit(data.X, data.y).apply(data.X)
        np.testing.assert_array_equal(plain, single_tree(criterion=criterion).fit(scaled, data.y).apply(scaled))

    def test_renaming_labels_renames_the_prediction(self, criterion, data):
        order = np.array([2, 0, 3, 1])
        plain = single_tree(criterion=criterion).fit(data.X, data.y)
        renamed = single_tree(criterion=criterion).fit(data.X, data.y[:, order])
        agreement = np.mean(plain.predict(data.X)[:, order] == renamed.predict(data.X))
        assert agreement > 0.95

    def test_a_weight_is_a_repetition(self, criterion, data):
        weight = np.random.default_rng(0).integers(0, 3, len(data.y))
        options = {"criterion": criterion, "min_samples_leaf": 1}
        weighted = single_tree(**options).fit(data.X, data.y, sample_weight=weight)
        repeated = single_tree(**options).fit(np.repeat(data.X, weight, axis=0), np.repeat(data.y, weight, axis=0))
        np.testing.assert_allclose(weighted.predict_preferences(data.X), repeated.predict_preferences(data.X))

    def test_missing_values_are_sent_where_they_belong(self, criterion, data):
        X = data.X.copy()
        driver = int(np.argmax(data.truth.sum(axis=1)))
        X[X[:, driver] > 0.2, driver] = np.nan
        forest = LabelRankingForest(30, criterion=criterion, random_state=0).fit(X, data.y)
        assert forest.score(X, data.y) > AverageLabelRanker().fit(X, data.y).score(X, data.y) + 0.2

    def test_nominal_features_split_on_subsets(self, criterion):
        generator = np.random.default_rng(0)
        values = generator.integers(0, 6, 200)
        frame = pd.DataFrame(
            {"noise": generator.normal(size=200), "kind": pd.Categorical.from_codes(values, list("abcdef"))}
        )
        y = np.where(np.isin(values, [0, 2, 5])[:, None], [[1, 2, 3]], [[3, 2, 1]])
        tree = single_tree(criterion=criterion, max_depth=1).fit(frame, y)
        assert tree.score(frame, y) == 1
        assert "kind in {" in export_tree(tree)


def test_sparse_features_give_the_dense_forest(data):
    X = np.where(np.abs(data.X) < 0.5, 0.0, data.X)
    dense = LabelRankingForest(5, random_state=0).fit(X, data.y)
    thin = LabelRankingForest(5, random_state=0).fit(sparse.csr_array(X), data.y)
    np.testing.assert_array_equal(dense.predict(X), thin.predict(sparse.csc_array(X)))


def test_row_order_does_not_matter_without_bootstrap(data):
    order = np.random.default_rng(0).permutation(len(data.y))
    plain = single_tree().fit(data.X, data.y)
    shuffled = single_tree().fit(data.X[order], data.y[order])
    np.testing.assert_allclose(plain.predict_preferences(data.X), shuffled.predict_preferences(data.X))


def test_the_gamma_rule_stops_earlier_when_stricter(data):
    n_nodes = [
        len(single_tree(gamma=gamma).fit(data.X, data.y).trees_.arrays()["feature"]) for gamma in (1.0, 0.98, 0.7)
    ]
    assert n_nodes[0] > n_nodes[1] > n_nodes[2]


def test_the_root_draws_on_until_a_feature_splits():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 40))
    y = np.where(X[:, [0]] > 0, [[1, 2, 3]], [[3, 2, 1]])
    forest = LabelRankingForest(10, gamma=0.6, max_features=1, random_state=0).fit(X, y)
    arrays = forest.trees_.arrays()
    assert (arrays["feature"][arrays["tree_nodes"][:-1]] == 0).all()


def test_preferences_are_probabilities_and_contributions_add_up_to_them(data):
    forest = LabelRankingForest(20, random_state=0).fit(data.X, data.y)
    preferences = forest.predict_preferences(data.X)
    np.testing.assert_allclose(preferences + preferences.transpose(0, 2, 1), 1)
    assert preferences.min() >= 0
    contributions, base = forest.contributions(data.X, "L1>L3")
    np.testing.assert_allclose(contributions.sum(axis=1) + base, preferences[:, 0, 2], atol=1e-12)
    turned, base = forest.contributions(data.X, "L3>L1")
    np.testing.assert_allclose(turned.sum(axis=1) + base, preferences[:, 2, 0], atol=1e-12)
    with pytest.raises(ValueError, match="There is no pair 'L9>L1'"):
        forest.contributions(data.X, "L9>L1")
    with pytest.raises(
        ValueError, match="There is no pair 'L1'; pair_names_ lists the 6 pairs of labels, from 'L1>L2'"
    ):
        forest.contributions(data.X, "L1")


def test_the_pair_scores_say_who_decides_between_two_labels():
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, (400, 4))
    first = np.where(X[:, [0]] > 0, [[1, 2]], [[2, 1]])
    second = np.where(X[:, [1]] > 0, [[3, 4]], [[4, 3]])
    forest = LabelRankingForest(30, random_state=0).fit(X, np.hstack([first, second]))
    genie3, (_, permuted) = forest.pair_importances_, forest.permutation_importances(X, np.hstack([first, second]))
    for scores in (genie3, permuted):
        assert np.argmax(scores[:, forest.pair_names_.index("L1>L2")]) == 0
        assert np.argmax(scores[:, forest.pair_names_.index("L3>L4")]) == 1
    np.testing.assert_allclose(genie3[:, forest.pair_names_.index("L1>L3")], 0, atol=1e-12)
    assert list(np.argmax(forest.label_importances_, axis=0)) == [0, 0, 1, 1]


def test_permutation_score_equals_its_definition():
    """One tree, rows sent again one by one, errors by the measure itself."""
    data = make_label_ranking(120, n_features=3, n_informative=2, n_labels=4, ties=0.1, random_state=3)
    forest = LabelRankingForest(1, random_state=0).fit(data.X, data.y)
    scores, pair_scores = forest.permutation_importances(data.X, data.y)
    assert scores.shape == (3,)
    assert pair_scores.shape == (3, 6)
    learnt = learnt_data(forest, data.X, data.y)
    sums, n_trees = forest._tree_rankings(feature_rows(learnt.features), out_of_bag=learnt)
    out_of_bag = n_trees > 0
    error = 1 - kendall_tau(data.y[out_of_bag], sums[out_of_bag])
    # A feature permuted among the out-of-bag rows: the expected error over many permutations is near the score.
    generator = np.random.default_rng(0)
    for feature in range(3):
        increases = []
        for _ in range(200):
            X = data.X[out_of_bag].copy()
            X[:, feature] = generator.permutation(X[:, feature])
            increases.append((1 - kendall_tau(data.y[out_of_bag], forest.predict(X)) - error) / error)
        assert abs(scores[feature] - np.mean(increases)) < 4 * np.std(increases) + 1e-9


def test_out_of_bag_rankings_estimate_the_score_on_new_rows(data):
    fresh = make_label_ranking(600, n_features=8, n_informative=3, n_labels=4, noise=0.05, random_state=0)
    forest = LabelRankingForest(100, random_state=0, oob_score=True).fit(fresh.X[:400], fresh.y[:400])
    assert forest.oob_score_ == pytest.approx(forest.score(fresh.X[400:], fresh.y[400:]), abs=0.08)
    assert forest.oob_prediction_.shape == (400, 4)


def test_mallows_aggregation_breaks_ties_and_is_as_good(data):
    borda = cross_val_score(LabelRankingForest(40, random_state=0), data.X, data.y, cv=3).mean()
    mallows = LabelRankingForest(40, aggregate="mallows", random_state=0)
    assert cross_val_score(mallows, data.X, data.y, cv=3).mean() == pytest.approx(borda, abs=0.03)
    predicted = mallows.fit(data.X, data.y).predict(data.X)
    np.testing.assert_array_equal(np.sort(predicted, axis=1), np.tile([1, 2, 3, 4], (300, 1)))


def test_ties_are_kept_or_broken_by_label_order():
    forest = single_tree().fit([[0.0], [0.0]], [[1, 2, 3], [2, 1, 3]])
    np.testing.assert_array_equal(forest.predict([[0.0]]), [[1.5, 1.5, 3]])
    np.testing.assert_array_equal(forest.predict([[0.0]], ties="break"), [[1, 2, 3]])


def test_trees_show_the_ranking_in_each_leaf(data):
    tree = single_tree(max_depth=1).fit(pd.DataFrame(data.X, columns=data.feature_names), data.y)
    text, dot = export_tree(tree), export_tree(tree, format="dot")
    assert text.count(" > ") == 6
    assert "L" in text
    assert "A" in text.splitlines()[0]
    assert dot.startswith("digraph")
    assert " > " in dot


def test_the_first_trees_are_a_smaller_forest(data):
    forest = LabelRankingForest(9, random_state=0).fit(data.X, data.y)
    small = LabelRankingForest(4, random_state=0).fit(data.X, data.y)
    np.testing.assert_array_equal(forest.first(4).predict(data.X), small.predict(data.X))
    np.testing.assert_array_equal(forest.first(4).pair_importances_, small.pair_importances_)


def test_models_survive_saving(data, tmp_path):
    forest = LabelRankingForest(5, random_state=0, oob_score=True).fit(data.X, data.y)
    ramify.save(forest, tmp_path / "forest.ramify")
    other = ramify.load(tmp_path / "forest.ramify")
    np.testing.assert_array_equal(other.predict(data.X), forest.predict(data.X))
    np.testing.assert_array_equal(other.pair_importances_, forest.pair_importances_)
    assert other.label_names_ == forest.label_names_


def test_works_in_pipelines_and_grid_search_and_takes_frames(data):
    model = make_pipeline(StandardScaler(), LabelRankingForest(10, random_state=0))
    search = GridSearchCV(model, {"labelrankingforest__gamma": [0.5, 0.98]}, cv=3).fit(data.X, data.y)
    assert search.best_params_ == {"labelrankingforest__gamma": 0.98}
    plain = LabelRankingForest(10, random_state=0).fit(data.X, data.y)
    for frame in (pd.DataFrame, pl.DataFrame):
        X = frame(dict(zip(data.feature_names, data.X.T, strict=True)))
        y = frame(dict(zip("abcd", data.y.T, strict=True)))
        forest = clone(plain).fit(X, y)
        assert forest.label_names_ == ("a", "b", "c", "d")
        assert forest.pair_names_[0] == "a>b"
        np.testing.assert_array_equal(forest.predict(X), plain.predict(data.X))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({5: [1, 2, 3, 5]}, "Row 5 of y is no ranking of 4 labels"),
        ({2: [0, 1, 2, 3]}, "Row 2 of y is no ranking"),
        ({3: [1, 1, 1, np.inf]}, "Row 3 of y is no ranking"),
    ],
)
def test_bad_rankings_are_refused_by_row(rows, message, data):
    y = data.y.copy()
    for row, values in rows.items():
        y[row] = values
    with pytest.raises(ValueError, match=message):
        LabelRankingForest(2).fit(data.X, y)


def test_orders_single_labels_and_ragged_rows_are_refused(data):
    forest = LabelRankingForest(2)
    with pytest.raises(ValueError, match="Row 0 of y holds 'L1>L2'"):
        forest.fit([[0.0], [1.0]], ["L1>L2", "L2>L1"])
    with pytest.raises(ValueError, match="Row 1 of y ranks 2 labels, row 0 ranks 3"):
        forest.fit([[0.0], [1.0]], [[1, 2, 3], [1, 2]])
    with pytest.raises(ValueError, match="ranks a single label"):
        forest.fit([[0.0], [1.0]], [[1], [1]])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        forest.fit(data.X, data.y[:10])
    with pytest.raises(ValueError, match="was fitted on 4 ranked items, but y has 3"):
        forest.fit(data.X, data.y).permutation_importances(data.X, data.y[:, :3].argsort(axis=1) + 1)
    with pytest.raises(NotFittedError):
        LabelRankingForest().predict(data.X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "gini"}, "'criterion' parameter of LabelRankingForest must be one of 'kendall'"),
        ({"gamma": 0}, r"'gamma' parameter of LabelRankingForest must be a number in \(0, 1\]"),
        ({"aggregate": "mean"}, "'aggregate' parameter"),
        ({"n_estimators": 0}, "'n_estimators' parameter"),
        ({"min_samples_leaf": 0}, "'min_samples_leaf' parameter"),
        ({"max_features": "many"}, "'max_features' parameter"),
        ({"oob_score": True, "bootstrap": False}, "oob_score=True needs bootstrap=True"),
    ],
)
def test_bad_parameters_are_refused_by_name(options, message, data):
    with pytest.raises(ValueError, match=message):
        LabelRankingForest(**options).fit(data.X, data.y)


def test_permutation_needs_out_of_bag_rows(data):
    with pytest.raises(ValueError, match="bootstrap=False leaves none"):
        LabelRankingForest(2, bootstrap=False).fit(data.X, data.y).permutation_importances(data.X, data.y)


def test_many_rows_reach_the_leaves_that_each_reaches_alone():
    data = make_label_ranking(300, n_features=5, random_state=0)
    X = np.where(np.random.RandomState(0).rand(300, 5) < 0.1, np.nan, data.X)
    forest = LabelRankingForest(5, gamma=1.0, min_samples_leaf=1, random_state=0).fit(X, data.y)
    alone = [forest.predict(X[[row]])[0] for row in range(300)]
    np.testing.assert_array_equal(forest.predict(X), alone)
    np.testing.assert_array_equal(forest.apply(X[:60]), [forest.apply(X[[row]])[0] for row in range(60)])
