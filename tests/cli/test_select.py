import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

from ramify.cli.main import ramify
from ramify.datasets import make_feature_hierarchy
from ramify.selection import LazyNaiveBayes, cross_validated_selection


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A CSV of binary features with a class, and the edges of the features."""
    folder = tmp_path_factory.mktemp("select")
    data = make_feature_hierarchy(80, n_features=30, strength=0.6, random_state=0)
    with (folder / "data.csv").open("w") as file:
        file.write(",".join([*data.feature_names, "kind"]) + "\n")
        for row, label in zip(data.X.toarray().astype(int).tolist(), data.y, strict=True):
            file.write(",".join([*map(str, row), "ab"[label]]) + "\n")
    hierarchy = data.feature_hierarchy
    lines = [f"{hierarchy.names[p]},{hierarchy.names[c]}" for p, c in hierarchy.edges]
    (folder / "terms.edges.csv").write_text("parent,child\n" + "\n".join(lines) + "\n")
    return folder


def call(files, *arguments: str):
    command = ["select", str(files / "data.csv"), "-t", "kind", "--hierarchy", str(files / "terms.edges.csv")]
    return CliRunner().invoke(ramify, [*command, *arguments])


def test_overall_selection_with_cross_validation(files, tmp_path):
    result = call(files, "--method", "rpv", "--cv", "4", "-o", str(tmp_path / "out.csv"))
    assert result.exit_code == 0, result.output
    assert "80 rows, 30 features, method rpv" in result.stdout
    assert "AUROC" in result.stdout
    assert "Roots present in every row, left out: T00" in result.stdout
    with (tmp_path / "out.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert lines[0].keys() == {"feature", "share_of_rows", "relevance"}
    shares = [float(line["share_of_rows"]) for line in lines]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize(
    "method", ["hip", "mr", "hip-mr", "positive", "negative", "shsel", "gtd", "tsel", "cfs", "relieff"]
)
def test_every_method_runs(files, method):
    result = call(files, "--method", method, "--cv", "3", "--json", "--classifier", "neighbors")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert 0 <= found["cross_validation"]["auroc"] <= 1
    assert found["selected"]


def test_measures_stand_beside_those_of_all_features_and_of_the_prior(files):
    found = json.loads(call(files, "--cv", "4", "--json").stdout)
    assert found["prior"]["auroc"] == 0.5
    assert found["prior"]["gm"] == 0
    assert found["cross_validation"]["auroc"] > found["prior"]["auroc"]
    assert found["without_selection"].keys() == found["prior"].keys() == found["cross_validation"].keys() - {"share"}
    shown = call(files, "--cv", "4").stdout
    assert [cell in shown for cell in ("all features", "prior", "of the features selected per row")] == [True] * 3
    assert found["without_selection"] == pytest.approx(all_features_by_hand(files))


def all_features_by_hand(files):
    with (files / "data.csv").open() as file:
        lines = list(csv.DictReader(file))
    y = np.array([line.pop("kind") for line in lines])
    X = np.array([[int(cell) for cell in line.values()] for line in lines])
    measures = cross_validated_selection(LazyNaiveBayes(), X, y, n_splits=4).measures()
    return {name: measures[name] for name in ("auprc", "auroc", "gm", "accuracy")}


def test_rows_are_listed_with_their_features(files, tmp_path):
    result = call(files, "--per-row", "--cv", "0", "-q", "-o", str(tmp_path / "rows.csv"))
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    with (tmp_path / "rows.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert {line["row"] for line in lines} <= {str(i) for i in range(1, 81)}
    assert {line["value"] for line in lines} == {"1"}


def test_a_row_is_explained(files):
    found = json.loads(call(files, "--explain", "3", "--json").stdout)
    assert {line["selected"] for line in found} <= {True, False}
    assert all(line["removed_by"] for line in found if not line["selected"])
    kept, went = ([line for line in found if line["selected"] is is_kept] for is_kept in (True, False))
    assert kept
    assert all(line["log_odds"] is None and line["speaks_for"] == "" for line in went)
    assert {line["speaks_for"] for line in kept} <= {"a", "b"}
    missing = call(files, "--explain", "900")
    assert "There is no row '900'" in missing.stderr


@pytest.mark.parametrize("method", ["rpv", "hip", "mr", "hip-mr", "positive", "negative", "shsel", "gtd", "tsel"])
def test_every_method_that_looks_at_the_hierarchy_explains_itself(files, method):
    result = call(files, "--explain", "3", "--method", method)
    assert result.exit_code == 0, result.output
    assert "removed by" in result.stdout
    assert ("log odds" in result.stdout) is (method not in {"shsel", "gtd", "tsel"})


def test_annotations_and_classes_of_rows_are_joined(tmp_path):
    term = "[Term]\nid: {}\nname: {}\nnamespace: biological_process\n{}\n"
    terms = [("GO:1", "all", ""), ("GO:2", "repair", "is_a: GO:1"), ("GO:3", "growth", "is_a: GO:1")]
    (tmp_path / "go.obo").write_text("".join(term.format(*each) for each in terms))
    line = "DB\t{0}\t{0}\t\t{1}\tPMID:1\tIDA\t\tP\t\t\tprotein\ttaxon:1\t20200101\tDB\t\t\n"
    rows = [(f"g{i}", "GO:2" if i % 2 else "GO:3") for i in range(12)]
    (tmp_path / "genes.gaf").write_text("!gaf-version: 2.2\n" + "".join(line.format(*row) for row in rows))
    (tmp_path / "kinds.csv").write_text("".join(f"g{i},{'pro' if i % 2 else 'anti'}\n" for i in range(12)))
    arguments = ["--hierarchy", tmp_path / "go.obo", "--classes", tmp_path / "kinds.csv", "--cv", "3", "--json"]
    command = ["select", str(tmp_path / "genes.gaf"), *map(str, arguments)]
    result = CliRunner().invoke(ramify, command)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["rows"] == 12
    assert found["cross_validation"]["accuracy"] == 1.0
    assert {line["title"] for line in found["selected"]} == {"repair", "growth"}
    explained = json.loads(CliRunner().invoke(ramify, [*command, "--explain", "g1"]).stdout)
    sheet = {line["title"]: line for line in explained}
    assert sheet["repair"]["speaks_for"] == "pro"
    assert sheet["repair"]["log_odds"] == pytest.approx(np.log((6 + 1) / (6 + 2) / (1 / (6 + 2))))


def test_rows_that_break_the_hierarchy_are_told_and_repaired(tmp_path):
    (tmp_path / "data.csv").write_text("a,b,kind\n" + "0,1,x\n1,1,x\n1,0,y\n0,0,y\n" * 3)
    (tmp_path / "terms.edges.csv").write_text("parent,child\na,b\n")
    command = ["select", str(tmp_path / "data.csv"), "-t", "kind", "--hierarchy", str(tmp_path / "terms.edges.csv")]
    told = CliRunner().invoke(ramify, [*command, "--cv", "3"])
    assert told.exit_code == 0, told.output
    assert "3 rows have b and lack its parent a." in told.stdout
    repaired = json.loads(CliRunner().invoke(ramify, [*command, "--cv", "3", "--close", "--json"]).stdout)
    assert repaired["violations"] == [{"child": "b", "parent": "a", "rows": 3}]


def test_what_is_missing_is_said(files):
    result = CliRunner().invoke(ramify, ["select", str(files / "data.csv"), "-t", "kind"])
    assert result.exit_code == 2
    assert "name its file with --feature-hierarchy" in result.stderr
    other = call(files, "--positive", "z", "--cv", "3")
    assert "There is no class 'z'; the data has a, b" in str(other.exception)
    assert "name at least 2 folds, or 0 for none" in call(files, "--cv", "1").stderr
    assert "is not in the range" in call(files, "--seed", "-1").stderr


def test_verbose_tells_what_is_done_beside_the_results(files):
    result = call(files, "--cv", "3", "--json", "-v")
    assert json.loads(result.stdout)["selected"]
    assert "30 terms; rpv learns from 80 rows" in result.stderr
    assert "3 folds of 80 rows" in result.stderr
