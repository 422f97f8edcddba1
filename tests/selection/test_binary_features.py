import numpy as np
import pytest

from ramify import Hierarchy
from ramify.datasets import Dataset
from ramify.selection import column_hierarchy, presence


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
