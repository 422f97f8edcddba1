"""Bins of probabilities: what was said, what happened, and how far apart they are."""

import numpy as np
import pandas as pd
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


def test_a_probability_at_the_end_of_a_bin_is_in_the_bin_that_starts_there():
    for n_bins in (3, 7, 10, 100):
        ends = np.arange(n_bins) / n_bins
        assert reliability_bins(np.ones(n_bins), ends, n_bins=n_bins)["count"].tolist() == [1] * n_bins
    assert reliability_bins([1], [0.29], n_bins=100)["count"].to_numpy().nonzero()[0] == [29]


def test_labels_are_matched_by_name_and_shapes_by_row_and_label():
    truth = pd.DataFrame({"a": [1, 1, 0], "b": [0, 0, 0]})
    said = truth[["b", "a"]] * 0.9
    assert calibration_error(reliability_bins(truth, said)) == pytest.approx(0.1 * 2 / 6)
    with pytest.raises(ValueError, match=r"must have the shape of y_true, \(3, 2\). Got \(2, 3\) instead"):
        reliability_bins(truth, truth.to_numpy().T)
