"""Names for identifiers: files that spell terms otherwise, terms by what they are called, near misses."""

import json

import pytest

from ramify.cli.main import main
from ramify.datasets import read
from ramify.datasets.term_names import label_called, meant_terms, titled

OBO = """format-version: 1.2

[Term]
id: GO:0008150
name: biological process

[Term]
id: GO:0008152
name: metabolic process
alt_id: GO:0044710
is_a: GO:0008150

[Term]
id: GO:0007049
name: cell cycle
is_a: GO:0008150

[Term]
id: GO:0030528
name: obsolete transcription regulator activity
is_obsolete: true

[Term]
id: GO:0051301
name: cell division
is_a: GO:0008150
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "go.obo").write_text(OBO, encoding="utf-8")
    terms = [("GO0008152" if i % 2 else "GO0007049") + ("|GO0044710" if i % 6 == 1 else "") for i in range(60)]
    rows = "".join(f"{i // 2},{(i + i // 7) % 2},{i % 3},{terms[i]}\n" for i in range(60))
    (tmp_path / "genes.csv").write_text("level,a,b,terms\n" + rows, encoding="utf-8")
    return tmp_path


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as exit_:
        main([str(argument) for argument in arguments])
    return exit_.value.code, capsys.readouterr()


@pytest.mark.parametrize("written", ["GO:0007049", "GO0007049", "GO_0007049", "go:0007049", "Cell Cycle"])
def test_a_term_is_known_however_it_is_written(written):
    titles = {"GO:0007049": "cell cycle", "GO:0051301": "cell division"}
    assert meant_terms([written], list(titles), titles) == {written: "GO:0007049"}


def test_what_could_mean_two_terms_means_none():
    assert meant_terms(["GO:1", "part", "x1"], ["GO1", "GO_1", "a", "b"], {"a": "part", "b": "part"}) == {}


def test_names_that_are_no_identifiers_are_compared_exactly():
    assert meant_terms(["ab", "a-b 1"], ["a-b", "ab1"], {}) == {}


def test_one_term_per_row_is_a_set_of_one(files):
    rows = "".join(f"{i % 7},{'GO:0008152' if i % 2 else 'cell cycle'}\n" for i in range(40))
    (files / "single.csv").write_text("level,term\n" + rows, encoding="utf-8")
    data = read(files / "single.csv", target="term", hierarchy=files / "go.obo")
    assert data.target == "hierarchy"
    assert data.label_names == ("GO:0008150", "GO:0008152", "GO:0007049")
    assert data.y.sum(axis=1).tolist() == [2] * 40
    with pytest.raises(ValueError, match="kind='classes' has none"):
        read(files / "single.csv", target="term", hierarchy=files / "go.obo", kind="classes")


def test_identifiers_of_a_file_become_those_of_the_ontology_and_it_is_told(files):
    data = read(files / "genes.csv", target="terms", hierarchy=files / "go.obo")
    assert data.label_names == ("GO:0008150", "GO:0008152", "GO:0007049")
    assert data.titles["GO:0008152"] == "metabolic process"
    assert data.notes == (
        "2 labels matched with go.obo in another spelling: GO0007049 is GO:0007049.",
        "1 label matched with go.obo by an older identifier: GO0044710 is GO:0008152.",
    )
    assert data.y.toarray()[:, 1].tolist() == [i % 2 for i in range(60)]


def test_data_with_a_hierarchy_of_its_own_keeps_it_where_the_ontology_lacks_labels(files):
    file = files / "genes.arff"
    file.write_text(
        "@relation g\n@attribute x numeric\n"
        "@attribute class hierarchical root/GO0008150,GO0008150/GO0008152,GO0008150/GO9999999,GO0008150/GO0030528\n"
        "@data\n1,GO0008152\n2,GO9999999\n3,GO0008152@GO9999999\n",
        encoding="utf-8",
    )
    own, named = read(file), read(file, hierarchy=files / "go.obo")
    assert named.hierarchy == own.hierarchy
    assert named.titles == {
        "GO0008150": "biological process",
        "GO0008152": "metabolic process",
        "GO0030528": "obsolete transcription regulator activity",
    }
    assert "the data's own hierarchy is kept" in named.notes[-1]
    assert "GO9999999" in named.notes[-1]


def test_features_keep_their_names_and_get_titles(files):
    file = files / "terms.csv"
    file.write_text("GO0008152,GO0008150,other,kind\n1,1,0,a\n0,1,1,b\n0,0,1,b\n", encoding="utf-8")
    data = read(file, target="kind", feature_hierarchy=files / "go.obo")
    assert data.feature_hierarchy.parents["GO0008152"] == ("GO0008150",)
    assert titled("GO0008152", data.titles) == "metabolic process (GO0008152)"


def test_near_misses_are_suggested():
    titles = {"GO:0007049": "cell cycle", "GO:0051301": "cell division"}
    with pytest.raises(ValueError, match=r"Did you mean 'cell cycle \(GO:0007049\)'\?"):
        label_called("cel cycle", list(titles), titles)
    with pytest.raises(
        ValueError, match=r"no label 'zzz' among the 2 of the target. The first are 'cell cycle \(GO:0007049\)'"
    ):
        label_called("zzz", list(titles), titles)
    with pytest.raises(ValueError, match=r"Did you mean 'cell division \(GO:0051301\)'\?"):
        label_called("division", list(titles), titles)


@pytest.mark.parametrize("asked", ["cell cycle", "GO:0007049", "GO0007049"])
def test_rank_and_explain_take_a_label_by_name_or_identifier(files, capsys, asked):
    data = [files / "genes.csv", "-t", "terms", "--hierarchy", files / "go.obo"]
    code, out = run(capsys, "rank", *data, "--trees", 5, "--fdr", "none", "--label", asked)
    assert code == 0
    assert "cell cycle (GO:0007049)" in out.out
    assert "Note: 2 labels matched with go.obo in another spelling: GO0007049 is GO:0007049." in out.err
    model = files / "genes.ramify"
    assert run(capsys, "fit", *data, "--trees", 5, "-o", model)[0] == 0
    code, out = run(capsys, "explain", model, *data, "--row", 2, "--label", asked)
    assert code == 0
    assert "cell cycle (GO:0007049): " in out.out


def test_a_label_that_is_nearly_right_is_answered_with_the_right_one(files, capsys):
    data = [files / "genes.csv", "-t", "terms", "--hierarchy", files / "go.obo"]
    code, out = run(capsys, "rank", *data, "--label", "cell cycl")
    assert code != 0
    assert "Did you mean 'cell cycle (GO:0007049)'?" in out.err


def test_tables_and_reports_have_names_beside_identifiers(files, capsys):
    data = [files / "genes.csv", "-t", "terms", "--hierarchy", files / "go.obo"]
    written, report = files / "per_label.csv", files / "r.json"
    options = ["--trees", 5, "--fdr", "none", "--per-label", written, "--report", report]
    assert run(capsys, "rank", *data, *options, "-q") == (0, ("", ""))
    lines = written.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "feature,label,score,label_name"
    assert any(line.endswith(",metabolic process") and ",GO:0008152," in line for line in lines)
    assert "cell cycle (GO:0007049)" in json.loads(report.read_text(encoding="utf-8"))["labels"]["names"]
    quality = files / "quality.csv"
    assert run(capsys, "fit", *data, "--trees", 5, "-o", files / "m.ramify", "--per-label", quality, "-q")[0] == 0
    assert "GO:0007049" in quality.read_text(encoding="utf-8")
    assert ",cell cycle\n" in quality.read_text(encoding="utf-8")


def test_select_matches_features_that_are_spelled_otherwise(files, capsys):
    file = files / "ageing.csv"
    rows = "".join(f"1,{i % 2},{(i // 2) % 2},{'ab'[i % 2 if i < 20 else 0]}\n" for i in range(24))
    file.write_text("GO0008150,GO0008152,GO0007049,kind\n" + rows, encoding="utf-8")
    options = ["--feature-hierarchy", files / "go.obo", "--method", "hip", "--cv", 2, "--json"]
    code, out = run(capsys, "select", file, "-t", "kind", *options)
    assert code == 0, out.err
    found = json.loads(out.out)
    assert found["features_outside_the_hierarchy"] == []
    assert {line["feature"]: line["title"] for line in found["selected"]}["GO:0008152"] == "metabolic process"
