"""What a study hands to estimators and measures, and what it compares."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    coverage_error,
    get_scorer,
    hamming_loss,
    hinge_loss,
    label_ranking_loss,
    log_loss,
    roc_auc_score,
)
from sklearn.model_selection import KFold
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from ramify import metrics
from ramify.chains import BinaryRelevance
from ramify.datasets import Dataset, make_multilabel
from ramify.ensemble import ForestClassifier
from ramify.metrics import auprc, measure
from ramify.study import Study


def classes(names=("no", "yes"), n=90, seed=0) -> Dataset:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    edges = np.quantile(X[:, 0], np.linspace(0, 1, len(names) + 1)[1:-1])
    y = np.asarray(names)[np.digitize(X[:, 0] + 0.4 * rng.normal(size=n), edges)]
    return Dataset(X, y=y, target="classes", label_names=tuple(map(str, names)))


def labels(seed=0, n=120) -> Dataset:
    return make_multilabel(n, n_labels=4, random_state=seed)


def first_split(data, estimator):
    train, test = next(KFold(3).split(data.X))
    return estimator.fit(data.X[train], data.y[train]), data.X[test], data.y[test]


def value(tmp_path, data, method, function) -> float:
    study = Study({"a": data}, {"m": method}, {"it": function}, KFold(3), tmp_path).run()
    assert study.errors().empty, study.errors()["error"].iloc[0]
    return study.results().query("split == 0")["it"].item()


@pytest.mark.parametrize("names", [("no", "yes"), (0, 1), (2, 7)], ids=["text", "0/1", "numbers"])
def test_measures_of_probabilities_get_those_of_the_second_of_two_classes(tmp_path, names):
    data = classes(names)
    fitted, X, y = first_split(data, LogisticRegression())
    positive = fitted.predict_proba(X)[:, 1]
    expected = brier_score_loss(y, positive, pos_label=names[1])
    assert value(tmp_path / "brier", data, LogisticRegression(), brier_score_loss) == pytest.approx(expected)
    assert expected < 0.2
    expected = log_loss(y, fitted.predict_proba(X))
    assert value(tmp_path / "log", data, LogisticRegression(), log_loss) == pytest.approx(expected)
    expected = roc_auc_score(y, positive)
    assert value(tmp_path / "auc", data, LogisticRegression(), roc_auc_score) == pytest.approx(expected)


def test_a_stated_positive_class_is_kept(tmp_path):
    data = classes()
    fitted, X, y = first_split(data, LogisticRegression())
    expected = brier_score_loss(y, fitted.predict_proba(X)[:, 0], pos_label="no")
    stated = partial(brier_score_loss, pos_label="no")
    assert value(tmp_path, data, LogisticRegression(), stated) == pytest.approx(expected)


def test_three_classes_keep_their_columns(tmp_path):
    data = classes(("a", "b", "c"))
    fitted, X, y = first_split(data, LogisticRegression())
    scores = fitted.predict_proba(X)
    assert value(tmp_path / "log", data, LogisticRegression(), log_loss) == pytest.approx(log_loss(y, scores))
    expected = roc_auc_score(y, scores, multi_class="ovr")
    measured = value(tmp_path / "auc", data, LogisticRegression(), partial(roc_auc_score, multi_class="ovr"))
    assert measured == pytest.approx(expected)


def test_decisions_and_scorers(tmp_path):
    data = classes()
    fitted, X, y = first_split(data, LinearSVC())
    expected = hinge_loss(y, fitted.decision_function(X))
    assert value(tmp_path / "hinge", data, LinearSVC(), hinge_loss) == pytest.approx(expected)
    fitted, X, y = first_split(data, LogisticRegression())
    scorer = get_scorer("neg_log_loss")
    expected = -log_loss(y, fitted.predict_proba(X))
    assert value(tmp_path / "scorer", data, LogisticRegression(), scorer) == pytest.approx(expected)


DENSE = [
    RandomForestClassifier(10, random_state=0),
    KNeighborsClassifier(),
    DecisionTreeClassifier(random_state=0),
    MultiOutputClassifier(LogisticRegression()),
]


@pytest.mark.parametrize("estimator", DENSE, ids=lambda e: type(e).__name__)
def test_label_sets_reach_scikit_learn_as_arrays_and_come_back_as_one_matrix(tmp_path, estimator):
    data = labels()
    dense = replace(data, y=data.y.toarray())
    fitted, X, y = first_split(dense, estimator)
    scores = np.column_stack([column[:, 1] for column in fitted.predict_proba(X)])
    for function, taken in ((auprc, scores), (coverage_error, scores), (label_ranking_loss, scores)):
        found = value(tmp_path / function.__name__, data, estimator, function)
        assert found == pytest.approx(float(function(y, taken)))
    for function in (metrics.hamming_loss, hamming_loss, accuracy_score):
        found = value(tmp_path / function.__name__, data, estimator, function)
        assert found == pytest.approx(float(function(y, fitted.predict(X))))


def test_a_label_that_the_training_rows_never_or_always_have_has_a_probability(tmp_path):
    data = labels()
    y = data.y.toarray()
    y[:, 0], y[:, 1] = 0, 1

    @measure(larger_is_better=True, takes="scores")
    def range_of_constant(y_true, given):
        return float(given[:, 0].max() + 10 * given[:, 1].min())

    changed = replace(data, y=sparse.csr_array(y))
    assert value(tmp_path, changed, RandomForestClassifier(5), range_of_constant) == 10.0


def test_losses_of_scikit_learn_and_behind_a_partial_are_minimised(tmp_path):
    datasets = {f"set{seed}": labels(seed, n=400) for seed in range(5)}
    methods = {"model": ForestClassifier(30), "prior": DummyClassifier(strategy="most_frequent")}
    losses = {"partial": partial(metrics.hamming_loss, average="micro"), "sklearn": hamming_loss}
    study = Study(datasets, methods, losses, 2, tmp_path).run()
    assert study.errors().empty, study.errors()["error"].iloc[0]
    for name in losses:
        assert study.compare(name).ranks.to_dict() == {"model": 1.0, "prior": 2.0}


def test_a_direction_that_is_not_known_is_refused_and_can_be_stated(tmp_path):
    def cost(y_true, y_pred):
        return float(np.mean(y_true != y_pred))

    datasets = {f"set{seed}": classes(seed=seed) for seed in range(3)}
    methods = {"model": LogisticRegression(), "prior": DummyClassifier()}

    def study(**stated):
        return Study(datasets, methods, {"cost": cost}, 2, tmp_path, **stated)

    with pytest.raises(ValueError, match=r"whether larger values of 'cost' are better.*losses=\['cost'\].*gains=\["):
        study().run().compare("cost")
    assert study(losses=["cost"]).compare("cost").ranks.index[0] == "model"
    assert study(gains=["cost"]).compare("cost").ranks.index[0] == "prior"
    with pytest.raises(ValueError, match="'cost' is named as a loss and as a gain"):
        study(losses=["cost"], gains=["cost"])


def sometimes(train, test, seed):
    if train.X[0, 0] > 0.5:
        raise RuntimeError("no luck")
    return {"value": 100.0}


def constant(train, test, seed, *, result):
    return {"value": result}


def flagged(failing: int) -> Dataset:
    """Rows of which the first training row tells a method whether to fail on a split."""
    X = np.zeros((5, 1))
    X[: failing and 2] = 1.0
    return Dataset(X, y=np.array([0, 1, 0, 1, 0]), target="classes")


def test_a_method_that_failed_on_some_splits_is_left_out_and_told_with_its_count(tmp_path):
    datasets = {f"set{i}": flagged(failing=i == 2) for i in range(6)}
    methods = {"bad": sometimes, "one": partial(constant, result=1.0), "two": partial(constant, result=2.0)}
    study = Study(datasets, methods, splits=KFold(5), folder=tmp_path, gains=["value"]).run()
    n_failed = int(study.status()["failed"].sum())
    assert 0 < n_failed < 30
    found = study.compare("value")
    assert found.ranks.to_dict() == {"two": 1.0, "one": 2.0}
    assert found.sentence.endswith(f"Left out: bad, which failed or has no value on {n_failed} of 5 splits of set2.")
    counts = study.counts("value").loc[("set2", "bad")]
    assert counts.tolist() == [5, 5 - n_failed, n_failed]


def test_a_method_without_a_value_on_some_splits_is_left_out_too(tmp_path):
    def partly(train, test, seed):
        return {"value": float("nan") if test.X[0, 0] > 0.5 else 9.0}

    datasets = {f"set{i}": flagged(failing=1) for i in range(3)}
    methods = {"partly": partly, "one": partial(constant, result=1.0), "two": partial(constant, result=2.0)}
    study = Study(datasets, methods, splits=KFold(5), folder=tmp_path, gains=["value"]).run()
    found = study.compare("value")
    assert list(found.ranks.index) == ["two", "one"]
    assert "partly, which failed or has no value on 2 of 5 splits of set0" in found.sentence


def test_data_sets_that_are_not_finished_are_left_out_and_told(tmp_path):
    datasets = {f"set{i}": flagged(failing=0) for i in range(3)}
    methods = {"one": partial(constant, result=1.0), "two": partial(constant, result=2.0)}
    study = Study(datasets, methods, splits=KFold(5), folder=tmp_path, gains=["value"])

    def stop(n_done, n_cells):
        if n_done == 25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(progress=stop)
    assert study.compare("value").sentence.endswith("Left out: set2, because 5 cells of it are waiting.")


@pytest.mark.parametrize("name", ["seconds", "status", "dataset", "measures", "split"])
def test_a_measure_called_like_a_column_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=f"A measure cannot be called '{name}'"):
        Study({"a": classes()}, {}, {name: accuracy_score}, folder=tmp_path)
    study = Study({"a": classes()}, {"m": lambda train, test, seed: {name: 1.0}}, splits=2, folder=tmp_path).run()
    assert f"A measure cannot be called '{name}'" in study.errors()["error"].iloc[0]


def test_a_name_that_is_no_measure_is_refused():
    with pytest.raises(ValueError, match="no measure 'confusion'"):
        Study({}, {}, ["confusion"])


def weighted(weights) -> Dataset:
    return replace(classes((0, 1)), sample_weight=np.asarray(weights, dtype=float))


@pytest.mark.parametrize("method", [DecisionTreeClassifier(max_depth=2), ForestClassifier(5)], ids=["tree", "forest"])
def test_rows_of_weight_zero_are_as_if_they_were_not_there(tmp_path, method):
    weights = np.ones(90)
    weights[::3] = 0
    kept = np.flatnonzero(weights)
    full = weighted(weights)
    measures = {"accuracy": accuracy_score}
    with_zeros = Study({"a": full}, {"m": method}, measures, 4, tmp_path / "zeros").run()
    deleted = Study({"a": full.rows(kept)}, {"m": method}, measures, 4, tmp_path / "deleted").run()
    assert with_zeros.errors().empty, with_zeros.errors()["error"].iloc[0]
    assert with_zeros.results()["accuracy"].tolist() == deleted.results()["accuracy"].tolist()


def test_weights_reach_fit_and_the_measures(tmp_path):
    rng = np.random.default_rng(0)
    data = weighted(rng.integers(1, 9, size=90))
    train, test = next(KFold(3).split(data.X))
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    fitted = tree.fit(data.X[train], data.y[train], sample_weight=data.sample_weight[train])
    predicted = fitted.predict(data.X[test])
    expected = accuracy_score(data.y[test], predicted, sample_weight=data.sample_weight[test])
    assert value(tmp_path, data, tree, accuracy_score) == pytest.approx(expected)
    assert expected != pytest.approx(accuracy_score(data.y[test], predicted))


@pytest.mark.parametrize(
    ("method", "function", "words"),
    [
        (KNeighborsClassifier(), accuracy_score, "KNeighborsClassifier.fit takes none"),
        (make_pipeline(StandardScaler(), LogisticRegression()), accuracy_score, "Pipeline.fit takes none"),
        (DecisionTreeClassifier(), metrics.hamming_loss, "the measure 'it' takes none"),
    ],
)
def test_what_takes_no_weights_refuses_weighted_data_by_name(tmp_path, method, function, words):
    study = Study({"a": weighted(1 + np.arange(90) % 4)}, {"m": method}, {"it": function}, 2, tmp_path).run()
    error = study.errors()["error"].iloc[0]
    assert "The data set has weights of rows" in error
    assert words in error


def test_a_measure_of_scores_needs_a_method_that_has_them(tmp_path):
    study = Study({"a": classes()}, {"m": LinearSVC()}, {"it": log_loss}, 2, tmp_path).run()
    assert "The measure 'it' takes scores, and LinearSVC has no predict_proba." in study.errors()["error"].iloc[0]


@pytest.mark.parametrize("form", ["dense", "stored NaN"])
@pytest.mark.parametrize("method", [ForestClassifier(10, random_state=0), BinaryRelevance(random_state=0)])
def test_unknown_cells_of_a_target_are_learnt_and_measured_as_unknown(tmp_path, method, form):
    data = labels()
    Y = data.y.toarray().astype(float)
    Y[np.random.default_rng(0).random(Y.shape) < 0.3] = np.nan
    if form == "stored NaN":
        known = sparse.coo_array(data.y.astype(float))
        Y = sparse.csr_array(known) + sparse.csr_array(np.where(np.isnan(Y), np.nan, 0.0))
    partly = replace(data, y=Y)
    model, X, truth = first_split(partly, clone(method))
    assert np.isnan(truth.data if sparse.issparse(truth) else truth).any()
    expected = float(auprc(truth, model.predict_proba(X)))
    assert value(tmp_path / "partly", partly, method, auprc) == expected
    assert value(tmp_path / "complete", data, method, auprc) != expected


def test_measures_are_named_as_cross_validate_names_them(tmp_path):
    names = ["accuracy_score", "f1_macro", "neg_log_loss", "brier_score_loss"]
    study = Study({"a": classes()}, {"m": DecisionTreeClassifier(max_depth=2)}, names, splits=2, folder=tmp_path).run()
    assert study.errors().empty, study.errors()["error"].iloc[0]
    assert [study.larger_is_better(name) for name in names] == [True, True, True, False]
