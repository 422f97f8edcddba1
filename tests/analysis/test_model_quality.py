import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.model_selection import KFold

from ramify.analysis import fit_model
from ramify.analysis.model_quality import (
    LABEL_MEASURES,
    label_table,
    model_measures,
    model_predictions,
    out_of_bag_predictions,
)
from ramify.chains import BinaryRelevance, LabelPowerset, PairwiseLabels
from ramify.cli.main import main
from ramify.datasets import Dataset, make_hierarchical, make_label_ranking, make_multilabel, write_arff
from ramify.ensemble import BoostedClassifier, Calibrated, ForestClassifier, LabelRankingForest
from ramify.metrics import auprc
from ramify.models import save
from ramify.report import write_report


@pytest.fixture(scope="module")
def data():
    return make_multilabel(200, n_features=8, n_labels=3, signal=2.0, random_state=0)


def test_measures_per_label_are_those_of_scikit_learn(data):
    learnt, rest = data.rows(np.arange(120)), data.rows(np.arange(120, 200))
    forest = ForestClassifier(20, random_state=0).fit(learnt.X, learnt.y)
    truth, scores = rest.y.toarray(), forest.predict_proba(rest.X)
    table = label_table(forest, rest.y, model_predictions(forest, rest.X))
    assert list(table.columns) == list(LABEL_MEASURES)
    for label, (_, row) in enumerate(table.iterrows()):
        y, p = truth[:, label], scores[:, label]
        assert row["rows"] == y.sum()
        assert row["prior"] == pytest.approx(y.mean())
        assert row["auprc"] == pytest.approx(average_precision_score(y, p), abs=0.03)  # another rule between points
        assert row["auroc"] == pytest.approx(roc_auc_score(y, p))
        assert row["f1"] == pytest.approx(f1_score(y, p > 0.5))
        assert row["threshold"] == 0.5


def test_some_of_the_labels_are_measured_as_among_all(data):
    forest = ForestClassifier(20, random_state=0).fit(data.X, data.y)
    predicted = model_predictions(forest, data.X)
    some = label_table(forest, data.y[:, [2, 0]], predicted, np.array([2, 0]))
    pd.testing.assert_frame_equal(some, label_table(forest, data.y, predicted).iloc[[2, 0]])


def test_classes_are_predicted_by_the_most_probable(data):
    y = np.array(["b", "a", "c"])[(data.X[:, 0] > 0).astype(int) + (data.X[:, 1] > 1)]
    forest = ForestClassifier(20, random_state=0).fit(data.X, y)
    table = label_table(forest, y, model_predictions(forest, data.X))
    assert list(table.index) == ["a", "b", "c"]
    assert table["threshold"].isna().all()
    predicted = forest.predict(data.X)
    assert table["f1"].to_list() == pytest.approx(f1_score(y, predicted, average=None).tolist())


def test_labels_of_all_rows_or_none_have_no_curve(data):
    forest = ForestClassifier(5, random_state=0).fit(data.X, data.y)
    truth = data.y.toarray()
    truth[:, 0], truth[:, 1] = 0, 1
    table = label_table(forest, truth, model_predictions(forest, data.X))
    assert np.isnan(table["auroc"].iloc[[0, 1]]).all()


def test_rankings_have_no_labels_to_measure():
    made = make_label_ranking(40, random_state=0)
    forest = LabelRankingForest(3, random_state=0).fit(made.X, made.y)
    assert label_table(forest, made.y, model_predictions(forest, made.X)) is None


def test_out_of_bag_labels_beat_their_frequency():
    made = make_hierarchical(300, depth=2, n_features=16, random_state=0)
    results = fit_model(made, n_estimators=30, explain=True).results
    assert (results.label_measures["auprc"] > results.label_measures["prior"]).all()
    np.testing.assert_array_equal(results.label_quality, results.label_measures["auprc"])
    assert tuple(results.label_measures.index) == made.label_names


TREE = make_hierarchical(120, depth=2, n_features=10, random_state=1)
HALF = np.full(TREE.n_labels, 0.5)
MODELS = {
    # with two trees, one half is common
    "forest": ForestClassifier(2, hierarchy=TREE.hierarchy, random_state=0),
    "threshold per label": ForestClassifier(
        4, hierarchy=TREE.hierarchy, threshold=np.linspace(0.75, 0.25, TREE.n_labels), random_state=0
    ),
    "calibrated": Calibrated(ForestClassifier(4, hierarchy=TREE.hierarchy, random_state=0), threshold=HALF),
    "boosted": BoostedClassifier(4, hierarchy=TREE.hierarchy, threshold=HALF / 2, random_state=0),
    "chains": BinaryRelevance(ForestClassifier(2, random_state=0), threshold=0.5),
    "powerset": LabelPowerset(ForestClassifier(2, random_state=0)),
    "top": PairwiseLabels(ForestClassifier(2, random_state=0), threshold="top"),
}


@pytest.mark.parametrize("name", MODELS)
def test_labels_are_counted_as_the_model_predicts_them(name):
    model = clone(MODELS[name]).fit(TREE.X[:80], TREE.y[:80].toarray())
    truth, sets = TREE.y[80:].toarray(), model.predict(TREE.X[80:])
    predicted = model_predictions(model, TREE.X[80:])
    table = label_table(model, truth, predicted)
    expected = f1_score(truth, sets, average=None, zero_division=np.nan)
    np.testing.assert_allclose(table["f1"], expected)
    measures = model_measures(model, truth, predicted)["model"]
    assert measures["Hamming loss"] == pytest.approx((truth != sets).mean())
    assert measures["subset accuracy"] == pytest.approx((truth == sets).all(axis=1).mean())


@pytest.mark.parametrize("name", ["forest", "threshold per label", "calibrated"])
def test_out_of_bag_labels_are_decided_as_the_model_predicts_them(name):
    model = clone(MODELS[name]).fit(TREE.X, TREE.y)
    forest = getattr(model, "estimator_", model)
    model.oob_prediction_ = forest.oob_prediction_ = model.predict_proba(TREE.X)  # as if every row was out of every bag
    decided = out_of_bag_predictions(model).decided
    np.testing.assert_array_equal(decided.toarray(), model.predict(TREE.X).toarray())


def test_calibrated_forests_are_measured_out_of_bag_by_calibrations_of_other_rows(tmp_path):
    made = make_hierarchical(300, depth=2, n_features=16, random_state=0)
    found = fit_model(made, n_estimators=30, calibrate="isotonic", explain=True).results
    assert found.measured_on == "Measured out of bag on 300 rows, each calibrated by the others"
    assert list(found.reliability) == ["before", "after"]
    write_report(found, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Measured out of bag on 300 rows, each calibrated by the others" in page
    noise = Dataset(made.X, made.y[np.random.default_rng(0).permutation(300)], "labels", label_names=made.label_names)
    model = Calibrated(ForestClassifier(30, oob_score=True, random_state=0), method="isotonic").fit(noise.X, noise.y)
    held_out = auprc(noise.y, model.oob_prediction_)
    in_sample = auprc(noise.y, model._calibrated(model.estimator_.oob_prediction_))
    assert held_out < in_sample - 0.01  # what is calibrated by its own truth looks better than it is


@pytest.mark.parametrize("as_kind", [int, float, bool, str])
def test_classes_of_a_file_are_those_of_the_model_by_value(as_kind, data, tmp_path, capsys):
    X = pd.DataFrame(data.X, columns=[f"f{j}" for j in range(8)])
    y = (data.X[:, 0] > 0).astype(int)
    save(ForestClassifier(10, random_state=0).fit(X, y.astype(as_kind)), tmp_path / "m.ramify")
    X.assign(kind=y).to_csv(tmp_path / "t.csv", index=False)
    assert run("predict", tmp_path / "m.ramify", tmp_path / "t.csv", "-t", "kind", "-o", tmp_path / "p", "--json") == 0
    assert json.loads(capsys.readouterr().out)["measures"]["accuracy"]["model"] > 0.95


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_arff(data.rows(np.arange(120)), folder / "toy.train.arff")
    write_arff(data.rows(np.arange(120, 200)), folder / "toy.test.arff")
    return folder


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


TARGET = ("--target", "label0", "--target", "label1", "--target", "label2", "--jobs", 1)


@pytest.mark.parametrize("method", ["random-forest", "lcc"])
def test_fit_and_predict_write_the_same_measures_per_label(files, tmp_path, method, capsys):
    model, fitted, predicted = tmp_path / "m.ramify", tmp_path / "fit.csv", tmp_path / "predict.csv"
    options = ("--method", method, "--trees", 5, "-o", model, "--per-label", fitted, "--report", tmp_path / "r.html")
    assert run("fit", files / "toy.train.arff", files / "toy.test.arff", *TARGET, *options) == 0
    assert f"Wrote {fitted}" in capsys.readouterr().out
    outputs = ("-o", tmp_path / "p.csv", "--per-label", predicted)
    assert run("predict", model, files / "toy.test.arff", *TARGET, *outputs) == 0
    table = pd.read_csv(fitted, index_col="label")
    assert list(table.index) == ["label0", "label1", "label2"]
    pd.testing.assert_frame_equal(pd.read_csv(predicted, index_col="label"), table)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "How well is each label predicted?" in page
    assert "A pooled AUROC can lie below the prior" in page


def test_measures_per_label_that_are_not_there_are_missed(files, tmp_path, capsys):
    options = ("--method", "br", "--trees", 3, "-o", tmp_path / "m.ramify", "--per-label", tmp_path / "q.csv")
    assert run("fit", files / "toy.train.arff", *TARGET, *options, "--folds", 0) == 1
    assert "no label was measured. Give rows with classes or label sets" in capsys.readouterr().err
    assert (tmp_path / "m.ramify").exists()


def test_chains_without_a_test_part_are_cross_validated():
    data = make_multilabel(90, random_state=0)
    fitted = fit_model(data, method="br", n_estimators=5)
    assert fitted.results.measured_on == "Measured by cross-validation with 3 folds on 90 rows"
    scores = np.zeros((90, data.n_labels))
    for train, test in KFold(3, shuffle=True, random_state=0).split(np.arange(90)):
        part = fit_model(data.rows(train), method="br", n_estimators=5, n_folds=0).model
        scores[test] = part.predict_proba(data.rows(test).to_frame())
    value = fitted.results.measures.loc["AUPRC, pooled", "model"]
    assert value == pytest.approx(auprc(data.y, scores), abs=1e-12)
    assert len(fitted.results.label_measures) == data.n_labels


def test_classes_that_a_fold_has_not_seen_are_no_obstacle():
    y = np.array([0] * 20 + [1] * 19 + [2])
    data = Dataset(np.arange(40.0)[:, None], y=y, target="classes", label_names=("a", "b", "c"))
    found = fit_model(data, method="extra-trees", n_estimators=20, n_folds=2).results
    assert found.measures.loc["accuracy", "model"] > 0.8


def test_where_nothing_is_measured_it_is_said_why(files, tmp_path, capsys):
    options = ("--method", "extra-trees", "--trees", 3, "-o", tmp_path / "m.ramify")
    assert run("fit", files / "toy.train.arff", *TARGET, *options) == 0
    assert "Measures: none: extra-trees has no out-of-bag rows, and there is no test part" in capsys.readouterr().out
    assert run("fit", files / "toy.train.arff", *TARGET, *options, "--folds", 2) == 0
    assert "Measured by cross-validation with 2 folds" in capsys.readouterr().out
