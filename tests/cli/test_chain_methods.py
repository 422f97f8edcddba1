"""`ramify fit --method lcc` and its relatives learn label sets, save them and predict again."""

import csv

import numpy as np
import pytest

import ramify
from ramify.cli.main import main
from ramify.datasets import make_hierarchical, make_multilabel, write_arff

TARGET = ("--target", "label0", "--target", "label1", "--target", "label2")


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    data = make_multilabel(120, n_features=6, n_labels=3, signal=2.0, random_state=0)
    write_arff(data.rows(np.arange(80)), folder / "toy.train.arff")
    write_arff(data.rows(np.arange(80, 120)), folder / "toy.test.arff")
    write_arff(make_hierarchical(60, random_state=0), folder / "tree.arff")
    return folder


@pytest.mark.parametrize("method", ["br", "lp", "pairwise", "cc", "ecc", "lcc", "rakel", "mlknn"])
def test_fit_and_predict(files, tmp_path, capsys, method):
    model, output = tmp_path / "model.ramify", tmp_path / "predicted.csv"
    arguments = ("--method", method, "--trees", 5, "--model", model, *TARGET)
    assert run("fit", files / "toy.train.arff", files / "toy.test.arff", *arguments) == 0
    shown = capsys.readouterr().out
    assert "Measured on 40 test rows" in shown
    assert f"{method} for 3 labels over 80 rows" in shown
    assert ramify.load(model).label_names_ == ("label0", "label1", "label2")
    assert run("predict", model, files / "toy.test.arff", "-o", output, *TARGET) == 0
    rows = list(csv.reader(output.read_text().splitlines()))
    assert rows[0] == ["id", "prediction"]
    assert len(rows) == 41
    names = {name for row in rows[1:] for name in row[1].split("|") if name}
    assert names <= {"label0", "label1", "label2"}


def test_a_hierarchy_is_refused_with_the_way_out(files, tmp_path, capsys):
    assert run("fit", files / "tree.arff", "--method", "lcc", "--model", tmp_path / "model.ramify") != 0
    assert "The method lcc learns label sets and classes" in capsys.readouterr().err
