"""Bins of probabilities: what was said, what happened, and how far apart they are."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import calibration_curve

from ramify.metrics import calibration_error, reliability_bins


def test_bins_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    said = rng.random(500) ** 2
    truth = (rng.random(500) < said).astype(int)
    bins = reliability_bins(truth, said, n_bins=8)
    used = bins[bins["count"] > 0]
    happened, means = calibration_curve(truth, said, n_bins=8)
    np.testing.assert_allclose(used["happened"], happened)
    np.testing.assert_allclose(used["said"], means)
    assert bins["count"].sum() == 500


def test_error_is_the_weighted_mean_gap():
    bins = reliability_bins([[1, 0], [1, 1]], [[0.9, 0.05], [0.95, 0.15]])
    assert bins["count"].tolist() == [1, 1, 0, 0, 0, 0, 0, 0, 0, 2]
    assert calibration_error(bins) == pytest.approx((0.05 + 0.85 + 2 * 0.075) / 4)


def test_ends_of_the_scale_gaps_and_sparse_matrices():
    truth = sparse.csr_array([[1, 0, 1]])
    bins = reliability_bins(truth, [[1 + 1e-16, 0.0, np.nan]], n_bins=2)
    assert bins["count"].tolist() == [1, 1]
    assert bins["happened"].tolist() == [0, 1]
    assert np.isnan(calibration_error(reliability_bins([1], [np.nan])))


@pytest.mark.parametrize(
    ("truth", "said", "words"),
    [([1, 0], [0.5], "must have the shape of y_true"), ([1, 0], [0.5, 1.5], r"between 0 and 1\. Got .* to 1\.5")],
)
def test_what_are_no_probabilities_is_refused(truth, said, words):
    with pytest.raises(ValueError, match=words):
        reliability_bins(truth, said)
