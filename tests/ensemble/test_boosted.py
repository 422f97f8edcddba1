"""Boosted trees: equal to a slow reference, find planted structure, keep every promise of the forests."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_classifiers_multilabel_output_format_predict, parametrize_with_checks
from tests.ensemble.boosted_reference import boosted_scores

import ramify
from ramify import Hierarchy, _core
from ramify.datasets import make_hierarchical, make_multilabel
from ramify.ensemble import BoostedClassifier, BoostedRegressor, ForestClassifier, export_tree
from ramify.metrics import auprc

PLAIN = {"max_samples": 1.0, "max_features": None, "early_stopping": None}
NESTED = make_hierarchical(200, random_state=0)


def nested(**parameters):
    return BoostedClassifier(**{"n_estimators": 20, "hierarchy": NESTED.hierarchy, "random_state": 0} | parameters)


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    Y = (X[:, [0, 1, 0]] + 0.5 * rng.normal(size=(40, 3)) > [0.0, 0.5, -0.3]).astype(float)
    return X, Y, rng.uniform(0.5, 2.0, 40)


@pytest.mark.parametrize(("weighted", "depth"), [(False, 2), (True, 3)], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("sketch", [3, 50])
def test_labels_without_sketch_equal_the_reference(small, weighted, depth, sketch):
    X, Y, weights = small  # without weights, small nodes have cuts that are equally good
    sample_weight = weights if weighted else None
    label_weight = np.array([1.0, 0.5, 2.0])
    expected, gains = boosted_scores(
        X, Y, numbers=False, output_weights=label_weight, sample_weight=sample_weight, n_rounds=6, learning_rate=0.3,
        max_depth=depth, min_samples_leaf=4, l2=0.7,
    )  # fmt: skip
    model = BoostedClassifier(
        6, label_weight=label_weight, sketch=sketch, learning_rate=0.3, max_depth=depth, min_samples_leaf=4, l2=0.7,
        tolerance=0.0, random_state=0, **PLAIN,
    ).fit(X, Y, sample_weight)  # fmt: skip
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-5)
    np.testing.assert_allclose(model.gains_.toarray(), gains, atol=1e-5)


def test_numbers_without_sketch_equal_the_reference(small):
    X, Y, weights = small
    targets = X[:, :2] ** 2 + 0.1 * Y[:, :2]
    mean = weights @ targets / weights.sum()
    scale = np.sqrt(weights @ (targets - mean) ** 2 / weights.sum())
    expected, gains = boosted_scores(
        X, (targets - mean) / scale, numbers=True, output_weights=np.array([1.0, 3.0]), sample_weight=weights,
        n_rounds=6, learning_rate=0.3, max_depth=3, min_samples_leaf=4, l2=0.7,
    )  # fmt: skip
    model = BoostedRegressor(
        6, target_weight=[1.0, 3.0], learning_rate=0.3, max_depth=3, min_samples_leaf=4, l2=0.7, random_state=0, **PLAIN
    ).fit(X, targets, weights)
    np.testing.assert_allclose(model.predict(X), expected * scale + mean, atol=1e-5)
    np.testing.assert_allclose(model.gains_.toarray(), gains, atol=1e-5)


@pytest.mark.parametrize("numbers", [False, True])
def test_partly_known_targets_equal_the_reference(small, numbers):
    X, Y, weights = small
    hidden = np.random.default_rng(1).random(Y.shape) < 0.3
    hidden[:, 0] = False  # something is known of every row
    targets = np.where(hidden, np.nan, X[:, [0, 1, 2]] ** 2 if numbers else Y)
    known = weights[:, None] * ~hidden
    mean = (known * np.nan_to_num(targets)).sum(axis=0) / known.sum(axis=0)
    scale = np.sqrt((known * np.nan_to_num(targets - mean) ** 2).sum(axis=0) / known.sum(axis=0))
    expected, gains = boosted_scores(
        X, (targets - mean) / scale if numbers else targets, numbers=numbers, output_weights=np.ones(3),
        sample_weight=weights, n_rounds=5, learning_rate=0.3, max_depth=3, min_samples_leaf=4, l2=0.7,
    )  # fmt: skip
    work = {"learning_rate": 0.3, "max_depth": 3, "min_samples_leaf": 4, "l2": 0.7, "random_state": 0, **PLAIN}
    model = BoostedRegressor(5, **work) if numbers else BoostedClassifier(5, tolerance=0.0, **work)
    model.fit(X, targets, weights)
    found = (model.predict(X) - mean) / scale if numbers else model.decision_function(X)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_allclose(model.gains_.toarray(), gains, atol=1e-5)


def test_as_many_projections_as_labels_draw_none():
    data = make_multilabel(80, n_labels=4, random_state=0)
    one, other = (
        BoostedClassifier(5, sketch=sketch, random_state=0).fit(data.X, data.y).decision_function(data.X)
        for sketch in (4, 1000)
    )
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_jobs", [2, 3])
@pytest.mark.parametrize("n_labels", [5, 300])
def test_threads_do_not_change_a_bit(n_labels, n_jobs):
    data = make_multilabel(150, n_labels=n_labels, random_state=0)
    serial, threaded = (
        BoostedClassifier(8, early_stopping=0.2, n_jobs=jobs, random_state=0).fit(data.X, data.y)
        for jobs in (1, n_jobs)
    )
    np.testing.assert_array_equal(threaded.decision_function(data.X), serial.decision_function(data.X))
    np.testing.assert_array_equal(threaded.history_, serial.history_)
    np.testing.assert_array_equal(threaded.gains_.toarray(), serial.gains_.toarray())


def test_features_with_fewer_values_than_bins_are_not_binned():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 255, (600, 6)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 2, (600, 3))
    binned, exact = (BoostedClassifier(5, max_bins=bins, random_state=0).fit(X, y) for bins in (255, None))
    np.testing.assert_array_equal(binned.decision_function(X), exact.decision_function(X))


@pytest.mark.parametrize("max_bins", [255, 1000, None])
def test_codes_of_any_width_serve(max_bins):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (X[:, 0] + 0.1 * rng.normal(size=2000) > 0.3).astype(int)
    model = BoostedClassifier(20, max_bins=max_bins, learning_rate=0.3, random_state=0).fit(X[:1000], y[:1000])
    assert (model.predict(X[1000:]) == y[1000:]).mean() > 0.9


def test_planted_features_are_found_per_branch():
    data = make_hierarchical(400, random_state=1)
    model = BoostedClassifier(100, hierarchy=data.hierarchy, random_state=0).fit(data.X, data.y)
    truth, gains = np.asarray(data.truth), model.gains_.toarray()
    inside, outside = gains[truth > 0], gains[truth == 0]
    assert inside.mean() > 5 * outside.mean()
    drivers = truth.any(axis=1)
    best = np.argsort(-model.feature_importances_)[: drivers.sum()]
    assert drivers[best].mean() > 0.6


def test_better_than_the_prior_and_no_worse_than_few_trees():
    data = make_multilabel(600, random_state=0)
    train, test = slice(0, 400), slice(400, None)
    model = BoostedClassifier(random_state=0).fit(data.X[train], data.y[train])
    reached = auprc(data.y[test], model.predict_proba(data.X[test]))
    prior = auprc(data.y[test], np.tile(model.prior_, (200, 1)))
    forest = ForestClassifier(5, random_state=0).fit(data.X[train], data.y[train])
    assert reached > max(1.2 * prior, auprc(data.y[test], forest.predict_proba(data.X[test])))


def test_parents_are_at_least_as_probable_as_their_children():
    model = nested().fit(NESTED.X, NESTED.y)
    probabilities, scores = model.predict_proba(NESTED.X), model.decision_function(NESTED.X)
    parents, children = model.hierarchy.edges[:, 0], model.hierarchy.edges[:, 1]
    assert (probabilities[:, parents] >= probabilities[:, children]).all()
    below = model.hierarchy.ancestor_matrix.toarray().T > 0
    np.fill_diagonal(below, val=True)
    own = 1 / (1 + np.exp(-scores))
    expected = np.stack([own[:, of].max(axis=1) for of in below], axis=1)
    np.testing.assert_allclose(probabilities, expected, atol=1e-12)
    assert not model.hierarchy.violations(model.predict(NESTED.X)).any()


def test_stopping_keeps_the_best_round_of_the_history():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    model = BoostedClassifier(300, learning_rate=0.5, patience=7, random_state=0).fit(X, y)
    assert model.n_rounds_ == model.history_[1:].argmin() + 1
    assert len(model.history_) == model.n_rounds_ + 7 + 1
    assert model.history_.min() < model.history_[0]
    alone = clone(model).set_params(n_estimators=model.n_rounds_).fit(X, y)
    np.testing.assert_array_equal(alone.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(alone.gains_.toarray(), model.gains_.toarray())
    assert clone(model).set_params(n_estimators=3, early_stopping=None).fit(X, y).history_.size == 0


def test_the_first_rounds_are_a_model_of_their_own():
    whole = nested(n_estimators=12, early_stopping=None).fit(NESTED.X, NESTED.y)
    short = nested(n_estimators=5, early_stopping=None).fit(NESTED.X, NESTED.y)
    part = whole.first(5)
    np.testing.assert_array_equal(part.decision_function(NESTED.X), short.decision_function(NESTED.X))
    np.testing.assert_array_equal(part.feature_importances_, short.feature_importances_)
    assert part.n_rounds_ == 5
    assert not hasattr(part, "gains_")
    assert whole.first(12).gains_ is whole.gains_
    with pytest.raises(ValueError, match=r"must be an int in \[1, 12\]"):
        whole.first(13)


def test_contributions_add_up_to_the_log_odds():
    model = nested().fit(NESTED.X, NESTED.y)
    for label in (0, model.label_names_[-1]):
        values, base = model.contributions(NESTED.X, label)
        at = model.label_names_.index(label) if isinstance(label, str) else label
        np.testing.assert_allclose(values.sum(axis=1) + base, model.decision_function(NESTED.X)[:, at], atol=1e-12)
    numbers = BoostedRegressor(20, random_state=0).fit(NESTED.X, NESTED.X[:, :2] * [1.0, 50.0])
    values, base = numbers.contributions(NESTED.X, 1)
    np.testing.assert_allclose(values.sum(axis=1) + base, numbers.predict(NESTED.X)[:, 1], atol=1e-9)


def test_shapley_values_add_up_to_the_log_odds():
    model = nested().fit(NESTED.X, NESTED.y)
    explained = model.shap_values(NESTED.X[:20])
    scores = model.decision_function(NESTED.X[:20])
    total = explained.values.sum(axis=1) + explained.base_values
    np.testing.assert_allclose(total, scores, atol=1e-9)
    numbers = BoostedRegressor(20, random_state=0).fit(NESTED.X, NESTED.X[:, :2] * [1.0, 50.0])
    explained = numbers.shap_values(NESTED.X[:20], labels=numbers.label_names_[1])
    total = explained.values.sum(axis=1) + explained.base_values
    np.testing.assert_allclose(total, numbers.predict(NESTED.X[:20])[:, 1], atol=1e-9)


def test_shapley_values_of_predicted_classes():
    y = np.array(["a", "b", "c"])[np.digitize(NESTED.X[:, 0], [-0.5, 0.5])]
    model = BoostedClassifier(10, random_state=0).fit(NESTED.X, y)
    explained = model.shap_values(NESTED.X[:5], labels="predicted")
    scores = model.decision_function(NESTED.X[:5])
    total = np.asarray(explained.values.sum(axis=1)).ravel() + np.asarray(explained.base_values).ravel()
    np.testing.assert_allclose(total, scores.max(axis=1), atol=1e-9)


def test_leaves_reached_are_leaves():
    model = nested().fit(NESTED.X, NESTED.y)
    leaves = model.apply(NESTED.X)
    arrays = model.trees_.arrays()
    assert leaves.shape == (200, model.n_rounds_)
    assert (arrays["feature"][arrays["tree_nodes"][:-1] + leaves] == -1).all()


def test_an_exported_tree_shows_the_steps_of_its_leaves():
    X = np.arange(20.0).reshape(-1, 1)
    model = BoostedRegressor(1, learning_rate=1.0, max_depth=1, **PLAIN).fit(X, np.where(X[:, 0] < 10, 0.0, 22.0))
    assert export_tree(model).splitlines() == [
        "x0 <= 9.5 or missing  [20]",
        "  yes: y0 -10  [10]",
        "  no: y0 10  [10]",
    ]


def test_formats_of_features_and_labels_give_the_same_bits():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((120, 6)) < 0.6, 0.0, rng.normal(size=(120, 6)))
    Y = (X[:, :3] > 0.2).astype(int)
    expected = BoostedClassifier(10, random_state=0).fit(X, Y)
    for form in (sparse.csr_array, sparse.csc_array, pd.DataFrame, np.asfortranarray):
        model = BoostedClassifier(10, random_state=0).fit(form(X), Y)
        np.testing.assert_array_equal(model.decision_function(form(X)), expected.decision_function(X))
    compressed = BoostedClassifier(10, random_state=0).fit(X, sparse.csr_array(Y))
    assert sparse.issparse(compressed.predict(X))
    np.testing.assert_array_equal(compressed.predict(X).toarray(), expected.predict(X))


def test_nominal_and_missing_values_are_used():
    rng = np.random.default_rng(0)
    kind = rng.choice(list("abcd"), 300)
    size = np.where(rng.random(300) < 0.3, np.nan, rng.normal(size=300))
    frame = pd.DataFrame({"kind": pd.Categorical(kind), "size": size})
    Y = np.column_stack([np.isin(kind, ["a", "c"]), np.isnan(size)]).astype(int)
    model = BoostedClassifier(60, learning_rate=0.3, max_features=None, random_state=0).fit(frame, Y)
    assert (model.predict(frame) == Y).mean() > 0.98


def test_rows_without_weight_are_as_if_deleted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    Y = (X[:, :2] > 0).astype(int)
    weights = np.where(rng.random(100) < 0.3, 0.0, rng.uniform(0.5, 2.0, 100))
    kept = weights > 0
    weighted = BoostedClassifier(10, random_state=0).fit(X, Y, weights)
    deleted = BoostedClassifier(10, random_state=0).fit(X[kept], Y[kept], weights[kept])
    np.testing.assert_array_equal(weighted.decision_function(X), deleted.decision_function(X))
    np.testing.assert_array_equal(weighted.history_, deleted.history_)
    np.testing.assert_array_equal(weighted.prior_, deleted.prior_)


def test_only_the_ratios_of_weights_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    weights = rng.integers(1, 4, 100).astype(float)
    one, other = (
        BoostedRegressor(10, random_state=0).fit(X, X[:, 0], weights * scale).predict(X) for scale in (1.0, 1024.0)
    )
    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_second_fit_equals_a_fresh_one():
    model = nested()
    model.fit(NESTED.X[:, :5], NESTED.y)
    again = model.fit(NESTED.X, NESTED.y)
    fresh = nested().fit(NESTED.X, NESTED.y)
    np.testing.assert_array_equal(again.predict_proba(NESTED.X), fresh.predict_proba(NESTED.X))
    assert vars(again).keys() == vars(fresh).keys()


def test_a_failed_fit_leaves_the_old_model():
    model = nested().fit(NESTED.X, NESTED.y)
    before = model.predict_proba(NESTED.X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(NESTED.X, NESTED.y[:-1])
    np.testing.assert_array_equal(model.predict_proba(NESTED.X), before)


def test_small_steps_are_not_stored():
    data = make_multilabel(200, n_labels=100, random_state=0)
    whole, part = (
        BoostedClassifier(10, tolerance=tolerance, early_stopping=None, random_state=0).fit(data.X, data.y)
        for tolerance in (0.0, 0.6)
    )
    stored = part.trees_.arrays()["leaf_values"]
    assert np.abs(stored).min() >= 0.6 * 0.05 - 1e-12
    assert stored.size < whole.trees_.arrays()["leaf_values"].size * 0.6


def test_labels_that_all_or_no_rows_have_stay_what_they_are():
    data = make_multilabel(80, n_labels=3, random_state=0)
    Y = data.y.toarray()
    Y[:, 0], Y[:, 1] = 0, 1
    probabilities = BoostedClassifier(10, random_state=0).fit(data.X, Y).predict_proba(data.X)
    assert probabilities[:, 0].max() < 1e-3
    assert probabilities[:, 1].min() > 1 - 1e-3


@pytest.mark.parametrize("n_rows", [1, 2, 9])
def test_few_rows_are_enough(n_rows):
    X = np.arange(n_rows, dtype=float).reshape(-1, 1)
    model = BoostedClassifier(3, random_state=0).fit(X, np.ones((n_rows, 2), dtype=int))
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(BoostedRegressor(3, random_state=0).fit(X, X[:, 0]).predict(X)).all()


WEIGHTS = "rows are drawn and weights are scaled to a mean of 1, so that a row of weight 2 is not a repeated row"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}


CLASSES = {"check_classifier_multioutput": "takes classes_ as [0, 1]; here it has a row [0, 1] per label"}


@parametrize_with_checks([BoostedClassifier(40)], expected_failed_checks=lambda _: EXPECTED | CLASSES)
def test_scikit_learn_checks_of_the_classifier(estimator, check):
    check(estimator)


@parametrize_with_checks([BoostedRegressor(100)], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_checks_of_the_regressor(estimator, check):
    check(estimator)


def test_predicted_label_sets_have_the_format_of_scikit_learn():
    check_classifiers_multilabel_output_format_predict("BoostedClassifier", BoostedClassifier(5))


BAD_PARAMETERS = [
    ("n_estimators", 0, "an int >= 1"),
    ("learning_rate", 0.0, r"a number in \(0, 1\]"),
    ("learning_rate", 1.5, r"a number in \(0, 1\]"),
    ("sketch", 0, "an int >= 1"),
    ("sketch", None, "an int >= 1"),
    ("max_depth", 0, "an int >= 1"),
    ("max_samples", 0.0, r"a number in \(0, 1\]"),
    ("max_features", "third", "one of 'sqrt', 'log2', None"),
    ("max_features", 1.5, r"a number in \(0"),
    ("min_samples_leaf", 0.5, "an int >= 1"),
    ("l2", 0.0, r"a number in \(0"),
    ("tolerance", -0.1, "a number >= 0"),
    ("early_stopping", 1.0, r"a number in \(0, 1\)"),
    ("early_stopping", 0, r"a number in \(0, 1\)"),
    ("patience", 0, "an int >= 1"),
    ("max_bins", 1, r"an int in \[2, 65535\]"),
    ("categorical_features", "all", "'from_dtype', None, a mask, indices or names"),
    ("min_category_rows", 0, "an int >= 1"),
    ("n_jobs", 0, "an int other than 0"),
    ("verbose", -1, "an int >= 0"),
]


@pytest.mark.parametrize("estimator", [BoostedClassifier(5), BoostedRegressor(5)], ids=["classifier", "regressor"])
@pytest.mark.parametrize(("name", "value", "words"), BAD_PARAMETERS)
def test_bad_parameter_is_refused_by_name(estimator, name, value, words):
    if name not in estimator.get_params():
        pytest.skip(f"has no parameter {name}")
    model = clone(estimator).set_params(**{name: value})
    with pytest.raises(ValueError, match=rf"'{name}' parameter of Boosted.* must be .*{words}.*Got .* instead"):
        model.fit([[0.0], [1.0], [2.0]], [0, 1, 1])


@pytest.mark.parametrize("estimator", [BoostedClassifier(5), BoostedRegressor(5)], ids=["classifier", "regressor"])
def test_every_parameter_is_in_the_table_of_bad_ones_or_tested_elsewhere(estimator):
    listed = {name for name, *_ in BAD_PARAMETERS}
    assert set(estimator.get_params()) <= listed | {
        "random_state",
        "hierarchy",
        "label_weight",
        "target_weight",
        "threshold",
    }


@pytest.mark.parametrize(
    ("parameters", "y", "words"),
    [
        ({"hierarchy": ["a"]}, np.eye(3), "hierarchy must be a ramify.Hierarchy"),
        ({"label_weight": [1.0]}, np.eye(3), r"one entry per label \(3\)"),
        ({}, [[0.5, 1.0], [1.0, 0.0], [0.0, 1.0]], "0"),
    ],
)
def test_bad_targets_are_refused(parameters, y, words):
    with pytest.raises((ValueError, TypeError), match=words):
        BoostedClassifier(5, **parameters).fit([[0.0], [1.0], [2.0]], y)


def changed(arrays, name, at, value):
    arrays = {key: array.copy() for key, array in arrays.items()}
    arrays[name][at] = value
    return arrays


@pytest.mark.parametrize(
    ("name", "at", "value", "words"),
    [
        ("leaf_values", 0, np.nan, "a leaf value is not finite"),
        ("leaf_values", -1, np.inf, "a leaf value is not finite"),
        ("leaf_labels", 0, -1, "has a step of output -1"),
        ("leaf_labels", -1, 10**6, "has a step of output 1000000"),
        ("leaf_labels", 1, 0, "do not ascend"),
        ("leaf_offsets", 1, 10**9, "ascend|too short|does not span"),
        ("leaf_offsets", -1, 0, "entries, not 0|ascend|does not span"),
        ("decrease", 0, np.nan, "the gain of node 0 is not finite"),
        ("child", 0, 0, "do not stand behind it"),
        ("feature", 0, 10**6, "tests feature"),
        ("weight", 0, -1.0, "is not a positive number"),
        ("tree_leaves", 1, 0, "entries|does not span|points outside|too short|ascend"),
    ],
)
def test_damaged_steps_are_refused(name, at, value, words):
    data = make_multilabel(80, n_labels=3, random_state=0)
    trees = BoostedClassifier(3, tolerance=0.0, early_stopping=None, random_state=0).fit(data.X, data.y).trees_
    with pytest.raises(ValueError, match=words):
        _core.Forest(outcome="steps", n_outputs=3, arrays=changed(trees.arrays(), name, at, value))


def test_steps_are_not_taken_for_another_outcome():
    data = make_multilabel(80, n_labels=3, random_state=0)
    trees = BoostedClassifier(3, random_state=0).fit(data.X, data.y).trees_
    for outcome in ("labels", "numbers", "stairs"):
        with pytest.raises(ValueError, match=r"lacks the array|wrong type or shape|'labels', 'numbers' or 'steps'"):
            _core.Forest(outcome=outcome, n_outputs=3, arrays=trees.arrays())
    with pytest.raises(ValueError, match="boosting itself gives the gains"):
        _core.genie3(trees, output_weights=np.ones(3), n_threads=1)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda m: setattr(m, "base_", m.base_[:-1]), r"base_ must be numbers of shape \(n_labels,\)"),
        (lambda m: setattr(m, "base_", m.base_ * np.nan), r"base_ must be numbers of shape \(n_labels,\)"),
        (lambda m: setattr(m, "gains_", m.gains_[:-1]), "gains_ must be a matrix of numbers of shape"),
        (lambda m: setattr(m, "history_", 3), "history_ must be numbers of shape"),
        (lambda m: setattr(m, "hierarchy", None), "the hierarchy must be that of the labels|hierarchy was .* at fit"),
        (
            lambda m: setattr(m, "hierarchy", Hierarchy.from_paths(["a"])),
            "the hierarchy must be that of the labels|hierarchy was .* at fit",
        ),
        (lambda m: setattr(m, "target_kind_", "numbers"), "target_kind_ must be one of"),
        (
            lambda m: setattr(m, "trees_", ForestClassifier(2).fit(NESTED.X, NESTED.y).trees_),
            "the trees must be for steps",
        ),
    ],
)
def test_damaged_model_is_neither_saved_nor_loaded(damage, words, refused_by_files):
    model = nested(n_estimators=3).fit(NESTED.X, NESTED.y)
    damage(model)
    refused_by_files(model, words)


def test_saved_part_comes_back(tmp_path):
    part = nested(n_estimators=6).fit(NESTED.X, NESTED.y).first(2)
    ramify.save(part, tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(loaded.predict_proba(NESTED.X), part.predict_proba(NESTED.X))
