"""`feature_importances_`: gains on out-of-bag rows, by default and wherever trees have such rows."""

import numpy as np
import pandas as pd
import pytest

import ramify
from ramify.datasets import make_hierarchical, make_label_ranking
from ramify.ensemble import ForestClassifier, ForestRegressor, LabelRankingForest, MixedForest
from ramify.ranking import ForestRanker, forest_ranking

NESTED = make_hierarchical(120, random_state=0)
RANKED = make_label_ranking(80, random_state=0)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 5))
NUMBERS = np.column_stack([X[:, 0] + RNG.normal(size=120), X[:, 1]])
UNKNOWN = np.where(RNG.random(NUMBERS.shape) < 0.3, np.nan, NUMBERS)
MIXED = pd.DataFrame({"size": NUMBERS[:, 0], "kind": np.where(NUMBERS[:, 1] > 0, "a", "b")})
WORK = {"n_estimators": 40, "random_state": 0}

CASES = {
    "label sets": (ForestClassifier(hierarchy=NESTED.hierarchy, **WORK), NESTED.X, NESTED.y),
    "numbers": (ForestRegressor(**WORK), X, NUMBERS),
    "numbers known in part": (ForestRegressor(**WORK), X, UNKNOWN),
    "rankings": (LabelRankingForest(**WORK), RANKED.X, RANKED.y),
    "mixed": (MixedForest(**WORK), X, MIXED),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_they_are_the_shares_of_the_default_ranking(case, weighted, tmp_path):
    forest, rows, y = CASES[case]
    weights = np.random.default_rng(1).integers(1, 3, len(rows)) if weighted else None
    groups = np.arange(len(rows)) // 2
    scores = ForestRanker(forest).fit(rows, y, weights, row_groups=groups).scores_
    expected = np.maximum(scores, 0) / np.maximum(scores, 0).sum()
    fitted = forest.fit(rows, y, weights, row_groups=groups)
    np.testing.assert_allclose(fitted.feature_importances_, expected, rtol=1e-9, atol=1e-12)
    ramify.save(fitted, tmp_path / "forest.ramify")
    loaded = ramify.load(tmp_path / "forest.ramify")
    np.testing.assert_array_equal(loaded.feature_importances_, fitted.feature_importances_)


def test_noise_with_many_values_is_given_little():
    rng = np.random.default_rng(2)
    driver = rng.integers(0, 2, 400)
    noise = rng.normal(size=(400, 3))
    y = (rng.random(400) < 0.25 + 0.5 * driver).astype(int)
    forest = ForestClassifier(100, random_state=0).fit(np.column_stack([driver, noise]), y)
    assert forest.feature_importances_[1:].sum() < 0.3
    genie3 = forest_ranking(forest).scores
    assert genie3[1:].sum() > genie3[0]


def test_extra_trees_have_genie3():
    forest = ForestClassifier(10, splitter="random", bootstrap=False, random_state=0).fit(X, NUMBERS[:, 0] > 0)
    scores = forest_ranking(forest).scores
    np.testing.assert_allclose(forest.feature_importances_, scores / scores.sum())


def test_the_first_trees_say_how_to_measure_theirs():
    forest = ForestClassifier(10, random_state=0).fit(X, NUMBERS[:, 0] > 0)
    with pytest.raises(AttributeError, match=r"forest_ranking\(forest, \"genie3_oob\", X, y\)"):
        _ = forest.first(5).feature_importances_
