"""Chains whose links train on the rows of which their label is known."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from ramify import load, save
from ramify.chains import (
    BinaryRelevance,
    ClassifierChain,
    EnsembleOfChains,
    IterativeStratification,
    LabelPowerset,
    LClassifierChains,
    MLkNN,
    PairwiseLabels,
)
from ramify.ensemble import ForestClassifier

TREE = DecisionTreeClassifier(max_depth=3, random_state=0)


def make_data(n=150, hidden=0.4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    first = X[:, 0] > 0
    Y = np.column_stack([first, first ^ (X[:, 1] > 0), X[:, 2] > 0]).astype(float)
    return X, Y, np.where(rng.random(Y.shape) < hidden, np.nan, Y)


def test_links_train_on_known_rows_and_pass_on_their_own_predictions():
    """The whole chain, written out."""
    X, _, Y = make_data()
    chain = ClassifierChain(TREE, order=[1, 0, 2], random_state=0).fit(X, Y)
    passed_on, columns = Y.copy(), []
    for label, link in zip([1, 0, 2], chain.estimators_, strict=True):
        table = np.hstack([X, passed_on[:, columns]])
        known = ~np.isnan(Y[:, label])
        alone = DecisionTreeClassifier(max_depth=3, random_state=link.random_state)
        alone.fit(table[known], Y[known, label].astype(int))
        np.testing.assert_array_equal(alone.predict_proba(table), link.predict_proba(table))
        passed_on[~known, label] = alone.predict_proba(table[~known])[:, 1] >= 0.5
        columns.append(label)


@pytest.mark.parametrize("base", [TREE, ForestClassifier(5, max_depth=3, random_state=0)], ids=["tree", "forest"])
def test_binary_relevance_is_one_classifier_per_label_on_its_known_rows(base):
    X, _, Y = make_data()
    fitted = BinaryRelevance(base, random_state=0).fit(X, Y)
    for label, link in enumerate(fitted.estimators_):
        known = ~np.isnan(Y[:, label])
        own = type(base)(**{**base.get_params(), "random_state": link.random_state})
        own.fit(X[known], Y[known, label].astype(int))
        np.testing.assert_array_equal(own.predict_proba(X)[:, 1], fitted.predict_proba(X)[:, label])
    np.testing.assert_allclose(fitted.prior_, np.nanmean(Y, axis=0))
    np.testing.assert_allclose(fitted.cardinality_, np.nanmean(Y, axis=0).sum())


@pytest.mark.parametrize("made", [ClassifierChain, EnsembleOfChains, LClassifierChains, BinaryRelevance])
def test_labels_are_learnt_through_unknown_ones(made):
    X, truth, Y = make_data(n=400, hidden=0.3)
    fitted = made(ForestClassifier(15, random_state=0), random_state=0).fit(X[:300], Y[:300])
    right = (fitted.predict(X[300:]) == truth[300:]).mean(axis=0)
    assert (right > 0.8).all()


@pytest.mark.parametrize("made", [ClassifierChain, BinaryRelevance])
def test_rows_of_which_nothing_is_known_take_no_part(made):
    X, truth, _ = make_data(n=60)
    keep = np.arange(60) % 5 > 0
    with_them = made(TREE, threshold="f1", random_state=0).fit(X, np.where(keep[:, None], truth, np.nan))
    without = made(TREE, threshold="f1", random_state=0).fit(X[keep], truth[keep])
    np.testing.assert_array_equal(with_them.predict_proba(X), without.predict_proba(X))
    np.testing.assert_array_equal(with_them.threshold_, without.threshold_)


@pytest.mark.parametrize("threshold", ["f1", "cardinality", "density", {"fp": 1, "fn": 3}])
def test_thresholds_are_chosen_on_known_cells(threshold):
    X, _, Y = make_data()
    fitted = ClassifierChain(LogisticRegression(), threshold=threshold, random_state=0).fit(X, Y)
    assert np.isfinite(fitted.threshold_).all()
    assert fitted.predict(X).shape == Y.shape


def slow_mlknn(X, Y, X_new, k, weights):
    """Zhang and Zhou's counts for each label alone, among the rows of which it is known."""
    scores = np.zeros((len(X_new), Y.shape[1]))
    for label in range(Y.shape[1]):
        known = np.flatnonzero(~np.isnan(Y[:, label]))
        has, w = Y[known, label], weights[known]

        def neighbours(x, left_out, known=known, has=has):
            distance = np.linalg.norm(X[known] - x, axis=1)
            distance[known == left_out] = np.inf
            return int(has[np.argsort(distance, kind="stable")[:k]].sum())

        counts = np.array([neighbours(X[row], row) for row in known])
        prior = (1 + w @ has) / (2 + w.sum())
        for row, x in enumerate(X_new):
            same = counts == neighbours(x, -1)
            yes = prior * (1 + w @ (same * has)) / (k + 1 + w @ has)
            no = (1 - prior) * (1 + w @ (same * (1 - has))) / (k + 1 + w @ (1 - has))
            scores[row, label] = yes / (yes + no)
    return scores


@pytest.mark.parametrize("weighted", [False, True])
def test_mlknn_counts_known_rows_and_known_neighbours(weighted):
    X, _, Y = make_data()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(X)) if weighted else np.ones(len(X))
    Y[:, 2] = np.where(np.isnan(Y[:, 0]), np.nan, 1)  # two labels are known of the same rows
    found = MLkNN(n_neighbors=5).fit(X[:100], Y[:100], weights[:100] if weighted else None)
    expected = slow_mlknn(X[:100], Y[:100], X[100:], 5, weights[:100])
    np.testing.assert_allclose(found.predict_proba(X[100:]), expected, rtol=1e-12)


def test_mlknn_leaves_out_unknown_rows_is_saved_and_needs_enough_known_ones(tmp_path):
    X, truth, Y = make_data(n=80)
    keep = np.arange(80) % 5 > 0
    with_them = MLkNN(threshold="f1").fit(X, np.where(keep[:, None], truth, np.nan))
    without = MLkNN(threshold="f1").fit(X[keep], truth[keep])
    np.testing.assert_array_equal(with_them.predict_proba(X), without.predict_proba(X))
    np.testing.assert_array_equal(with_them.threshold_, without.threshold_)
    fitted = MLkNN().fit(X, Y)
    save(fitted, tmp_path / "model.ramify")
    np.testing.assert_array_equal(load(tmp_path / "model.ramify").predict_proba(X), fitted.predict_proba(X))
    few = np.where(np.arange(80)[:, None] < [80, 9, 80], truth, np.nan)
    with pytest.raises(ValueError, match="'y1' is known of 9, n_neighbors = 10"):
        MLkNN().fit(X, few)


def test_orders_that_need_complete_label_sets_say_so():
    X, _, Y = make_data()
    with pytest.raises(ValueError, match="order='correlation' is chosen from complete label sets"):
        ClassifierChain(TREE, order="correlation").fit(X, Y)


@pytest.mark.parametrize("made", [LabelPowerset, PairwiseLabels])
def test_what_compares_whole_label_sets_refuses_unknown_labels_by_name(made):
    X, _, Y = make_data()
    with pytest.raises(ValueError, match=f"{made.__name__} takes complete targets, but y has unknown cells"):
        made(TREE).fit(X, Y)


def test_stratification_shares_out_labels_and_what_is_unknown():
    X, _, Y = make_data(n=200, hidden=0.3)
    for _, test in IterativeStratification(4, random_state=0).split(X, Y):
        np.testing.assert_allclose(np.isnan(Y[test]).sum(axis=0), np.isnan(Y).sum(axis=0) / 4, atol=4)
        np.testing.assert_allclose(np.nansum(Y[test], axis=0), np.nansum(Y, axis=0) / 4, atol=4)
