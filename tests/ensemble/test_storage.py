"""Dense and sparse storage hold the same table: the same codes, bins and trees, whatever the values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from ramify.ensemble import ForestClassifier, ForestRegressor


def same_trees(first, second):
    first, second = first.trees_.arrays(), second.trees_.arrays()
    assert first.keys() == second.keys()
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name], err_msg=name)


@st.composite
def tables(draw):
    """Columns of few or many values, with any share of zeros, negative ones, missing ones and none at all."""
    n_rows = draw(st.integers(5, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns, nominal = [], []
    for j in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["normal", "positive", "counts", "full", "two", "nominal", "constant"]))
        column = {
            "normal": rng.normal(size=n_rows),
            "positive": rng.exponential(size=n_rows) * 10.0 ** rng.integers(-3, 3),
            "counts": rng.poisson(1.5, n_rows).astype(float),
            "full": rng.integers(1, 4, n_rows).astype(float),
            "two": rng.integers(0, 2, n_rows).astype(float),
            "nominal": rng.integers(0, draw(st.integers(2, 5)), n_rows).astype(float),
            "constant": np.full(n_rows, float(rng.integers(0, 2))),
        }[kind]
        if kind != "full":
            column[rng.random(n_rows) < draw(st.sampled_from([0.0, 0.1, 0.5, 0.9]))] = 0.0
        column[rng.random(n_rows) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = np.nan
        columns.append(column)
        if kind in ("nominal", "two") and draw(st.booleans()):
            nominal.append(j)
    X = np.column_stack(columns)
    y = (rng.random((n_rows, 3)) < 0.4).astype(int)
    y[:, 0] = np.nan_to_num(X[:, 0]) > 0.5
    return X, y, nominal


@settings(max_examples=60, deadline=None)
@given(
    tables(),
    st.sampled_from([None, 2, 3, 5, 16, 255]),
    st.sampled_from(["best", "random"]),
    st.sampled_from([sparse.csr_array, sparse.csc_array]),
)
def test_dense_and_sparse_give_the_same_trees(table, max_bins, splitter, stored):
    X, y, nominal = table
    parameters = {"max_bins": max_bins, "splitter": splitter, "categorical_features": nominal, "random_state": 0}
    same_trees(
        ForestClassifier(3, **parameters).fit(X, y),
        ForestClassifier(3, **parameters).fit(stored(X), y),
    )
    same_trees(
        ForestRegressor(3, **parameters).fit(X, y[:, 0]),
        ForestRegressor(3, **parameters).fit(stored(X), y[:, 0]),
    )


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("n_features", [70, 200])
def test_wide_binary_tables_of_nominal_features(n_features, splitter):
    """Many columns of two values take other paths through small nodes."""
    rng = np.random.default_rng(n_features)
    X = (rng.random((90, n_features)) < rng.choice([0.02, 0.3, 1.0], n_features)).astype(float)
    y = (rng.random((90, 4)) < 0.3).astype(int)
    y[:, 0] = X[:, 0] > 0
    parameters = {"splitter": splitter, "categorical_features": list(range(n_features)), "random_state": 0}
    dense = ForestClassifier(5, **parameters).fit(X, y)
    same_trees(dense, ForestClassifier(5, **parameters).fit(sparse.csr_array(X), y))
    numeric = ForestClassifier(5, **(parameters | {"categorical_features": None})).fit(X, y)
    if splitter == "best":  # a nominal feature of two values is a feature of two values
        np.testing.assert_array_equal(dense.trees_.arrays()["feature"], numeric.trees_.arrays()["feature"])
        np.testing.assert_array_equal(dense.predict_proba(X), numeric.predict_proba(X))


def test_bins_of_many_rows_are_the_same():
    """Beyond 200,000 rows the edges come from some of them, the same for either storage."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((210_000, 2)) < 0.3, rng.exponential(size=(210_000, 2)), 0.0)
    y = (X[:, 0] > 0.3).astype(int)
    parameters = {"max_bins": 16, "max_depth": 3, "random_state": 0}
    same_trees(
        ForestClassifier(1, **parameters).fit(X, y), ForestClassifier(1, **parameters).fit(sparse.csr_array(X), y)
    )


def test_small_positive_values_are_told_from_zero_in_either_storage():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((400, 1)) < 0.5, rng.exponential(0.01, (400, 1)), 0.0)
    y = (X[:, 0] > 0).astype(int)
    for stored in (np.asarray, sparse.csr_array, sparse.csc_array):
        forest = ForestClassifier(5, max_bins=8, bootstrap=False, random_state=0).fit(stored(X), y)
        assert forest.score(stored(X), y) == 1.0
