"""Boosted trees and portfolios on the command line."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

import ramify
from ramify.cli.main import main
from ramify.datasets import make_hierarchical, write_arff
from ramify.ensemble import portfolio


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A hierarchical data set in train and test files, and a table of whole numbers."""
    folder = tmp_path_factory.mktemp("data")
    data = make_hierarchical(120, random_state=0)
    write_arff(data.rows(np.arange(80)), folder / "toy.train.arff")
    write_arff(data.rows(np.arange(80, 120)), folder / "toy.test.arff")
    size = np.random.default_rng(0).normal(size=90)
    frame = pd.DataFrame({"size": size, "colour": np.where(size > 0, "red", "blue"), "price": np.round(size * 30)})
    frame.to_csv(folder / "numbers.csv", index=False)
    return folder


@pytest.fixture
def short(monkeypatch):
    """The members of a portfolio with few rounds, trees and epochs."""
    whole = portfolio.Portfolio._members_to_try
    counts = ("n_estimators", "n_neighbors", "n_epochs")
    few = lambda member: {count: 8 for count in counts if hasattr(member, count)}  # noqa: E731
    smaller = lambda self, is_regression, seed: {  # noqa: E731
        name: member.set_params(**few(member)) for name, member in whole(self, is_regression, seed).items()
    }
    monkeypatch.setattr(portfolio.Portfolio, "_members_to_try", smaller)


def test_boosted_trees_are_fitted_and_predict(files, tmp_path, capsys):
    model, output = tmp_path / "m.ramify", tmp_path / "out.csv"
    parts = files / "toy.train.arff", files / "toy.test.arff"
    assert run("fit", *parts, "--method", "boosted", "--trees", 40, "-o", model) == 0
    shown = capsys.readouterr().out
    assert "Measured on 40 test rows" in shown
    loaded = ramify.load(model)
    assert type(loaded).__name__ == "BoostedClassifier"
    assert f"{loaded.n_rounds_} trees over" in shown
    assert (loaded.min_samples_leaf, loaded.max_depth, loaded.n_estimators) == (5, 6, 40)
    assert run("predict", model, files / "toy.test.arff", "--probabilities", "-o", output) == 0
    with output.open() as file:
        assert next(csv.reader(file)) == ["id", *loaded.label_names_]


def test_boosted_trees_have_a_report_without_rows_in_probabilities(files, tmp_path):
    parts = files / "toy.train.arff", files / "toy.test.arff"
    page = tmp_path / "page.html"
    command = ["fit", *parts, "--method", "boosted", "--trees", 20, "-o", tmp_path / "m.ramify", "--report", page]
    assert run(*command, "-q") == 0
    assert "BoostedClassifier" in page.read_text(encoding="utf-8")


def test_ranking_by_boosted_trees(files, tmp_path, capsys):
    output = tmp_path / "ranking.json"
    command = ["rank", files / "toy.train.arff", "--ensemble", "boosted", "--trees", 30, "--fdr", "none"]
    assert run(*command, "-o", output) == 0
    capsys.readouterr()
    ranking = ramify.FeatureRanking.read(output)
    assert ranking.origin["ensemble"] == "Boosted Trees"
    assert ranking.per_label is not None


def test_scores_out_of_bag_are_refused_for_boosted_trees(files, capsys):
    command = ["rank", files / "toy.train.arff", "--ensemble", "boosted", "--method", "permutation"]
    assert run(*command) != 0
    assert "which boosted has not" in capsys.readouterr().err


@pytest.mark.usefixtures("short")
def test_auto_says_what_it_chose_and_what_each_member_reaches(files, tmp_path, capsys):
    model = tmp_path / "m.ramify"
    page = tmp_path / "page.html"
    parts = files / "toy.train.arff", files / "toy.test.arff"
    assert run("fit", *parts, "--method", "auto", "-o", model, "--report", page) == 0
    assert "Portfolio" in page.read_text(encoding="utf-8")
    shown = " ".join(capsys.readouterr().out.split())
    loaded = ramify.load(model)
    for name, weight in loaded.weights_.items():
        assert f"{weight:.2f} {name}" in shown
    for name, score in loaded.scores_.items():
        assert f"{name} {score:.3f}" in shown
    assert "Measured on 40 test rows" in shown
    output = tmp_path / "out.csv"
    assert run("predict", model, files / "toy.test.arff", "-o", output, "--json") == 0
    assert "AUPRC, pooled" in json.loads(capsys.readouterr().out)["measures"]


@pytest.mark.usefixtures("short")
def test_auto_takes_whole_numbers_for_numbers_where_the_file_says_so(files, tmp_path):
    model = tmp_path / "m.ramify"
    command = ["fit", files / "numbers.csv", "--target", "price", "--method", "auto", "--minutes", 5, "-o", model, "-q"]
    assert run(*command) == 0
    loaded = ramify.load(model)
    assert loaded.minutes == 5
    assert loaded.target_kind_ == "numbers"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "bagging", "--minutes", 3], "--minutes is for --method auto"),
        (["--method", "auto", "--trees", 10], "sets --trees, --max-depth and --min-samples-leaf itself"),
        (["--method", "auto", "--minutes", 0], "--minutes"),
    ],
)
def test_options_that_do_not_fit_are_refused(files, tmp_path, capsys, options, words):
    assert run("fit", files / "toy.train.arff", "-o", tmp_path / "m.ramify", *options) != 0
    assert words in " ".join(capsys.readouterr().err.split())
