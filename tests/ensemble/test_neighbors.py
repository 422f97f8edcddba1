"""Weighted neighbours: the mean of the nearest rows, where features weigh by their importance in a forest."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import ramify
from ramify.datasets import make_hierarchical, make_multilabel
from ramify.ensemble import (
    BoostedClassifier,
    ForestClassifier,
    ForestRegressor,
    NeighborsClassifier,
    Portfolio,
    neighbors,
)
from ramify.ensemble.threshold import exceeded_threshold
from ramify.metrics import average_precision_score
from ramify.ranking import forest_ranking
from ramify.ranking.portfolio_ranking import portfolio_ranking

NESTED = make_hierarchical(150, random_state=0)
SETS = make_multilabel(150, n_labels=4, random_state=0)
FEW = ForestClassifier(15, splitter="random", bootstrap=False)

COUNTED = "neighbours are counted by row, so that a repeated row leaves less room for others"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": COUNTED,
    "check_sample_weight_equivalence_on_sparse_data": COUNTED,
}


@parametrize_with_checks([NeighborsClassifier(forest=FEW)], expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def slow_probabilities(model, X, Y, X_new, n_neighbors, weights=None):
    """The rule, written plainly for dense numbers."""
    importances = model.forest_.feature_importances_
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    weights = np.ones(len(X)) if weights is None else weights
    place = lambda rows: np.clip((rows - mean) / deviation, -4, 4)  # noqa: E731
    found = []
    for row in place(X_new):
        squares = ((place(X) - row) ** 2 * importances).sum(axis=1)
        nearest = np.argsort(squares)[:n_neighbors]
        share = weights[nearest] * np.exp(-model.sharpness_ * squares[nearest] / squares[nearest].mean())
        found.append(share @ Y[nearest] / share.sum())
    return np.array(found)


@pytest.mark.parametrize("weighted", [False, True])
def test_it_equals_the_rule_written_plainly(weighted):
    weights = np.random.default_rng(0).uniform(0.5, 2, 100) if weighted else None
    model = NeighborsClassifier(12, forest=FEW, random_state=0).fit(SETS.X[:100], SETS.y[:100], weights)
    Y = SETS.y[:100].toarray()
    expected = slow_probabilities(model, SETS.X[:100], Y, SETS.X[100:], 12, weights)
    np.testing.assert_allclose(model.predict_proba(SETS.X[100:]), expected, atol=1e-9)
    np.testing.assert_array_equal(model.predict(SETS.X[100:]).toarray(), expected > 0.5)


def test_the_sharpness_is_the_one_that_predicts_each_row_best_by_the_others():
    model = NeighborsClassifier(20, forest=FEW, random_state=0).fit(SETS.X, SETS.y)
    Y = SETS.y.toarray()

    def reached(sharpness):
        model.sharpness_ = sharpness
        left_out = [
            slow_probabilities(model, SETS.X[others], Y[others], SETS.X[[row]], 20)[0]
            for row in range(150)
            for others in [np.arange(150) != row]
        ]
        return average_precision_score(SETS.y, np.array(left_out), average="micro")

    chosen = model.sharpness_
    scores = {sharpness: reached(sharpness) for sharpness in (1.0, 3.0, 6.0, 12.0, 24.0, chosen)}
    assert scores[chosen] >= max(scores.values()) - 0.005  # the mean and deviation here lack the row


def test_sharpnesses_that_only_rounding_tells_apart_are_equal_and_the_smallest_is_taken(monkeypatch):
    best = 0.9
    scores = iter([0.5, np.nextafter(best, 0), best, np.nextafter(best, 1), *[0.8] * 5])
    monkeypatch.setattr(neighbors, "average_precision_score", lambda *_, **__: next(scores))
    assert NeighborsClassifier(20, forest=FEW, random_state=0).fit(SETS.X, SETS.y).sharpness_ == 2.0


@pytest.mark.parametrize("seed", range(12))
def test_the_unit_of_a_feature_does_not_choose_the_sharpness(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(24, 3))
    y = (X[:, 0] + 0.5 * random.normal(size=24) > 0).astype(int)  # few rows: equal average precisions are common
    model = NeighborsClassifier(8, forest=FEW, random_state=0)
    chosen = model.fit(X, y).sharpness_
    for unit in (3.0, 1e-3, 7e5):
        assert model.fit(X * unit, y).sharpness_ == chosen


def test_weights_find_what_noise_hides():
    noise = np.random.default_rng(1).normal(size=(300, 60))
    informative = np.random.default_rng(2).normal(size=(300, 2))
    y = (informative[:, 0] * informative[:, 1] > 0).astype(int)
    X = np.hstack([noise, informative])
    weighted = NeighborsClassifier(10, random_state=0).fit(X[:200], y[:200])
    weights = forest_ranking(weighted.forest_).scores
    assert (weights[60:] > np.sort(weights[:60])[-3]).all()
    plain = slow_probabilities(_unweighted(weighted), X[:200], np.eye(2)[y[:200]], X[200:], 10)
    assert weighted.score(X[200:], y[200:]) > np.mean(plain.argmax(axis=1) == y[200:])


def _unweighted(model):
    class Plain:
        sharpness_ = model.sharpness_

        class forest_:
            feature_importances_ = np.ones(62)

    return Plain


def test_a_hierarchy_is_kept():
    model = NeighborsClassifier(10, hierarchy=NESTED.hierarchy, forest=FEW, random_state=0).fit(NESTED.X, NESTED.y)
    probabilities = model.predict_proba(NESTED.X)
    parents, children = NESTED.hierarchy.edges[:, 0], NESTED.hierarchy.edges[:, 1]
    assert (probabilities[:, parents] >= probabilities[:, children]).all()
    assert model.label_names_ == NESTED.hierarchy.names
    assert model.target_kind_ == "hierarchy"


def test_rows_may_be_sparse_and_scaled_by_any_factor():
    X = np.where(np.abs(SETS.X) > 0.5, SETS.X, 0.0)
    given = NeighborsClassifier(10, forest=FEW, sharpness=6.0, random_state=0)
    expected = given.fit(X, SETS.y).predict_proba(X)
    of_sparse = given.fit(sparse.csr_array(X), SETS.y)
    np.testing.assert_allclose(of_sparse.predict_proba(sparse.csc_array(X)), expected, atol=1e-9)
    np.testing.assert_allclose(of_sparse.predict_proba(X), expected, atol=1e-9)
    np.testing.assert_allclose(given.fit(8 * X, SETS.y).predict_proba(8 * X), expected, atol=1e-9)
    np.testing.assert_allclose(given.fit(X * 1e300, SETS.y).predict_proba(X * 1e300), expected, atol=1e-9)


def test_nominal_and_missing_values_are_taken():
    frame = pd.DataFrame({"number": SETS.X[:, 0], "name": np.where(SETS.X[:, 1] > 0, "up", "down")})
    frame["name"] = frame["name"].astype("category")
    frame.loc[:9, "number"] = np.nan
    frame.loc[5:14, "name"] = None
    y = (SETS.X[:, 1] > 0).astype(int)
    model = NeighborsClassifier(10, forest=FEW, random_state=0).fit(frame, y)
    assert np.isfinite(model.predict_proba(frame)).all()
    assert (model.predict(frame)[15:] == y[15:]).mean() > 0.95


def test_two_values_of_a_nominal_feature_are_as_far_apart_as_numbers_are_on_average():
    frame = pd.DataFrame({"name": pd.Categorical(np.repeat(["a", "b", "c"], [60, 30, 10]))})
    model = NeighborsClassifier(10, forest=FEW, random_state=0).fit(frame, frame["name"].to_numpy())
    rows = model._rows
    squares = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    assert squares.mean() == pytest.approx(2.0)


def through_a_file(model, path):
    ramify.save(model, path)
    return ramify.load(path)


def test_files_bring_it_back_whole(tmp_path):
    model = NeighborsClassifier(10, hierarchy=NESTED.hierarchy, forest=FEW, random_state=0).fit(NESTED.X, NESTED.y)
    loaded = through_a_file(model, tmp_path / "model.ramify")
    np.testing.assert_array_equal(loaded.predict_proba(NESTED.X), model.predict_proba(NESTED.X))
    np.testing.assert_array_equal(loaded.forest_.feature_importances_, model.forest_.feature_importances_)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: setattr(m, "_labels", m._labels * 2), "labels of training rows must be 0, 1 or unknown"),
        (lambda m: setattr(m, "_labels", m._labels[:, :2]), "other labels"),
        (lambda m: setattr(m, "_rows", m._rows[:, :3]), "other features"),
        (lambda m: setattr(m, "_rows", m._rows[:30]), "_labels"),
        (lambda m: setattr(m, "_row_weights", -m._row_weights), "_row_weights"),
        (lambda m: setattr(m, "_row_weights", 0 * m._row_weights), "must be positive"),
        (lambda m: setattr(m, "sharpness_", -1.0), "sharpness_"),
    ],
)
def test_files_that_were_changed_are_refused(tmp_path, change, words):
    model = NeighborsClassifier(10, forest=FEW, random_state=0).fit(SETS.X, SETS.y)
    change(model)
    with pytest.raises(ValueError, match=words):
        through_a_file(model, tmp_path / "model.ramify")


def test_a_portfolio_weighs_neighbours_and_their_forest_ranks():
    members = {
        "neighbours": NeighborsClassifier(20, forest=FEW, random_state=0),
        "boosted": BoostedClassifier(20, early_stopping=None, random_state=0),
    }
    alone = Portfolio({"neighbours": members["neighbours"]}, random_state=0).fit(SETS.X, SETS.y)
    ranking = portfolio_ranking(alone)
    forest = forest_ranking(alone.members_["neighbours"].forest_, "genie3")
    np.testing.assert_allclose(ranking.scores, forest.scores / forest.scores.sum())
    both = Portfolio(members, random_state=0).fit(SETS.X, SETS.y)
    assert set(both.scores_) >= {"neighbours", "boosted, 20 rounds"}
    assert both.score_ >= max(both.scores_.values())


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"n_neighbors": 0}, ValueError, "an int >= 1"),
        ({"sharpness": -1.0}, ValueError, "a number >= 0"),
        ({"sharpness": "high"}, ValueError, "a number >= 0 or 'auto'"),
        ({"forest": ForestRegressor()}, TypeError, "a ForestClassifier, a BoostedClassifier or None"),
        ({"n_jobs": 0}, ValueError, "an int other than 0"),
    ],
)
def test_wrong_parameters_are_refused(parameters, error, words):
    with pytest.raises(error, match=words):
        NeighborsClassifier(**parameters).fit(SETS.X, SETS.y)


@pytest.mark.parametrize("rule", ["f1", "density"])
def test_a_chosen_threshold_is_that_of_rows_predicted_by_the_others(rule):
    n_rows, y = 40, np.asarray(SETS.y[:40].todense() if hasattr(SETS.y, "todense") else SETS.y[:40])
    model = NeighborsClassifier(50, forest=FEW, sharpness=6.0, threshold=rule, random_state=0).fit(SETS.X[:40], y)
    space = model._rows.toarray() if hasattr(model._rows, "toarray") else model._rows
    left_out = np.zeros(y.shape)
    for row in range(n_rows):
        others = np.delete(np.arange(n_rows), row)
        squares = ((space[others] - space[row]) ** 2).sum(axis=1)
        share = np.exp(-6.0 * (squares - squares.min()) / squares.mean())
        left_out[row] = share @ y[others] / share.sum()
    expected = exceeded_threshold(rule, left_out, y)
    np.testing.assert_allclose(model.threshold_, expected, atol=1e-9)
    assert (model.threshold_ != 0.5).any()
