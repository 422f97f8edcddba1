"""One chain: trained on true earlier labels, predicting on predicted ones, in any order."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from ramify.chains import BinaryRelevance, ClassifierChain
from ramify.chains.chain_order import (
    OrderErrors,
    canonical_strength,
    correlation_strength,
    importance_strength,
    relief_strength,
    search_order,
)
from ramify.features import Features


def dense(data):
    return np.asarray(data.y.toarray())


def features_of(X):
    return Features(X, np.zeros(X.shape[1], dtype=np.int32))


def slow_chain(tree, X, Y, order, X_new):
    """The thesis's listing of classifier chains."""
    probabilities = np.zeros((len(X_new), Y.shape[1]))
    grown, grown_new = X, X_new
    for label in order:
        link = clone(tree).fit(grown, Y[:, label])
        probabilities[:, label] = link.predict_proba(grown_new)[:, 1]
        grown = np.column_stack([grown, Y[:, label]])
        grown_new = np.column_stack([grown_new, probabilities[:, label] >= 0.5])
    return probabilities


def with_fixed_seeds(monkeypatch):
    """Let every link keep the seed of its learner, as the slow reference does."""
    monkeypatch.setattr("ramify.chains.links.seeded_clone", lambda estimator, seed: clone(estimator))


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_chain_equals_the_listing(small, tree, order, monkeypatch):
    with_fixed_seeds(monkeypatch)
    Y = dense(small)
    chain = ClassifierChain(tree, order=order).fit(small.X[:80], Y[:80])
    expected = slow_chain(tree, small.X[:80], Y[:80], order, small.X[80:])
    np.testing.assert_array_equal(chain.predict_proba(small.X[80:]), expected)
    np.testing.assert_array_equal(chain.predict(small.X[80:]), expected >= 0.5)


def test_binary_relevance_learns_each_label_alone(small, tree, monkeypatch):
    with_fixed_seeds(monkeypatch)
    Y = dense(small)
    found = BinaryRelevance(tree).fit(small.X, Y).predict_proba(small.X)
    for label in range(4):
        np.testing.assert_array_equal(
            found[:, label], clone(tree).fit(small.X, Y[:, label]).predict_proba(small.X)[:, 1]
        )


def test_links_see_the_features_and_the_labels_before_them(small, tree):
    chain = ClassifierChain(tree, order="random", random_state=0).fit(small.X, small.y)
    assert [link.n_features_in_ for link in chain.estimators_] == [8, 9, 10, 11]


def test_order_by_label_names(small, tree):
    import pandas as pd

    frame = pd.DataFrame(dense(small), columns=list("abcd"))
    chain = ClassifierChain(tree, order=["d", "b", "a", "c"]).fit(small.X, frame)
    np.testing.assert_array_equal(chain.order_, [3, 1, 0, 2])
    assert chain.label_names_ == ("a", "b", "c", "d")


@pytest.mark.parametrize("order", [[0, 1, 2], [0, 0, 1, 2], [1, 2, 3, 4], ["a", "b", "c", "d"]])
def test_an_order_that_is_no_permutation_is_refused(small, tree, order):
    with pytest.raises(ValueError, match="'order' parameter of ClassifierChain must name each of the 4 labels once"):
        ClassifierChain(tree, order=order).fit(small.X, small.y)


def test_unknown_order_is_refused_with_the_list(small, tree):
    with pytest.raises(ValueError, match="'order' parameter of ClassifierChain must be one of 'random', 'correlation'"):
        ClassifierChain(tree, order="alphabet").fit(small.X, small.y)


def test_correlation_strength_is_the_mean_absolute_correlation_with_the_others():
    Y = np.random.RandomState(0).randint(0, 2, (60, 3)).astype(np.uint8)
    R = np.abs(np.corrcoef(Y, rowvar=False))
    expected = [(R[i].sum() - 1) / 2 for i in range(3)]
    np.testing.assert_allclose(correlation_strength(Y), expected)


def test_a_constant_label_has_no_correlation():
    Y = np.column_stack([np.ones(10), np.arange(10) % 2, np.arange(10) % 2]).astype(np.uint8)
    np.testing.assert_allclose(correlation_strength(Y), [0.0, 0.5, 0.5])


def test_order_by_correlation_puts_the_most_correlated_label_last(tree):
    random = np.random.RandomState(1)
    first = random.randint(0, 2, 200)
    Y = np.column_stack([first, random.randint(0, 2, 200), first, first ^ (random.rand(200) < 0.2)])
    chain = ClassifierChain(tree, order="correlation").fit(random.rand(200, 2), Y)
    assert chain.order_[0] == 1


def test_importance_strength_is_low_for_an_independent_label():
    random = np.random.RandomState(2)
    first = random.randint(0, 2, 300)
    Y = np.column_stack([first, random.randint(0, 2, 300), first ^ (random.rand(300) < 0.1)]).astype(np.uint8)
    assert importance_strength(Y, seed=0).argmin() == 1


def test_canonical_strength_equals_the_generalised_eigenvector():
    from scipy.linalg import eigh

    random = np.random.RandomState(3)
    X = random.standard_normal((150, 5))
    Y = (X[:, :3] + random.standard_normal((150, 3)) > 0).astype(np.uint8)
    x, y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    explained = (y.T @ x) @ np.linalg.solve(x.T @ x, x.T @ y)
    expected = np.abs(eigh(explained, y.T @ y)[1][:, -1])
    np.testing.assert_allclose(canonical_strength(X, Y), expected, rtol=1e-8)


def test_canonical_strength_survives_collinear_and_missing_features():
    random = np.random.RandomState(4)
    X = random.standard_normal((50, 3))
    X = np.column_stack([X, X[:, 0], np.ones(50)])
    X[0, 1] = np.nan
    Y = np.column_stack([random.randint(0, 2, 50), np.zeros(50)]).astype(np.uint8)
    strength = canonical_strength(X, Y)
    assert np.isfinite(strength).all()
    assert strength[1] == 0


@pytest.mark.parametrize("order", ["random", "correlation", "importance", "relief", "oob", "canonical", "search"])
def test_every_order_is_a_permutation(small, tree, order):
    chain = ClassifierChain(tree, order=order, random_state=0).fit(small.X, small.y)
    assert sorted(chain.order_) == [0, 1, 2, 3]


@pytest.mark.parametrize("order", ["correlation", "canonical"])
def test_equally_strong_labels_keep_their_order_whatever_that_of_the_rows(small, tree, order):
    Y = dense(small)[:, [0, 1, 1, 0, 1, 0]]
    straight = ClassifierChain(tree, order=order).fit(small.X, Y).order_
    for seed in range(10):
        rows = np.random.RandomState(seed).permutation(len(Y))
        np.testing.assert_array_equal(ClassifierChain(tree, order=order).fit(small.X[rows], Y[rows]).order_, straight)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (2, 0, 3, 1)])
def test_errors_of_an_order_are_those_of_its_chain(small, tree, order):
    Y = dense(small).astype(np.uint8)
    table = OrderErrors(tree, features_of(small.X), Y, np.arange(80), np.arange(80, 120), seed=0)
    predicted = np.zeros((40, 4), dtype=bool)
    for place, label in enumerate(order):
        earlier = sorted(order[:place])
        link = table._link(tuple(earlier), label)
        rows = np.column_stack([small.X[80:], predicted[:, earlier]])
        predicted[:, label] = link.predict_proba(rows)[:, 1] >= 0.5
    assert table.errors(order) == (predicted != Y[80:]).sum()


def test_search_finds_the_best_of_all_orders(small, tree):
    Y = dense(small).astype(np.uint8)[:, :3]
    features = features_of(small.X)
    found = search_order(tree, features, Y, cv=2, beam_width=1, seed=0)
    from sklearn.model_selection import KFold

    folds = list(KFold(2, shuffle=True, random_state=0).split(Y))
    table = [OrderErrors(tree, features, Y, train, test, 0) for train, test in folds]
    errors = {order: sum(t.errors(order) for t in table) for order in itertools.permutations(range(3))}
    assert errors[tuple(found)] == min(errors.values())


def test_beam_search_places_many_labels():
    from sklearn.tree import DecisionTreeClassifier

    from ramify.datasets import make_multilabel

    data = make_multilabel(60, n_features=4, n_labels=8, correlation=0.5, random_state=0)
    tree = DecisionTreeClassifier(max_depth=2)
    chain = ClassifierChain(tree, order="search", cv=2, beam_width=2, random_state=0).fit(data.X, data.y)
    assert sorted(chain.order_) == list(range(8))


def test_relief_strength_is_low_for_an_independent_label():
    random = np.random.RandomState(7)
    first = random.randint(0, 2, 200)
    Y = np.column_stack([first, random.randint(0, 2, 200), first ^ (random.rand(200) < 0.1)]).astype(np.uint8)
    assert relief_strength(Y, seed=0).argmin() == 1


def test_a_probabilistic_chain_predicts_the_most_probable_of_all_label_sets(small, tree):
    """Joint probabilities of all label sets, as the product rule writes them; a narrow beam finds no better one."""
    X, Y = np.asarray(small.X), dense(small)
    n_labels = Y.shape[1]
    forest = clone(tree).set_params(max_depth=3)
    chain = ClassifierChain(forest, order=np.arange(n_labels)[::-1], threshold=None, beam_width=8, random_state=0)
    chain.fit(X, Y)
    every = np.array(list(itertools.product([0, 1], repeat=n_labels)))
    joint = np.ones((len(X), len(every)))
    for link, label in zip(chain.estimators_, chain.order_, strict=True):
        earlier = chain.order_[: list(chain.order_).index(label)]
        for number, label_set in enumerate(every):
            given = np.column_stack([X, np.tile(label_set[earlier], (len(X), 1))])
            share = link.predict_proba(given)[:, 1]
            joint[:, number] *= share if label_set[label] else 1 - share
    np.testing.assert_allclose(joint.sum(axis=1), 1)
    rows = np.arange(len(X))
    numbers = chain.predict(small.X)
    numbers = np.asarray(numbers.toarray() if hasattr(numbers, "toarray") else numbers) @ 2 ** np.arange(n_labels)[::-1]
    np.testing.assert_allclose(joint[rows, numbers], joint.max(axis=1))
    narrow, greedy = (clone(chain).set_params(**of).fit(X, Y) for of in ({"beam_width": 1}, {"threshold": 0.5}))
    np.testing.assert_array_equal(narrow.predict(X), greedy.predict(X))


def test_probabilities_of_a_wide_beam_are_the_marginal_ones(small, tree):
    X, Y = np.asarray(small.X), dense(small)[:, :2]
    chain = ClassifierChain(clone(tree).set_params(max_depth=2), threshold=None, beam_width=4).fit(X, Y)
    share = chain.estimators_[0].predict_proba(X)[:, 1]
    with_first, without = (
        chain.estimators_[1].predict_proba(np.column_stack([X, np.full(len(X), has)]))[:, 1] for has in (1, 0)
    )
    expected = np.column_stack([share, share * with_first + (1 - share) * without])
    np.testing.assert_allclose(chain.predict_proba(X), expected)


def test_the_most_probable_set_is_right_more_often_than_the_greedy_one():
    """The first label is there in 45 % of the rows and then has one set; without it four sets share the rest."""
    rng = np.random.default_rng(0)
    sets = np.array([[1, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]])
    Y = sets[rng.choice(5, 2000, p=[0.45, 0.14, 0.14, 0.14, 0.13])]
    X = rng.normal(size=(2000, 1))
    stump = DecisionTreeClassifier(max_depth=4, min_samples_leaf=100, random_state=0)
    right = {}
    for threshold in (0.5, None):
        chain = ClassifierChain(stump, order=[0, 1, 2], threshold=threshold).fit(X[:1000], Y[:1000])
        right[threshold] = (chain.predict(X[1000:]) == Y[1000:]).all(axis=1).mean()
    assert right[None] > right[0.5] + 0.15
