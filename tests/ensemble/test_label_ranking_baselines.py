"""Aggregation equals brute force; baselines do what their papers say."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from ramify.datasets import make_label_ranking
from ramify.ensemble import AverageLabelRanker, NeighborsLabelRanker, PairwiseLabelRanker
from ramify.ensemble.label_ranking_aggregation import MAX_SPREAD, mallows_centre, mallows_spread
from ramify.targets.rankings import mean_preferences, pair_signs

RANKERS = [AverageLabelRanker(), NeighborsLabelRanker(), PairwiseLabelRanker(DecisionTreeClassifier(max_depth=5))]


def random_permutations(seed, n_rows, n_labels):
    return np.argsort(np.random.default_rng(seed).random((n_rows, n_labels)), axis=1) + 1.0


@pytest.fixture(scope="module")
def data():
    return make_label_ranking(300, n_labels=4, random_state=0)


@pytest.mark.parametrize("n_labels", [2, 3, 4, 5])
def test_mallows_centre_has_the_largest_likelihood_of_all_permutations(n_labels):
    permutations = np.array(list(itertools.permutations(range(1, n_labels + 1))), dtype=float)
    for seed in range(10):
        rankings = random_permutations(seed, 7, n_labels)
        agreement = [pair_signs(rankings) @ signs for signs in pair_signs(permutations).astype(float)]
        centre = mallows_centre(mean_preferences(rankings)[None], n_labels)
        found = (pair_signs(rankings) @ pair_signs(centre)[0].astype(float)).sum()
        assert found == max(np.sum(agreement, axis=1))


def test_mallows_centre_of_many_labels_is_locally_optimal_and_recovers_a_clear_order():
    preferences = np.array([mean_preferences(random_permutations(seed, 9, 10)) for seed in range(20)])
    centres = mallows_centre(preferences, 10)
    for preference, centre in zip(preferences, centres, strict=True):
        value = pair_signs(centre[None])[0] @ preference
        order = np.argsort(centre)
        for position in range(9):
            swapped = order.copy()
            swapped[[position, position + 1]] = swapped[[position + 1, position]]
            assert pair_signs(np.argsort(swapped)[None].astype(float))[0] @ preference <= value + 1e-9
    truth = random_permutations(1, 1, 10)
    np.testing.assert_array_equal(mallows_centre(pair_signs(truth).astype(float), 10), truth)


@pytest.mark.parametrize("n_labels", [2, 3, 4, 5])
def test_mallows_spread_equals_a_brute_force_fit(n_labels):
    permutations = np.array(list(itertools.permutations(range(1, n_labels + 1))), dtype=float)
    distances = (pair_signs(permutations) < 0).sum(axis=1)
    for mean_distance in np.linspace(0.05, n_labels * (n_labels - 1) / 4 - 0.05, 6):

        def negative_log_likelihood(spread, mean_distance=mean_distance):
            return spread * mean_distance + np.log(np.exp(-spread * distances).sum())

        brute = minimize_scalar(negative_log_likelihood, bounds=(0, MAX_SPREAD), method="bounded").x
        assert mallows_spread(mean_distance, n_labels) == pytest.approx(brute, abs=1e-4)
    assert mallows_spread(0.0, n_labels) == MAX_SPREAD
    assert mallows_spread(n_labels**2, n_labels) == 0


def test_the_average_ranker_predicts_table_4_2():
    model = AverageLabelRanker().fit([[0], [0]], [[1, 3, 2, 4], [2, 1, 4, 3]])
    np.testing.assert_array_equal(model.predict([[1], [2]]), [[1, 2, 3, 4]] * 2)
    assert model.predict_preferences([[1]])[0, 0, 2] == 1


@pytest.mark.parametrize("aggregate", ["borda", "mallows"])
def test_neighbours_are_aggregated_as_by_hand(data, aggregate):
    model = NeighborsLabelRanker(5, aggregate=aggregate).fit(data.X, data.y)
    query = np.random.default_rng(1).uniform(-1, 1, (20, data.n_features))
    for row, ranking in zip(query, model.predict(query), strict=True):
        neighbours = data.y[np.argsort(((data.X - row) ** 2).sum(axis=1))[:5]]
        if aggregate == "borda":
            np.testing.assert_array_equal(ranking, rankdata(neighbours.sum(axis=0)))
        else:
            permutations = np.array(list(itertools.permutations(range(1, 5))), dtype=float)
            agreement = pair_signs(permutations).astype(float) @ pair_signs(neighbours).sum(axis=0)
            assert pair_signs(ranking[None])[0] @ pair_signs(neighbours).sum(axis=0) == agreement.max()


def test_neighbours_compare_nominal_values_by_being_equal():
    values = np.array([0, 1, 2, 3] * 5)
    number = np.tile([0.0, 0.5, 0.3, 0.1], 5)
    ranks = np.array([[1, 2, 3], [3, 2, 1], [2, 1, 3], [1, 3, 2]], dtype=float)[values]
    frame = pd.DataFrame({"number": number, "kind": pd.Categorical([f"v{value}" for value in values])})
    model = NeighborsLabelRanker(5).fit(frame, ranks)
    # v1 is as far from v0 as from v3: of those, the number decides; an unseen value lies equally far from all
    query = pd.DataFrame({"number": [0.02, 0.12, 0.0], "kind": ["new", "new", "v0"]})
    with pytest.warns(UserWarning, match="'kind' .* 2 of 3 cells that NeighborsLabelRanker has not seen: 'new'"):
        np.testing.assert_array_equal(model.predict(query)[:2], [[1, 2, 3], [1, 3, 2]])
    np.testing.assert_array_equal(model.predict(frame), ranks)
    by_index = NeighborsLabelRanker(5, categorical_features=[1]).fit(np.column_stack([number, values]), ranks)
    with pytest.warns(UserWarning, match="2 of 3 cells .* '9'"):
        predicted = by_index.predict([[0.02, 9.0], [0.12, 9.0], [0.0, 0.0]])
    np.testing.assert_array_equal(predicted[:2], [[1, 2, 3], [1, 3, 2]])
    with pytest.raises(ValueError, match=r"contains NaN in feature 'number' \(column 0\)"):
        model.predict(pd.DataFrame({"number": [np.nan], "kind": ["v1"]}))


def test_pairwise_comparison_ranks_by_summed_probabilities(data):
    model = PairwiseLabelRanker().fit(data.X, data.y)
    preferences = model.predict_preferences(data.X[:10])
    votes = preferences.sum(axis=2)
    np.testing.assert_array_equal(np.argsort(model.predict(data.X[:10]), axis=1), np.argsort(-votes, axis=1))
    np.testing.assert_allclose(preferences + preferences.transpose(0, 2, 1), 1)


def test_a_pair_with_one_answer_needs_no_classifier():
    X = np.arange(6.0)[:, None]
    model = PairwiseLabelRanker().fit(X, [[1, 2, 3]] * 3 + [[1, 3, 2]] * 3)
    assert model.estimators_[:2] == [1, 1]
    np.testing.assert_array_equal(model.predict([[0.0], [5.0]]), [[1, 2, 3], [1, 3, 2]])


def test_methods_beat_the_constant_ranking(data):
    constant = cross_val_score(AverageLabelRanker(), data.X, data.y, cv=3).mean()
    for model in (NeighborsLabelRanker(), NeighborsLabelRanker(aggregate="mallows"), PairwiseLabelRanker()):
        assert cross_val_score(model, data.X, data.y, cv=3).mean() > constant + 0.05


@pytest.mark.parametrize("model", RANKERS, ids=lambda model: type(model).__name__)
class TestEveryBaseline:
    def test_learns_from_ties_and_unranked_labels(self, model, data):
        partial = make_label_ranking(300, n_labels=4, ties=0.2, unranked=0.3, random_state=0)
        fitted = clone(model).fit(partial.X, partial.y)
        assert np.isfinite(fitted.predict(data.X)).all()
        assert fitted.score(data.X, data.y) > 0

    def test_breaks_ties_by_label_order(self, model, data):
        broken = clone(model).fit(data.X, data.y).predict(data.X, ties="break")
        np.testing.assert_array_equal(np.sort(broken, axis=1), np.tile([1, 2, 3, 4], (300, 1)))

    def test_takes_frames_and_keeps_names(self, model, data):
        X = pd.DataFrame(data.X, columns=data.feature_names)
        fitted = clone(model).fit(X, pd.DataFrame(data.y, columns=data.label_names))
        assert fitted.label_names_ == data.label_names
        assert list(fitted.feature_names_in_) == list(data.feature_names)

    def test_refuses_bad_rankings_by_row(self, model, data):
        bad = data.y.copy()
        bad[7, 0] = 9
        with pytest.raises(ValueError, match="Row 7 of y is no ranking"):
            clone(model).fit(data.X, bad)
        with pytest.raises(NotFittedError):
            clone(model).predict(data.X)
        with pytest.raises(ValueError, match="'ties' parameter"):
            clone(model).fit(data.X, data.y).predict(data.X, ties="no")


def test_neighbours_can_be_tuned_by_grid_search(data):
    search = GridSearchCV(NeighborsLabelRanker(), {"n_neighbors": [1, 10], "aggregate": ["borda", "mallows"]}, cv=3)
    assert search.fit(data.X, data.y).best_params_["n_neighbors"] == 10


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NeighborsLabelRanker(0), "'n_neighbors' parameter of NeighborsLabelRanker must be an int >= 1. Got 0"),
        (NeighborsLabelRanker(aggregate="mean"), "'aggregate' parameter of NeighborsLabelRanker"),
    ],
)
def test_bad_parameters_are_refused_by_name(model, message, data):
    with pytest.raises(ValueError, match=message):
        model.fit(data.X, data.y)
    with pytest.raises(TypeError, match="'estimator' parameter of PairwiseLabelRanker"):
        PairwiseLabelRanker(3).fit(data.X, data.y)
