"""make_multilabel has the densities, the correlation and the signal it was asked for."""

import numpy as np
import pytest

from ramify.datasets import make_multilabel


def test_labels_have_the_asked_densities():
    densities = [0.1, 0.3, 0.8]
    data = make_multilabel(50_000, n_features=1, n_labels=3, density=densities, correlation=0.5, random_state=0)
    np.testing.assert_allclose(data.y.toarray().mean(axis=0), densities, atol=0.01)


@pytest.mark.parametrize("correlation", [0.0, 0.1, 0.8, 1.0])
def test_labels_of_equal_density_have_the_asked_correlation(correlation):
    data = make_multilabel(50_000, n_features=1, n_labels=4, correlation=correlation, random_state=0)
    found = np.corrcoef(data.y.toarray(), rowvar=False)[np.triu_indices(4, 1)]
    np.testing.assert_allclose(found, correlation, atol=0.02)


@pytest.mark.parametrize("correlation", [0.0, 0.1, 0.8, 1.0])
def test_the_correlation_of_autoregressive_labels_falls_with_their_distance(correlation):
    data = make_multilabel(50_000, n_features=1, n_labels=4, correlation=correlation, dependence="autoregressive",
                           random_state=0)  # fmt: skip
    labels = np.arange(4)
    expected = correlation ** np.abs(labels[:, None] - labels).astype(float)
    np.testing.assert_allclose(np.corrcoef(data.y.toarray(), rowvar=False), expected, atol=0.02)
    np.testing.assert_allclose(data.y.toarray().mean(axis=0), 0.3, atol=0.01)


def test_labels_of_different_density_have_the_correlation_of_the_formula():
    q, r = 0.2, 0.5
    data = make_multilabel(200_000, n_features=1, n_labels=2, density=[q, r], correlation=0.6, random_state=1)
    expected = 0.6 * (min(q, r) - q * r) / np.sqrt(q * (1 - q) * r * (1 - r))
    assert np.corrcoef(data.y.toarray(), rowvar=False)[0, 1] == pytest.approx(expected, abs=0.01)


def test_a_relevant_feature_moves_by_the_signal_and_others_do_not():
    data = make_multilabel(40_000, n_features=6, n_labels=3, correlation=0.0, signal=2.0, relevance=0.5, random_state=3)
    labels = data.y.toarray()
    for label in range(3):
        shift = data.X[labels[:, label] == 1].mean(axis=0) - data.X[labels[:, label] == 0].mean(axis=0)
        np.testing.assert_allclose(shift, 2.0 * data.truth[:, label], atol=0.08)


def test_given_truth_is_kept():
    truth = make_multilabel(10, random_state=0).truth
    np.testing.assert_array_equal(make_multilabel(20, truth=truth, random_state=5).truth, truth)


def test_same_seed_gives_the_same_data():
    first, second = (make_multilabel(random_state=7) for _ in range(2))
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y.toarray(), second.y.toarray())


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_samples": 0}, "'n_samples' parameter of make_multilabel must be an int >= 1"),
        ({"correlation": 1.5}, "'correlation' parameter of make_multilabel must be a number in"),
        ({"dependence": "AR"}, "'dependence' parameter of make_multilabel must be one of 'exchangeable'"),
        ({"density": [0.1, 0.2]}, "'density' parameter of make_multilabel must be a number in"),
        ({"truth": np.ones((2, 2))}, "'truth' parameter of make_multilabel must be a 0/1 matrix"),
    ],
)
def test_bad_parameters_are_refused_by_name(bad, message):
    with pytest.raises(ValueError, match=message):
        make_multilabel(**bad)
