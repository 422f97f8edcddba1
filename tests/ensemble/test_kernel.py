"""Ridge regression on a kernel: one eigendecomposition for all labels, choices by rows left out."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_friedman1
from sklearn.utils.estimator_checks import parametrize_with_checks

import ramify
from ramify.datasets import make_hierarchical, make_multilabel
from ramify.ensemble import KernelClassifier, KernelRegressor, kernel
from ramify.ensemble.threshold import f1_thresholds

NESTED = make_hierarchical(150, random_state=0)
SETS = make_multilabel(150, n_labels=4, random_state=0)

LEFT_OUT = "rows are left out one by one to choose, so that a repeated row is predicted by its copy"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": LEFT_OUT,
    "check_sample_weight_equivalence_on_sparse_data": LEFT_OUT,
}


@parametrize_with_checks([KernelClassifier(), KernelRegressor()], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def slow_ridge(X, y, weights, X_new, sharpness, l2, unit):
    """The minimum of the weighted squared error plus the penalty, written plainly for dense numbers."""
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    place = lambda rows: np.clip((rows - mean) / deviation, -4, 4).round(6)  # noqa: E731
    similar = lambda a, b: np.exp(  # noqa: E731
        -sharpness / unit * ((place(a)[:, None] - place(b)[None]) ** 2).sum(axis=2)
    )
    prior = np.average(y, axis=0, weights=weights)
    alpha = np.linalg.solve(similar(X, X) + l2 * np.diag(1 / weights), y - prior)
    return prior + similar(X_new, X) @ alpha


def weights_of(weighted, n_rows):
    drawn = np.random.default_rng(0).uniform(0.5, 2, n_rows) if weighted else np.ones(n_rows)
    return drawn / drawn.mean()


@pytest.mark.parametrize("weighted", [False, True])
def test_it_equals_the_rule_written_plainly(weighted):
    weights = weights_of(weighted, 100)
    model = KernelClassifier(random_state=0).fit(SETS.X[:100], SETS.y[:100], weights if weighted else None)
    Y = SETS.y[:100].toarray()
    expected = slow_ridge(SETS.X[:100], Y, weights, SETS.X[100:], model.sharpness_, model.l2_, model._unit)
    np.testing.assert_allclose(model.predict_proba(SETS.X[100:]), np.clip(expected, 0, 1), atol=1e-7)
    np.testing.assert_array_equal(model.predict(SETS.X[100:]).toarray(), expected > 0.5)


@pytest.mark.parametrize("weighted", [False, True])
def test_errors_of_rows_left_out_are_those_of_fits_without_the_row(weighted, monkeypatch):
    weights, Y = weights_of(weighted, 60), SETS.y[:60].toarray().astype(float)
    X = SETS.X[:60]
    kept = {}
    monkeypatch.setattr(KernelClassifier, "_finish", lambda self, basis, *_: kept.update(basis=basis))
    model = KernelClassifier(sharpness=1.0, l2=2.0, random_state=0).fit(X, SETS.y[:60], weights)
    residuals = Y - model.prior_
    found = kept["basis"].left_out(2.0, np.sqrt(weights)[:, None] * residuals) / np.sqrt(weights)[:, None]
    rows = model._centres
    similar = np.exp(-1.0 / model._unit * ((rows[:, None] - rows[None]) ** 2).sum(axis=2))
    for row in range(60):
        others = np.arange(60) != row
        system = similar[np.ix_(others, others)] + 2.0 * np.diag(1 / weights[others])
        predicted = similar[row, others] @ np.linalg.solve(system, residuals[others])
        np.testing.assert_allclose(found[row], residuals[row] - predicted, atol=1e-9)


def test_a_smooth_function_is_found_and_the_choice_predicts_new_rows_best():
    X, y = make_friedman1(300, noise=0.5, random_state=0)
    chosen = KernelRegressor(random_state=0).fit(X[:150], y[:150])
    scores = {
        (sharpness, l2): KernelRegressor(sharpness=sharpness, l2=l2).fit(X[:150], y[:150]).score(X[150:], y[150:])
        for sharpness in (0.25, 1.0, 4.0)
        for l2 in (0.1, 1.0, 10.0, 100.0)
    }
    assert chosen.score(X[150:], y[150:]) > max(max(scores.values()) - 0.02, 0.75)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_change_a_bit(n_jobs):
    data = make_hierarchical(400, random_state=1)
    one = KernelClassifier(hierarchy=data.hierarchy, n_jobs=1, random_state=0).fit(data.X, data.y)
    many = KernelClassifier(hierarchy=data.hierarchy, n_jobs=n_jobs, random_state=0).fit(data.X, data.y)
    X = np.tile(data.X, (6, 1))  # several blocks
    np.testing.assert_array_equal(many.predict_proba(X), one.predict_proba(X))


def test_landmarks_come_close_to_all_rows(monkeypatch):
    X, y = make_friedman1(500, n_features=5, random_state=1)
    X, X_new, y = X[:400], X[400:], y[:400]
    options = {"sharpness": 0.5, "random_state": 0}
    whole = KernelRegressor(**options).fit(X, y)
    monkeypatch.setattr(kernel, "_ALL_ROWS", 300)
    every = KernelRegressor(n_landmarks=400, **{**options, "l2": whole.l2_}).fit(X, y)
    some = KernelRegressor(n_landmarks=200, **options).fit(X, y)
    assert (len(every._centres), len(some._centres)) == (400, 200)
    np.testing.assert_allclose(every.predict(X_new), whole.predict(X_new), rtol=1e-4)
    assert np.abs(some.predict(X_new) - whole.predict(X_new)).mean() < 0.1 * y.std()


def test_the_sharpness_of_many_rows_is_chosen_by_some(monkeypatch):
    monkeypatch.setattr(kernel, "_SHARPNESS_ROWS", 80)
    model = KernelClassifier(random_state=0).fit(SETS.X, SETS.y)
    assert len(model._centres) == 150
    few = KernelClassifier(sharpness=model.sharpness_, random_state=0).fit(SETS.X, SETS.y)
    np.testing.assert_array_equal(model.predict_proba(SETS.X), few.predict_proba(SETS.X))


def test_a_hierarchy_is_kept():
    model = KernelClassifier(hierarchy=NESTED.hierarchy, random_state=0).fit(NESTED.X, NESTED.y)
    probabilities = model.predict_proba(NESTED.X)
    parents, children = NESTED.hierarchy.edges[:, 0], NESTED.hierarchy.edges[:, 1]
    assert (probabilities[:, parents] >= probabilities[:, children]).all()
    assert model.label_names_ == NESTED.hierarchy.names
    assert model.target_kind_ == "hierarchy"


@pytest.mark.parametrize("kind", ["rbf", "linear"])
def test_rows_may_be_sparse_and_scaled_by_any_factor(kind, monkeypatch):
    X = np.where(np.abs(SETS.X) > 0.5, SETS.X, 0.0)
    given = KernelClassifier(kernel=kind, random_state=0)
    expected = given.fit(X, SETS.y).predict_proba(X)
    np.testing.assert_array_equal(given.fit(sparse.csr_array(X), SETS.y).predict_proba(sparse.csc_array(X)), expected)
    np.testing.assert_allclose(given.fit(X * 1e300, SETS.y).predict_proba(X * 1e300), expected, atol=1e-9)
    monkeypatch.setattr("ramify.features.distances._DENSE_CELLS", 0)
    of_sparse = given.fit(sparse.csr_array(X), SETS.y)
    assert sparse.issparse(of_sparse._centres)
    np.testing.assert_array_equal(of_sparse.predict_proba(X), of_sparse.predict_proba(sparse.csr_array(X)))
    if kind == "rbf":  # distances do not know where zero is
        np.testing.assert_allclose(of_sparse.predict_proba(sparse.csc_array(X)), expected, atol=1e-6)


def test_large_sparse_rows_have_a_linear_kernel(monkeypatch):
    monkeypatch.setattr("ramify.features.distances._DENSE_CELLS", 0)
    words = sparse.random_array((200, 50), density=0.1, random_state=np.random.default_rng(0), format="csr")
    y = sparse.csr_array((words[:, [0, 1]] > 0).astype(int))
    model = KernelClassifier(threshold="f1", random_state=0).fit(words, y)
    assert model.kernel_ == "linear"
    assert (model.predict(words) != y).mean() < 0.02


def test_nominal_and_missing_values_are_taken():
    frame = pd.DataFrame({"number": SETS.X[:, 0], "name": np.where(SETS.X[:, 1] > 0, "up", "down")})
    frame["name"] = frame["name"].astype("category")
    frame.loc[:9, "number"] = np.nan
    frame.loc[5:14, "name"] = None
    y = (SETS.X[:, 1] > 0).astype(int)
    model = KernelClassifier(random_state=0).fit(frame, y)
    assert np.isfinite(model.predict_proba(frame)).all()
    assert (model.predict(frame)[15:] == y[15:]).mean() > 0.95


def test_a_chosen_threshold_is_chosen_on_rows_left_out():
    X, Y = SETS.X[:60], SETS.y.toarray()[:60].astype(float)
    model = KernelClassifier(threshold="f1", random_state=0).fit(X, Y)
    rows = model._centres
    similar = np.exp(-model.sharpness_ / model._unit * ((rows[:, None] - rows[None]) ** 2).sum(axis=2))
    left_out = np.empty_like(Y)
    for row in range(60):
        others = np.arange(60) != row
        system = similar[np.ix_(others, others)] + model.l2_ * np.eye(59)
        left_out[row] = model.prior_ + similar[row, others] @ np.linalg.solve(system, (Y - model.prior_)[others])
    below = np.nextafter(f1_thresholds(np.clip(left_out, 0, 1), Y), -1)
    np.testing.assert_allclose(model.threshold_, below, atol=1e-6)


def test_unknown_cells_are_no_negatives():
    data = make_multilabel(400, n_labels=3, random_state=0)
    Y = data.y.toarray().astype(float)
    hidden = np.random.default_rng(0).random(Y.shape) < 0.5
    hidden[:3] = False
    unknown = KernelClassifier(random_state=0).fit(data.X, np.where(hidden, np.nan, Y))
    negative = KernelClassifier(random_state=0).fit(data.X, np.where(hidden, 0.0, Y))
    truth = Y[hidden]
    errors = [np.mean((model.predict_proba(data.X)[hidden] - truth) ** 2) for model in (unknown, negative)]
    assert errors[0] < errors[1]
    np.testing.assert_allclose(unknown.prior_, [Y[~hidden[:, j], j].mean() for j in range(3)])


def test_weight_zero_is_no_row_and_only_ratios_matter():
    weights = np.r_[np.zeros(30), np.full(120, 3.0)]
    weighted = KernelClassifier(random_state=0).fit(SETS.X, SETS.y, weights)
    plain = KernelClassifier(random_state=0).fit(SETS.X[30:], SETS.y[30:])
    np.testing.assert_allclose(weighted.predict_proba(SETS.X), plain.predict_proba(SETS.X), atol=1e-12)


def test_it_comes_back_from_a_file(tmp_path):
    for model in (
        KernelClassifier(hierarchy=NESTED.hierarchy).fit(NESTED.X, NESTED.y),
        KernelRegressor().fit(NESTED.X, NESTED.X[:, :2]),
    ):
        ramify.save(model, tmp_path / "model.ramify")
        loaded = ramify.load(tmp_path / "model.ramify")
        name = "predict_proba" if model.target_kind_ == "hierarchy" else "predict"
        np.testing.assert_array_equal(getattr(loaded, name)(NESTED.X), getattr(model, name)(NESTED.X))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "cubic"}, "kernel"),
        ({"sharpness": "high"}, "must be a number > 0 or 'auto'"),
        ({"sharpness": 0}, "sharpness"),
        ({"l2": -1.0}, "l2"),
        ({"n_landmarks": 0}, "n_landmarks"),
        ({"threshold": 2}, "threshold"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters_are_refused_by_name(options, words):
    with pytest.raises(ValueError, match=words):
        KernelClassifier(**options).fit(SETS.X, SETS.y)
