"""Branches of features: units from a hierarchy, their redraw, and claims on both sides."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from ramify import Hierarchy
from ramify.datasets import make_feature_hierarchy
from ramify.ensemble import ForestClassifier
from ramify.ranking import Discoveries, discoveries
from ramify.ranking.discovery.feature_branches import feature_branches
from ramify.ranking.discovery.predictors import Predictors
from ramify.ranking.discovery.redraw import column_model, draw_group
from ramify.ranking.discovery.redraw.drawing import exchanged_rows

LABELS = Hierarchy.from_paths(["a", "a/x", "b"])


def test_units_are_features_and_the_lowest_node_of_each_set_of_them():
    order = Hierarchy.from_edges(
        [("all", "left"), ("all", "right"), ("left", "f"), ("f", "g"), ("f", "h"), ("right", "h"), ("right", "only")]
    )
    found = feature_branches(order, ["h", "g", "f", "alone"])
    assert found.names == ("h", "g", "f", "alone", "f and below")
    assert found.members[4] == (0, 1, 2)  # "all" and "left" hold the same features
    assert found.above == [[4], [4], [4], [], []]
    with pytest.raises(ValueError, match="feature_hierarchy names none of the 1 features, such as 'z'"):
        feature_branches(order, ["z"])


@pytest.mark.parametrize("seed", range(4))
def test_units_hold_what_is_below_and_lie_below_what_holds_them(seed):
    random = np.random.default_rng(seed)
    edges = [(f"n{random.integers(k)}", f"n{k}") for k in range(1, 70)]
    edges += [(f"n{random.integers(k)}", f"n{k}") for k in random.integers(2, 70, 15)]
    order = Hierarchy.from_edges(list(dict.fromkeys(edges)))
    features = [f"n{k}" for k in random.permutation(70)[:40]]
    found = feature_branches(order, features)
    below = {name: {name, *order.descendants(name)} for name in order.names}
    sets = {frozenset(k for k, f in enumerate(features) if f in below[name]) for name in order.names}
    assert {frozenset(own) for own in found.members[40:]} == {own for own in sets if 2 <= len(own) <= 50}
    for unit, above in enumerate(found.above):
        for upper in above:
            assert set(found.members[unit]) <= set(found.members[upper])
            assert unit != upper


def test_exchanged_rows_have_the_odds_of_the_working_model():
    random = np.random.default_rng(0)
    shown, tilt = random.standard_normal((3, 2)), random.standard_normal((3, 2))
    held = np.array([exchanged_rows(shown, tilt, random) for _ in range(4000)])
    orders = list(permutations(range(3)))
    weight = np.exp([np.sum(shown[list(order)] * tilt) for order in orders])
    seen = np.array([(held == order).all(axis=1).mean() for order in orders])
    np.testing.assert_allclose(seen, weight / weight.sum(), atol=0.03)


def redrawn(X, group):
    predictors = Predictors(X, np.zeros(X.shape[1], dtype=np.int32), seed=0)
    models = [column_model(predictors, feature, set(group), seed=feature) for feature in group]
    return draw_group(X[:, list(group)], models, np.random.default_rng(0))


def test_a_redrawn_group_of_terms_follows_what_is_outside_and_keeps_its_order():
    random = np.random.default_rng(1)
    outside = (random.random(1500) < 0.3).astype(float)
    parent = (random.random(1500) < np.where(outside == 1, 0.7, 0.1)).astype(float)
    child = parent * (random.random(1500) < 0.5)
    X = np.column_stack([outside, parent, child, random.random((1500, 3)) < 0.2]).astype(float)
    drawn = redrawn(X, (1, 2))
    assert (drawn[:, 1] <= drawn[:, 0]).all()
    np.testing.assert_allclose(drawn.mean(axis=0), X[:, 1:3].mean(axis=0))
    assert (drawn[:, 0] != parent).mean() > 0.2
    for column, own in zip(drawn.T, (parent, child), strict=True):
        assert abs(column[outside == 1].mean() - own[outside == 1].mean()) < 0.05


def pathways(seed, n_rows=400):
    """Five pathways of four near copies in two modules; the first two drive a label each."""
    random = np.random.default_rng(seed)
    hidden = random.standard_normal((n_rows, 5))
    X = np.repeat(hidden, 4, axis=1) + 0.3 * random.standard_normal((n_rows, 20))
    chance = 1 / (1 + np.exp(-2 * X[:, [0, 4]]))
    a, b = (random.random(chance.shape) < chance).T
    Y = np.column_stack([a, a & (random.random(n_rows) < 0.5), b]).astype(int)
    names = [f"{'left' if j < 12 else 'right'}|p{j // 4}|x{j}" for j in range(20)]
    return pd.DataFrame(X, columns=names), Y, Hierarchy.from_paths(names, separator="|")


@pytest.fixture(scope="module")
def claimed():
    X, Y, order = pathways(0)
    forest = ForestClassifier(100, hierarchy=LABELS, min_samples_leaf=3)
    return discoveries(forest, X, Y, feature_hierarchy=order, random_state=0)


def test_branches_of_near_copies_are_claimed_and_nested_on_both_sides(claimed):
    pairs = {(claim.feature, claim.branch) for claim in claimed.claims}
    assert {("left|p0 and below", "a"), ("left|p1 and below", "b")} <= pairs
    assert not any(name.startswith(("right", "left|p2")) for name, _ in pairs)
    for name, branch in pairs:
        if branch:
            assert (name, LABELS.parents[branch][0] if LABELS.parents[branch] else "") in pairs
        if name.startswith("left|"):
            head = name.removesuffix(" and below")
            upper = {"left|p0 and below", "left|p1 and below"} if head.count("|") == 2 else {"left and below"}
            assert any((own, branch) in pairs for own in upper)
    assert claimed.feature_branches["left|p0 and below"] == tuple(f"left|p0|x{j}" for j in range(4))
    assert claimed.for_feature("left and below").claims
    assert claimed.n_units == 20 + 7


def test_branches_are_kept_in_files_and_renamed(claimed, tmp_path):
    for ending in ("csv", "json"):
        claimed.save(tmp_path / f"claims.{ending}")
        assert Discoveries.read(tmp_path / f"claims.{ending}") == claimed
    plain = Discoveries(
        (), features=("x0", "x1"), feature_branches={"x0 and below": ("x0", "x1"), "t and below": ("x1",)}
    )
    renamed = plain.with_names(("liver", "lung"), {})
    assert renamed.feature_branches == {"liver and below": ("liver", "lung"), "t and below": ("lung",)}


def test_a_hierarchy_of_features_needs_joint_claims_beyond_the_others():
    X, Y, order = pathways(0, 120)
    with pytest.raises(ValueError, match="needs given='others' and control='joint'"):
        discoveries(None, X, Y, feature_hierarchy=order, control="flat")
    with pytest.raises(TypeError, match="must be a Hierarchy over the names of features. Got dict instead"):
        discoveries(None, X, Y, feature_hierarchy={})


def shares(make, n_runs):
    """Mean share of false claims, and its standard error."""
    found = []
    for seed in range(n_runs):
        X, Y, order, true = make(np.random.default_rng([seed, 9]))
        forest = ForestClassifier(200, min_samples_leaf=3)
        claims = discoveries(forest, X, Y, feature_hierarchy=order, random_state=seed)
        n_false = 0
        for claim in claims.claims:
            members = claims.feature_branches.get(claim.feature, (claim.feature,))
            labels = range(Y.shape[1]) if not claim.branch else [int(claim.branch[-1])]
            n_false += not any(true.get(label) in members for label in labels)
        found.append(n_false / max(1, len(claims.claims)))
    return np.mean(found), np.std(found, ddof=1) / np.sqrt(n_runs)


def correlated_pathways(random):
    hidden = random.standard_normal((800, 12))
    X = 0.9 * np.repeat(hidden, 5, axis=1) + 0.45 * random.standard_normal((800, 60))
    names = [f"g{j // 20}|p{j // 5}|x{j}" for j in range(60)]
    drivers = 5 * random.permutation(12)[:5]
    Y = random.random((800, 8)) < 0.3
    Y[:, :5] = random.random((800, 5)) < 1 / (1 + np.exp(1 - X[:, drivers]))
    true = {label: names[driver] for label, driver in enumerate(drivers)}
    return pd.DataFrame(X, columns=names), Y.astype(int), Hierarchy.from_paths(names, separator="|"), true


def annotated_rows(random):
    data = make_feature_hierarchy(
        800, n_features=60, strength=0.0, n_annotations=8, random_state=int(random.integers(1000))
    )
    X = np.asarray(data.X.toarray(), dtype=float)
    common = np.flatnonzero((X.mean(axis=0) > 0.05) & (X.mean(axis=0) < 0.6))
    drivers = random.permutation(common)[:5]
    Y = random.random((800, 8)) < 0.3
    Y[:, :5] = random.random((800, 5)) < 1 / (1 + np.exp(1.5 - 2.5 * X[:, drivers]))
    true = {label: data.feature_names[driver] for label, driver in enumerate(drivers)}
    return pd.DataFrame(X, columns=data.feature_names), Y.astype(int), data.feature_hierarchy, true


@pytest.mark.slow
@pytest.mark.parametrize("make", [correlated_pathways, annotated_rows])
def test_false_claims_on_branches_stay_within_the_rate(make):
    mean, error = shares(make, 20)
    assert mean <= 0.1 + 2 * error
