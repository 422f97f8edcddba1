"""`ramify explain`: contributions of one row that add up to its prediction."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

import ramify
from ramify import ForestClassifier, ForestRegressor
from ramify.cli.main import main


@pytest.fixture
def folder(tmp_path):
    random = np.random.RandomState(0)
    frame = pd.DataFrame(random.rand(60, 4), columns=["age", "dose", "weight", "noise"])
    sick = np.where(frame["dose"] > 0.5, "yes", "no")
    ramify.save(ForestClassifier(10, random_state=0).fit(frame, sick), tmp_path / "sick.ramify")
    ramify.save(ForestRegressor(10, random_state=0).fit(frame, frame["age"] * 9), tmp_path / "cost.ramify")
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    assert not ended.value.code, printed.err
    return printed.out


def test_contributions_and_base_add_up(folder, capsys):
    printed = run(capsys, "explain", folder / "sick.ramify", folder / "people.csv", "--row", "17", "--json")
    (one,) = json.loads(printed)
    assert one["features"][0]["feature"] == "dose"
    total = one["base"] + sum(item["contribution"] for item in one["features"])
    assert total == pytest.approx(one["prediction"])
    model, rows = ramify.load(folder / "sick.ramify"), pd.read_csv(folder / "people.csv")
    assert one["prediction"] == pytest.approx(model.predict_proba(rows)[16].max())
    assert one["label"] == model.predict(rows)[16]


def test_named_label_file_and_figure(folder, capsys):
    out, plot = folder / "why.csv", folder / "why.svg"
    printed = run(
        capsys, "explain", folder / "sick.ramify", folder / "people.csv",
        "--row", "3", "--label", "no", "--top", "2", "-o", out, "--plot", plot,
    )  # fmt: skip
    assert "dose" in printed
    assert "no: " in printed
    with out.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert {line["label"] for line in lines} == {"no"}
    assert "<svg" in plot.read_text(encoding="utf-8")


def test_numbers_are_explained(folder, capsys):
    printed = run(capsys, "explain", folder / "cost.ramify", folder / "people.csv", "--row", "1", "--json")
    (one,) = json.loads(printed)
    expected = ramify.load(folder / "cost.ramify").predict(pd.read_csv(folder / "people.csv"))[0]
    assert one["base"] + sum(item["contribution"] for item in one["features"]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--row", "61"], "give a number from 1 to 60"),
        (["--row", "nobody"], "There is no row 'nobody'"),
        (["--row", "1", "--label", "maybe"], "There is no label 'maybe'"),
    ],
)
def test_bad_request_is_one_line(folder, capsys, arguments, words):
    with pytest.raises(SystemExit) as ended:
        main(["explain", str(folder / "sick.ramify"), str(folder / "people.csv"), *arguments])
    assert ended.value.code
    assert words in capsys.readouterr().err


def test_a_label_that_every_row_has_is_one_line_and_not_drawn(folder, capsys):
    rows = pd.read_csv(folder / "people.csv")
    labels = pd.DataFrame({"living": 1, "sick": (rows["dose"] > 0.5).astype(int)})
    ramify.save(ForestClassifier(10, random_state=0).fit(rows, labels), folder / "both.ramify")
    row, plot = str(int(np.argmax(rows["dose"])) + 1), folder / "both.svg"
    printed = run(capsys, "explain", folder / "both.ramify", folder / "people.csv", "--row", row, "--plot", plot)
    assert "living: 1.00, whatever the features." in printed
    assert "sick: " in printed
    assert "dose" in plot.read_text(encoding="utf-8")
