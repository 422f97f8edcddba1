"""Warm start: more trees, the same bits as growing all at once."""

import numpy as np
import pytest
from scipy import sparse

import ramify
from ramify import ForestClassifier, ForestRegressor, LabelRankingForest, MixedForest
from ramify.datasets import make_label_ranking

RANDOM = np.random.RandomState(0)
X = RANDOM.rand(60, 5)
SETS = (RANDOM.rand(60, 3) < 0.4).astype(int)
RANKED = make_label_ranking(60, n_features=5, random_state=0)
CASES = {
    "classes": (ForestClassifier, X, SETS[:, 0]),
    "labels": (ForestClassifier, X, SETS),
    "sparse": (ForestClassifier, sparse.csr_array(np.where(X > 0.6, X, 0)), sparse.csr_array(SETS)),
    "numbers": (ForestRegressor, X, X[:, :2] * 3),
    "rankings": (LabelRankingForest, RANKED.X, RANKED.y),
    "mixed": (MixedForest, X, np.column_stack([X[:, 0].astype(object), np.where(SETS[:, 0], "yes", "no")])),
}


def same(a, b):
    ours, theirs = a.trees_.arrays(), b.trees_.arrays()
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        np.testing.assert_array_equal(values, theirs[name], err_msg=name)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("random_state", [0, None, "state"])
def test_more_trees_are_the_same_as_all_at_once(case, random_state):
    forest, features, y = CASES[case]
    if random_state == "state":
        random_state = np.random.RandomState(7)
    warm = forest(3, warm_start=True, oob_score=True, random_state=random_state).fit(features, y)
    seed = warm._seed
    for n_estimators in (5, 5, 9):
        warm.set_params(n_estimators=n_estimators).fit(features, y)
        assert warm.trees_.n_trees == n_estimators
    if random_state == 0:
        whole = forest(9, oob_score=True, random_state=0).fit(features, y)
        np.testing.assert_array_equal(warm.oob_prediction_, whole.oob_prediction_)
        same(warm, whole)
    assert warm._seed == seed
    fresh = forest(9, warm_start=True, random_state=0)
    fresh._drawn_seed = lambda: seed
    same(warm, fresh.fit(features, y))


def test_a_loaded_forest_goes_on(tmp_path):
    warm = ForestClassifier(3, warm_start=True, random_state=0).fit(X, SETS)
    ramify.save(warm, tmp_path / "forest.ramify")
    loaded = ramify.load(tmp_path / "forest.ramify").set_params(n_estimators=6).fit(X, SETS)
    same(loaded, ForestClassifier(6, random_state=0).fit(X, SETS))


def test_without_warm_start_a_second_fit_starts_again():
    forest = ForestClassifier(3, warm_start=True, random_state=0).fit(X, SETS)
    forest.set_params(warm_start=False, n_estimators=2, random_state=1).fit(X, SETS)
    same(forest, ForestClassifier(2, random_state=1).fit(X, SETS))
    assert not hasattr(forest, "_seed")


@pytest.mark.parametrize(
    ("features", "y", "n_estimators", "words"),
    [
        (X, SETS[:, :2], 6, "labels of the first fit"),
        (X[:, :3], SETS, 6, "goes on with the 5 features of the first fit, but X has 3"),
        (X, SETS, 2, r"n_estimators=2 must be at least that. forest.first\(2\)"),
        (X, SETS[:, 0], 6, "labels of the first fit"),
    ],
)
def test_what_does_not_go_on_is_refused_and_nothing_changes(features, y, n_estimators, words):
    forest = ForestClassifier(3, warm_start=True, random_state=0).fit(X, SETS)
    before = forest.predict_proba(X)
    with pytest.raises(ValueError, match=words):
        forest.set_params(n_estimators=n_estimators).fit(features, y)
    np.testing.assert_array_equal(forest.predict_proba(X), before)


def test_warm_start_is_a_flag():
    with pytest.raises(ValueError, match="'warm_start' parameter of ForestClassifier must be a bool"):
        ForestClassifier(3, warm_start="yes").fit(X, SETS)
