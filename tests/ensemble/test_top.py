"""predict_top: the most probable labels of each row, as a stable sort of all probabilities has them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import ramify
from ramify.datasets import make_hierarchical, make_multilabel
from ramify.ensemble import BoostedClassifier, ForestClassifier

MODELS = {
    "forest": lambda hierarchy: ForestClassifier(7, hierarchy=hierarchy, random_state=0),
    "extra trees": lambda hierarchy: ForestClassifier(
        7, hierarchy=hierarchy, splitter="random", bootstrap=False, max_depth=3, random_state=0
    ),
    "boosted": lambda hierarchy: BoostedClassifier(9, hierarchy=hierarchy, early_stopping=None, random_state=0),
}


def sorted_labels(model, X, k):
    """The definition: all probabilities of a row, the largest first, equal ones in the order of the labels."""
    probabilities = model.predict_proba(X)
    labels = [sorted(range(len(row)), key=lambda label, row=row: (-row[label], label))[:k] for row in probabilities]
    return np.array(labels), np.take_along_axis(probabilities, np.array(labels), axis=1)


def assert_same(found, expected):
    np.testing.assert_array_equal(found[0], expected[0])
    assert found[1].tobytes() == expected[1].tobytes()


@pytest.fixture(scope="module")
def flat():
    return make_multilabel(120, n_labels=30, random_state=0)


@pytest.fixture(scope="module")
def hierarchical():
    return make_hierarchical(150, random_state=0)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("target", ["flat", "hierarchical"])
def test_top_labels_are_those_of_sorted_probabilities(name, target, request):
    data = request.getfixturevalue(target)
    model = MODELS[name](data.hierarchy).fit(data.X[:90], data.y[:90])
    n_labels = len(model.label_names_)
    for k in (1, 3, n_labels):  # all labels: those that no leaf holds are there too, with probability 0
        found = model.predict_top(data.X[90:], k)
        assert found[0].shape == found[1].shape == (data.X.shape[0] - 90, k)
        assert_same(found, sorted_labels(model, data.X[90:], k))


@pytest.mark.parametrize("name", MODELS)
def test_top_labels_are_the_same_for_threads_formats_and_saved_models(name, hierarchical, tmp_path):
    data, X = hierarchical, hierarchical.X.copy()
    X[X < 0] = 0.0
    model = MODELS[name](data.hierarchy).fit(X, data.y)
    expected = model.predict_top(X, 4)
    for same in (sparse.csr_array(X), sparse.csc_array(X), pd.DataFrame(X)):
        assert_same(model.predict_top(same, 4), expected)
    assert_same(
        [np.vstack(part) for part in zip(*(model.predict_top(row[None], 4) for row in X), strict=True)], expected
    )
    for n_jobs in (2, 5):
        assert_same(model.set_params(n_jobs=n_jobs).predict_top(X, 4), expected)
    ramify.save(model, tmp_path / "model.ramify")
    assert_same(ramify.load(tmp_path / "model.ramify").predict_top(X, 4), expected)


def test_a_hierarchy_puts_ancestors_before_their_descendants(hierarchical):
    model = MODELS["forest"](hierarchical.hierarchy).fit(hierarchical.X, hierarchical.y)
    labels, _ = model.predict_top(hierarchical.X, 5)
    for row in labels.tolist():
        for place, label in enumerate(row):
            assert {
                hierarchical.hierarchy.index(name)
                for name in hierarchical.hierarchy.ancestors(hierarchical.hierarchy.names[label])
            } - {label} <= set(row[:place])


def test_classes_have_a_top_too():
    X = np.arange(12.0)[:, None]
    model = ForestClassifier(10, random_state=0).fit(X, np.repeat(["b", "c", "a"], 4))
    labels, probabilities = model.predict_top(X, 1)
    np.testing.assert_array_equal(np.array(model.label_names_)[labels[:, 0]], model.predict(X))
    np.testing.assert_array_equal(probabilities[:, 0], model.predict_proba(X).max(axis=1))


def test_partly_known_labels_and_weights_have_a_top(flat):
    y = flat.y.toarray().astype(float) if sparse.issparse(flat.y) else flat.y.astype(float)
    y[::7, ::5] = np.nan
    weights = np.linspace(0.5, 2.0, len(y))
    model = ForestClassifier(5, random_state=0).fit(flat.X, y, sample_weight=weights)
    assert_same(model.predict_top(flat.X, 6), sorted_labels(model, flat.X, 6))


@pytest.mark.parametrize("k", [0, 31, 1.5, True])
def test_a_wrong_number_of_labels_is_refused(flat, k):
    model = MODELS["forest"](None).fit(flat.X, flat.y)
    with pytest.raises(ValueError, match=r"'k' parameter of ForestClassifier.predict_top must be an int in \[1, 30\]"):
        model.predict_top(flat.X, k)


def test_top_of_very_many_labels_costs_by_what_leaves_hold():
    rng = np.random.default_rng(0)
    n_rows, n_labels = 500, 2_000_000
    X, labels = rng.normal(size=(n_rows, 5)), rng.integers(0, n_labels, 2 * n_rows)
    Y = sparse.csr_array((np.ones(2 * n_rows), (np.repeat(np.arange(n_rows), 2), labels)), shape=(n_rows, n_labels))
    Y.data[:] = 1
    forest = ForestClassifier(1, bootstrap=False, random_state=0, n_jobs=1).fit(X, Y)
    found, probabilities = forest.predict_top(X, 2)  # dense rows would be 8 GB
    assert (np.sort(found, axis=1) == np.sort(labels.reshape(-1, 2), axis=1)).mean() > 0.99
    assert probabilities.min() > 0.0
