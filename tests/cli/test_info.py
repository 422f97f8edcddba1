# ruff: noqa: E501
"""`ramify info`: a table for people, JSON for programs."""

import json

import pytest
from click.testing import CliRunner

from ramify.cli.info import info

ARFF = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute k numeric\n@attribute c hierarchical 1,1/2,3,4\n@data\n"
ARFF += "1,x,5,1/2\n?,y,5,1/2\n3,x,5,3\n"


@pytest.fixture
def run(tmp_path):
    """Write files, run the command on them and return what it printed."""

    def ran(files, *options):
        paths = []
        for name, text in files.items():
            path = tmp_path / name
            path.write_text(text)
            paths.append(str(path))
        result = CliRunner().invoke(info, [*paths, *options], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    return ran


def test_json_holds_every_fact(run):
    facts = json.loads(run({"h.arff": ARFF}, "--json"))
    expected = {
        "rows": 3, "features": 3, "numeric": 2, "nominal": 1, "storage": "dense", "missing": 1, "constant": 1,
        "duplicates": 0, "target": "hierarchy", "labels": 4, "distinct": 2, "without_positive": 1, "without_label": 0,
    }  # fmt: skip
    assert {key: facts[key] for key in expected} == expected
    assert facts["cardinality"] == pytest.approx(5 / 3)
    assert facts["density"] == pytest.approx(5 / 12)
    assert facts["leaf_cardinality"] == 1
    assert facts["hierarchy"] == {
        "shape": "tree", "nodes": 4, "edges": 1, "roots": 3, "leaves": 3, "max_depth": 2.0, "mean_leaf_depth": pytest.approx(4 / 3),
    }  # fmt: skip
    assert len(facts["sha256"]) == 64


def test_table_has_a_column_per_file(run):
    output = run({"h.arff": ARFF, "r.csv": "A1,L1,L2\n1,1,2\n2,2,1\n"})
    assert "h.arff" in output
    assert "r.csv" in output
    assert "distinct share (U_pi)" in output
    assert "100.00 %" in output


def test_parts_of_one_set_are_read_together(run):
    facts = json.loads(run({"s.train.arff": ARFF, "s.test.arff": ARFF}, "--together", "--json"))
    assert facts["parts"] == {"train": 3, "test": 3}
    assert facts["without_positive_in_train"] == 1


def test_target_and_feature_hierarchy_can_be_given(run, tmp_path):
    edges = tmp_path / "f.edges.csv"
    edges.write_text("parent,child\na,b\na,zzz\n")
    facts = json.loads(
        run({"t.csv": "a,b,t\n1,1,x\n0,1,y\n"}, "--target", "t", "--feature-hierarchy", str(edges), "--json")
    )
    assert facts["class_counts"] == {"x": 1, "y": 1}
    assert facts["feature_hierarchy"]["nodes"] == 2


def test_columns_are_told_although_the_hierarchy_fits_no_column_yet(run, tmp_path):
    edges = tmp_path / "terms.edges"
    edges.write_text("parent,child\na,b\n")
    printed = run({"t.csv": "term,x\nb,0.5\na,1.5\n"}, "--hierarchy", str(edges), "--json")
    facts = json.loads(printed[printed.index("{") :])
    assert [column["name"] for column in facts["columns"]] == ["term", "x"]
    assert "No target: A hierarchy orders labels" in facts["notes"][-1]


def test_hierarchy_files_are_described(run):
    facts = json.loads(run({"h.edges.csv": "parent,child\na,b\na,c\n"}, "--json"))
    assert facts["nodes"]["leaves"] == 2


def test_control_characters_of_a_file_do_not_reach_the_terminal(run):
    output = run({"t.csv": "a,t\n1,\x1b[31mred\n2,b\n"}, "--target", "t")
    assert "\x1b[31mred" not in output


@pytest.mark.parametrize("columns", [20, 45, 80])
def test_narrow_terminals_break_no_number(tmp_path, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    files = [tmp_path / f"set{number}.csv" for number in range(6)]
    for number, file in enumerate(files):
        file.write_text("x,y\n" + "1,2\n" * (1000 + number), encoding="utf-8")
    shown = CliRunner().invoke(info, [*map(str, files)]).output
    found = [line.split("│")[1:] for line in shown.splitlines() if line.startswith("rows ")]
    assert [int(cell) for cells in found for cell in cells] == list(range(1000, 1006))
