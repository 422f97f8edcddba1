"""Leaves backed by their ancestors: the estimate from its definition, and what stays as it was."""

import numpy as np
import pytest

import ramify
from ramify.datasets import make_hierarchical, make_multilabel
from ramify.ensemble import ForestClassifier
from ramify.metrics import auprc

LEAVES = {"leaf_offsets", "leaf_labels", "leaf_partial", "leaf_counts"}


def backed(forest, X, Y, weights, n_rows):
    """The estimate of each row, node by node from the root: (n, L). All rows are in every bag."""
    arrays = forest.trees_.arrays()
    first = arrays["tree_nodes"]
    total = np.zeros((len(X), Y.shape[1]))
    for tree in range(forest.trees_.n_trees):
        part = slice(first[tree], first[tree + 1])
        feature, threshold, child = (arrays[name][part] for name in ("feature", "threshold", "child"))
        for row, x in enumerate(X):
            here, node, path = np.arange(len(X)), 0, []
            while True:
                path.append((len(here), np.average(Y[here], axis=0, weights=weights[here])))
                if feature[node] < 0:
                    break
                left = X[here, feature[node]] <= threshold[node]
                goes_left = x[feature[node]] <= threshold[node]
                here, node = here[left == goes_left], child[node] + (0 if goes_left else 1)
            path = [path[-1]] + [step for step in path[-2::-1] if step[0] <= n_rows]
            rest, estimate = 1.0, np.zeros(Y.shape[1])
            for place, (n, mean) in enumerate(path):
                last = place == len(path) - 1 or rest <= 1e-4
                share = rest if last else rest * n / (n + 1)
                estimate += share * mean
                rest -= share
                if last:
                    break
            total[row] += estimate
    return total / forest.trees_.n_trees


@pytest.mark.parametrize("target", ["labels", "hierarchy", "classes"])
@pytest.mark.parametrize("n_rows", [4, 12, 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_estimates_follow_the_definition(target, n_rows, weighted):
    data = (
        make_multilabel(60, n_labels=5, random_state=1) if target == "labels" else make_hierarchical(60, random_state=1)
    )
    y = np.asarray(data.X[:, 0] > 0).astype(int) if target == "classes" else data.y
    weights = np.linspace(0.5, 3.0, 60) if weighted else np.ones(60)
    settings = {"hierarchy": data.hierarchy if target == "hierarchy" else None, "bootstrap": False, "random_state": 0}
    forest = ForestClassifier(3, backing=n_rows, **settings).fit(data.X, y, sample_weight=weights)
    plain = ForestClassifier(3, **settings).fit(data.X, y, sample_weight=weights)
    arrays, unbacked = forest.trees_.arrays(), plain.trees_.arrays()
    for name in set(arrays) - LEAVES:
        np.testing.assert_array_equal(arrays[name], unbacked[name])
    Y = (
        np.column_stack([1 - y, y])
        if target == "classes"
        else np.asarray(data.y.todense() if hasattr(data.y, "todense") else data.y)
    )
    expected = backed(plain, data.X, Y.astype(float), weights, n_rows)
    np.testing.assert_allclose(forest.predict_proba(data.X), expected, rtol=1e-9, atol=1e-12)


def test_a_backed_forest_keeps_what_forests_promise(tmp_path):
    data = make_hierarchical(150, random_state=0)
    make = {"hierarchy": data.hierarchy, "backing": 20, "oob_score": True, "random_state": 0}
    forest = ForestClassifier(15, **make).fit(data.X, data.y)
    probabilities = forest.predict_proba(data.X)
    assert probabilities.min() >= 0
    assert probabilities.max() <= 1
    for parent, label in data.hierarchy.edges:
        assert (probabilities[:, label] <= probabilities[:, parent]).all()
    for n_jobs in (2, 4):
        again = ForestClassifier(15, n_jobs=n_jobs, **make).fit(data.X, data.y)
        assert again.predict_proba(data.X).tobytes() == probabilities.tobytes()
        assert again.oob_prediction_.tobytes() == forest.oob_prediction_.tobytes()
    assert forest.first(4).predict_proba(data.X).tobytes() == (
        ForestClassifier(4, **make).fit(data.X, data.y).predict_proba(data.X).tobytes()
    )
    ramify.save(forest, tmp_path / "forest.ramify")
    assert ramify.load(tmp_path / "forest.ramify").predict_proba(data.X).tobytes() == probabilities.tobytes()
    values, base = forest.contributions(data.X, 2)
    np.testing.assert_allclose(values.sum(axis=1) + base, probabilities[:, 2])


def test_unknown_labels_can_be_backed(tmp_path):
    data = make_multilabel(120, n_labels=6, random_state=0)
    y = np.asarray(data.y.todense() if hasattr(data.y, "todense") else data.y).astype(float)
    y[np.random.default_rng(0).random(y.shape) < 0.4] = np.nan
    forest = ForestClassifier(10, backing=30, random_state=0).fit(data.X, y)
    probabilities = forest.predict_proba(data.X)
    assert probabilities.min() >= 0
    assert probabilities.max() <= 1
    ramify.save(forest, tmp_path / "forest.ramify")
    assert ramify.load(tmp_path / "forest.ramify").predict_proba(data.X).tobytes() == probabilities.tobytes()


def test_few_trees_predict_better_with_backed_leaves():
    data = make_hierarchical(900, random_state=3)
    train, test = data.rows(range(450)), data.rows(range(450, 900))
    score = {}
    for backing in (0, 30):
        forest = ForestClassifier(5, hierarchy=data.hierarchy, backing=backing, random_state=0).fit(train.X, train.y)
        score[backing] = auprc(test.y, forest.predict_proba(test.X))
    assert score[30] > score[0] + 0.02


@pytest.mark.parametrize("backing", [-1, 2.5, "all", True])
def test_a_wrong_number_of_rows_is_refused(backing):
    with pytest.raises(ValueError, match="'backing' parameter of ForestClassifier must be an int >= 0"):
        ForestClassifier(2, backing=backing).fit([[0.0], [1.0]], [0, 1])
