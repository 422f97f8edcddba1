"""ramify fit, predict and rank take rankings; the study of label ranking runs on a few sets."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

import ramify
from ramify.cli.main import main
from ramify.datasets import make_label_ranking
from ramify.study.study_files import load_study_file


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    data = make_label_ranking(120, n_features=4, n_informative=2, n_labels=3, random_state=0)
    frame = pd.DataFrame(np.hstack([data.X, data.y]), columns=[*data.feature_names, *data.label_names])
    frame[list(data.label_names)] = frame[list(data.label_names)].astype(int)
    path = tmp_path_factory.mktemp("rankings") / "toy.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def model(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "toy.ramify"
    assert run("fit", table, "-o", path, "--trees", 20, "-q") == 0
    return path


def test_fit_measures_rankings_out_of_bag(table, tmp_path, capsys):
    assert run("fit", table, "-o", tmp_path / "m.ramify", "--trees", 20, "--json") == 0
    measures = json.loads(capsys.readouterr().out)["measures"]
    assert measures["Kendall's tau-b"]["model"] > measures["Kendall's tau-b"]["prior"]
    assert set(measures) == {"Kendall's tau-b", "Spearman's rho", "Spearman's footrule", "top-1 overlap"}


def test_trees_for_rankings_stop_as_published_on_request(table, tmp_path, capsys):
    nodes = {}
    for gamma in ("1", "0.98", "0.7"):
        path = tmp_path / f"{gamma}.ramify"
        assert run("fit", table, "-o", path, "--trees", 5, "--gamma", gamma, "-q") == 0
        nodes[gamma] = len(ramify.load(path).trees_.arrays()["feature"])
    assert nodes["1"] > nodes["0.98"] > nodes["0.7"]
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("x,y\n1,0.5\n2,1.5\n3,2.5\n4,0.1\n", encoding="utf-8")
    assert run("fit", numbers, "-o", tmp_path / "n.ramify", "--gamma", "0.9") == 1
    assert "Only forests for label rankings take gamma" in capsys.readouterr().err


def test_predict_writes_ranks_or_probabilities_of_pairs(table, model, tmp_path):
    assert ramify.load(model).label_names_ == ("L1", "L2", "L3")
    for options, header in (((), ["id", "L1", "L2", "L3"]), (("--probabilities",), ["id", "L1>L2", "L1>L3", "L2>L3"])):
        path = tmp_path / f"predicted{len(options)}.csv"
        assert run("predict", model, table, "-o", path, "-q", *options) == 0
        rows = list(csv.reader(path.read_text().splitlines()))
        assert rows[0] == header
        assert len(rows) == 121
        values = np.array([row[1:] for row in rows[1:]], dtype=float)
        assert values.min() >= (0 if options else 1)


def test_rank_says_who_decides_between_two_labels(table, capsys):
    assert run("rank", table, "--method", "genie3", "--method", "relief") == 0
    shown = capsys.readouterr().out
    assert "L1>L2" in shown
    assert "A1" in shown


def test_the_quick_study_prints_what_the_paper_printed(data_folder, tmp_path):
    file = load_study_file("studies/label_ranking.py")
    study = file.study(data_folder, tmp_path, quick=True)
    study.methods = {
        name: study.methods[name] for name in ("RT", "ERT", "LRT", "LRF-RT", "LRF-ERT", "LRF-LRT", "average")
    }
    found = file.findings(study.run())
    assert "/ 0.963" in found
    assert "| trees, printed | 16 | 6.12 | 0.0468 |" in found
    assert (study.table("depth")["ERT"] < study.table("depth")["RT"]).all()
    assert study.table("tau")["LRF-RT"].mean() > study.table("tau")["RT"].mean()
