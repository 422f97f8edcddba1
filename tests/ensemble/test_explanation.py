"""Shapley values: equal to all subsets, to the shap package, additive, the same for every form, thread and label."""

import copy
import itertools
import math
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import ramify
from ramify import ForestClassifier, ForestRegressor, LabelRankingForest
from ramify.datasets import make_hierarchical, make_label_ranking
from ramify.ensemble.explanation import Explanation


@pytest.fixture(scope="module")
def data():
    return make_hierarchical(120, n_features=14, random_state=0)


@pytest.fixture(scope="module")
def forest(data):
    return ForestClassifier(15, hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)


def tree_arrays(forest, tree, label):
    """Children, test, share of weight and value of one label in each node, of one numeric tree."""
    arrays = forest.trees_.part(tree, tree + 1).arrays()
    feature, child, weight = arrays["feature"], arrays["child"], arrays["weight"]
    values = np.zeros(len(feature))
    for node in range(len(feature) - 1, -1, -1):
        if feature[node] >= 0:
            pair = [child[node], child[node] + 1]
            values[node] = weight[pair] @ values[pair] / weight[pair].sum()
            continue
        leaf = child[node]
        first, last = arrays["leaf_offsets"][leaf : leaf + 2]
        partial = arrays["leaf_partial"][leaf : leaf + 2]
        labels = arrays["leaf_labels"][first:last]
        counts = np.full(last - first, weight[node])
        n_partial = partial[1] - partial[0]
        if n_partial:
            counts[-n_partial:] = arrays["leaf_counts"][partial[0] : partial[1]]
        values[node] = counts[labels == label].sum() / weight[node]
    return arrays, values


def expected_value(forest, row, known, label):
    """The prediction where only the known features are known: others follow the training weights."""
    total = 0.0
    for tree in range(forest.trees_.n_trees):
        arrays, values = tree_arrays(forest, tree, label)
        reach = np.zeros(len(values))
        reach[0] = 1.0
        for node in range(len(values)):
            feature, child = arrays["feature"][node], arrays["child"][node]
            if feature < 0:
                total += reach[node] * values[node]
            elif feature in known:
                reach[child + (row[feature] > arrays["threshold"][node])] += reach[node]
            else:
                shares = arrays["weight"][child : child + 2]
                reach[child : child + 2] += reach[node] * shares / shares.sum()
    return total / forest.trees_.n_trees


def over_all_subsets(value, n_features):
    """Shapley values by their definition."""
    found = np.zeros(n_features)
    for feature in range(n_features):
        others = [j for j in range(n_features) if j != feature]
        for size in range(n_features):
            weight = math.factorial(size) * math.factorial(n_features - size - 1) / math.factorial(n_features)
            for known in itertools.combinations(others, size):
                found[feature] += weight * (value({*known, feature}) - value(set(known)))
    return found


def test_equal_to_all_subsets_of_features():
    random = np.random.RandomState(0)
    X, Y = random.rand(30, 5), random.rand(30, 3) < 0.4
    forest = ForestClassifier(3, random_state=0).fit(X, Y.astype(int))
    explanation = forest.shap_values(X[:3])
    for row, label in [(0, 0), (1, 1), (2, 2)]:
        slow = over_all_subsets(lambda known, i=row, j=label: expected_value(forest, X[i], known, j), 5)
        np.testing.assert_allclose(explanation.values[row, :, label], slow, atol=1e-13)
        assert explanation.base_values[row, label] == pytest.approx(expected_value(forest, X[row], set(), label))


def test_against_a_background_equal_to_all_subsets_of_features():
    random = np.random.RandomState(1)
    X, Y = random.rand(30, 5), random.rand(30, 3) < 0.4
    forest = ForestClassifier(3, random_state=0).fit(X, Y.astype(int))
    background = random.rand(4, 5)
    explanation = forest.shap_values(X[:3], background=background)

    def value(known, row, label):
        mixed = background.copy()
        mixed[:, list(known)] = X[row, list(known)]
        return forest.predict_proba(mixed)[:, label].mean()

    for row, label in [(0, 0), (1, 1), (2, 2)]:
        slow = over_all_subsets(lambda known, i=row, j=label: value(known, i, j), 5)
        np.testing.assert_allclose(explanation.values[row, :, label], slow, atol=1e-13)
    np.testing.assert_allclose(explanation.predictions, forest.predict_proba(X[:3]), atol=1e-12)


def test_equal_to_the_shap_package_on_one_label(data, forest):
    shap = pytest.importorskip("shap", reason="the shap package is not installed")
    trees = []
    for tree in range(forest.trees_.n_trees):
        arrays, values = tree_arrays(forest, tree, 1)
        inner = arrays["feature"] >= 0
        trees.append(
            {
                "children_left": np.where(inner, arrays["child"], -1),
                "children_right": np.where(inner, arrays["child"] + 1, -1),
                "children_default": np.where(inner, arrays["child"], -1),
                "features": np.where(inner, arrays["feature"], -2),
                "thresholds": np.where(inner, arrays["threshold"], -2.0),
                "values": values[:, None] / forest.trees_.n_trees,
                "node_sample_weight": arrays["weight"],
            }
        )
    explainer = shap.TreeExplainer({"trees": trees}, feature_perturbation="tree_path_dependent")
    X = np.asarray(data.X)
    ours = forest.shap_values(X, labels=forest.label_names_[1])
    np.testing.assert_allclose(ours.values, explainer.shap_values(X, check_additivity=False).squeeze(), atol=1e-9)
    theirs = np.ravel(explainer.expected_value)[0]
    np.testing.assert_allclose(ours.base_values, theirs, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "of_one_row"),
    [
        ("waterfall", True),
        ("force", True),
        ("bar", True),
        ("bar", False),
        ("beeswarm", False),
        ("violin", False),
        ("heatmap", False),
        ("scatter", False),
    ],
)
def test_the_shap_package_draws_it_as_it_is(data, forest, name, of_one_row):
    shap = pytest.importorskip("shap", reason="the shap package is not installed")
    import matplotlib.pyplot as plt
    from matplotlib.text import Text

    explanation = forest.shap_values(data.X[:20], labels=forest.label_names_[2])
    given = explanation.of(3) if of_one_row else explanation[:, 0] if name == "scatter" else explanation
    options = {"matplotlib": True} if name == "force" else {}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of shap itself
        getattr(shap.plots, name)(given, show=False, **options)
    drawn = " ".join(text.get_text() for text in plt.gcf().findobj(Text))
    plt.close("all")
    assert any(feature in drawn for feature in explanation.feature_names)


def test_it_is_both_ours_and_one_of_the_shap_package(data, forest):
    shap = pytest.importorskip("shap", reason="the shap package is not installed")
    explanation = forest.shap_values(data.X[:20])
    assert isinstance(explanation, Explanation)
    assert isinstance(explanation, shap.Explanation)
    assert explanation.shape == (20, 14, len(forest.label_names_))
    np.testing.assert_array_equal(explanation.abs.values, np.abs(explanation.values))
    np.testing.assert_array_equal(explanation[3].values, explanation.values[3])
    np.testing.assert_array_equal(explanation.to_shap().values, explanation.values)
    for again in (pickle.loads(pickle.dumps(explanation)), copy.copy(explanation)):
        assert type(again) is Explanation
        np.testing.assert_array_equal(again.values, explanation.values)


def test_shap_is_neither_needed_nor_imported():
    code = """
import pickle, sys
from ramify import ForestClassifier
forest = ForestClassifier(3, random_state=0).fit([[0, 1], [1, 1], [2, 0], [3, 0]], [0, 0, 1, 1])
explanation = forest.shap_values([[3, 0]], labels="1")
assert explanation.__class__ is type(explanation) is type(pickle.loads(pickle.dumps(explanation)))
assert not hasattr(explanation, "abs") and len(explanation) == 1
assert "shap" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_values_and_base_add_up_to_the_prediction(data, forest):
    explanation = forest.shap_values(data.X)
    np.testing.assert_allclose(explanation.predictions, forest.predict_proba(data.X), atol=1e-9, rtol=0)


def test_deep_paths_over_many_features_add_up():
    random = np.random.RandomState(0)
    n = 400
    X = np.tril(np.ones((n, n)))[:, random.permutation(n)] + random.rand(n, n) * 0.01
    y = np.arange(n) % 2
    deep = ForestClassifier(2, bootstrap=False, max_features=1, splitter="random", random_state=0).fit(X, y)
    explanation = deep.shap_values(X[:16], labels=1)
    np.testing.assert_allclose(explanation.predictions[:, 0], deep.predict_proba(X[:16])[:, 1], atol=1e-9, rtol=0)


def test_missing_and_nominal_values_and_weights_add_up():
    random = np.random.RandomState(0)
    X = random.rand(90, 5)
    X[:, 2] = random.randint(4, size=90)
    X[random.rand(90, 5) < 0.15] = np.nan
    y = (np.nan_to_num(X[:, 0]) + (X[:, 2] == 1) > 0.6).astype(int)
    forest = ForestClassifier(9, categorical_features=[2], random_state=0).fit(X, y, sample_weight=random.rand(90))
    for background in (None, X[:5]):
        explanation = forest.shap_values(X, background=background)
        np.testing.assert_allclose(explanation.predictions, forest.predict_proba(X), atol=1e-12)


def test_numbers_are_explained_in_their_units():
    random = np.random.RandomState(0)
    X = random.rand(80, 4)
    y = np.column_stack([X[:, 0], 1000 * X[:, 1] + 5])
    forest = ForestRegressor(10, random_state=0).fit(X, y)
    for options in ({}, {"background": X[:3]}):
        explanation = forest.shap_values(X[:9], **options)
        np.testing.assert_allclose(explanation.predictions, forest.predict(X[:9]), atol=1e-9)
    kept = forest.shap_values(X[:9], labels=forest.label_names_[1], top=4)
    np.testing.assert_allclose(kept.predictions, forest.predict(X[:9])[:, 1], atol=1e-9)


def test_pairs_of_rankings_are_explained_both_ways():
    data = make_label_ranking(80, n_features=5, random_state=0)
    forest = LabelRankingForest(10, random_state=0).fit(data.X, data.y)
    preferences = forest.predict_preferences(data.X)
    names = forest.label_names_
    pair, turned = f"{names[0]}>{names[2]}", f"{names[2]}>{names[0]}"
    one, other = forest.shap_values(data.X, labels=pair), forest.shap_values(data.X, labels=turned)
    np.testing.assert_allclose(one.predictions, preferences[:, 0, 2], atol=1e-12)
    np.testing.assert_allclose(other.predictions, preferences[:, 2, 0], atol=1e-12)
    assert other.label_names == (turned,)
    assert forest.shap_values(data.X).label_names == forest.pair_names_
    with pytest.raises(ValueError, match="predicts all of its outputs"):
        forest.shap_values(data.X, labels="predicted")


def test_a_branch_is_the_sum_of_its_labels(data, forest):
    branch = list(forest.label_names_[:4])
    each = forest.shap_values(data.X[:20], labels=branch)
    whole = forest.shap_values(data.X[:20], labels={"branch": branch})
    assert whole.label_names == ("branch",)
    np.testing.assert_allclose(whole.values[:, :, 0], each.values.sum(axis=2), atol=1e-13)
    np.testing.assert_allclose(whole.predictions[:, 0], forest.predict_proba(data.X[:20])[:, :4].sum(axis=1), atol=1e-9)


def test_predicted_labels_keep_their_top_features(data, forest):
    every = forest.shap_values(data.X)
    kept = forest.shap_values(data.X, labels="predicted", top=3)
    predicted = sparse.csr_array(forest.predict(data.X))
    assert list(zip(kept.rows, kept.labels, strict=True)) == list(zip(*np.nonzero(predicted.toarray()), strict=True))
    assert np.diff(kept.values.indptr).max() == 3
    for line, (row, label) in enumerate(zip(kept.rows, kept.labels, strict=True)):
        largest = np.sort(np.abs(every.values[row, :, label]))[-3:]
        np.testing.assert_array_equal(np.sort(np.abs(kept.values[[line]].data)), largest)
    whole = forest.shap_values(data.X, labels="predicted")
    np.testing.assert_allclose(whole.predictions, forest.predict_proba(data.X)[whole.rows, whole.labels], atol=1e-9)


def test_predicted_class_is_explained():
    X, y = np.arange(12.0).reshape(-1, 1), np.repeat(["c", "a", "b"], 4)
    forest = ForestClassifier(10, random_state=0).fit(X, y)
    explanation = forest.shap_values(X, labels="predicted")
    assert [explanation.label_names[j] for j in explanation.labels] == forest.predict(X).tolist()
    np.testing.assert_allclose(explanation.predictions, forest.predict_proba(X).max(axis=1), atol=1e-12)


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_do_not_change_a_bit(data, forest, n_jobs):
    threaded = ForestClassifier(15, hierarchy=data.hierarchy, random_state=0, n_jobs=n_jobs).fit(data.X, data.y)
    for options in ({}, {"labels": "predicted", "top": 2}, {"background": data.X[:3], "labels": [1]}):
        serial, parallel = (each.shap_values(data.X[:50], **options) for each in (forest, threaded))
        if sparse.issparse(serial.values):
            np.testing.assert_array_equal(parallel.values.toarray(), serial.values.toarray())
        else:
            np.testing.assert_array_equal(parallel.values, serial.values)


def test_forms_of_the_rows_do_not_change_a_bit(data, forest):
    X = np.where(np.abs(data.X) > 0.5, data.X, 0.0)
    dense = forest.shap_values(X, labels=[1, 2])
    for form in (sparse.csr_array(X), sparse.csc_array(X), pd.DataFrame(X), np.asfortranarray(X)):
        np.testing.assert_array_equal(forest.shap_values(form, labels=[1, 2]).values, dense.values)
    together = forest.shap_values(X[5:6], labels=[1, 2])
    np.testing.assert_array_equal(together.values[0], dense.values[5])


def test_loaded_forest_explains_the_same(data, forest, tmp_path):
    ramify.save(forest, tmp_path / "forest.ramify")
    loaded = ramify.load(tmp_path / "forest.ramify")
    np.testing.assert_array_equal(loaded.shap_values(data.X).values, forest.shap_values(data.X).values)


def test_a_driver_gets_the_largest_share():
    random = np.random.RandomState(0)
    X = random.rand(300, 6)
    forest = ForestClassifier(30, random_state=0).fit(X, np.column_stack([X[:, 2] > 0.5, X[:, 4] > 0.3]).astype(int))
    sizes = np.abs(forest.shap_values(X).values).mean(axis=0)
    assert sizes[:, 0].argmax() == 2
    assert sizes[:, 1].argmax() == 4


def test_frame_has_the_largest_first(data, forest):
    for options in ({"labels": [0, 3]}, {"labels": "predicted", "top": 4}):
        explanation = forest.shap_values(data.X[:6], **options)
        frame = explanation.to_frame()
        assert list(frame) == ["row", "label", "feature", "value", "contribution"]
        for (row, label), lines in frame.groupby(["row", "label"]):
            assert (lines["contribution"].abs().diff().dropna() <= 0).all()
            total = explanation.of(row, label)
            assert lines["contribution"].sum() == pytest.approx(total.values.sum())
            features = [explanation.feature_names.index(name) for name in lines["feature"]]
            np.testing.assert_array_equal(lines["value"], np.asarray(data.X)[row, features])


def test_no_prediction_gives_an_empty_explanation():
    forest = ForestClassifier(5, random_state=0).fit(np.eye(4), np.zeros((4, 2), dtype=int))
    explanation = forest.shap_values(np.eye(4), labels="predicted", top=2)
    assert explanation.values.shape == (0, 4)
    assert explanation.to_frame().empty
    assert not forest.shap_values(np.eye(4)).values.any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labels": "nonsense"}, "There is no label 'nonsense'"),
        ({"labels": ["nonsense"]}, "There is no label 'nonsense'"),
        ({"labels": 99}, "'label' parameter of ForestClassifier must be an int in"),
        ({"labels": []}, "at least one label"),
        ({"labels": {"none": []}}, "The sum 'none' has no labels"),
        ({"labels": {"sum": [0, 1]}, "top": 2}, "top= is for single labels"),
        ({"top": 0}, "'top' parameter of ForestClassifier.shap_values must be an int >= 1"),
        ({"background": np.zeros((2, 3))}, "features"),
        ({"background": np.zeros((0, 14))}, "minimum of 1 is required"),
    ],
)
def test_bad_request_is_refused(data, forest, options, words):
    with pytest.raises(ValueError, match=words):
        forest.shap_values(data.X, **options)


def test_label_that_was_not_explained_is_named(data, forest):
    explanation = forest.shap_values(data.X[:3], labels=[0, 1])
    assert isinstance(explanation, Explanation)
    with pytest.raises(ValueError, match="There is no label 'other' in this explanation of 2 labels"):
        explanation.label("other")
