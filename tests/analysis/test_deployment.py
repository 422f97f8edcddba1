"""Rows that come after fit: lacking, further and moved columns, values that were not seen."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import ramify
from ramify.analysis import fit_model, new_rows
from ramify.analysis.deployment import column_summary, shift_from
from ramify.cli.main import main
from ramify.datasets import Dataset, read


def shop(n_rows, seed, *, older=0.0):
    generator = np.random.default_rng(seed)
    age = generator.normal(40 + older, 10, n_rows).round()
    spent = generator.exponential(100, n_rows)
    town = generator.choice(["Ulm", "Bonn", "Kiel"], n_rows)
    bought = (age + 0.05 * spent + 10 * (town == "Ulm") > 48).astype(int)
    return pd.DataFrame({"age": age, "spent": spent, "town": town, "bought": np.where(bought, "yes", "no")})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    shop(300, 0).to_csv(folder / "past.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def model(folder):
    path = folder / "model.ramify"
    ramify.save(fit_model(read(folder / "past.csv", target="bought"), n_estimators=20).model, path)
    return ramify.load(path)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code, capsys.readouterr()


def test_rows_as_they_were_are_not_remarked_upon(model):
    for seed in range(1, 6):
        found = new_rows(model, shop(200, seed))
        assert found.sentences() == []
        assert found.unused == ("bought",)
        assert list(found.X.columns) == ["age", "spent", "town"]


def test_columns_may_stand_in_any_order_and_there_may_be_more(model):
    new = shop(50, 1)
    straight = model.predict_proba(new[["age", "spent", "town"]])
    turned = new_rows(model, new.assign(more=1.0)[["more", "town", "bought", "age", "spent"]])
    np.testing.assert_array_equal(model.predict_proba(turned.X), straight)


def test_a_lacking_column_is_refused_or_filled_with_missing_values(model):
    new = shop(50, 1)
    with pytest.raises(ValueError, match="lacks 1 of the model's 3 features, the first is 'town'"):
        new_rows(model, new.drop(columns="town"))
    found = new_rows(model, new.drop(columns="town"), fill=True)
    assert found.lacking == ("town",)
    np.testing.assert_array_equal(
        model.predict_proba(found.X), model.predict_proba(new.assign(town=None)[["age", "spent", "town"]])
    )
    assert found.sentences() == ["Columns not there, filled with missing values: town."]
    with pytest.raises(ValueError, match="none of the model's 3 features"):
        new_rows(model, new[["bought"]], fill=True)


def test_values_that_were_not_seen_are_counted(model):
    new = shop(60, 1)
    new.loc[:4, "town"] = "Trier"
    new.loc[5, "town"] = "Jena"
    assert new_rows(model, new).unseen == {"town": {"Trier": 5, "Jena": 1}}


def test_columns_that_moved_are_named_and_no_others(model):
    new = shop(200, 1, older=15)
    new.loc[:99, "spent"] = np.nan
    drifted = new_rows(model, new).drifted
    assert list(drifted.index) == ["age", "spent"]
    assert 0.4 < drifted.loc["age", "shift"] < 0.7  # a normal value moved by 1.5 deviations: 0.55
    assert drifted.loc["spent", "missing"] == 0.5
    towns = shop(200, 2).assign(town="Kiel")
    assert list(new_rows(model, towns).drifted.index) == ["town"]


def test_the_shift_is_no_larger_than_kolmogorovs_distance():
    generator = np.random.default_rng(0)
    for step in (0, 0.5, 2):
        old, new = generator.integers(0, 8, 400), generator.integers(0, 8, 300) + step
        deciles = column_summary(old[:, None].astype(float))[0, :-1]
        grid = np.unique(np.concatenate([old, new]))
        distance = max(abs(np.mean(old <= v) - np.mean(new <= v)) for v in grid)
        shift = shift_from(deciles, new.astype(float))
        assert shift <= distance + 0.01
        assert shift > 0.15 if step == 2 else shift < 0.2


def test_drift_of_sparse_columns_is_that_of_the_same_columns_dense():
    generator = np.random.default_rng(0)

    def counts(n_rows, often):
        X = generator.poisson(0.2, (n_rows, 6)).astype(float)
        X[:, 2] = generator.poisson(often, n_rows)
        X[0, 3] = np.nan
        return X

    X, later = counts(300, 0.1), counts(200, 3.0)
    np.testing.assert_array_equal(column_summary(sparse.csc_array(X)), column_summary(X))
    y = (X[:, 0] > 0).astype(int)
    names = tuple(f"w{j}" for j in range(6))
    found = []
    for form in (sparse.csc_array, np.asarray):
        data = Dataset(form(X), y, "classes", names, label_names=("no", "yes"))
        model = fit_model(data, n_estimators=3).model
        found.append(new_rows(model, Dataset(form(later), feature_names=names)).drifted)
    pd.testing.assert_frame_equal(*found)
    assert list(found[0].index) == ["w2"]


def test_a_calibrated_model_remembers_its_columns(folder):
    fitted = fit_model(read(folder / "past.csv", target="bought"), n_estimators=20, calibrate="isotonic")
    found = new_rows(fitted.model, shop(200, 1, older=15).drop(columns="spent"), fill=True)
    assert list(found.drifted.index) == ["age"]
    assert len(fitted.model.predict(found.X)) == 200


def test_a_model_without_a_memory_of_its_columns_says_nothing_of_drift():
    X = shop(50, 0).drop(columns="bought")
    forest = ramify.ForestClassifier(5, random_state=0).fit(X, ["a", "b"] * 25)
    assert new_rows(forest, X).drifted is None


def test_predict_fills_and_reports(folder, model, capsys):
    new = shop(200, 3, older=15).drop(columns="spent")
    new.loc[:9, "town"] = "Trier"
    new.to_csv(folder / "next.csv", index=False)
    predict = ["predict", folder / "model.ramify", folder / "next.csv", "-t", "bought", "-o", folder / "p.csv"]
    code, out = run(capsys, *predict)
    assert code == 0
    assert "Note: Columns not there, filled with missing values: spent." in out.err
    assert "Note: Values of 'town' that the model has not seen, taken as missing: 'Trier' (10 rows)." in out.err
    assert "Note: Columns unlike those at fit: age (shares moved by" in out.err
    assert run(capsys, *predict, "-q") == (0, ("", ""))
    code, out = run(capsys, *predict, "--json")
    assert json.loads(out.out)["measures"]["accuracy"]["model"] > 0.5


def test_rows_without_a_target_and_without_a_column_are_predicted(folder, model, capsys):
    shop(20, 4).drop(columns=["bought", "age"]).to_csv(folder / "bare.csv", index=False)
    code, out = run(capsys, "predict", folder / "model.ramify", folder / "bare.csv")
    assert code == 0
    assert out.out.count("\n") == 21
    assert "filled with missing values: age." in out.err
    code, out = run(capsys, "explain", folder / "model.ramify", folder / "bare.csv", "--row", 1)
    assert code == 0
    assert "missing" in out.out
