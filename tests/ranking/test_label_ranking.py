"""Which features decide whether A is preferred to B: scores of rankings per pair of labels and per label."""

import numpy as np
import pytest

from ramify.datasets import make_label_ranking
from ramify.ensemble import LabelRankingForest
from ramify.ranking import ForestRanker, ReliefRanker


@pytest.fixture(scope="module")
def two_deciders():
    """The first feature decides between L1 and L2, the second between L3 and L4; the others are noise."""
    X = np.random.default_rng(0).uniform(-1, 1, (400, 5))
    first = np.where(X[:, [0]] > 0, [[1, 2]], [[2, 1]])
    second = np.where(X[:, [1]] > 0, [[3, 4]], [[4, 3]])
    return X, np.hstack([first, second])


@pytest.mark.parametrize("score", ["genie3", "permutation", "genie3_oob"])
def test_a_forest_names_the_decider_of_each_pair_and_label(two_deciders, score):
    ranking = ForestRanker(LabelRankingForest(30, random_state=0), scores=score).fit(*two_deciders).ranking_
    assert ranking.for_label("L1>L2").order[0] == 0
    assert ranking.for_label("L3>L4").order[0] == 1
    assert [ranking.for_label(label).order[0] for label in ("L1", "L2", "L3", "L4")] == [0, 0, 1, 1]


def test_relief_names_the_decider_of_each_pair_and_label(two_deciders):
    ranking = ReliefRanker(target="rankings", per_label=True).fit(*two_deciders).ranking_
    assert ranking.for_label("L1>L2").order[0] == 0
    assert ranking.for_label("L3>L4").order[0] == 1
    assert [ranking.for_label(label).order[0] for label in ("L1", "L2", "L3", "L4")] == [0, 0, 1, 1]


def test_pairs_add_up_to_labels_and_to_the_whole():
    data = make_label_ranking(200, n_labels=4, random_state=0)
    forest = LabelRankingForest(10, random_state=0)
    ranking = ForestRanker(forest, scores="genie3").fit(data.X, data.y).ranking_
    fitted = forest.fit(data.X, data.y)
    np.testing.assert_allclose(ranking.scores, fitted.pair_importances_.sum(axis=1))
    for label in range(4):
        scores = ranking.for_label(f"L{label + 1}").scores
        np.testing.assert_allclose(scores, 2 * fitted.label_importances_[:, label])


@pytest.mark.parametrize("unranked", [0.0, 0.3])
def test_every_score_and_relief_put_the_planted_features_first(unranked):
    data = make_label_ranking(
        400, n_features=8, n_informative=3, n_labels=4, noise=0.05, unranked=unranked, random_state=0
    )
    planted = data.truth.sum(axis=1) > 0
    scores = ["genie3", "symbolic", "permutation", "genie3_oob"]
    rankings = ForestRanker(LabelRankingForest(50, random_state=0), scores=scores).fit(data.X, data.y).rankings_
    relief = ReliefRanker(target="rankings").fit(data.X, data.y).ranking_
    for ranking in (*rankings.values(), relief):
        assert set(ranking.order[:3]) == set(np.flatnonzero(planted))
