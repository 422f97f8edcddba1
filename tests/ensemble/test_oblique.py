"""Oblique splits: nodes that test a sum of standardised features."""

import json
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.ranking.forest_reference import Data, trees_of

import ramify
from ramify import _core
from ramify.datasets import make_hierarchical, make_label_ranking
from ramify.ensemble import ForestClassifier, ForestRegressor, LabelRankingForest, MixedForest, export_tree

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 6)) * [1, 10, 0.1, 1, 1, 1] + [0, 5, 0, -3, 0, 0]
HOLES = np.where(RANDOM.random(X.shape) < 0.15, np.nan, X)
HOLES[:, 3] = RANDOM.integers(0, 3, 120)  # nominal
SETS = np.column_stack([X[:, 0] + X[:, 1] / 10 > 0.5, X[:, 2] * 10 - X[:, 4] > 0, RANDOM.random(120) < 0.3]).astype(int)
KINDS = [{"splitter": "best"}, {"splitter": "random", "bootstrap": False}]


def same(a, b):
    ours, theirs = a.trees_.arrays(), b.trees_.arrays()
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        np.testing.assert_array_equal(values, theirs[name], err_msg=name)


def grown(**options):
    options = {"oblique": 3, "max_features": None, "categorical_features": [3], "random_state": 0, **options}
    return ForestClassifier(6, **options).fit(HOLES, SETS)


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_node_is_what_its_rows_say(options, weighted):
    """Rows are sent down again from the sums: weights, gains, leaves, centres and scales are those of the rows."""
    weights = RANDOM.choice([0.0, 0.5, 1.0, 2.0], size=120) if weighted else None
    forest = ForestClassifier(
        4, oblique=3, max_features=None, categorical_features=[3], min_samples_leaf=2, random_state=0, **options
    ).fit(HOLES, SETS, weights)
    data = Data(HOLES, SETS.astype(float), np.ones(3), "auprc", sample_weight=weights)
    arrays = forest.trees_.arrays()
    n_sums = 0
    for number, tree in enumerate(trees_of(forest, data)):
        nodes = slice(*arrays["tree_nodes"][number : number + 2])
        weight, decrease = arrays["weight"][nodes], arrays["decrease"][nodes]
        for node in range(len(tree.feature)):
            rows = tree.passing(node, tree.inside)
            own = tree.weights[rows]
            np.testing.assert_allclose(weight[node], own.sum())
            if tree.feature[node] < 0:
                continue
            inside = [rows, *(tree.passing(child, tree.inside) for child in tree.children(node))]
            spread = [
                tree.weights[part] @ (data.Y[part] - tree.mean(at)) ** 2
                for part, at in zip(inside, (node, *tree.children(node)), strict=True)
            ]
            np.testing.assert_allclose(decrease[node], (spread[0] - spread[1] - spread[2]).sum(), atol=1e-9)
            if tree.subset[node] >= -1:
                continue
            n_sums += 1
            features, shares, centres, scales = tree.sums[-2 - tree.subset[node]]
            assert len(features) in (2, 3)
            assert 3 not in features
            assert tree.feature[node] == features[np.abs(shares).argmax()]
            np.testing.assert_allclose(np.abs(shares).sum(), 1)
            for feature, centre, scale in zip(features, centres, scales, strict=True):
                known = ~np.isnan(HOLES[rows, feature])
                mean = np.average(HOLES[rows, feature][known], weights=own[known])
                np.testing.assert_allclose(centre, mean, atol=1e-12)
                variance = np.average((HOLES[rows, feature][known] - mean) ** 2, weights=own[known])
                np.testing.assert_allclose(scale, np.sqrt(variance))
        leaves = [tree.path(row)[-1] for row in HOLES]
        np.testing.assert_array_equal(forest.apply(HOLES)[:, number], leaves)
    assert n_sums > 10
    assert np.any(arrays["subset"] >= 0)  # nominal features are still tested, alone
    predicted = np.mean([[tree.mean(tree.path(row)[-1]) for row in HOLES] for tree in trees_of(forest, data)], axis=0)
    np.testing.assert_allclose(forest.predict_proba(HOLES), predicted, atol=1e-12)


def test_the_best_cut_of_the_kept_sum_is_the_best():
    """No other threshold of the sum that a node tests has a larger gain."""
    forest = grown(splitter="best", bootstrap=False)
    data = Data(HOLES, SETS.astype(float), np.ones(3), "auprc")
    for tree in trees_of(forest.first(2), data):
        for node in tree.tests:
            if tree.subset[node] >= -1:
                continue
            rows = tree.passing(node, tree.inside)
            values = np.array([tree.value(node, HOLES[row]) for row in rows])
            gains = {}
            for cut in np.unique(values)[:-1]:
                sides = rows[values <= cut], rows[values > cut]
                gains[cut] = -sum(((data.Y[side] - data.Y[side].mean(axis=0)) ** 2).sum() for side in sides)
            chosen = max(cut for cut in gains if cut <= tree.threshold[node])
            np.testing.assert_allclose(gains[chosen], max(gains.values()), atol=1e-9)


@pytest.mark.parametrize("splitter", ["best", "random"])
def test_a_planted_sum_is_found(splitter):
    rows, new = np.random.default_rng(1).normal(size=(2, 400, 2))
    planted, truth = (part.sum(axis=1) > 0 for part in (rows, new))
    settings = {"splitter": splitter, "bootstrap": False, "max_features": None, "random_state": 0}
    alone, sums = (ForestClassifier(50, oblique=k, **settings).fit(rows, planted) for k in (0, 2))
    assert np.mean(sums.predict(new) == truth) > np.mean(alone.predict(new) == truth)
    assert len(sums.trees_.arrays()["feature"]) < len(alone.trees_.arrays()["feature"])
    beside = np.column_stack([rows, np.random.default_rng(2).normal(size=400)])
    noise = ForestClassifier(50, oblique=2, **settings).fit(beside, planted).feature_importances_
    assert noise[2] < noise[:2].min() / 2


@pytest.mark.parametrize("options", KINDS)
def test_a_feature_in_other_units_changes_nothing(options):
    units = np.array([4.0, 0.5, 1.0, 1.0, 2.0**20, 1.0])
    plain, scaled = (
        ForestClassifier(5, oblique=3, random_state=0, **options).fit(part, SETS) for part in (X, X * units)
    )
    np.testing.assert_array_equal(plain.apply(X), scaled.apply(X * units))
    np.testing.assert_array_equal(plain.predict_proba(X), scaled.predict_proba(X * units))
    np.testing.assert_array_equal(plain.feature_importances_, scaled.feature_importances_)


@pytest.mark.parametrize("options", KINDS)
def test_the_same_bits_however_it_is_grown(options, tmp_path):
    forest = grown(**options)
    same(forest, grown(n_jobs=3, **options))
    warm = grown(warm_start=True, **options).first(2)
    same(warm.set_params(n_estimators=6).fit(HOLES, SETS), forest)
    part = forest.first(4)
    for other in (pickle.loads(pickle.dumps(part)), *saved(part, tmp_path)):
        same(other, part)
        np.testing.assert_array_equal(other.predict_proba(HOLES), part.predict_proba(HOLES))
    without = ForestClassifier(4, random_state=0).fit(X, SETS)
    assert "tree_combinations" not in without.trees_.arrays()


def saved(forest, folder):
    ramify.save(forest, folder / "model.ramify")
    yield ramify.load(folder / "model.ramify")


@pytest.mark.parametrize("options", KINDS)
def test_sparse_and_dense_are_the_same(options):
    dense = np.where(X > 0.5, X, 0.0)
    dense[5, 2] = np.nan
    forests = [
        ForestClassifier(5, oblique=2, random_state=0, **options).fit(part, SETS)
        for part in (dense, sparse.csr_array(dense), sparse.csc_array(dense))
    ]
    for forest in forests[1:]:
        same(forest, forests[0])
    np.testing.assert_array_equal(forests[0].apply(dense), forests[1].apply(sparse.csr_array(dense)))


def test_rows_of_weight_zero_are_not_there():
    weights = np.where(np.arange(120) % 3 == 0, 0.0, 1.0)
    kept = weights > 0
    options = {"oblique": 2, "bootstrap": False, "random_state": 0}
    same(
        ForestClassifier(4, **options).fit(X, SETS, weights),
        ForestClassifier(4, **options).fit(X[kept], SETS[kept]),
    )


@pytest.mark.parametrize("options", KINDS)
def test_every_kind_of_target_is_learnt(options):
    made = make_hierarchical(90, n_features=6, depth=2, random_state=0)
    ranked = make_label_ranking(90, n_features=5, random_state=0)
    unknown = np.where(RANDOM.random(SETS.shape) < 0.2, np.nan, SETS)
    mixed = np.column_stack([X[:, 0].astype(object), np.where(SETS[:, 0], "yes", "no")])
    cases = [
        (ForestClassifier(5, hierarchy=made.hierarchy), made.X, made.y),
        (ForestClassifier(5), X, unknown),
        (ForestClassifier(5, backing=20), X, SETS),
        (ForestClassifier(5), X, SETS[:, 0]),
        (ForestRegressor(5), X, X[:, :2]),
        (ForestRegressor(5), X, np.where(RANDOM.random((120, 2)) < 0.2, np.nan, X[:, :2])),
        (MixedForest(5), X, mixed),
        (LabelRankingForest(5), ranked.X, ranked.y),
    ]
    for forest, features, y in cases:
        forest.set_params(oblique=2, random_state=0, **options).fit(features, y)
        assert "tree_combinations" in forest.trees_.arrays()
        forest.predict(features)
        values, _ = forest.contributions(features[:7], 0)
        assert np.isfinite(values).all()


@pytest.mark.parametrize("options", KINDS)
def test_contributions_add_up_and_are_shared(options):
    forest = grown(**options)
    for label in range(3):
        values, base = forest.contributions(HOLES, label)
        np.testing.assert_allclose(values.sum(axis=1) + base, forest.predict_proba(HOLES)[:, label], atol=1e-12)


def test_constant_and_enormous_features_are_tested_alone_or_not_at_all():
    tiny = np.column_stack([np.full(60, 3.0), np.arange(60.0), np.where(np.arange(60) % 2, 1.0, np.nan)])
    huge = np.column_stack([tiny, np.linspace(-1e300, 1e300, 60), np.linspace(0, 5e-324, 60)])
    y = np.arange(60) % 4 > 1
    for splitter in ("best", "random"):
        forest = ForestClassifier(8, oblique=3, splitter=splitter, max_features=None, random_state=0).fit(huge, y)
        arrays = forest.trees_.arrays()
        assert not set(arrays.get("combination_features", np.empty(0)).tolist()) - {1}
        assert np.isfinite(forest.predict_proba(np.vstack([huge, -huge, np.full(5, np.nan)]))).all()


def test_exported_sums_predict_what_the_forest_predicts():
    forest = grown(splitter="random", bootstrap=False).first(2)
    mean = np.zeros((120, 3))
    for index in range(2):
        nodes = {node["id"]: node for node in json.loads(export_tree(forest, index, format="json"))["nodes"]}
        for row, values in enumerate(HOLES):
            node = nodes[0]
            while "prediction" not in node:
                node = nodes[node["left"] if answer(node, values) else node["right"]]
            mean[row] += [node["prediction"].get(name, 0.0) / 2 for name in forest.label_names_]
    np.testing.assert_allclose(mean, forest.predict_proba(HOLES))
    text = export_tree(ForestClassifier(1, oblique=2, bootstrap=False, random_state=0).fit(X[:, :2], SETS[:, 0]), 0)
    assert "* (x0 " in text.splitlines()[0]
    assert "* (x1 " in text.splitlines()[0]
    assert "or missing" not in text.splitlines()[0]


def answer(node, values):
    if "sum" in node:
        assert node["missing"] == "mean"
        terms = [(values[term["feature"]] - term["centre"]) / term["scale"] * term["weight"] for term in node["sum"]]
        return np.nansum(terms) <= node["threshold"]
    value = values[node["feature"]]
    if np.isnan(value):
        return node["missing"] == "left"
    return (
        str(value) in node["left_values"]
        if "left_values" in node
        else (node["threshold"] is None or value <= node["threshold"])
    )


def test_what_sums_cannot_do_is_refused_in_words():
    forest = grown()
    for background in (None, HOLES[:2]):
        with pytest.raises(ValueError, match=r"one feature per node.*oblique.*Use contributions.*oblique=0"):
            forest.shap_values(HOLES[:3], background=background)
    with pytest.raises(ValueError, match=r"not bins of them: leave max_bins at None"):
        ForestClassifier(2, oblique=2, max_bins=16).fit(X, SETS)
    with pytest.raises(ValueError, match=r"oblique=1 combines nothing: give 2 or more"):
        ForestClassifier(2, oblique=1).fit(X, SETS)
    with pytest.raises(ValueError, match=r"'oblique' parameter of ForestRegressor must be an int >= 0"):
        ForestRegressor(2, oblique="many").fit(X, SETS)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("combination_features", lambda a: a.__setitem__(0, 99), "feature 99, which is no numeric one"),
        ("combination_features", lambda a: a.__setitem__(0, -1), "feature -1, which is no numeric one"),
        ("combination_features", lambda a: a.__setitem__(0, 3), "feature 3, which is no numeric one"),
        ("combination_features", lambda a: a.__setitem__(1, a[0]), "do not ascend"),
        ("combination_weights", lambda a: a.__setitem__(0, np.nan), "do not sum to 1"),
        ("combination_weights", lambda a: a.__setitem__(0, 9.0), "do not sum to 1"),
        ("combination_centres", lambda a: a.__setitem__(0, np.inf), "no finite centre"),
        ("combination_scales", lambda a: a.__setitem__(0, 0.0), "positive scale"),
        ("combination_scales", lambda a: a.__setitem__(0, np.nan), "positive scale"),
        ("combination_offsets", lambda a: a.__setitem__(1, 1), "fewer than two features"),
        ("combination_offsets", lambda a: a.__setitem__(1, -4), "offsets must ascend"),
        ("combination_offsets", lambda a: a.__setitem__(-1, 10**12), "combination_features has"),
        ("tree_combinations", lambda a: a.__setitem__(-1, 2**62), "tree_combinations"),
        ("subset", lambda a: a.__setitem__(0, -(2**31)), "outside the combinations"),
        ("subset", lambda a: a.__setitem__(0, -900), "outside the combinations"),
    ],
)
def test_a_broken_sum_is_refused_by_name(name, change, words):
    trees = grown(splitter="random", bootstrap=False).trees_
    arrays = {key: np.array(values) for key, values in trees.arrays().items()}
    change(arrays[name])
    with pytest.raises(ValueError, match=words):
        _core.Forest(outcome="labels", n_outputs=3, arrays=arrays)


@pytest.mark.parametrize("lost", ["offsets", "features", "weights", "centres", "scales"])
def test_a_lost_part_of_sums_is_named(lost):
    arrays = dict(grown().trees_.arrays())
    del arrays[f"combination_{lost}"]
    with pytest.raises(ValueError, match=f"lacks the array combination_{lost}"):
        _core.Forest(outcome="labels", n_outputs=3, arrays=arrays)


@parametrize_with_checks(
    [
        ForestClassifier(20, oblique=2, splitter="random", bootstrap=False),
        ForestRegressor(20, oblique=2, bootstrap=False),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
