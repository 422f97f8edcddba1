"""Row R32: a row of weight zero is as good as no row, and weight two is a repeated row where that is promised."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.neighbors import KNeighborsClassifier

from ramify.analysis import analyse, compare_methods, fit_model, select_features
from ramify.chains import BinaryRelevance, ClassifierChain
from ramify.cli.main import main
from ramify.datasets import Dataset, make_feature_hierarchy, make_multilabel
from ramify.ensemble import ConformalSets, ForestClassifier
from ramify.features.frames import take_rows
from ramify.ranking import ForestRanker, ReliefRanker, addition_curve, knn_quality, significance
from ramify.selection import CFSSelector, SelectTop
from tests.metamorphic import cases
from tests.metamorphic.forms import DECLARED, UNDECLARED
from tests.metamorphic.test_forms import FEW

WEIGHTED = [name for name, case in cases.CASES.items() if case.takes_weights]
REPEATING = [name for name, case in cases.CASES.items() if case.repeats]


def test_only_these_take_no_weights():
    found = {name for name, case in cases.CASES.items() if not case.takes_weights}
    lazy = {"HierarchicalSelector", "LazySelector", "LazyNaiveBayes", "LazyNeighbors", "CFSSelector", "R2Screening"}
    assert found == lazy


def weighted_results(case, X, y, weights, new):
    return cases.results(case.make().fit(X, y, sample_weight=weights), new)


@pytest.mark.parametrize("name", WEIGHTED)
def test_weight_zero_is_a_deleted_row(name):
    case = cases.CASES[name]

    def check(data, drawn, form):
        n_sure = 16 if case.alike else 6  # both classes of every label stay, and rows enough for a promise
        weights = np.where(np.arange(cases.N_ROWS) < n_sure, 1.0, drawn)
        kept = np.flatnonzero(weights)
        X, y = (DECLARED | UNDECLARED)[form](data), data.targets[case.target]
        known = take_rows(X, kept)  # other rows may have values that fit has not seen
        found = weighted_results(case, X, y, weights, known)
        expected = weighted_results(case, known, y[kept], weights[kept], known)
        if "oob_prediction_" in found:
            rows = found.pop("oob_prediction_")
            np.testing.assert_array_equal(rows[kept], expected.pop("oob_prediction_"))
            assert np.isnan(np.delete(rows, kept, axis=0)).all()
        cases.assert_same(found, expected, form)

    values = [0.0, 1.0] if case.alike else [0.0, 0.0, 1.0, 2.5]
    drawn = arrays(float, cases.N_ROWS, elements=st.sampled_from(values))
    forms = ["pandas category", "polars enum", "pandas text"]
    if case.features == "numbers":
        forms += ["CSR", "dense", "pandas arrow"]
    FEW(given(cases.data_sets(case.features), drawn, st.sampled_from(forms))(check))()


@pytest.mark.parametrize("name", REPEATING)
def test_weight_two_is_a_repeated_row(name):
    case = cases.CASES[name]

    def check(data, weights):
        rows = np.repeat(np.arange(cases.N_ROWS), weights)
        X, y = DECLARED["pandas category"](data), data.targets[case.target]
        found = weighted_results(case, X, y, weights, X)
        expected = weighted_results(case, take_rows(X, rows), y[rows], None, X)
        for result in ("predict", "predict_proba", "predict_outputs", "prior_"):
            if result in expected and expected[result].dtype != object:
                np.testing.assert_allclose(found[result], expected[result], rtol=1e-9, atol=1e-12)

    FEW(given(cases.data_sets("numbers"), arrays(int, cases.N_ROWS, elements=st.integers(1, 3)))(check))()


def weighted_data(weights, n_rows=40):
    made = make_multilabel(n_rows, n_features=6, n_labels=3, random_state=0)
    return Dataset(made.X, made.y, "labels", label_names=made.label_names, sample_weight=weights)


@pytest.mark.parametrize("method", ["shadow", "permutation"])
def test_significance_weighs_rows_and_leaves_out_those_of_weight_zero(method):
    weights = np.where(np.arange(40) % 4 == 0, 0.0, 1.0 + np.arange(40) % 3)
    data, kept = weighted_data(weights), np.flatnonzero(weights)
    ranker = ForestRanker(ForestClassifier(5, random_state=0), scores="genie3")
    options = {"method": method, "n_repeats": 2, "random_state": 0}
    found = significance(ranker, data.X, data.y, sample_weight=weights, **options)
    expected = significance(ranker, data.X[kept], data.y[kept], sample_weight=weights[kept], **options)
    np.testing.assert_array_equal(found.p_values, expected.p_values)
    plain = significance(ranker, data.X[kept], data.y[kept], **options)
    assert (plain.ranking.scores != found.ranking.scores).any()
    with pytest.raises(ValueError, match="CFSSelector takes no row weights, so significance cannot weigh rows"):
        significance(CFSSelector(), data.X, data.y, sample_weight=weights, **options)


def test_the_flow_leaves_out_rows_of_weight_zero():
    weights = np.where(np.arange(180) % 4 == 0, 0.0, 1.0)
    data = weighted_data(weights, 180)
    kept = data.rows(np.flatnonzero(weights))
    plain = Dataset(kept.X, kept.y, "labels", label_names=kept.label_names)
    options = {"methods": ["genie3", "relief"], "n_estimators": 5, "n_neighbors": 3}
    found, expected = analyse(data, **options), analyse(plain, **options)
    for method in options["methods"]:
        assert found.rankings[method] == expected.rankings[method]
    assert found.discoveries.n_rows == 135
    assert found.discoveries.claims
    assert found.discoveries == expected.discoveries
    models = [fit_model(one, n_estimators=5).results.measures for one in (data, plain)]
    np.testing.assert_array_equal(*(table["model"].to_numpy() for table in models))


@pytest.mark.parametrize("how", ["knn_quality", "addition_curve", "SelectTop", "flow", "lcc", "mlknn"])
def test_what_measures_and_selects_weighs_rows_and_leaves_out_those_of_weight_zero(how):
    weights = np.where(np.arange(40) % 4 == 0, 0.0, 1.0 + np.arange(40) % 3)
    data, kept = weighted_data(weights), np.flatnonzero(weights)

    def found(rows, weights):
        part = data.rows(rows)
        X, y = part.X, part.y
        ranker = ReliefRanker(3, random_state=0)
        if how == "knn_quality":
            made = ranker.fit(data.X[kept], data.y[kept]).ranking_
            return knn_quality(made, X, y, data.X, data.y, n_neighbors=3, sample_weight=weights)[:2]
        if how == "addition_curve":
            options = {"estimator": ForestClassifier(3, random_state=0), "cv": 2, "n_random": 2, "random_state": 0}
            curve = addition_curve(ranker, X, y, sample_weight=weights, **options)
            return [*curve.values, *curve.random_mean]
        if how == "SelectTop":
            top = SelectTop(ranker, n_features=3).fit(X, y, sample_weight=weights)
            return [*top.ranking_.scores, *top.get_support()]
        weighted = replace(part, sample_weight=weights)
        if how == "flow":
            options = {"methods": ["genie3", "relief", "lcc"], "n_estimators": 3, "fdr": None, "n_neighbors": 3}
            results = analyse(weighted, quality={"cv": 2, "n_random": 1}, **options)
            scores = [results.rankings[name].scores for name in options["methods"]]
            return np.concatenate([*scores, results.curves["relief"].values, [results.knn_quality["relief"]]])
        model = fit_model(weighted, method=how, n_estimators=3).model
        return model.predict_proba(data.to_frame()).ravel()

    np.testing.assert_array_equal(found(np.arange(40), weights), found(kept, weights[kept]))
    assert (np.asarray(found(kept, weights[kept])) != found(kept, None)).any()


def test_relief_and_neighbours_scale_with_no_weight():
    data = weighted_data(None)
    weights = 1.0 + np.arange(40) % 3
    scores = [ReliefRanker(3).fit(data.X, data.y, scale * weights).scores_ for scale in (1, 4)]
    np.testing.assert_array_equal(*scores)
    np.testing.assert_array_equal(
        ReliefRanker(3).fit(data.X, data.y, np.ones(40)).scores_, ReliefRanker(3).fit(data.X, data.y).scores_
    )


def test_that_measures_count_every_row_once_is_told(tmp_path, capsys):
    rows = [f"{k},{'cold' if k < 20 else 'warm'}, {{{1 + k % 2}}}" for k in range(40)]
    head = "@relation r\n@attribute a numeric\n@attribute kind {cold,warm}\n@data\n"
    file, model = tmp_path / "w.arff", tmp_path / "m.ramify"
    file.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    told = "every row counted once whatever its weight"
    for arguments in (
        ["fit", file, "-t", "kind", "-o", model, "--trees", 5],
        ["predict", model, file, "-t", "kind", "-o", tmp_path / "p.csv"],
        ["compare", file, "-t", "kind", "--method", "bagging", "--method", "random-forest", "--folds", 3, "--trees", 3],
    ):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        assert stop.value.code == 0
        assert told in " ".join(capsys.readouterr().out.split())


def test_methods_that_cannot_weigh_rows_refuse_weighted_data_by_name():
    data = weighted_data(1.0 + np.arange(40) % 2)
    weights = data.sample_weight
    with pytest.raises(ValueError, match="ConformalSets takes no row weights but zero and one other"):
        ConformalSets().fit(data.X, data.y, sample_weight=weights)
    with pytest.raises(ValueError, match="order='correlation' is chosen without the weights of rows"):
        ClassifierChain(order="correlation").fit(data.X, data.y, sample_weight=weights)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no row weights, so BinaryRelevance cannot"):
        BinaryRelevance(KNeighborsClassifier()).fit(data.X, data.y, sample_weight=weights)
    with pytest.raises(ValueError, match="CFSSelector takes no row weights, so SelectTop cannot"):
        SelectTop(CFSSelector()).fit(data.X, data.y, sample_weight=weights)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no row weights, so addition_curve cannot"):
        addition_curve(ReliefRanker(3), data.X, data.y, estimator=KNeighborsClassifier(), sample_weight=weights)
    terms = make_feature_hierarchy(40, random_state=0)
    heavy = Dataset(terms.X, terms.y, terms.target, terms.feature_names, sample_weight=weights)
    with pytest.raises(ValueError, match="The method hip takes no row weights"):
        select_features(heavy, terms.feature_hierarchy, method="hip", cv=0)


def test_selection_leaves_out_rows_of_weight_zero_in_its_folds_too():
    terms = make_feature_hierarchy(60, random_state=0)
    weights = np.where(np.arange(60) % 4 == 0, 0.0, 1.0)
    kept = np.flatnonzero(weights)
    data = Dataset(terms.X, terms.y, terms.target, terms.feature_names, sample_weight=weights)
    plain = Dataset(terms.X[kept], terms.y[kept], terms.target, terms.feature_names)
    found, expected = (select_features(one, terms.feature_hierarchy, method="hip", cv=2) for one in (data, plain))
    assert found.measures == expected.measures


def test_comparisons_leave_out_rows_of_weight_zero():
    weights = np.where(np.arange(40) % 4 == 0, 0.0, 1.0)
    data = weighted_data(weights)
    plain = replace(data.rows(np.flatnonzero(weights)), sample_weight=None)
    methods = ["random-forest", "boosted"]
    found, expected = (compare_methods(one, methods, n_folds=3, n_estimators=3).comparisons for one in (data, plain))
    assert found.keys() == expected.keys()
    for measure, one in expected.items():
        pd.testing.assert_frame_equal(found[measure].table, one.table)


def test_predict_does_not_measure_rows_of_weight_zero(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)).round(3)
    kinds = np.where(X[:, 0] > 0, "warm", "cold")
    head = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute kind {cold,warm}\n@data\n"
    wrong = np.where(kinds == "warm", "cold", "warm")
    rows = [f"{a},{b},{kind}" for (a, b), kind in zip(X, kinds, strict=True)]
    idle = [f"{a},{b},{kind}, {{0}}" for (a, b), kind in zip(X, wrong, strict=True)]
    for name, lines in {"plain": rows, "idle": [*idle, *rows]}.items():
        (tmp_path / f"{name}.arff").write_text(head + "\n".join(lines) + "\n", encoding="utf-8")

    def ran(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        assert stop.value.code == 0
        return capsys.readouterr().out

    model, out = tmp_path / "m.ramify", tmp_path / "out.csv"
    ran("fit", tmp_path / "plain.arff", "-t", "kind", "-o", model, "--trees", 10, "-q")
    found = {
        name: json.loads(ran("predict", model, tmp_path / f"{name}.arff", "-t", "kind", "-o", out, "--json"))
        for name in ("idle", "plain")
    }
    assert found["idle"] == found["plain"]
    assert found["idle"]["measures"]["accuracy"]["model"] > 0.9
