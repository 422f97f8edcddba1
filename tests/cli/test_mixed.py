"""Commands on targets of different kinds: -t several times."""

import json

import numpy as np
import pandas as pd
import pytest

import ramify
from ramify.cli.main import main

TARGETS = ["-t", "price", "-t", "colour", "-t", "p_*"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mixed")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 5)).round(3)
    table = pd.DataFrame(X, columns=[f"f{j}" for j in range(5)])
    table["price"] = (3 * X[:, 0] + 10 + 0.3 * rng.normal(size=160)).round(2)
    table["colour"] = np.where(X[:, 1] > 0, "red", "blue")
    table["p_a"], table["p_b"] = (X[:, 2] > 0).astype(int), (X[:, 2] + X[:, 3] > 0).astype(int)
    table.to_csv(folder / "rows.csv", index=False)
    table.drop(columns=["price", "colour"]).to_csv(folder / "new.csv", index=False)
    table.loc[4, "colour"] = table.loc[6, "price"] = None
    table.to_csv(folder / "partly.csv", index=False)
    return folder


def run(capsys, *arguments):
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    assert stop.value.code == 0, printed.err
    return printed


def test_a_model_is_fitted_saved_and_used(folder, capsys):
    model = folder / "model.ramify"
    fit = ["fit", folder / "partly.csv", *TARGETS, "-o", model, "--trees", 20]
    printed = run(capsys, *fit, "--report", folder / "fit.html", "--json")
    assert "price (a number), colour (2 classes), p_* (2 labels); 2 of their cells are unknown" in printed.err
    measures = {name: row["model"] for name, row in json.loads(printed.out)["measures"].items()}
    assert measures["price: R2"] > 0.5
    assert measures["colour: accuracy"] > 0.8
    assert measures["p_*: AUPRC, pooled"] > 0.8
    assert type(ramify.load(model)).__name__ == "MixedForest"
    run(capsys, "predict", model, folder / "rows.csv", "-o", folder / "out.csv")
    predicted, table = pd.read_csv(folder / "out.csv"), pd.read_csv(folder / "rows.csv")
    assert list(predicted) == ["id", "price", "colour", "p_*"]
    assert (predicted["colour"] == table["colour"]).mean() > 0.95
    sets = predicted["p_*"].fillna("").str.split("|")
    assert np.mean([("p_a" in labels) == bool(has) for labels, has in zip(sets, table["p_a"], strict=True)]) > 0.95


def test_a_row_is_explained_by_what_is_predicted_of_it(folder, capsys):
    model = folder / "explained.ramify"
    run(capsys, "fit", folder / "rows.csv", *TARGETS, "-o", model, "--trees", 10)
    found = json.loads(run(capsys, "explain", model, folder / "rows.csv", "--row", 3, "--json").out)
    labels = [one["label"] for one in found]
    assert "price" in labels
    assert sum(label.startswith("colour=") for label in labels) == 1


def test_a_file_with_some_of_the_targets_is_measured_on_them(folder, capsys):
    model = folder / "some.ramify"
    run(capsys, "fit", folder / "rows.csv", *TARGETS, "-o", model, "--trees", 10)
    out = ["-o", folder / "out.csv", "--probabilities"]
    printed = run(capsys, "predict", model, folder / "new.csv", *out)
    assert "over 1 of 3 targets: the data lacks 'price', 'colour'" in " ".join(printed.out.split())
    assert list(pd.read_csv(folder / "out.csv")) == ["id", "price", "colour=blue", "colour=red", "p_a", "p_b"]


def test_features_are_ranked_and_claimed_per_target(folder, capsys):
    rank = ["rank", folder / "rows.csv", *TARGETS, "--trees", 30, "--method", "genie3", "--method", "relief"]
    run(capsys, *rank, "-o", folder / "ranks.csv", "--report", folder / "rank.html")
    table = pd.read_csv(folder / "ranks.branches.csv")
    best = table.sort_values("score", ascending=False).groupby("branch")["feature"].first()
    assert best.to_dict() == {"price": "f0", "colour": "f1", "p_*": "f2"}
    claims = set(pd.read_csv(folder / "ranks.claims.csv")[["feature", "branch"]].itertuples(index=False, name=None))
    assert {("f0", "price"), ("f1", "colour"), ("f2", "p_*")} <= claims
    assert ("f4", "price") not in claims
    assert "targets of different kinds" in (folder / "rank.html").read_text(encoding="utf-8")


def test_what_learns_one_target_refuses_several(folder, capsys):
    for method in ("boosted", "auto", "br"):
        with pytest.raises(SystemExit) as stop:
            main(
                [str(a) for a in ("fit", folder / "rows.csv", *TARGETS, "-o", folder / "m.ramify", "--method", method)]
            )
        assert stop.value.code != 0
        assert "mixed" in capsys.readouterr().err


def test_other_words_in_label_columns_are_unknown_and_that_is_said(folder, tmp_path, capsys):
    table = pd.read_csv(folder / "rows.csv")[["f0", "f1", "p_a", "p_b"]]
    table.to_csv(tmp_path / "sets.csv", index=False)
    model, new = tmp_path / "sets.ramify", tmp_path / "new.csv"
    run(capsys, "fit", tmp_path / "sets.csv", "-t", "p_*", "--trees", 3, "-o", model)
    table = table.astype({"p_a": object})
    table.loc[::5, "p_a"] = "unk"
    table.to_csv(new, index=False)
    said = run(capsys, "predict", model, new, "-o", tmp_path / "out.csv")
    assert "Note: 32 empty label cells are unknown: neither a label nor none." in said.err
    assert len(pd.read_csv(tmp_path / "out.csv")) == len(table)
    said = run(capsys, "predict", model, new, "--unknown", "unk", "-o", tmp_path / "out.csv")
    assert "Nothing is measured" not in said.err
    assert "Measured on" in said.out
