"""Row R3: what must hold for any targets and any container, sought by Hypothesis."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from ramify.ensemble import ForestClassifier, ForestRegressor, LabelRankingForest
from ramify.hierarchy import Hierarchy
from ramify.targets.rankings import break_ties

SETTINGS = settings(max_examples=25, deadline=None, derandomize=True)


@st.composite
def hierarchies(draw, n_labels, max_parents=2):
    """A random tree or DAG: edges go from earlier labels to later ones."""
    edges = []
    for child in range(1, n_labels):
        parents = draw(st.lists(st.integers(0, child - 1), max_size=max_parents, unique=True))
        edges += [(parent, child) for parent in parents]
    return Hierarchy([f"l{j}" for j in range(n_labels)], np.array(edges, dtype=np.int64).reshape(-1, 2))


@st.composite
def label_problems(draw):
    n_rows, n_features, n_labels = draw(st.integers(2, 30)), draw(st.integers(1, 4)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.permuted(np.tile(np.arange(n_rows, dtype=float), (n_features, 1)), axis=1).T
    Y = draw(hnp.arrays(np.int8, (n_rows, n_labels), elements=st.integers(0, 1)))
    return X, Y


RANKINGS = ("kendall", "spearman", "entropy", "mallows")
KINDS = ("sets", "tree", "DAG", "numbers", *RANKINGS)


@dataclass(frozen=True)
class Problem:
    """Features without equal values in a column, a target of some kind, and forests for it."""

    X: np.ndarray
    y: np.ndarray
    estimator: Any
    parameters: dict[str, Any]

    def fitted(self, X, y, sample_weight=None, **parameters):
        options = {"random_state": 0, **self.parameters, **parameters}
        return self.estimator(options.pop("n_estimators", 1), **options).fit(X, y, sample_weight=sample_weight)

    def exact(self, X, y, sample_weight=None):
        """One tree of all features, no bootstrap, best splits: nothing random is left but the order of equal gains."""
        return self.fitted(X, y, sample_weight, bootstrap=False, max_features=None, min_samples_leaf=1)


@st.composite
def problems(draw, kind):
    n_rows, n_features, n_labels = draw(st.integers(2, 24)), draw(st.integers(2, 4)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.permuted(np.tile(np.arange(n_rows, dtype=float), (n_features, 1)), axis=1).T
    if kind in RANKINGS:
        keys = hnp.arrays(np.int8, (n_rows, n_labels), elements=st.integers(0, 4))
        ranks = np.apply_along_axis(lambda row: np.unique(row, return_inverse=True)[1] + 1.0, 1, draw(keys))
        if kind == "mallows":  # its spread ends at 10, which rows with ties reach by several splits
            ranks = break_ties(ranks)
        return Problem(X, ranks, LabelRankingForest, {"criterion": kind, "gamma": 1.0})
    if kind == "numbers":
        return Problem(X, rng.normal(size=(n_rows, n_labels)), ForestRegressor, {})
    Y = draw(hnp.arrays(np.int8, (n_rows, n_labels), elements=st.integers(0, 1)))
    if kind == "sets":
        return Problem(X, Y, ForestClassifier, {})
    hierarchy = draw(hierarchies(n_labels, max_parents=1 if kind == "tree" else 3))
    return Problem(X, hierarchy.close(Y), ForestClassifier, {"hierarchy": hierarchy})


def predictions(forest, X):
    """What the trees say before it becomes a label or a rank: probabilities, numbers or preferences."""
    for method in ("predict_proba", "predict_preferences"):
        if hasattr(forest, method):
            return getattr(forest, method)(X)
    return forest.predict(X)


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


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(st.data())
def test_containers_do_not_matter(kind, data):
    problem = data.draw(problems(kind))
    X, y = problem.X, problem.y
    forest = problem.fitted(X, y, n_estimators=3)
    expected = predictions(forest, X)
    names = [f"f{j}" for j in range(X.shape[1])]
    labels = list(problem.parameters["hierarchy"].names if "hierarchy" in problem.parameters else forest.label_names_)
    containers = {
        "list": (X.tolist(), y.tolist()),
        "float32": (X.astype(np.float32), y if y.dtype.kind == "f" else y.astype(bool)),
        "fortran": (np.asfortranarray(X), np.asfortranarray(y)),
        "strided": (np.repeat(X, 2, axis=1)[:, ::2], y[::-1][::-1]),
        "csr": (sparse.csr_array(X), y if y.dtype.kind == "f" else sparse.csr_array(y)),
        "csc": (sparse.csc_matrix(X), y if y.dtype.kind == "f" else sparse.csc_matrix(y)),
        "pandas": (pd.DataFrame(X, columns=names), pd.DataFrame(y, columns=labels)),
        "polars": (polars.DataFrame(X, names, orient="row"), polars.DataFrame(y, labels, orient="row")),
    }
    for name, (features, target) in containers.items():
        found = predictions(problem.fitted(features, target, n_estimators=3), features)
        np.testing.assert_array_equal(found, expected, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(st.data(), st.integers(0, 2**32 - 1))
def test_order_of_rows_and_columns_does_not_matter(kind, data, seed):
    # Weights of the rows that are no round numbers leave no two different splits with the same gain. Where two
    # features split a node into the same rows, either is right, and the training rows end in the same leaves.
    problem = data.draw(problems(kind))
    rng = np.random.default_rng(seed)
    X, y, weights = problem.X, problem.y, rng.uniform(1.0, 2.0, len(problem.X))
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    expected = predictions(problem.exact(X, y, weights), X)
    permuted = problem.exact(X[np.ix_(rows, columns)], y[rows], weights[rows])
    np.testing.assert_allclose(predictions(permuted, X[:, columns]), expected, rtol=1e-9, atol=1e-12)


@SETTINGS
@given(st.integers(0, 2**32 - 1))
def test_order_of_columns_does_not_matter_without_ties(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(25, 4)), rng.normal(size=(25, 2))
    order = rng.permutation(4)
    depth = {"min_samples_leaf": 8, "max_depth": 2}
    forest, permuted = exact(ForestRegressor, **depth).fit(X, y), exact(ForestRegressor, **depth).fit(X[:, order], y)
    unseen = rng.normal(size=(30, 4))
    np.testing.assert_allclose(permuted.predict(unseen[:, order]), forest.predict(unseen), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(permuted.feature_importances_, forest.feature_importances_[order], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(st.data())
def test_whole_weights_are_repetitions(kind, data):
    problem = data.draw(problems(kind))
    X, y = problem.X, problem.y
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))))
    if not times.any():
        times[0] = 1
    weighted = problem.exact(X, y, times)
    repeated = problem.exact(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0))
    np.testing.assert_allclose(predictions(weighted, X), predictions(repeated, X), rtol=1e-9, atol=1e-12)


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
