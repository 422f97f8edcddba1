"""Row R3: what must hold for any targets and any container, sought by Hypothesis."""

import numpy as np
import pandas as pd
import polars
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from ramify.ensemble import ForestClassifier, ForestRegressor
from ramify.hierarchy import Hierarchy

SETTINGS = settings(max_examples=25, deadline=None, derandomize=True)


@st.composite
def hierarchies(draw, n_labels):
    """A random tree or DAG: edges go from earlier labels to later ones."""
    edges = []
    for child in range(1, n_labels):
        parents = draw(st.lists(st.integers(0, child - 1), max_size=2, unique=True))
        edges += [(parent, child) for parent in parents]
    return Hierarchy([f"l{j}" for j in range(n_labels)], np.array(edges, dtype=np.int64).reshape(-1, 2))


@st.composite
def label_problems(draw):
    n_rows, n_features, n_labels = draw(st.integers(2, 30)), draw(st.integers(1, 4)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.permuted(np.tile(np.arange(n_rows, dtype=float), (n_features, 1)), axis=1).T
    Y = draw(hnp.arrays(np.int8, (n_rows, n_labels), elements=st.integers(0, 1)))
    return X, Y


def exact(estimator, **parameters):
    """All features, no bootstrap, best splits: nothing random is left but the order of equal gains."""
    return estimator(1, bootstrap=False, max_features=None, random_state=0, **parameters)


@SETTINGS
@given(st.data())
def test_no_label_is_more_probable_than_its_parents(data):
    X, Y = data.draw(label_problems())
    hierarchy = data.draw(hierarchies(Y.shape[1]))
    splitter, weight = data.draw(st.sampled_from(["best", "random"])), data.draw(st.booleans())
    sample_weight = np.linspace(0.1, 3.7, len(X)) if weight else None
    forest = ForestClassifier(7, hierarchy=hierarchy, splitter=splitter, max_depth=3, random_state=0)
    forest.fit(X, Y, sample_weight=sample_weight)
    unseen = np.random.default_rng(0).normal(size=(20, X.shape[1])) * len(X)
    probabilities = forest.predict_proba(unseen)
    parents, children = hierarchy.edges.T
    assert (probabilities[:, children] <= probabilities[:, parents]).all()
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert len(hierarchy.violations(forest.predict(unseen))) == 0


@SETTINGS
@given(label_problems())
def test_containers_do_not_matter(problem):
    X, Y = problem
    expected = ForestClassifier(3, random_state=0).fit(X, Y).predict_proba(X)
    names = [f"f{j}" for j in range(X.shape[1])]
    containers = {
        "list": (X.tolist(), Y.tolist()),
        "float32": (X.astype(np.float32), Y.astype(bool)),
        "fortran": (np.asfortranarray(X), np.asfortranarray(Y)),
        "strided": (np.repeat(X, 2, axis=1)[:, ::2], Y[::-1][::-1]),
        "csr": (sparse.csr_array(X), sparse.csr_array(Y)),
        "csc": (sparse.csc_matrix(X), sparse.csc_matrix(Y)),
        "pandas": (pd.DataFrame(X, columns=names), pd.DataFrame(Y)),
        "polars": (polars.DataFrame(X, schema=names), polars.DataFrame(Y)),
    }
    for name, (features, labels) in containers.items():
        if Y.shape[1] == 1 and name == "list":
            continue
        forest = ForestClassifier(3, random_state=0).fit(features, labels)
        np.testing.assert_array_equal(forest.predict_proba(features), expected, err_msg=name)


@SETTINGS
@given(label_problems(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(problem, random):
    X, Y = problem
    order = random.sample(range(len(X)), len(X))
    # One feature with distinct values, so that two splits with equal gain are the only way to differ.
    X = X[:, :1]
    forest, permuted = exact(ForestClassifier).fit(X, Y), exact(ForestClassifier).fit(X[order], Y[order])
    np.testing.assert_allclose(permuted.predict_proba(X), forest.predict_proba(X), rtol=1e-12)


@SETTINGS
@given(st.integers(0, 2**32 - 1))
def test_order_of_columns_does_not_matter_without_ties(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(25, 4)), rng.normal(size=(25, 2))
    order = rng.permutation(4)
    depth = {"min_samples_leaf": 5}
    forest, permuted = exact(ForestRegressor, **depth).fit(X, y), exact(ForestRegressor, **depth).fit(X[:, order], y)
    unseen = rng.normal(size=(30, 4))
    np.testing.assert_allclose(permuted.predict(unseen[:, order]), forest.predict(unseen), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(permuted.feature_importances_, forest.feature_importances_[order], atol=1e-12)


@SETTINGS
@given(label_problems(), st.data())
def test_whole_weights_are_repetitions(problem, data):
    X, Y = problem
    X = X[:, :1]
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))))
    if not times.any():
        times[0] = 1
    weighted = exact(ForestClassifier).fit(X, Y, sample_weight=times)
    repeated = exact(ForestClassifier).fit(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-12)


@SETTINGS
@given(label_problems())
def test_monotone_scaling_of_features_does_not_matter_to_the_training_rows(problem):
    X, Y = problem
    forest, scaled = exact(ForestClassifier).fit(X, Y), exact(ForestClassifier).fit(np.exp(X / 8), Y)
    np.testing.assert_array_equal(scaled.predict_proba(np.exp(X / 8)), forest.predict_proba(X))


@SETTINGS
@given(label_problems())
def test_contributions_and_base_sum_to_the_prediction(problem):
    X, Y = problem
    forest = ForestClassifier(5, random_state=0).fit(X, Y)
    probabilities = forest.predict_proba(X)
    for label in range(Y.shape[1]):
        contributions, base = forest.contributions(X, label)
        np.testing.assert_allclose(base + contributions.sum(axis=1), probabilities[:, label], atol=1e-13)
