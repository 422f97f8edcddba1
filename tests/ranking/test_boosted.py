"""Rankings by boosted trees and by portfolios."""

import numpy as np
import pytest

from ramify.datasets import make_hierarchical, make_multilabel
from ramify.ensemble import BoostedClassifier, BoostedRegressor, ForestClassifier, KernelClassifier, Portfolio
from ramify.ranking import ForestRanker, forest_ranking, nested_rankings
from ramify.ranking.portfolio_ranking import portfolio_ranking

NESTED = make_hierarchical(300, random_state=1)


def boosted(**parameters):
    return BoostedClassifier(**{"n_estimators": 60, "hierarchy": NESTED.hierarchy, "random_state": 0} | parameters)


def test_scores_are_mean_gains_globally_per_label_and_per_branch():
    ranker = ForestRanker(boosted()).fit(NESTED.X, NESTED.y)
    model, ranking = ranker.estimator_, ranker.ranking_
    np.testing.assert_allclose(ranking.per_label.toarray(), model.gains_.toarray() / model.n_rounds_)
    np.testing.assert_allclose(ranking.scores, ranking.per_label.sum(axis=1), atol=1e-12)
    assert ranking.origin["ensemble"] == "Boosted Trees"
    branch = NESTED.hierarchy.roots[0]
    inside = [branch, *NESTED.hierarchy.descendants(branch)]
    columns = [NESTED.hierarchy.index(name) for name in inside]
    assert ranking.for_label(branch).order[0] == np.argmax(ranking.per_label.toarray()[:, columns].sum(axis=1))


def test_planted_drivers_of_a_branch_come_first():
    ranking = ForestRanker(boosted(n_estimators=100)).fit(NESTED.X, NESTED.y).ranking_
    for branch in NESTED.hierarchy.roots:
        best = ranking.for_label(branch).order[0]
        names = [branch, *NESTED.hierarchy.descendants(branch)]
        assert NESTED.truth[best, [NESTED.hierarchy.index(name) for name in names]].any()


def test_rankings_develop_over_the_rounds():
    model = boosted(early_stopping=None).fit(NESTED.X, NESTED.y)
    nested = nested_rankings(model, [5, 20, 60])
    for size, ranking in zip([5, 20, 60], nested, strict=True):
        alone = forest_ranking(model.first(size))
        np.testing.assert_allclose(ranking.scores, alone.scores, atol=1e-12)
        assert ranking.origin["n_estimators"] == size
        assert ranking.per_label is None  # known for all rounds together
    assert forest_ranking(model).per_label is not None


def test_numbers_have_gains_per_target():
    X = np.random.default_rng(0).normal(size=(200, 6))
    ranking = ForestRanker(BoostedRegressor(50, random_state=0)).fit(X, X[:, [2, 4]] * [1.0, 30.0]).ranking_
    assert ranking.per_label.toarray().argmax(axis=0).tolist() == [2, 4]


@pytest.mark.parametrize("score", ["permutation", "genie3_oob"])
def test_scores_on_out_of_bag_rows_are_refused(score):
    with pytest.raises(ValueError, match="boosted trees"):
        ForestRanker(boosted(), scores=score).fit(NESTED.X, NESTED.y)


def test_symbolic_scores_are_those_of_the_trees():
    ranking = ForestRanker(boosted(), scores="symbolic").fit(NESTED.X, NESTED.y).ranking_
    assert (ranking.scores >= 0).all()
    assert ranking.per_label is None


def test_the_ranking_of_a_portfolio_is_the_weighted_one_of_its_members():
    data = make_multilabel(150, random_state=0)
    members = {"forest": ForestClassifier(10, random_state=0), "boosted": BoostedClassifier(20, random_state=0)}
    model = Portfolio(members, random_state=0).fit(data.X, data.y)
    model.weights_ = {name: 1 / len(model.members_) for name in model.members_}
    ranking = portfolio_ranking(model)
    parts = [forest_ranking(member) for member in model.members_.values()]
    expected = np.mean([part.scores / np.abs(part.scores).sum() for part in parts], axis=0)
    np.testing.assert_allclose(ranking.scores, expected)
    np.testing.assert_allclose(ranking.per_label.sum(axis=1), expected, atol=1e-9)
    assert ranking.origin["weights"] == model.weights_


def test_members_without_scores_of_features_are_left_out_of_the_ranking():
    data = make_multilabel(80, random_state=0)
    members = {"forest": ForestClassifier(10, random_state=0), "kernel": KernelClassifier(random_state=0)}
    model = Portfolio(members, random_state=0).fit(data.X, data.y)
    model.members_ = {name: member.fit(data.X, data.y) for name, member in members.items()}
    model.weights_ = {"forest": 0.25, "kernel": 0.75}
    expected = forest_ranking(model.members_["forest"]).scores
    np.testing.assert_allclose(portfolio_ranking(model).scores, expected / expected.sum())
    model.members_.pop("forest")
    with pytest.raises(ValueError, match="have no trees and rank no features"):
        portfolio_ranking(model)


def test_what_is_no_portfolio_is_refused():
    with pytest.raises(TypeError, match="takes a fitted Portfolio. Got ForestClassifier"):
        portfolio_ranking(ForestClassifier())
