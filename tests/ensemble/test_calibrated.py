"""Calibrated probabilities: out of bag, rising, within the hierarchy, closer to what happens."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import ramify
from ramify.datasets import make_hierarchical
from ramify.ensemble import Calibrated, ForestClassifier, ForestRegressor
from ramify.ensemble.calibrated import at_most_parents

BOOTSTRAP = "a row of weight 2 and a repeated row are drawn differently by a bootstrap"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": BOOTSTRAP,
    "check_sample_weight_equivalence_on_sparse_data": BOOTSTRAP,
}


@parametrize_with_checks(
    [
        Calibrated(ForestClassifier(20, random_state=0)),
        Calibrated(ForestClassifier(20, random_state=0), method="sigmoid"),
    ],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_hierarchical(300, n_features=14, random_state=0)


def test_isotonic_is_scikit_learns_on_out_of_bag_predictions(data):
    forest = ForestClassifier(25, oob_score=True, random_state=0)
    Y = sparse.csr_array(data.y).toarray()
    fitted = forest.fit(data.X, Y)
    seen = np.isfinite(fitted.oob_prediction_).all(axis=1)
    model = Calibrated(forest, method="isotonic").fit(data.X, Y)
    raw = fitted.predict_proba(data.X)
    for label in range(Y.shape[1]):
        theirs = IsotonicRegression(out_of_bounds="clip").fit(fitted.oob_prediction_[seen, label], Y[seen, label])
        np.testing.assert_allclose(model.predict_proba(data.X)[:, label], theirs.predict(raw[:, label]), atol=1e-12)


def test_sigmoid_is_a_logistic_regression_on_smoothed_targets(data):
    forest = ForestClassifier(25, oob_score=True, random_state=0)
    Y = sparse.csr_array(data.y).toarray()
    fitted = forest.fit(data.X, Y)
    seen = np.isfinite(fitted.oob_prediction_).all(axis=1)
    model = Calibrated(forest, method="sigmoid").fit(data.X, Y)
    for label in range(3):
        scores, has = fitted.oob_prediction_[seen, label], Y[seen, label]
        n_positive, n_negative = has.sum(), (1 - has).sum()
        goal = np.where(has > 0, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
        doubled = np.concatenate([scores, scores])[:, None]
        theirs = LogisticRegression(C=1e10, tol=1e-10, max_iter=1000)
        theirs.fit(doubled, np.repeat([1, 0], len(scores)), sample_weight=np.concatenate([goal, 1 - goal]))
        assert model.slopes_[label] == pytest.approx(theirs.coef_[0, 0], rel=1e-3)
        assert model.intercepts_[label] == pytest.approx(theirs.intercept_[0], rel=1e-3)


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_a_child_is_never_above_its_parent(data, method):
    forest = ForestClassifier(15, hierarchy=data.hierarchy, random_state=0)
    model = Calibrated(forest, method=method).fit(data.X[:150], data.y[:150])
    probabilities = model.predict_proba(data.X)
    names = list(data.hierarchy.names)
    for name in names:
        for ancestor in data.hierarchy.ancestors(name):
            assert (probabilities[:, names.index(name)] <= probabilities[:, names.index(ancestor)]).all()
    predicted = model.predict(data.X)
    np.testing.assert_array_equal(data.hierarchy.close(predicted).toarray(), predicted.toarray())
    raised = np.ones((1, len(names)))
    raised[0, 0] = 0.25
    cut = at_most_parents(raised, data.hierarchy)[0]
    below = [names.index(name) for name in data.hierarchy.descendants(names[0])]
    assert (cut[below] == 0.25).all()


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_unseen_rows_are_closer_to_what_happens(method):
    X, y = make_classification(3000, n_features=20, n_informative=6, flip_y=0.15, random_state=0)
    forest = ForestClassifier(60, min_samples_leaf=20, random_state=0)
    raw = forest.fit(X[:1500], y[:1500]).predict_proba(X[1500:])[:, 1]
    calibrated = Calibrated(forest, method=method).fit(X[:1500], y[:1500]).predict_proba(X[1500:])[:, 1]
    errors = []
    for scores in (raw, calibrated):
        happened, said = calibration_curve(y[1500:], scores, n_bins=10, strategy="quantile")
        errors.append(np.abs(happened - said).mean())
    assert errors[1] < 0.6 * errors[0]


def test_class_probabilities_sum_to_one():
    X, y = make_classification(300, n_classes=3, n_informative=5, random_state=0)
    model = Calibrated(ForestClassifier(20, random_state=0)).fit(X, np.array(["a", "b", "c"])[y])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert set(model.predict(X)) <= {"a", "b", "c"}


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_same_bits_from_files_threads_and_a_second_fit(data, method, tmp_path):
    forest = ForestClassifier(15, hierarchy=data.hierarchy, random_state=0)
    model = Calibrated(forest, method=method).fit(data.X, data.y)
    expected = model.predict_proba(data.X)
    ramify.save(model, tmp_path / "model.ramify")
    np.testing.assert_array_equal(ramify.load(tmp_path / "model.ramify").predict_proba(data.X), expected)
    threaded = Calibrated(forest.set_params(n_jobs=2), method=method).fit(data.X, data.y)
    np.testing.assert_array_equal(threaded.predict_proba(data.X), expected)
    other = Calibrated(forest, method="sigmoid" if method == "isotonic" else "isotonic").fit(data.X, data.y)
    np.testing.assert_array_equal(other.set_params(method=method).fit(data.X, data.y).predict_proba(data.X), expected)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Calibrated(ForestRegressor(3)), "must be a ForestClassifier"),
        (Calibrated(ForestClassifier(3, bootstrap=False)), "needs a forest with bootstrap=True"),
        (Calibrated(ForestClassifier(3, threshold="f1")), "must keep threshold=0.5"),
        (Calibrated(ForestClassifier(3), method="beta"), "'method' parameter of Calibrated must be one of 'isotonic'"),
    ],
)
def test_bad_parameter_is_refused(model, words):
    with pytest.raises((ValueError, TypeError), match=words):
        model.fit([[0.0], [1.0], [2.0]], np.eye(3, dtype=int))
