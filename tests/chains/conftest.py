"""Small label sets and quick learners for the tests of chains."""

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from ramify.datasets import make_multilabel


@pytest.fixture(scope="package")
def small():
    """120 rows, 8 features, 4 correlated labels."""
    return make_multilabel(120, n_features=8, n_labels=4, correlation=0.4, signal=2.0, random_state=0)


@pytest.fixture
def tree():
    return DecisionTreeClassifier(max_depth=3, random_state=0)


@pytest.fixture
def few_trees():
    return RandomForestClassifier(10, random_state=0)
