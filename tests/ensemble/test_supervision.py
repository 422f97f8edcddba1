"""Unlabelled rows: semi-supervised trees."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import check_random_state
from tests.ensemble.reference_tree import Problem, ReferenceTree

import ramify
from ramify import ForestClassifier, ForestRegressor, Hierarchy, MixedForest
from ramify.chains import BinaryRelevance
from ramify.ensemble import Calibrated, NeighborsClassifier, Portfolio
from ramify.metrics import auprc, average_precision_score
from ramify.ranking import ForestRanker, forest_ranking

TREE = Hierarchy.from_paths(["a", "a/b", "c"])


def clusters(n=300, labelled=16, seed=0, n_features=20):
    """Rows in four clusters that make the labels; few rows have them."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 4, n)
    X = (1.2 * rng.normal(size=(4, n_features)))[cluster] + rng.normal(size=(n, n_features))
    Y = np.column_stack([cluster < 2, cluster == 1, cluster > 1]).astype(float)
    partly = Y.copy()
    partly[labelled:] = np.nan
    return X, Y, partly


def moments(cells, weight):
    """Share known, mean and variance of each column, from the definition."""
    found = []
    for column in cells.T:
        known = ~np.isnan(column)
        mean = np.average(column[known], weights=weight[known])
        variance = np.average((column[known] - mean) ** 2, weights=weight[known])
        found.append((weight[known].sum() / weight.sum(), mean, variance))
    return np.array(found).T


def beside(X, nominal, weight):
    """Features as numbers of unit variance, nominal ones one-hot."""
    blocks = []
    for j in range(X.shape[1]):
        column = X[:, [j]]
        if j == nominal:
            column = np.where(np.isnan(column), np.nan, column == np.unique(column[~np.isnan(column)]))
        _, mean, variance = moments(column, weight)
        blocks.append((column - mean) / np.sqrt(variance.sum()))
    return np.hstack(blocks)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["labels", "hierarchy", "numbers"])
def test_trees_equal_those_grown_slowly_from_the_definition(kind, weighted):
    X, _, Y = clusters(70, labelled=30, n_features=5)
    X[:, 2] = np.random.default_rng(0).integers(0, 4, 70)
    X[::6, 1] = np.nan
    Y[4, 2] = np.nan
    weight = np.random.default_rng(1).choice([0.5, 1.0, 2.0], 70) if weighted else None
    rows = np.ones(70) if weight is None else weight
    own = np.array(TREE.weights) if kind == "hierarchy" else np.ones(3)
    if kind == "numbers":
        Y = Y + X[:, [0, 3, 4]]
        _, mean, variance = moments(Y, rows)
        cells = (Y - mean) / np.sqrt(variance)
        forest = ForestRegressor(2, supervision=0.6, categorical_features=[2], max_features=3, random_state=0)
    else:
        Y[:, 1] = np.where(Y[:, 0] == 0, 0.0, Y[:, 1])
        cells = Y
        order = TREE if kind == "hierarchy" else None
        forest = ForestClassifier(
            2, hierarchy=order, supervision=0.6, categorical_features=[2], max_features=3, random_state=0
        )
    forest.fit(X, Y, sample_weight=weight)
    guide = beside(X, 2, rows)
    known, _, variance = moments(cells, rows)
    share, _, spread = moments(guide, rows)
    weights = np.concatenate([0.6 * own / (own @ (known * variance)), np.full(guide.shape[1], 0.4 / (share @ spread))])
    problem = Problem(X, np.hstack([cells, guide]), weights, np.array([0, 0, 4, 0, 0]), numbers=True, max_features=3)
    problem.sample_weight, problem.min_category_rows = weight, 10
    seed = int(check_random_state(0).randint(np.iinfo(np.int32).max))
    arrays = forest.trees_.arrays()
    predicted = np.zeros((70, 3))
    for tree in range(2):
        expected = ReferenceTree(problem, seed, tree).nodes
        nodes = slice(*arrays["tree_nodes"][tree : tree + 2])
        assert arrays["feature"][nodes].tolist() == expected.feature
        np.testing.assert_array_equal(arrays["threshold"][nodes], expected.threshold)
        leaves = forest.apply(X)[:, tree]
        predicted += np.array([expected.values[expected.child[leaf]][:3] for leaf in leaves]) / 2
    found = forest.predict_proba(X) if kind != "numbers" else (forest.predict(X) - forest.prior_) / forest.scale_
    np.testing.assert_allclose(found, predicted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("made", [ForestClassifier, ForestRegressor])
def test_with_all_weight_on_the_target_unlabelled_rows_are_dropped(made):
    X, _, Y = clusters()
    forest = made(8, supervision=1.0, random_state=0).fit(X, Y)
    plain = made(8, random_state=0).fit(X[:16], Y[:16])
    for name, array in plain.trees_.arrays().items():
        np.testing.assert_array_equal(forest.trees_.arrays()[name], array)
    assert forest.supervision_ == 1.0


def test_unlabelled_rows_help_where_the_clusters_make_the_labels():
    gains = []
    for seed in range(4):
        X, Y, partly = clusters(500, labelled=12, seed=seed)
        partly = partly[:350]
        reached = []
        for share in (1.0, 0.5, "auto"):
            forest = ForestClassifier(40, supervision=share, random_state=0).fit(X[:350], partly)
            reached.append(auprc(Y[350:], forest.predict_proba(X[350:])))
        gains.append([reached[1] - reached[0], reached[2] - reached[0]])
    assert np.mean(gains, axis=0).min() > 0.02


def test_nothing_is_gained_where_one_feature_among_many_makes_the_label():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 30))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] > 0.8]).astype(float)
    Y[120:] = np.nan
    forest = ForestClassifier(40, supervision="auto", max_features=None, oob_score=True, random_state=0).fit(X, Y)
    assert forest.supervision_ == 1.0
    plain = ForestClassifier(40, max_features=None, oob_score=True, random_state=0).fit(X[:120], Y[:120])
    assert forest.oob_score_ == plain.oob_score_
    np.testing.assert_array_equal(forest.predict_proba(X), plain.predict_proba(X))


def test_the_best_share_out_of_bag_is_chosen():
    X, _, Y = clusters(labelled=40)
    reached = {
        share: ForestClassifier(20, supervision=share, oob_score=True, random_state=3).fit(X, Y).oob_score_
        for share in (0.25, 0.5, 0.75, 1.0)
    }
    chosen = ForestClassifier(20, supervision="auto", oob_score=True, random_state=3).fit(X, Y)
    best = max(reached.values())
    assert chosen.supervision_ == (1.0 if best == reached[1.0] else max(reached, key=reached.get))
    assert chosen.oob_score_ == best


def test_classes_and_numbers_without_a_target_are_for_mixed_forests():
    X, Y, _ = clusters()
    y = pd.DataFrame({"kind": np.where(Y[:, 2] > 0, "x", "y"), "size": X[:, 0]}).astype(object)
    y.iloc[20:] = None
    forest = MixedForest(30, supervision=0.5, oob_score=True, random_state=0).fit(X, y)
    assert not np.isnan(forest.oob_prediction_).any(axis=1).all()
    assert (forest.predict(X)["kind"] == np.where(Y[:, 2] > 0, "x", "y")).mean() > 0.8
    np.testing.assert_allclose(forest.known_share_, 20 / 300)


def test_importances_are_of_the_target_alone():
    """A feature that only explains other features gets no credit for it."""
    rng = np.random.default_rng(0)
    block = rng.normal(size=(300, 1)) + 0.05 * rng.normal(size=(300, 10))
    X = np.column_stack([rng.normal(size=300), block])
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] > 0.5]).astype(float)
    partly = np.where(np.arange(300)[:, None] < 150, Y, np.nan)
    work = {"supervision": 0.5, "max_features": None, "random_state": 0}
    forest = ForestClassifier(20, **work).fit(X, partly)
    assert np.argmax(forest.feature_importances_) == 0
    assert forest.feature_importances_[0] > 0.6
    ranking = forest_ranking(forest)
    np.testing.assert_allclose(np.asarray(ranking.per_label.sum(axis=1)).ravel(), ranking.scores, rtol=1e-9)
    for score in ("genie3_oob", "permutation"):
        found = ForestRanker(ForestClassifier(20, **work), scores=score).fit(X, partly).ranking_
        assert found.order[0] == 0


@pytest.mark.parametrize("made", [ForestClassifier, ForestRegressor])
def test_threads_files_first_trees_and_units_of_features_change_nothing(made, tmp_path):
    X, _, Y = clusters()
    forest = made(6, supervision=0.5, oob_score=True, random_state=0, n_jobs=1).fit(X, Y)
    threaded = made(6, supervision=0.5, oob_score=True, random_state=0, n_jobs=3).fit(X, Y)
    np.testing.assert_array_equal(forest.oob_prediction_, threaded.oob_prediction_)
    np.testing.assert_array_equal(
        forest.first(3).predict(X), made(3, supervision=0.5, random_state=0).fit(X, Y).predict(X)
    )
    warm = made(3, supervision=0.5, warm_start=True, random_state=0).fit(X, Y).set_params(n_estimators=6).fit(X, Y)
    np.testing.assert_array_equal(warm.predict(X), forest.predict(X))
    ramify.save(forest, tmp_path / "forest.ramify")
    loaded = ramify.load(tmp_path / "forest.ramify")
    np.testing.assert_array_equal(loaded.predict(X), forest.predict(X))
    assert loaded.supervision_ == 0.5
    scaled = made(6, supervision=0.5, random_state=0).fit(X * 1024.0, Y)
    np.testing.assert_allclose(scaled.predict(X * 1024.0), forest.predict(X), atol=1e-9)


def test_no_label_is_more_probable_than_one_above_it():
    X, _, Y = clusters(labelled=40)
    Y[:, 1] = np.where(Y[:, 0] == 0, 0.0, Y[:, 1])
    forest = ForestClassifier(20, hierarchy=TREE, supervision=0.5, random_state=0).fit(X, Y)
    probabilities = forest.predict_proba(X)
    assert (probabilities[:, 1] <= probabilities[:, 0] + 1e-12).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"supervision": 0.0}, r"'supervision' parameter of ForestClassifier must be a number in \(0"),
        ({"supervision": 1.5}, r"a number in \(0"),
        ({"supervision": "none"}, "must be 'auto' or a number in"),
        ({"supervision": None}, "a number in"),
        ({"supervision": 0.5, "backing": 10}, "backing is for trees of the target alone"),
        ({"supervision": "auto", "bootstrap": False}, "chosen out of bag and needs bootstrap=True"),
    ],
)
def test_bad_shares_are_refused(parameters, words):
    X, _, Y = clusters(40)
    with pytest.raises(ValueError, match=words):
        ForestClassifier(3, **parameters).fit(X, Y)


@pytest.mark.parametrize("supervision", [0.5, "auto"])
def test_whoever_holds_a_forest_grows_it_with_its_supervision(supervision):
    """Calibrated left out the rows that should have helped; portfolios and links grew supervised trees."""
    X, Y, partly = clusters(120, labelled=40, n_features=6)
    forest = ForestClassifier(10, supervision=supervision, oob_score=True, random_state=0)
    alone = copy_of(forest).fit(X, partly)
    calibrated = Calibrated(forest).fit(X, partly)
    np.testing.assert_array_equal(calibrated.estimator_.predict_proba(X), alone.predict_proba(X))
    assert np.isnan(calibrated.oob_prediction_[40:]).all()
    assert not np.isnan(calibrated.oob_prediction_[:30]).all()

    links = BinaryRelevance(forest, random_state=0).fit(X, Y.astype(int)).estimators_
    for label, link in enumerate(links):
        own = copy_of(forest, random_state=link.random_state, categorical_features=[]).fit(X, Y[:, label])
        np.testing.assert_array_equal(link.predict_proba(X), own.predict_proba(X))

    folds = [(np.arange(0, 60), np.arange(60, 120)), (np.arange(60, 120), np.arange(0, 60))]
    model = Portfolio({"only": forest}, cv=folds, random_state=0).fit(X, Y)
    held = [copy_of(forest).fit(X[train], Y[train]).predict_proba(X[test]) for train, test in folds]
    truth = np.vstack([Y[test] for _, test in folds])
    expected = average_precision_score(
        truth, np.vstack(held).astype(np.float32), average="micro", exclude_universal=True
    )
    assert model.scores_["only"] == pytest.approx(float(expected))


def test_a_share_that_nobody_can_choose_is_refused():
    X, Y, _ = clusters(60)
    with pytest.raises(ValueError, match="supervision='auto' is chosen by the fit of a forest of its own"):
        NeighborsClassifier(5, forest=ForestClassifier(3, supervision="auto")).fit(X, Y)


def copy_of(forest, **parameters):
    return type(forest)(**{**forest.get_params(), **parameters})
