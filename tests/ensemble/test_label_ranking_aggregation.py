"""Aggregation of rankings equals brute force."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from ramify.ensemble.label_ranking_aggregation import MAX_SPREAD, mallows_centre, mallows_spread
from ramify.targets.rankings import mean_preferences, pair_signs


def random_permutations(seed, n_rows, n_labels):
    return np.argsort(np.random.default_rng(seed).random((n_rows, n_labels)), axis=1) + 1.0


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
