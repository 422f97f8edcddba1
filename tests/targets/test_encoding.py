"""What y is: decided once, the same for whoever asks."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils import check_random_state

from ramify import Hierarchy
from ramify.ensemble import ForestClassifier, ForestRegressor, LabelRankingForest, MixedForest
from ramify.ensemble.forest_choice import forest_for
from ramify.ranking import FeatureRanking, ForestRanker, ReliefRanker, addition_curve, knn_quality
from ramify.selection import SelectTop
from ramify.targets import encode, encode_mixed, kind_of, target_type

TREE = Hierarchy.from_paths(["a/b", "a/c", "d"])
ROWS = 24
COUNTS = np.arange(ROWS)[:, None] % [3, 4]
FRACTIONS = np.arange(ROWS) / 7
SETS = (np.arange(ROWS)[:, None] % [2, 3] == 0).astype(int)

CASES = [
    (np.array(["x", "y"] * 12), "classes"),
    (np.arange(ROWS) % 3, "classes"),
    ((np.arange(ROWS) % 3).astype(float), "classes"),
    (FRACTIONS, "numbers"),
    (FRACTIONS[:, None], "numbers"),
    (pd.Series(FRACTIONS), "numbers"),
    (SETS, "labels"),
    (SETS.astype(float), "labels"),
    (SETS[:, [0]], "labels"),
    (sparse.csr_array(SETS), "labels"),
    (pd.DataFrame(SETS), "labels"),
    (COUNTS, "numbers"),
    (np.column_stack([FRACTIONS, FRACTIONS]), "numbers"),
    (pd.DataFrame(COUNTS), "numbers"),
]


@pytest.mark.parametrize(("y", "kind"), CASES)
def test_the_kind_follows_from_columns_and_values(y, kind):
    assert kind_of(y) == kind
    assert encode(y).kind == kind


@pytest.mark.parametrize(("y", "kind"), CASES)
def test_everybody_who_is_not_told_decides_alike(y, kind):
    X = check_random_state(0).normal(size=(ROWS, 3))
    forest = ForestRanker(n_jobs=1, random_state=0).fit(X, y).estimator_
    relief = ReliefRanker(3).fit(X, y)
    curve = addition_curve(ReliefRanker(3), X, y, sizes=[3], cv=2, n_random=0, random_state=0)
    selector = SelectTop(ReliefRanker(3), n_features="auto", cv=2, random_state=0).fit(X, y)
    ranking = FeatureRanking(["x0", "x1", "x2"], np.ones(3))
    quality = knn_quality(ranking, X, y, X, y, n_neighbors=2)
    assert forest.target_kind_ == relief.ranking_.origin["target"] == kind
    assert curve.measure == selector.curve_.measure == quality.measure == target_type(kind).measure_title


@pytest.mark.parametrize(
    ("kind", "forest"),
    [
        ("classes", ForestClassifier),
        ("labels", ForestClassifier),
        ("hierarchy", ForestClassifier),
        ("numbers", ForestRegressor),
        ("rankings", LabelRankingForest),
        ("mixed", MixedForest),
    ],
)
def test_every_kind_has_its_forest(kind, forest):
    assert type(forest_for(kind, n_estimators=3)) is forest


def test_the_forest_of_a_hierarchy_knows_it():
    assert forest_for(encode(np.eye(4), hierarchy=TREE)).hierarchy is TREE


def test_a_hierarchy_makes_hierarchical_label_sets():
    target = encode(np.eye(4), hierarchy=TREE)
    assert (target.kind, target.hierarchy, target.names) == ("hierarchy", TREE, TREE.names)
    assert target.unknown is None
    assert target.known_share is None


@pytest.mark.parametrize(
    ("y", "options", "words"),
    [
        (None, {}, "requires y to be passed"),
        ([1, 2], {"kind": "sets"}, "must be one of 'auto', 'classes', .* Got 'sets'"),
        (np.array([["a", 1.0], ["b", 2.0]], dtype=object), {}, "Say that it is 'mixed'"),
        (pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]}), {}, "Say that it is 'mixed'"),
        (np.array([[1.0, np.nan], [0.0, 1.0]]), {}, r"contains NaN \(first in row 0\)"),
        (np.array([1.0, np.nan]), {}, "contains NaN"),
        (["x", "y"], {"kind": "labels"}, "Got one column of classes"),
        (np.eye(2), {"kind": "classes"}, "Got a matrix"),
        (np.eye(4), {"kind": "hierarchy"}, "need their hierarchy"),
        (np.eye(4), {"kind": "numbers", "hierarchy": TREE}, "A hierarchy orders label sets, but 'target' is 'numbers'"),
        (np.eye(4), {"kind": "mixed", "hierarchy": TREE}, "A hierarchy orders label sets, but 'target' is 'mixed'"),
        (["x", "y"], {"kind": "mixed"}, "leave 'mixed' out"),
        ([1.5, 2.0], {"n_samples": 3}, "inconsistent numbers of samples"),
    ],
)
def test_targets_are_refused_with_the_next_step(y, options, words):
    with pytest.raises(ValueError, match=words):
        encode(y, **options)


def test_the_forest_of_a_mixed_target_knows_what_the_columns_are():
    frame = pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]})
    assert forest_for(encode(frame, kind="mixed")).targets == "from_dtype"
    targets = {"b": "classes"}
    assert forest_for(encode_mixed(frame, targets=targets)).targets == targets


def test_columns_of_a_mixed_target_weigh_alike():
    y = pd.DataFrame({"kind": list("xyzx") * 6, "weight": FRACTIONS, "node": ["a/b", "d", "a/c", "a"] * 6})
    target = encode(y, kind="mixed", value_hierarchies={"node": TREE})
    assert [part.kind for part in target.parts] == ["classes", "numbers", "hierarchy"]
    rows = target.kernel_rows()
    variances = rows.values.var(axis=0) * rows.weights
    np.testing.assert_allclose([variances[:3].sum(), variances[3], variances[4:].sum()], 1.0)


def test_a_mixed_target_is_as_far_apart_as_its_columns_on_average():
    y = pd.DataFrame({"kind": list("xyzx") * 6, "weight": FRACTIONS})
    first, second = np.array([0, 1, 5]), np.array([3, 2, 9])
    apart = encode(y, kind="mixed").distance()(first, second)
    of_classes = encode(y["kind"]).distance()(first, second)
    of_numbers = encode(y["weight"]).distance()(first, second)
    np.testing.assert_array_equal(of_classes, [0, 1, 0])
    np.testing.assert_allclose(of_numbers, np.abs(FRACTIONS[first] - FRACTIONS[second]) / FRACTIONS[-1])
    np.testing.assert_allclose(apart, (of_classes + of_numbers) / 2)


def test_rankings_are_scored_per_pair_below_their_labels():
    scores = sparse.csr_array(np.array([[1.0, 2.0, 3.0]]))
    per_label, names, hierarchy = target_type("rankings").label_scores(scores, ("a", "b", "c"), None)
    assert names == hierarchy.names == ("a", "b", "c", "a>b", "a>c", "b>c")
    assert per_label.toarray().tolist() == [[0, 0, 0, 1, 2, 3]]
