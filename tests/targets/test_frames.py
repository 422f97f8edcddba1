"""Label frames of every type of column, and numbers that hardly differ."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ramify import ForestClassifier, ForestRegressor, Hierarchy
from ramify.chains import BinaryRelevance
from ramify.ranking import ReliefRanker
from ramify.selection.relevance import information_gain
from ramify.targets import encode, encode_labels

TYPES = (
    "bool",
    "int8",
    "float64",
    "Int64",
    "boolean",
    "UInt8",
    "Float64",
    "int64[pyarrow]",
    "bool[pyarrow]",
    "category",
)
NAMES = ["p", "p/q", "p/r"]
HIERARCHY = Hierarchy.from_paths(NAMES)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    return X, np.column_stack([X[:, 0] > -1, X[:, 0] > 0.5, X[:, 1] > 0]).astype(int)


def frame(Y, of):
    if of == "polars":
        return pl.DataFrame({name: Y[:, j].astype(bool) for j, name in enumerate(NAMES)})
    if of == "mix":
        kinds = dict(zip(NAMES, ["bool", "Int64", "bool[pyarrow]"], strict=True))
        return pd.DataFrame(Y, columns=NAMES).astype(kinds)
    return pd.DataFrame(Y, columns=NAMES).astype(of)


@pytest.mark.parametrize("of", [*TYPES, "polars", "mix"])
def test_label_frames_of_any_type_are_label_sets(data, of):
    X, Y = data
    table = frame(Y, of)
    assert encode(table).kind == "labels"
    np.testing.assert_array_equal(encode_labels(table).Y.toarray(), Y)
    np.testing.assert_array_equal(encode_labels(table, hierarchy=HIERARCHY).Y.toarray(), HIERARCHY.close(Y))
    expected = ReliefRanker(5).fit(X, Y).scores_
    np.testing.assert_array_equal(ReliefRanker(5).fit(X, table).scores_, expected)
    forest = ForestClassifier(3, random_state=0)
    np.testing.assert_array_equal(forest.fit(X, table).predict_proba(X), forest.fit(X, Y).predict_proba(X))
    chain = BinaryRelevance(forest, random_state=0)
    np.testing.assert_array_equal(chain.fit(X, table).predict_proba(X), chain.fit(X, Y).predict_proba(X))
    np.testing.assert_array_equal(information_gain(X > 0, table), information_gain(X > 0, Y))


@pytest.mark.parametrize("of", ["Int64", "boolean", "int64[pyarrow]"])
def test_a_missing_label_of_a_nullable_column_is_unknown(data, of):
    X, Y = data
    table = frame(Y, of)
    table.iloc[3, 1] = None
    hidden = Y.astype(float)
    hidden[3, 1] = np.nan
    by_frame, by_array = (ForestClassifier(3, random_state=0).fit(X, y) for y in (table, hidden))
    assert by_frame.known_share_[1] < 1
    np.testing.assert_array_equal(by_frame.predict_proba(X), by_array.predict_proba(X))


@pytest.mark.parametrize("of", ["Int64", "boolean", "int64[pyarrow]", "string", "string[pyarrow]", "category", object])
def test_classes_of_any_type_are_classes(data, of):
    X, Y = data
    classes = pd.Series(Y[:, 1] if of in ("Int64", "boolean", "int64[pyarrow]") else np.where(Y[:, 1], "a", "b"))
    fitted = ForestClassifier(3, random_state=0).fit(X, classes.astype(of))
    expected = ForestClassifier(3, random_state=0).fit(X, classes.to_numpy())
    np.testing.assert_array_equal(fitted.predict_proba(X), expected.predict_proba(X))


def test_numbers_that_hardly_differ_are_not_constant():
    X = np.arange(20.0)[:, None]
    y = 1e6 + np.where(X[:, 0] > 9, 1e-9, 0.0)
    assert y.std() / y.mean() < 1e-12
    predicted = ForestRegressor(5, bootstrap=False, random_state=0).fit(X, y).predict(X)
    np.testing.assert_array_max_ulp(predicted, y, maxulp=1)
    assert len(np.unique(predicted)) == 2
