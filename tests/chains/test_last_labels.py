"""Chains that end in pairs of labels, and labels that every split looks at: proposals of the thesis's chapter 8."""

from itertools import combinations

import numpy as np
import pytest

import ramify
from ramify import _core
from ramify.chains import LClassifierChains
from ramify.ensemble import ForestClassifier

FOREST = ForestClassifier(10)


def test_there_is_a_chain_for_every_pair(small, few_trees):
    chains = LClassifierChains(few_trees, n_last=2, threshold=0.5, random_state=0).fit(small.X, small.y)
    orders = chains.orders_.tolist()
    assert [tuple(sorted(order[-2:])) for order in orders] == list(combinations(range(4), 2))
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    assert {order[-2] > order[-1] for order in orders} == {False, True}


def test_importances_of_pairs_equal_the_definition(small, few_trees):
    chains = LClassifierChains(few_trees, n_last=2, threshold=0.5, random_state=0).fit(small.X, small.y)
    expected, n_before, share = np.zeros((4, 12)), np.zeros((4, 4)), [[] for _ in range(4)]
    for order, links in zip(chains.orders_, chains.estimators_, strict=True):
        for place, (label, link) in enumerate(zip(order, links, strict=True)):
            trees = [tree.tree_.compute_feature_importances(normalize=False) for tree in link.estimators_]
            importance = np.mean(trees, axis=0)
            expected[label, :8] += importance[:8] / 6
            if place < 2:
                continue
            for before, value in zip(order[:place], importance[8:], strict=True):
                expected[label, 8 + before] += value
                n_before[label, before] += 1
            share[label].append(importance[8:].sum() / importance.sum())
    expected[:, 8:] /= np.maximum(n_before, 1)
    np.testing.assert_allclose(chains.importances_, expected)
    np.testing.assert_allclose(chains.label_share_, [np.mean(shares) for shares in share])


def test_pairs_vote_and_their_model_can_be_saved(small, tmp_path):
    chains = LClassifierChains(FOREST, n_last=2, combine="votes", random_state=0).fit(small.X, small.y)
    votes = chains.predict_proba(small.X)
    np.testing.assert_allclose(votes * 6, np.round(votes * 6), atol=1e-12)
    ramify.save(chains, tmp_path / "model.ramify")
    np.testing.assert_array_equal(ramify.load(tmp_path / "model.ramify").predict_proba(small.X), votes)
    dropped = LClassifierChains(FOREST, n_last=2, combine="votes", keep_forests=False, random_state=0)
    dropped.fit_and_predict(small.X, small.y, small.X)
    np.testing.assert_array_equal(dropped.votes_, votes)


def test_more_last_labels_than_there_are_is_refused(small, few_trees):
    with pytest.raises(ValueError, match=r"n_last=5 labels end each chain, but y has 4. Choose a smaller one."):
        LClassifierChains(few_trees, n_last=5).fit(small.X, small.y)
    with pytest.raises(ValueError, match="'n_last' parameter of LClassifierChains must be an int >= 1"):
        LClassifierChains(few_trees, n_last=0).fit(small.X, small.y)


def gini_gain(column, y):
    """The largest decrease of p (1 - p) by a cut of the column."""
    best = 0.0
    for cut in np.unique(column)[:-1]:
        left = column <= cut
        after = sum(part.mean() * y[part].mean() * (1 - y[part].mean()) for part in (left, ~left))
        best = max(best, y.mean() * (1 - y.mean()) - after)
    return best


def table_of(values):
    values = np.ascontiguousarray(values, dtype=np.float64)
    return _core.FeatureTable(values, n_categories=np.zeros(values.shape[1], np.int32), max_bins=0, n_threads=1)


@pytest.mark.parametrize(("max_features", "n_drawn"), [(1, 1), (3, 1), (5, 2)])
def test_every_node_looks_at_fixed_columns_and_draws_the_rest(max_features, n_drawn):
    random = np.random.RandomState(0)
    y = random.randint(0, 2, 400)
    X = random.standard_normal((400, 6))
    X[:, 2] += 1.5 * y
    labels = np.where(random.rand(400, 3) < [0.2, 0.3, 0.5], y[:, None], random.randint(0, 2, (400, 3)))
    gains = [gini_gain(column, y) for column in np.hstack([X, labels]).T]
    assert np.argsort(gains)[::-1][:2].tolist() == [2, 8]  # a feature, then a label, then the others
    forest = ForestClassifier(600, bootstrap=False, max_depth=1, max_features=max_features, random_state=0)
    forest.n_features_in_, forest.categories_ = 9, [None] * 9
    forest.grow(table_of(X).append(table_of(labels), True), forest.encode_target(y), None)
    arrays = forest.trees_.arrays()
    roots = arrays["feature"][arrays["tree_nodes"][:-1]]
    assert set(roots.tolist()) == {2, 8}
    assert (roots == 2).mean() == pytest.approx(n_drawn / 6, abs=0.04)


def test_labels_are_used_more_where_every_split_looks_at_them():
    random = np.random.RandomState(0)
    X = random.standard_normal((200, 60))
    Y = np.repeat(random.randint(0, 2, (200, 1)), 3, axis=1)
    drawn = LClassifierChains(FOREST, threshold=0.5, random_state=0).fit(X, Y)
    fixed = LClassifierChains(FOREST, fixed_labels=True, threshold=0.5, random_state=0).fit(X, Y)
    assert (fixed.label_share_ > 0.999).all()
    assert (drawn.label_share_ < 0.9).all()
    assert fixed.ranking_.origin["parameters"]["fixed_labels"] is True


def test_fixed_labels_are_for_forests_and_known_labels(small, few_trees):
    with pytest.raises(ValueError, match="fixed_labels=True is for Ramify's forests .* is a RandomForestClassifier"):
        LClassifierChains(few_trees, fixed_labels=True).fit(small.X, small.y)
    unknown = small.y.toarray().astype(float)
    unknown[0, 0] = np.nan
    with pytest.raises(ValueError, match="y has unknown labels. Set fixed_labels=False"):
        LClassifierChains(FOREST, fixed_labels=True).fit(small.X, unknown)


def test_threads_do_not_change_fixed_labels(small):
    one, two = (
        LClassifierChains(FOREST, fixed_labels=True, random_state=0, n_jobs=n).fit(small.X, small.y) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.importances_, two.importances_)
