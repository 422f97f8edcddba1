"""Unknown cells of y: what they are, what follows from a hierarchy, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from ramify import Hierarchy
from ramify.targets import encode, encode_labels, encode_numbers, kind_of

NAN = np.nan
TREE = Hierarchy.from_paths(["a", "a/b", "a/c", "d"])
DAG = Hierarchy.from_edges([("root", "a"), ("root", "b"), ("a", "both"), ("b", "both"), ("both", "leaf")])


def cells(y, hierarchy=None):
    return encode_labels(y, hierarchy=hierarchy, partly_known=True).cells().toarray()


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ([NAN, 1, 0, 0], [1, 1, 0, 0]),  # a row has the ancestors of its labels
        ([0, NAN, NAN, 1], [0, 0, 0, 1]),  # and none of the descendants of a label that it has not
        ([1, NAN, 0, NAN], [1, NAN, 0, NAN]),  # all else stays unknown
        ([NAN, 0, 0, NAN], [NAN, 0, 0, NAN]),
    ],
)
def test_what_follows_from_known_labels_is_known(given, known):
    complete = [1, 1, 1, 1]
    np.testing.assert_array_equal(cells(np.array([given, complete], dtype=float), TREE)[0], known)


def slowly_closed(row, hierarchy):
    """Cell by cell, from the definition."""
    closed = row.copy()
    ancestors = hierarchy.ancestor_matrix.toarray() > 0  # label x ancestor
    for label in range(len(row)):
        below, above = row[ancestors[:, label]], row[ancestors[label]]
        if (below == 1).any():
            closed[label] = 1
        elif (above == 0).any():
            closed[label] = 0
    return closed


@pytest.mark.parametrize("hierarchy", [TREE, DAG], ids=["tree", "dag"])
def test_closure_equals_the_definition(hierarchy):
    rng = np.random.default_rng(0)
    Y = hierarchy.close(sparse.csr_array((rng.random((200, len(hierarchy))) < 0.3).astype(int))).toarray().astype(float)
    Y[rng.random(Y.shape) < 0.5] = NAN
    np.testing.assert_array_equal(cells(Y, hierarchy), [slowly_closed(row, hierarchy) for row in Y])


def test_a_label_below_one_that_a_row_has_not_is_refused_by_row():
    Y = np.array([[1, NAN, 0, 0], [1, 1, 0, 1], [0, 0, 1, 0.0]])
    with pytest.raises(ValueError, match=r"Row 2 of y has the label 'a/c' but not 'a'"):
        cells(Y, TREE)


def test_a_label_known_nowhere_is_refused_by_name():
    with pytest.raises(ValueError, match="The label 'a/c' is known of no row"):
        cells(np.array([[1, 0, NAN, 0], [1, 1, NAN, 1.0]]), TREE)
    with pytest.raises(ValueError, match="The target 'y1' is known of no row"):
        encode_numbers([[1.0, NAN], [2.0, NAN]], partly_known=True)


def test_labels_without_a_column_follow_from_those_below_them():
    frame = pd.DataFrame({"a/b": [1, 0, NAN], "a/c": [NAN, 0, 0], "d": [0, 1, 0]})
    np.testing.assert_array_equal(cells(frame, TREE), [[1, 1, NAN, 0], [0, 0, 0, 1], [NAN, NAN, 0, 0]])


Y = np.array([[1, NAN, 0], [0, 1, NAN], [NAN, 0, 1.0], [1, 1, 0]])


@pytest.mark.parametrize(
    "y",
    [
        sparse.csr_array(Y),
        sparse.csc_array(Y),
        pd.DataFrame(Y),
        pd.DataFrame(Y).astype("Int64"),
        pd.DataFrame(Y).astype("boolean"),
        pd.DataFrame(Y).astype(object).where(~np.isnan(Y), None),
        pl.DataFrame(Y).fill_nan(None).cast(pl.Int8),
        pl.DataFrame(Y),
    ],
    ids=["csr", "csc", "pandas", "Int64", "boolean", "objects", "polars ints", "polars"],
)
def test_missing_values_of_any_container_are_unknown(y):
    target = encode(y, partly_known=True)
    assert target.kind == "labels"
    np.testing.assert_array_equal(target.cells().toarray(), Y)
    np.testing.assert_allclose(target.known_share, [0.75] * 3)
    np.testing.assert_allclose(target.frequencies(), [2 / 3, 2 / 3, 1 / 3])


def test_frequencies_weigh_the_rows_that_are_known():
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    expected = [np.average(column[~np.isnan(column)], weights=weights[~np.isnan(column)]) for column in Y.T]
    np.testing.assert_allclose(encode(Y, partly_known=True).frequencies(weights), expected)


def test_numbers_are_standardised_by_what_is_known():
    rng = np.random.default_rng(1)
    numbers = rng.normal(5, 3, size=(50, 2))
    numbers[rng.random(numbers.shape) < 0.4] = NAN
    weights = rng.random(50)
    target = encode_numbers(numbers, sample_weight=weights, partly_known=True)
    for column, mean, scale in zip(numbers.T, target.mean, target.scale, strict=True):
        known = ~np.isnan(column)
        expected = np.average(column[known], weights=weights[known])
        np.testing.assert_allclose(mean, expected)
        np.testing.assert_allclose(scale**2, np.average((column[known] - expected) ** 2, weights=weights[known]))
    np.testing.assert_allclose(target.vectors(), numbers)


def test_kinds_do_not_depend_on_what_is_hidden():
    assert kind_of([[1, NAN], [0, 1]]) == "labels"
    assert kind_of([[1, NAN], [0, 2.5]]) == "numbers"


def test_rows_of_which_nothing_is_known_are_named():
    assert encode([[NAN, NAN], [0, 1], [1, NAN]], partly_known=True).rows_with_target().tolist() == [1, 2]
    assert encode([[0, NAN], [NAN, 1]], partly_known=True).rows_with_target() is None


@pytest.mark.parametrize("y", [[0.5, NAN, 1.0], ["a", None, "b"], [1, NAN, 0]])
def test_one_column_of_classes_or_numbers_has_no_unknown_rows(y):
    with pytest.raises(ValueError, match=r"contains NaN \(first in row 1\)"):
        encode(np.array(y, dtype=object if "a" in y else float), partly_known=True)


def test_unknown_cells_are_refused_where_nobody_asked_for_them():
    with pytest.raises(ValueError, match=r"contains NaN \(first in row 0\), but a complete target is needed"):
        encode(Y)
