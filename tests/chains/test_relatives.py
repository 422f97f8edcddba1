"""Label powersets, pairwise labels, RAkEL and MLkNN against slow references."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone

from ramify.chains import LabelPowerset, MLkNN, PairwiseLabels, RAkEL


def dense(data):
    return np.asarray(data.y.toarray())


@pytest.fixture
def fixed_seeds(monkeypatch):
    monkeypatch.setattr("ramify.chains.links.seeded_clone", lambda estimator, seed: clone(estimator))


def test_powerset_predicts_the_most_probable_label_set(small, tree, fixed_seeds):
    Y = dense(small)
    powerset = LabelPowerset(tree).fit(small.X, Y)
    names = np.array(["".join(map(str, row)) for row in Y])
    expected = clone(tree).fit(small.X, names).predict(small.X)
    np.testing.assert_array_equal(["".join(map(str, row)) for row in powerset.predict(small.X)], expected)


def test_powerset_probabilities_are_sums_over_label_sets(small, tree):
    powerset = LabelPowerset(tree).fit(small.X, small.y)
    sets = powerset.estimators_[0].predict_proba(small.X)
    np.testing.assert_allclose(powerset.predict_proba(small.X), sets @ powerset.label_sets_)


def test_pruning_leaves_out_rare_label_sets(small, tree):
    Y = dense(small)
    sets, counts = np.unique(Y, axis=0, return_counts=True)
    pruned = LabelPowerset(tree, pruning=5).fit(small.X, Y)
    np.testing.assert_array_equal(pruned.label_sets_, sets[counts > 5])
    assert pruned.estimators_[0].tree_.n_node_samples[0] == counts[counts > 5].sum()


def test_pruning_everything_is_refused(small, tree):
    with pytest.raises(ValueError, match="No label set has more than pruning=500 rows"):
        LabelPowerset(tree, pruning=500).fit(small.X, small.y)


def slow_pairwise(tree, X, Y, X_new):
    votes = np.zeros((len(X_new), Y.shape[1] + 1))
    for j, k in itertools.combinations(range(Y.shape[1]), 2):
        rows = Y[:, j] != Y[:, k]
        wins = clone(tree).fit(X[rows], Y[rows, j]).predict_proba(X_new)[:, 1] >= 0.5
        votes[:, j] += wins
        votes[:, k] += ~wins
    for j in range(Y.shape[1]):
        wins = clone(tree).fit(X, Y[:, j]).predict_proba(X_new)[:, 1] >= 0.5
        votes[:, j] += wins
        votes[:, -1] += ~wins
    return votes


def test_calibrated_votes_equal_the_slow_count(small, tree, fixed_seeds):
    Y = dense(small)
    votes = slow_pairwise(tree, small.X[:80], Y[:80], small.X[80:])
    pairwise = PairwiseLabels(tree).fit(small.X[:80], Y[:80])
    np.testing.assert_array_equal(pairwise.predict(small.X[80:]), votes[:, :4] > votes[:, 4:])
    np.testing.assert_allclose(pairwise.predict_proba(small.X[80:]), votes[:, :4] / 4)


@pytest.mark.parametrize(("n_labels", "expected"), [(2, 2), (0, 0), (None, None)])
def test_top_predicts_that_many_labels(small, tree, n_labels, expected):
    pairwise = PairwiseLabels(tree, threshold="top", n_labels=n_labels).fit(small.X, dense(small))
    expected = round(dense(small).sum(axis=1).mean()) if expected is None else expected
    assert (pairwise.predict(small.X).sum(axis=1) == expected).all()


def test_labels_that_never_differ_share_the_vote(tree):
    X = np.arange(20.0).reshape(-1, 1)
    same = (X[:, 0] > 9).astype(int)
    pairwise = PairwiseLabels(tree, threshold=0.5).fit(X, np.column_stack([same, same]))
    np.testing.assert_array_equal(pairwise.predict_proba(X), 0.5)
    assert pairwise.estimators_ == [None]


def test_disjoint_labelsets_hold_every_label_once(small, tree):
    rakel = RAkEL(tree, overlapping=False, labelset_size=3, random_state=0).fit(small.X, small.y)
    assert sorted(np.concatenate(rakel.labelsets_)) == [0, 1, 2, 3]


@pytest.mark.parametrize("n_labelsets", [None, 1, 3, 100])
def test_overlapping_labelsets_are_distinct_and_cover_all_labels(small, tree, n_labelsets):
    rakel = RAkEL(tree, labelset_size=2, n_labelsets=n_labelsets, random_state=0).fit(small.X, small.y)
    sets = [tuple(s) for s in rakel.labelsets_]
    assert len(set(sets)) == len(sets)
    assert set(np.concatenate(rakel.labelsets_)) == {0, 1, 2, 3}
    assert all(len(s) == 2 for s in sets)
    assert len(sets) == {None: 6, 1: 2, 3: 3, 100: 6}[n_labelsets]


def test_rakel_of_one_full_set_is_the_powerset(small, tree, fixed_seeds):
    rakel = RAkEL(tree, labelset_size=4, random_state=0).fit(small.X, small.y)
    powerset = LabelPowerset(tree).fit(small.X, small.y)
    np.testing.assert_array_equal(rakel.predict(small.X).toarray(), powerset.predict(small.X).toarray())


def slow_mlknn(X, Y, X_new, k, s=1.0):
    """Zhang and Zhou's pseudo-code, row by row."""
    n, n_labels = Y.shape
    counts = np.zeros((n, n_labels), dtype=int)
    for i in range(n):
        distance = np.linalg.norm(X - X[i], axis=1)
        distance[i] = np.inf
        counts[i] = Y[np.argsort(distance, kind="stable")[:k]].sum(axis=0)
    scores = np.zeros((len(X_new), n_labels))
    for row, x in enumerate(X_new):
        c = Y[np.argsort(np.linalg.norm(X - x, axis=1), kind="stable")[:k]].sum(axis=0)
        for label in range(n_labels):
            prior = (s + Y[:, label].sum()) / (2 * s + n)
            has = Y[:, label] == 1
            with_label = [(counts[has, label] == j).sum() for j in range(k + 1)]
            without = [(counts[~has, label] == j).sum() for j in range(k + 1)]
            yes = prior * (s + with_label[c[label]]) / (s * (k + 1) + sum(with_label))
            no = (1 - prior) * (s + without[c[label]]) / (s * (k + 1) + sum(without))
            scores[row, label] = yes / (yes + no)
    return scores


def test_mlknn_equals_the_slow_reference(small):
    Y = dense(small).astype(int)
    found = MLkNN(n_neighbors=5).fit(small.X[:80], Y[:80]).predict_proba(small.X[80:])
    np.testing.assert_allclose(found, slow_mlknn(small.X[:80], Y[:80], small.X[80:], 5))


def test_mlknn_takes_sparse_features(small):
    from scipy import sparse

    X = np.where(small.X > 1, small.X, 0.0)
    X[:, 0] = small.X[:, 0]
    expected = MLkNN(n_neighbors=5).fit(X, small.y).predict_proba(X)
    np.testing.assert_allclose(MLkNN(n_neighbors=5).fit(sparse.csr_array(X), small.y).predict_proba(X), expected)


def test_mlknn_refuses_more_neighbours_than_rows(small):
    with pytest.raises(ValueError, match="MLkNN needs more rows than neighbours"):
        MLkNN(n_neighbors=120).fit(small.X, small.y)
