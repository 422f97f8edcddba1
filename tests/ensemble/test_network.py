"""Networks with dropout and the maximum over the hierarchy: gradients, choices, the same bits for any threads."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.utils.estimator_checks import parametrize_with_checks

import ramify
from ramify import Hierarchy
from ramify.datasets import make_hierarchical, make_multilabel
from ramify.ensemble import NetworkClassifier, network
from ramify.ensemble.label_maximum import LabelMaximum

NESTED = make_hierarchical(150, random_state=0)
SETS = make_multilabel(150, n_labels=4, random_state=0)
GRAPH = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("c", "e"), ("f", "e"), ("f", "g")])
SMALL = {"n_units": 30, "dropout": 0.3, "learning_rate": 0.01, "n_epochs": 40, "random_state": 0}
FAST = {**SMALL, "early_stopping": None}

REPEATED = "a repeated row changes the batches"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": REPEATED,
    "check_sample_weight_equivalence_on_sparse_data": REPEATED,
}


@parametrize_with_checks(
    [NetworkClassifier(1, n_units=30, dropout=0.0, learning_rate=0.02, n_epochs=30, early_stopping=None)],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def random_sets(hierarchy, n_rows, random):
    return hierarchy.close((random.random((n_rows, len(hierarchy))) < 0.2).astype(int))


def slow_maxima(scores, labels, hierarchy):
    """C(x) with the descendants that a row has for a label that it has, as Giunchiglia and Lukasiewicz write it."""
    largest = np.empty_like(scores)
    for label, name in enumerate(hierarchy.names):
        below = [label, *(hierarchy.index(other) for other in hierarchy.descendants(name))]
        for row in range(scores.shape[1]):
            own = [k for k in below if labels[k, row] == 1] if labels[label, row] == 1 else below
            largest[label, row] = max(scores[k, row] for k in own)
    return largest


@pytest.mark.parametrize("hierarchy", [GRAPH, NESTED.hierarchy])
def test_the_maximum_is_that_of_the_paper(hierarchy):
    random = np.random.default_rng(0)
    labels = random_sets(hierarchy, 50, random).T.astype(np.int8)
    scores = random.normal(size=labels.shape).astype(np.float32)
    maximum = LabelMaximum.of(hierarchy)
    np.testing.assert_array_equal(maximum.of_scores(scores), slow_maxima(scores, 0 * labels, hierarchy))
    largest, sources = maximum.within_labels(scores, labels)
    np.testing.assert_array_equal(largest, slow_maxima(scores, labels, hierarchy))
    np.testing.assert_array_equal(np.take_along_axis(scores, sources, axis=0), largest)


def slow_loss(scores, labels, hierarchy, weights):
    """Cross-entropy of (1 - y) C(o) + y C(y o), mean over all cells; unknown ones (2) add nothing."""
    if hierarchy is not None:
        scores = slow_maxima(scores, labels, hierarchy)
    o = expit(scores)
    cells = np.where(labels == 1, -np.log(o), -np.log1p(-o)) * (labels < 2) * weights
    return cells.sum() / scores.size


@pytest.mark.parametrize("hierarchy", [None, GRAPH])
@pytest.mark.parametrize("weighted", [False, True])
def test_slopes_of_the_loss_are_its_differences(hierarchy, weighted):
    random = np.random.default_rng(1)
    labels = random_sets(GRAPH, 6, random).astype(np.int8)
    known, unknown = ["a", "c", "f"], ["e", "g"]
    labels[0] = 0
    labels[0, [GRAPH.index(name) for name in known]] = 1
    labels[0, [GRAPH.index(name) for name in unknown]] = 2
    weights = random.uniform(0.5, 2, 6).astype(np.float32) if weighted else None
    maximum = None if hierarchy is None else LabelMaximum.of(hierarchy)
    data = network._Training(np.zeros((6, 1), np.float32), sparse.csr_array(labels), weights, maximum, False)
    scores = random.normal(size=labels.T.shape).astype(np.float32)
    found = data.slopes(scores, np.arange(6))
    of_rows = np.ones(6) if weights is None else weights
    for cell in np.ndindex(scores.shape):
        step = np.zeros(scores.shape)
        step[cell] = 1e-4
        up, down = (slow_loss(scores + sign * step, labels.T, hierarchy, of_rows) for sign in (1, -1))
        assert found[cell] == pytest.approx((up - down) / 2e-4, abs=1e-6)


def test_a_step_is_that_of_adam():
    random = np.random.default_rng(0)
    data = network._Training(
        random.normal(size=(8, 3)).astype(np.float32), sparse.csr_array(np.eye(8, 2, dtype=np.int8)), None, None, False
    )
    given = NetworkClassifier(n_units=5, dropout=0.0, learning_rate=0.1, l2=0.01, batch_size=8)
    made = network._Network(given, data, np.random.SeedSequence(0))
    values = [part.astype(np.float64) for part in made.parts]
    moments = [(np.zeros(part.shape), np.zeros(part.shape)) for part in values]
    for step in range(1, 4):
        made.epoch(None)
        slopes = slow_slopes(values, data.rows.astype(np.float64), np.eye(8, 2))
        for k, slope in enumerate(slopes):
            slope = slope + 0.01 * values[k]
            first, second = moments[k]
            first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
            moments[k] = first, second
            values[k] -= 0.1 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        for found, expected in zip(made.parts, values, strict=True):
            np.testing.assert_allclose(found, expected, atol=2e-4)


def slow_slopes(values, rows, labels):
    """Derivatives of the mean loss by all weights, example by example."""
    first, first_bias, second, second_bias, last, last_bias = values
    slopes = [np.zeros(part.shape) for part in values]
    for x, y in zip(rows, labels, strict=True):
        a = np.maximum(x @ first + first_bias, 0)
        b = np.maximum(second @ a + second_bias, 0)
        error = (expit(last @ b + last_bias) - y) / labels.size
        below = (last.T @ error) * (b > 0)
        lowest = (second.T @ below) * (a > 0)
        parts = (np.outer(x, lowest), lowest, np.outer(below, a), below, np.outer(error, b), error)
        slopes = [total + part for total, part in zip(slopes, parts, strict=True)]
    return slopes


def test_dropout_leaves_the_mean_of_a_unit():
    data = network._Training(np.ones((1, 1), np.float32), sparse.csr_array([[1]], dtype=np.int8), None, None, False)
    made = network._Network(NetworkClassifier(dropout=0.7), data, np.random.SeedSequence(0))
    hidden = np.ones((1000, 100), np.float32)
    factors = made._drop(hidden)
    assert hidden.mean() == pytest.approx(1, abs=0.02)
    assert (factors > 0).mean() == pytest.approx(0.3, abs=0.01)


def test_a_planted_product_is_found():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 5))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    model = NetworkClassifier(2, n_units=100, dropout=0.2, learning_rate=3e-3, random_state=0).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.9
    assert model.n_epochs_ <= 100


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_change_a_bit(n_jobs):
    options = {**SMALL, "n_epochs": 6, "hierarchy": NESTED.hierarchy}
    one = NetworkClassifier(3, n_jobs=1, **options).fit(NESTED.X, NESTED.y)
    many = NetworkClassifier(3, n_jobs=n_jobs, **options).fit(NESTED.X, NESTED.y)
    X = np.tile(NESTED.X, (10, 1))  # several blocks
    np.testing.assert_array_equal(many.predict_proba(X), one.predict_proba(X))


def test_a_hierarchy_is_kept():
    model = NetworkClassifier(2, hierarchy=NESTED.hierarchy, **FAST).fit(NESTED.X, NESTED.y)
    probabilities = model.predict_proba(NESTED.X)
    parents, children = NESTED.hierarchy.edges[:, 0], NESTED.hierarchy.edges[:, 1]
    assert (probabilities[:, parents] >= probabilities[:, children]).all()
    assert model.label_names_ == NESTED.hierarchy.names


def test_stages_are_the_models_of_fewer_epochs():
    from ramify.features import learn_features

    model = NetworkClassifier(2, **FAST)
    features = learn_features(model, SETS.X)
    stages = model.grow_staged(features, model.encode_target(SETS.y), None, (3, 7))
    for n_epochs, stage in stages.items():
        alone = NetworkClassifier(2, **{**FAST, "n_epochs": n_epochs}).fit(SETS.X, SETS.y)
        np.testing.assert_array_equal(stage.predict_proba(SETS.X), alone.predict_proba(SETS.X))
        assert stage.n_epochs_ == alone.n_epochs_ == n_epochs


def test_the_number_of_epochs_is_chosen_on_rows_held_back_and_all_rows_are_learnt():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 20)), random.integers(0, 2, 200)  # noise: more epochs do not help
    model = NetworkClassifier(1, **{**SMALL, "n_epochs": 200}, patience=10).fit(X, y)
    assert model.n_epochs_ < 200
    alone = NetworkClassifier(1, **{**FAST, "n_epochs": model.n_epochs_}).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))


def test_sparse_rows_are_taken_as_they_are(monkeypatch):
    words = sparse.random_array((300, 50), density=0.1, random_state=np.random.default_rng(0), format="csr")
    y = sparse.csr_array((words[:, [0, 1]] > 0).astype(int))
    dense = NetworkClassifier(1, **FAST).fit(words.toarray(), y)
    np.testing.assert_array_equal(
        NetworkClassifier(1, **FAST).fit(words, y).predict_proba(words), dense.predict_proba(words.toarray())
    )
    monkeypatch.setattr("ramify.features.distances._DENSE_CELLS", 0)
    model = NetworkClassifier(1, **FAST).fit(words, y)
    assert model._is_csr
    np.testing.assert_allclose(model.predict_proba(words.toarray()), model.predict_proba(words), atol=1e-6)
    assert (model.predict(words) != y).mean() < 0.02


def test_nominal_and_missing_values_are_taken():
    frame = pd.DataFrame({"number": SETS.X[:, 0], "name": np.where(SETS.X[:, 1] > 0, "up", "down")})
    frame["name"] = frame["name"].astype("category")
    frame.loc[:9, "number"] = np.nan
    frame.loc[5:14, "name"] = None
    y = (SETS.X[:, 1] > 0).astype(int)
    model = NetworkClassifier(1, **FAST).fit(frame, y)
    assert np.isfinite(model.predict_proba(frame)).all()
    assert (model.predict(frame)[15:] == y[15:]).mean() > 0.95


def test_unknown_cells_are_no_negatives():
    data = make_multilabel(400, n_labels=3, random_state=0)
    Y = data.y.toarray().astype(float)
    hidden = np.random.default_rng(0).random(Y.shape) < 0.5
    hidden[:3] = False
    unknown = NetworkClassifier(1, **FAST).fit(data.X, np.where(hidden, np.nan, Y))
    negative = NetworkClassifier(1, **FAST).fit(data.X, np.where(hidden, 0.0, Y))
    errors = [np.mean((model.predict_proba(data.X)[hidden] - Y[hidden]) ** 2) for model in (unknown, negative)]
    assert errors[0] < errors[1]


def test_weights_count_by_their_ratios_and_rows_of_weight_zero_are_no_rows():
    weights = np.r_[np.zeros(30), np.full(120, 3.0)]
    weighted = NetworkClassifier(1, **FAST).fit(SETS.X, SETS.y, weights)
    plain = NetworkClassifier(1, **FAST).fit(SETS.X[30:], SETS.y[30:])
    np.testing.assert_allclose(weighted.predict_proba(SETS.X), plain.predict_proba(SETS.X), atol=1e-5)
    X = np.repeat(np.eye(2), 50, axis=0)
    y = np.tile([0, 1], 50)
    preferred = NetworkClassifier(1, **FAST).fit(X, y, np.where(y == 1, 9.0, 1.0))
    assert (preferred.predict_proba(X)[:, 1] > 0.7).all()


def test_it_comes_back_from_a_file(tmp_path):
    model = NetworkClassifier(2, hierarchy=NESTED.hierarchy, threshold="f1", **SMALL).fit(NESTED.X, NESTED.y)
    ramify.save(model, tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(loaded.predict_proba(NESTED.X), model.predict_proba(NESTED.X))
    np.testing.assert_array_equal(loaded.threshold_, model.threshold_)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupted_fit_leaves_the_model_as_it_was(n_jobs, monkeypatch):
    model = NetworkClassifier(2, n_jobs=n_jobs, **FAST).fit(SETS.X, SETS.y).set_params(n_epochs=400)
    before = model.predict_proba(SETS.X)
    step, n_steps = network._Network._step, []

    def interrupted(self, batch):
        n_steps.append(1)
        if len(n_steps) == 5:
            raise KeyboardInterrupt
        step(self, batch)

    monkeypatch.setattr(network._Network, "_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(NESTED.X, NESTED.y)
    assert len(n_steps) < 1200  # of 2,400
    np.testing.assert_array_equal(model.predict_proba(SETS.X), before)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_networks": 0}, "n_networks"),
        ({"dropout": 1.0}, "dropout"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"early_stopping": 1}, "early_stopping"),
        ({"threshold": "f1", "early_stopping": None}, "needs early_stopping"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"verbose": -1}, "verbose"),
    ],
)
def test_bad_parameters_are_refused_by_name(options, words):
    with pytest.raises(ValueError, match=words):
        NetworkClassifier(**options).fit(SETS.X, SETS.y)
