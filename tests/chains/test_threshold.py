"""Thresholds bring predicted cardinality or densities closest to the training set's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify.chains import BinaryRelevance
from ramify.ensemble.threshold import cardinality_threshold, density_thresholds


@given(st.integers(1, 6), st.integers(1, 30), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_votes_give_the_threshold_of_the_listing(n_chains, n_rows, seed):
    random = np.random.RandomState(seed)
    votes = random.randint(0, n_chains + 1, (n_rows, 3))
    cardinality = random.uniform(0, 3)
    distance = [abs((votes >= t).sum(axis=1).mean() - cardinality) for t in range(1, n_chains + 1)]
    smallest = 1 + int(np.flatnonzero(np.isclose(distance, min(distance), atol=1e-12))[0])
    candidates = np.arange(1, n_chains + 1) / n_chains
    found = cardinality_threshold(votes / n_chains, cardinality, candidates=candidates)
    assert found == pytest.approx(smallest / n_chains)


@given(st.integers(1, 40), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_no_other_threshold_comes_closer(n_rows, seed):
    random = np.random.RandomState(seed)
    scores = np.round(random.rand(n_rows, 2), 1)
    cardinality = random.uniform(0, 2)
    found = cardinality_threshold(scores, cardinality)
    reached = abs((scores >= found).sum() / n_rows - cardinality)
    for other in np.linspace(0, 1.05, 106):
        assert reached <= abs((scores >= other).sum() / n_rows - cardinality) + 1e-12


def test_one_threshold_per_label_matches_each_density():
    scores = np.random.RandomState(0).rand(1000, 3)
    found = density_thresholds(scores, [0.1, 0.5, 0.0])
    np.testing.assert_allclose((scores >= found).mean(axis=0), [0.1, 0.5, 0.0], atol=1e-9)


def test_density_thresholds_move_rare_labels_down(small):
    from sklearn.naive_bayes import GaussianNB

    model = BinaryRelevance(GaussianNB(), threshold="density").fit(small.X, small.y)
    assert model.threshold_.shape == (4,)
    predicted = model.predict(small.X).toarray().mean(axis=0)
    np.testing.assert_allclose(predicted, small.y.toarray().mean(axis=0), atol=0.1)


def test_cardinality_is_met_on_new_rows():
    from sklearn.naive_bayes import GaussianNB

    from ramify.datasets import make_multilabel

    train = make_multilabel(500, density=0.15, random_state=0)
    test = make_multilabel(500, density=0.15, truth=train.truth, random_state=1)
    learnt = BinaryRelevance(GaussianNB(), threshold="cardinality").fit(train.X, train.y)
    assert learnt.predict(test.X).sum() / 500 == pytest.approx(learnt.cardinality_, abs=0.2)
