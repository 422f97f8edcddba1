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


def test_a_bad_size_is_refused_by_name():
    with pytest.raises(ValueError, match="'n_labels' parameter of make_label_ranking must be an int >= 2"):
        make_label_ranking(n_labels=1)
