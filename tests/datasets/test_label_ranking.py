"""Generated rankings are valid, follow the planted features and only those."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from ramify.datasets import make_label_ranking
from ramify.targets.rankings import check_rankings


def test_rankings_are_permutations_by_default():
    data = make_label_ranking(50, n_labels=6, random_state=0)
    np.testing.assert_array_equal(np.sort(data.y, axis=1), np.tile(np.arange(1, 7), (50, 1)))
    assert data.target == "rankings"
    assert data.label_names == ("L1", "L2", "L3", "L4", "L5", "L6")


def test_the_same_seed_gives_the_same_data():
    first, second = (make_label_ranking(20, ties=0.2, unranked=0.2, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)


def test_ties_and_unranked_labels_come_at_the_asked_rate_and_are_valid():
    data = make_label_ranking(2000, n_labels=6, ties=0.3, unranked=0.25, random_state=0)
    check_rankings(data.y)
    assert np.isnan(data.y).mean() == pytest.approx(0.25, abs=0.03)
    assert (np.sum(~np.isnan(data.y), axis=1) >= 2).all()
    tied = make_label_ranking(2000, n_labels=6, ties=0.3, random_state=0).y
    assert 1 - (tied.max(axis=1) - 1).mean() / 5 == pytest.approx(0.3, abs=0.03)


def test_truth_names_the_features_that_matter():
    data = make_label_ranking(1500, n_features=8, n_informative=3, noise=0.0, random_state=1)
    informative = data.truth.sum(axis=1) > 0
    forest = RandomForestRegressor(30, random_state=0).fit(data.X, data.y)
    assert informative.sum() == 3
    assert forest.feature_importances_[informative].min() > 3 * forest.feature_importances_[~informative].max()


@pytest.mark.parametrize("scores", ["utilities", "probabilities", "columns"])
def test_every_kind_of_score_gives_rankings_that_follow_the_planted_features_alone(scores):
    data = make_label_ranking(1500, n_features=8, n_informative=3, scores=scores, noise=0.0, random_state=2)
    np.testing.assert_array_equal(np.sort(data.y, axis=1), np.tile(np.arange(1, 6), (1500, 1)))
    assert len(np.unique(data.y, axis=0)) > 10
    informative = data.truth.sum(axis=1) > 0
    importances = RandomForestRegressor(30, random_state=0).fit(data.X, data.y).feature_importances_
    assert informative.sum() == 3
    assert importances[informative].min() > 2 * importances[~informative].max()


def test_labels_of_class_probabilities_are_ranked_by_them():
    data = make_label_ranking(3000, n_features=4, n_informative=4, n_labels=3, scores="probabilities", noise=0.0,
                              random_state=0)  # fmt: skip
    first = data.y.argmin(axis=1)
    means = np.array([data.X[first == label].mean(axis=0) for label in range(3)])
    # a class is first where the features lie around its centre, whose distances from 0 are the planted weights
    assert np.corrcoef(np.abs(means).ravel(), data.truth.T.ravel())[0, 1] > 0.8


def test_columns_are_compared_in_standard_deviations():
    data = make_label_ranking(4000, n_labels=4, scores="columns", random_state=1)
    shares = np.array([(data.y == rank).mean(axis=0) for rank in range(1, 5)])
    assert shares.min() > 0.1  # without that, the column with the largest unit would always be first or last


def test_an_unknown_kind_of_score_is_refused_by_name():
    with pytest.raises(ValueError, match="'scores' parameter of make_label_ranking"):
        make_label_ranking(scores="votes")


def test_a_bad_size_is_refused_by_name():
    with pytest.raises(ValueError, match="'n_labels' parameter of make_label_ranking must be an int >= 2"):
        make_label_ranking(n_labels=1)
