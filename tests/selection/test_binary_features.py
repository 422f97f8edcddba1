import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ramify import Hierarchy
from ramify.datasets import Dataset
from ramify.selection import HierarchicalSelector
from ramify.selection.binary_features import column_hierarchy, presence
from ramify.selection.relevance import information_gain


def test_nominal_columns_say_which_value_is_present():
    X = np.array([[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]])
    categories = (("0", "1"), ("1", "0"), ("yes", "no"), None)
    found = presence(Dataset(X, categories=categories)).toarray()
    np.testing.assert_array_equal(found, [[False, False, True, True], [True, True, False, False]])


def test_other_values_are_refused_by_name():
    data = Dataset(np.array([[0.0], [1.0]]), feature_names=("colour",), categories=(("red", "blue"),))
    with pytest.raises(ValueError, match="Feature 'colour' takes the values red, blue"):
        presence(data)
    with pytest.raises(ValueError, match="Feature 'x0' holds 5.0"):
        presence(Dataset(np.array([[5.0], [1.0]])))
    with pytest.raises(ValueError, match=r"Feature 'x0' holds NaN \(a missing value\); .* must be binary"):
        presence(Dataset(np.array([[np.nan], [1.0]])))


def test_column_hierarchy_follows_the_columns_and_leaves_strangers_alone():
    hierarchy = Hierarchy.from_edges([("a", "b"), ("b", "c"), ("a", "d")])
    found = column_hierarchy(hierarchy, ["c", "stranger", "a"])
    assert found.names == ("c", "stranger", "a")
    assert found.parents == {"c": ("a",), "stranger": (), "a": ()}


def test_a_cell_stored_twice_holds_the_sum():
    twice = sparse.csr_array((np.ones(3), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    with pytest.raises(ValueError, match="Column 0 of X holds 2.0; features that form a hierarchy must be binary"):
        HierarchicalSelector(Hierarchy.from_edges([("a", "b")])).fit(twice, [0, 1])


def test_labels_of_a_frame_are_matched_to_their_hierarchy_by_name():
    rng = np.random.default_rng(0)
    labels = Hierarchy.from_paths(["p/q", "p/r"])
    Y = pd.DataFrame(rng.integers(0, 2, (30, 3)), columns=list(labels.names))
    X = rng.integers(0, 2, (30, 2))
    expected = information_gain(X, Y.to_numpy(), hierarchy=labels)
    np.testing.assert_array_equal(information_gain(X, Y[Y.columns[::-1]], hierarchy=labels), expected)
