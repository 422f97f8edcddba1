"""Rows that belong together enter bags, folds and parts held back together."""

import numpy as np
import pandas as pd
import pytest

from ramify.datasets import make_hierarchical, make_label_ranking
from ramify.ensemble import (
    BoostedClassifier,
    Calibrated,
    ConformalSets,
    ForestClassifier,
    ForestRegressor,
    LabelRankingForest,
    MixedForest,
)
from ramify.ensemble.training_data import row_folds
from ramify.ranking import ForestRanker, forest_ranking

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(90, 5))
GROUPS = RANDOM.integers(0, 12, 90)
SETS = (X[:, :3] + RANDOM.normal(size=(90, 3)) > 0).astype(int)
MIXED = pd.DataFrame({"size": X[:, 0], "kind": np.where(SETS[:, 0], "a", "b")})
RANKED = make_label_ranking(90, n_features=5, random_state=0).y
FORESTS = [
    (ForestClassifier, SETS),
    (ForestClassifier, SETS[:, 0]),
    (ForestRegressor, X[:, :2]),
    (MixedForest, MIXED),
    (LabelRankingForest, RANKED),
]


@pytest.fixture(params=FORESTS, ids=lambda case: f"{case[0].__name__}{np.shape(case[1])}")
def case(request):
    made, y = request.param
    return made(15, oob_score=True, random_state=0), y


def nodes(forest):
    arrays = forest.trees_.arrays()
    return [arrays[name] for name in ("feature", "threshold", "weight", "decrease")]


def same(a, b):
    for left, right in zip(nodes(a), nodes(b), strict=True):
        np.testing.assert_array_equal(left, right)


def test_rows_that_are_their_own_groups_change_no_bit(case):
    forest, y = case
    alone = forest.fit(X, y)
    prediction, arrays = alone.oob_prediction_, nodes(alone)
    forest.fit(X, y, row_groups=[f"row {i}" for i in range(90)])
    for left, right in zip(arrays, nodes(forest), strict=True):
        np.testing.assert_array_equal(left, right)
    np.testing.assert_array_equal(forest.oob_prediction_, prediction)


def test_names_of_groups_do_not_matter(case):
    forest, y = case
    first = forest.fit(X, y, row_groups=GROUPS)
    prediction, arrays = first.oob_prediction_, nodes(first)
    for named in (
        np.array([f"g{g}" for g in GROUPS], dtype=object),
        1000.5 - GROUPS,
        pd.Series(GROUPS, dtype="category"),
    ):
        forest.fit(X, y, row_groups=named)
        for left, right in zip(arrays, nodes(forest), strict=True):
            np.testing.assert_array_equal(left, right)
        np.testing.assert_array_equal(forest.oob_prediction_, prediction)


def test_out_of_bag_rows_are_of_other_groups_than_the_bag():
    """A forest that can only repeat what it saw knows nothing of rows whose group it did not see."""
    groups = np.repeat(np.arange(30), 4)
    labels = RANDOM.integers(0, 2, 30)[groups]
    noise = RANDOM.normal(size=(30, 3))[groups] + 1e-9 * RANDOM.normal(size=(120, 3))
    leaking = ForestClassifier(100, oob_score=True, random_state=0).fit(noise, labels)
    honest = ForestClassifier(100, oob_score=True, random_state=0).fit(noise, labels, row_groups=groups)
    assert leaking.oob_score_ > 0.95
    assert honest.oob_score_ < 0.75


def test_bags_and_out_of_bag_predictions_are_those_of_a_slow_reference():
    """Where every row has a leaf of its own, a row is in the bag exactly where its leaf holds its own number."""
    y = X[:, 0]
    forest = ForestRegressor(12, oob_score=True, random_state=3).fit(X, y, row_groups=GROUPS)
    arrays, leaves = forest.trees_.arrays(), forest.apply(X)
    outside = np.full((12, 90), np.nan)
    for t in range(12):
        node = arrays["tree_nodes"][t] + leaves[:, t]
        value = arrays["leaf_values"][arrays["tree_leaves"][t] + arrays["child"][node], 0]
        value = forest.prior_[0] + forest.scale_[0] * value
        drawn = np.isclose(value, y, rtol=0, atol=1e-12)
        n_draws = []
        for group in np.unique(GROUPS):
            of_group = np.where(drawn, arrays["weight"][node], 0.0)[group == GROUPS]
            assert len(set(of_group)) == 1  # all rows of a group, equally often
            n_draws.append(of_group[0])
        assert sum(n_draws) == len(n_draws)  # as many draws as groups
        outside[t, ~drawn] = value[~drawn]
    assert np.isnan(outside).any(axis=0).all()
    np.testing.assert_allclose(forest.oob_prediction_, np.nanmean(outside, axis=0))


@pytest.mark.parametrize("score", ["permutation", "genie3_oob"])
def test_out_of_bag_scores_do_not_credit_what_only_names_a_group(score):
    groups = np.repeat(np.arange(60), 5)
    driver = RANDOM.normal(size=300)
    identity = RANDOM.normal(size=60)[groups]
    y = ((driver + 2 * RANDOM.normal(size=60)[groups]) > 0).astype(int)
    data = np.column_stack([driver, identity])
    forest = ForestClassifier(100, max_features=None, random_state=0)
    alone = ForestRanker(forest, scores=score).fit(data, y).scores_
    grouped = ForestRanker(forest, scores=score).fit(data, y, row_groups=groups)
    assert alone[1] > alone[0] / 2
    assert grouped.scores_[1] < grouped.scores_[0] / 4
    again = forest_ranking(grouped.estimator_, score, data, y, row_groups=groups)
    np.testing.assert_array_equal(again.scores, grouped.scores_)


def test_rows_of_weight_zero_and_without_a_target_take_no_part_in_groups():
    Y = SETS.astype(float)
    Y[5:9] = np.nan
    weights = np.ones(90)
    weights[[0, 20, 21]] = 0
    rows = np.flatnonzero((weights > 0) & ~np.isnan(Y).all(axis=1))
    whole = ForestClassifier(8, oob_score=True, random_state=0).fit(X, Y, weights, row_groups=GROUPS)
    part = ForestClassifier(8, oob_score=True, random_state=0).fit(X[rows], Y[rows], row_groups=GROUPS[rows])
    same(whole, part)
    np.testing.assert_array_equal(whole.oob_prediction_[rows], part.oob_prediction_)
    assert np.isnan(np.delete(whole.oob_prediction_, rows, axis=0)).all()


def test_threads_and_warm_starts_keep_the_bits():
    whole = ForestClassifier(8, n_jobs=1, random_state=0).fit(X, SETS, row_groups=GROUPS)
    same(whole, ForestClassifier(8, n_jobs=3, random_state=0).fit(X, SETS, row_groups=GROUPS))
    warm = ForestClassifier(3, warm_start=True, random_state=0).fit(X, SETS, row_groups=GROUPS)
    same(whole, warm.set_params(n_estimators=8).fit(X, SETS, row_groups=GROUPS))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (GROUPS[:-1], r"one value per row \(90\)"),
        (np.column_stack([GROUPS, GROUPS]), r"one value per row \(90\)"),
        (np.where(np.arange(90) == 7, np.nan, 1.0 * GROUPS), "row 7 has none"),
        ([None, *GROUPS[1:].tolist()], "row 0 has none"),
        (np.zeros(90), "in one"),
    ],
)
def test_groups_that_are_none_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        ForestClassifier(3).fit(X, SETS, row_groups=groups)


def test_boosted_trees_that_hold_rows_back_refuse_groups():
    with pytest.raises(ValueError, match="early_stopping=None"):
        BoostedClassifier(5).fit(X, SETS, row_groups=GROUPS)
    BoostedClassifier(5, early_stopping=None).fit(X, SETS, row_groups=GROUPS)


def test_folds_keep_groups_apart():
    for train, test in row_folds(90, 5, 0, GROUPS):
        assert not set(GROUPS[train]) & set(GROUPS[test])
        assert sorted([*train, *test]) == list(range(90))
    assert row_folds(90, 13, 0, GROUPS) == []


def test_calibration_is_by_other_groups():
    """Each group has its own label at random: what is known of a group must not calibrate its own rows."""
    groups = np.repeat(np.arange(40), 5)
    forest = ForestClassifier(50, oob_score=True, random_state=0)
    features = RANDOM.normal(size=(40, 3))[groups] + 1e-9 * RANDOM.normal(size=(200, 3))
    labels = RANDOM.integers(0, 2, (40, 2))[groups]
    honest = Calibrated(forest).fit(features, labels, row_groups=groups)
    leaking = Calibrated(forest).fit(features, labels)
    assert np.abs(leaking.oob_prediction_ - labels).mean() < 0.1
    assert np.nanmean(np.abs(honest.oob_prediction_ - labels)) > 0.4


@pytest.mark.parametrize("calibrate", ["split", "oob"])
def test_sets_keep_their_promise_to_fresh_groups(calibrate):
    """Labels of patients with ten rows each, where rows alone would promise too much."""
    missed, alone = [], []
    for seed in range(12):
        random = np.random.default_rng(seed)
        groups = np.repeat(np.arange(160), 10)
        patient = random.normal(size=(160, 4))[groups]
        features = patient + 0.05 * random.normal(size=(1600, 4))
        labels = (patient[:, 0] + random.normal(size=160)[groups] > 0).astype(int)
        rows, fresh = groups < 80, groups >= 80
        forest = ForestClassifier(30, random_state=0)
        for into, own in ((missed, {"row_groups": groups[rows]}), (alone, {})):
            model = ConformalSets(forest, alpha=0.2, calibrate=calibrate, random_state=seed)
            sets = model.fit(features[rows], labels[rows], **own).predict(features[fresh])
            into.append(1 - np.mean(sets[np.arange(len(sets)), labels[fresh]]))
    error = np.std(missed, ddof=1) / np.sqrt(len(missed))
    assert np.mean(missed) <= 0.2 + 2 * error
    assert np.mean(alone) > 0.25


def test_a_promise_counts_groups():
    data = make_hierarchical(200, random_state=0)
    groups = np.repeat(np.arange(50), 4)
    model = ConformalSets(ForestClassifier(10, hierarchy=data.hierarchy, random_state=0), alpha=0.2, random_state=0)
    assert "13 held back" in model.fit(data.X, data.y, row_groups=groups).guarantee_
    assert model.n_calibrated_ == 13
    with pytest.raises(ValueError, match="groups of rows"):
        model.set_params(alpha=0.01).fit(data.X, data.y, row_groups=groups)
