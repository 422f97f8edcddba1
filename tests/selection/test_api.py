"""What every estimator of the package promises, for those whose X must be binary features of an ontology.

scikit-learn's own checks feed continuous X, which these estimators refuse by design.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import ramify
from ramify.datasets import make_feature_hierarchy
from ramify.selection import CFSSelector, HierarchicalSelector, LazyNaiveBayes, LazyNeighbors, LazySelector

DATA = make_feature_hierarchy(90, n_features=40, strength=0.5, random_state=3)
ORDER = DATA.feature_hierarchy
X, Y = DATA.X.toarray().astype(np.int64), DATA.y
ESTIMATORS = [
    *(LazySelector(ORDER, method=method) for method in ("rpv", "hip", "mr", "hip-mr", "positive", "negative")),
    *(HierarchicalSelector(ORDER, method=method) for method in ("shsel", "gtd", "tsel")),
    CFSSelector(),
    LazyNaiveBayes(LazySelector(ORDER)),
    LazyNeighbors(LazySelector(ORDER, method="hip"), n_neighbors=3),
]
each_estimator = pytest.mark.parametrize(
    "estimator", ESTIMATORS, ids=lambda e: f"{type(e).__name__}-{getattr(e, 'method', '')}"
)


def answer(estimator, rows):
    """What a fitted estimator says about rows, as a dense array."""
    if hasattr(estimator, "predict_proba"):
        return estimator.predict_proba(rows)
    if hasattr(estimator, "selection_mask"):
        return estimator.selection_mask(rows).toarray()
    return estimator.get_support()


@each_estimator
def test_fit_returns_self_and_leaves_parameters_and_input_alone(estimator):
    model = clone(estimator)
    before, parameters = X.copy(), model.get_params()
    assert model.fit(X, Y) is model
    np.testing.assert_array_equal(X, before)
    for name, value in model.get_params().items():
        assert value is parameters[name] or value == parameters[name]


@each_estimator
def test_kinds_of_x_give_the_same_answer(estimator):
    expected = answer(clone(estimator).fit(X, Y), X)
    read_only = X.astype(np.float32)
    read_only.flags.writeable = False
    for rows in (
        X.astype(bool),
        read_only,
        np.asfortranarray(X),
        X.tolist(),
        sparse.csr_matrix(X),
        sparse.coo_array(X),
    ):
        np.testing.assert_allclose(answer(clone(estimator).fit(rows, Y), rows), expected)


@each_estimator
def test_rows_may_come_in_any_order(estimator):
    order = np.random.default_rng(0).permutation(len(X))
    expected = answer(clone(estimator).fit(X, Y), X)
    np.testing.assert_allclose(answer(clone(estimator).fit(X[order], Y[order]), X), expected)


@each_estimator
def test_pickles_answer_the_same(estimator):
    model = clone(estimator).fit(X, Y)
    np.testing.assert_array_equal(answer(pickle.loads(pickle.dumps(model)), X), answer(model, X))


@each_estimator
def test_model_files_answer_the_same(estimator, tmp_path):
    model = clone(estimator).fit(X, Y)
    ramify.save(model, tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(answer(loaded, X), answer(model, X))
    if hasattr(model, "explain"):
        pd.testing.assert_frame_equal(loaded.explain(X[0]), model.explain(X[0]))


@each_estimator
def test_columns_are_remembered_and_checked(estimator):
    frame = pd.DataFrame(X, columns=list(ORDER.names))
    model = clone(estimator).fit(frame, Y)
    assert model.n_features_in_ == 40
    assert list(model.feature_names_in_) == list(ORDER.names)
    np.testing.assert_allclose(answer(model, frame), answer(clone(estimator).fit(X, Y), X))
    if not isinstance(estimator, CFSSelector):
        with pytest.raises(ValueError, match="feature names should match"):
            answer(model, frame[frame.columns[::-1]])


@each_estimator
def test_hostile_input_is_refused(estimator):
    holed = X.astype(float)
    holed[3, 7] = np.nan
    for rows, target in (
        (holed, Y),
        (np.where(X, np.inf, 0), Y),
        (X * 1.5, Y),
        (X[:0], Y[:0]),
        (X[:, 0], Y),
        (X, Y[:-1]),
        (X.astype(str).astype(object) + "x", Y),
        (X, None),
    ):
        with pytest.raises((ValueError, TypeError)):
            clone(estimator).fit(rows, target)


@each_estimator
def test_one_class_and_constant_columns_are_no_trouble(estimator):
    constant = np.zeros_like(X)
    assert np.isfinite(answer(clone(estimator).fit(constant, Y), constant)).all()
    assert np.isfinite(answer(clone(estimator).fit(X, np.zeros(len(X), dtype=int)), X)).all()
    assert np.isfinite(answer(clone(estimator).fit(X[:3], Y[:3]), X)).all()
