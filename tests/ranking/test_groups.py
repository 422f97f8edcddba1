import numpy as np
import pytest

from ramify import Hierarchy
from ramify.ranking import FeatureRanking, correlation_groups, group_frame, subtree_groups


def test_copies_share_a_group():
    random = np.random.RandomState(0)
    X = random.standard_normal((100, 3))
    X = np.column_stack([X[:, 0], X[:, 1], np.exp(X[:, 0]), -(X[:, 0] ** 3), X[:, 2]])
    groups = correlation_groups(X)
    assert {name: own.tolist() for name, own in groups.items()} == {"x0": [0, 2, 3], "x1": [1], "x4": [4]}


def test_a_group_of_weak_copies_ranks_above_its_members():
    ranking = FeatureRanking("abcd", [0.2, 0.2, 0.2, 0.5])
    frame = group_frame(ranking, {"a": np.array([0, 1, 2]), "d": np.array([3])})
    assert frame["group"].tolist() == ["a", "d"]
    assert frame["rank"].tolist() == [1, 2]
    assert frame["best_rank"].tolist() == [2, 1]
    np.testing.assert_allclose(frame["score"], [0.6, 0.5])


def test_subtrees_of_a_dag_may_share_features():
    terms = Hierarchy.from_edges([("root", "a"), ("root", "b"), ("a", "c"), ("b", "c")])
    groups = subtree_groups(["c", "b", "unknown"], terms)
    assert {name: own.tolist() for name, own in groups.items()} == {"a": [0], "b": [0, 1]}


def test_missing_values_and_constants_do_not_break_groups():
    X = np.array([[1.0, np.nan, 2.0], [2.0, 5.0, 2.0], [3.0, 6.0, 2.0], [np.nan, 7.0, 2.0]])
    assert len(correlation_groups(X)) >= 2
    assert correlation_groups(X[:, :1]).keys() == {"x0"}


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="'threshold' parameter of correlation_groups"):
        correlation_groups(np.eye(3), threshold=0)
    with pytest.raises(ValueError, match="required by correlation_groups"):
        correlation_groups(np.zeros((0, 2)))
    with pytest.raises(ValueError, match="'depth' parameter of subtree_groups"):
        subtree_groups(["a"], Hierarchy(["a"]), depth=0)
