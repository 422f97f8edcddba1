"""R2 screening against ordinary regression, and its sweep."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression

from ramify.chains import R2Screening
from ramify.datasets import make_multilabel


def slow_r2(X, Y):
    return [LinearRegression().fit(Y, X[:, j]).score(Y, X[:, j]) for j in range(X.shape[1])]


def test_r2_equals_ordinary_regression(small):
    Y = small.y.toarray()
    np.testing.assert_allclose(R2Screening().fit(small.X, Y).r2_, slow_r2(small.X, Y))


def test_collinear_and_constant_labels_change_nothing(small):
    Y = small.y.toarray().astype(int)
    more = np.column_stack([Y, Y[:, 0], np.ones(len(Y), dtype=int)])
    np.testing.assert_allclose(R2Screening().fit(small.X, more).r2_, slow_r2(small.X, Y))


def test_sparse_equals_dense(small):
    X = np.where(small.X > 1, small.X, 0.0)
    np.testing.assert_allclose(R2Screening().fit(sparse.csr_array(X), small.y).r2_, R2Screening().fit(X, small.y).r2_)


def test_missing_values_are_left_out_of_their_feature(small):
    X, Y = small.X.copy(), small.y.toarray()
    X[:7, 2] = np.nan
    expected = slow_r2(small.X, Y)
    expected[2] = slow_r2(X[7:, [2]], Y[7:])[0]
    np.testing.assert_allclose(R2Screening().fit(X, Y).r2_, expected)


def test_a_constant_feature_has_0(small):
    X = np.column_stack([small.X, np.full(len(small.X), 0.1)])
    assert R2Screening().fit(X, small.y).r2_[-1] == 0


def test_features_at_the_percentile_are_kept(small):
    screening = R2Screening(percentile=50).fit(small.X, small.y)
    assert screening.get_support().sum() == 4
    assert screening.r2_[screening.get_support()].min() >= np.percentile(screening.r2_, 50)


def test_equally_good_features_are_kept_together_however_they_are_stored():
    source = np.random.RandomState(0)
    Y = np.zeros((60, 3), dtype=int)
    Y[:, 0], Y[5:25, 1], Y[20:30, 2] = np.arange(60) % 2, 1, 1
    alike = np.flatnonzero(~Y[:, 1:].any(axis=1) & (Y[:, 0] == 1))
    X = source.uniform(-9, 9, (1, 40)).repeat(60, axis=0)  # each column stands out in one of the rows that are alike
    X[source.choice(alike, 40), np.arange(40)] += source.uniform(1, 9, 40)
    X[:, :20] -= X[0, :20].copy()  # half of them sparse
    for stored in (X, np.asfortranarray(X), sparse.csr_array(X), sparse.csc_array(X), np.vstack([X, X * np.nan])):
        labels = np.vstack([Y, Y])[: stored.shape[0]]
        assert R2Screening(80).fit(stored, labels).get_support().all()


def test_frames_keep_names_and_nominals(small):
    frame = pd.DataFrame(small.X, columns=[f"f{j}" for j in range(8)])
    frame["colour"] = pd.Categorical(np.where(small.y.toarray()[:, 0] == 1, "red", "blue"))
    screening = R2Screening(percentile=85).fit(frame, small.y)
    assert "colour" in screening.get_feature_names_out()
    assert "colour" in screening.transform(frame).columns


def test_planted_features_come_first():
    data = make_multilabel(1000, n_features=40, n_labels=5, signal=2.0, relevance=0.1, random_state=0)
    screening = R2Screening().fit(data.X, data.y)
    relevant = data.truth.any(axis=1)
    assert screening.r2_[relevant].min() > screening.r2_[~relevant].max()


def test_a_percentile_beyond_100_is_refused(small):
    with pytest.raises(ValueError, match="'percentile' parameter of R2Screening must be a number in"):
        R2Screening(101).fit(small.X, small.y)
